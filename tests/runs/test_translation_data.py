import json

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.config_fields.validation import validate
from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError, MissingData
from mtl_tf.pipelines.batches import BatchPlan, training_dataset
from mtl_tf.pipelines.examples import encoding
from mtl_tf.prediction import task_types
from mtl_tf.prediction.clean_parts import CleanParts, texts
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.text.encoding.decoding import TextDecoder
from mtl_tf.text.encoding.translation import TranslationText
from tests.datasets.parallel_corpora import europarl

NOUNS = ("house", "tree", "dog", "cat", "car", "hat", "sea", "sun")


def entry(tmp_path, pair):
    """A pair whose target is its source in capitals, with its language."""
    language = pair.partition("-")[2]
    source = [f"the {a} and the {b} ." for a in NOUNS for b in NOUNS]
    source += ["the " * 30 + "end", "one"]
    target = [f"{language} {line.upper()}" for line in source[:-1]]
    target += ["one two three four five six seven"]
    files = {}
    for split, rows in (("train", slice(None)), ("validation", slice(3))):
        files[split] = {}
        for side, lines in (("source", source), ("target", target)):
            path = tmp_path / f"{pair}.{split}.{side}"
            path.write_text("".join(f"{line}\n" for line in lines[rows]))
            files[split][side] = str(path)
    return {"name": pair, "type": "translation", "files": files}


def config_of(tmp_path, *pairs):
    config = base.paper_config()
    config.tasks = tuple(entry(tmp_path, pair) for pair in pairs)
    config.text.tokenizer.lowercase = False
    config.text.max_length = 20
    config.text.max_ratio = 3.0
    config.pipeline.fractions = {"en-fr": 0.25}
    config.pipeline.tokens_per_batch = 200
    return validate(config.to_dict())


@pytest.mark.parametrize(
    "pair, message",
    [
        (
            "en-de",
            "vocabulary_tasks has no pair with .* 'fr' of the task en-fr",
        ),
        ("de-fr", "one source language, got de-fr and en-fr"),
    ],
)
def test_a_vocabulary_lacks_no_language_of_the_tasks(tmp_path, pair, message):
    config = config_of(tmp_path, "en-fr")
    config["text"]["vocabulary_tasks"] = (entry(tmp_path, pair),)
    run = RunDirectory(str(tmp_path / "run"))
    with pytest.raises(ConfigError, match=message):
        run_data.load(config, run, None, None)
    assert not run.has("vocabulary")


def test_a_vocabulary_is_of_texts_that_the_run_can_read(tmp_path):
    config = config_of(tmp_path, "en-fr")
    (tmp_path / "mood.csv").write_text("text,label\nso good,yes\nbad,no\n")
    mood = {"name": "mood", "files": {"train": str(tmp_path / "mood.csv")}}
    config["text"]["vocabulary_tasks"] = (*config["tasks"], mood)
    run = RunDirectory(str(tmp_path / "run"))
    message = "vocabulary_tasks: the task 'mood' is of the type classification"
    with pytest.raises(ConfigError, match=message):
        run_data.load(config, run, None, None)
    assert not run.has("vocabulary")


def test_data_of_a_translation_run(tmp_path):
    config = config_of(tmp_path, "en-de", "en-fr")
    run = RunDirectory(str(tmp_path / "run"))
    first = run_data.load(config, run, None, None)
    assert isinstance(first.encoder, TranslationText)
    german, french = first.train
    assert len(german) == 64 and 14 <= len(french) <= 16
    assert np.shape(first.boundaries)[1] == 2
    written = json.loads((tmp_path / "run" / "data.json").read_text())
    assert written["tasks"]["en-de"]["train"]["left_out"] == {
        "long_source": 1,
        "ratio": 1,
    }
    tokens = first.encoder.targets["de"].vocabulary.tokens
    assert "de" in tokens and "END" not in tokens and "fr" not in tokens
    folders = {p.name for p in (tmp_path / "run" / "vocabulary").iterdir()}
    assert folders == {"source", "de", "fr"}
    # What the run directory holds gives the same numbers again.
    again = run_data.load(config, run, None, None)
    for a, b in zip(first.train + first.validation, again.train):
        for key in a.columns:
            np.testing.assert_array_equal(
                a.columns[key].values, b.columns[key].values
            )
    plan = BatchPlan(
        first.train,
        config["pipeline"]["batch_size"],
        first.boundaries,
        config["pipeline"]["mixing"],
        0,
        tokens_per_batch=200,
    )
    batch = next(iter(training_dataset(plan, 0)))
    pair = first.tasks[int(batch["task"][0])].name
    text = TextDecoder(first.encoder.target(pair))(batch["target"][0])
    language = pair.partition("-")[2].encode()
    assert all(line.startswith(language) for line in text.numpy()[:1])


def test_the_texts_that_are_scored(tmp_path):
    config = config_of(tmp_path, "en-de")
    config["pipeline"]["fractions"] = {}
    run = RunDirectory(str(tmp_path / "run"))
    loaded = run_data.load(config, run, None, None)
    task = loaded.tasks[0]
    references = task_types.of(task.type).targets(task, "train")
    sources = [text.decode() for text in texts(task, "train")]
    assert len(sources) == len(references) == 66  # nothing is left out
    assert references[-1] == "one two three four five six seven"
    split = run_data.encode_split(loaded.tasks[0], "train", loaded.encoder)
    assert len(split) == 66
    assert next(texts(task, "validation")) == sources[0].encode()
    source = tf.data.Dataset.from_tensor_slices({"source": ["the dog", ""]})
    alone = encoding.encode(source, loaded.encoder.pair("en-de"))
    assert alone.lengths.tolist() == [2, 0]
    decoder = TextDecoder(loaded.encoder.target("en-de"))
    ids = split.columns["target"][0]
    assert decoder(tf.constant(ids)[None]).numpy() == references[0].encode()


@pytest.mark.parametrize(
    "others, message",
    [
        (("fr-de",), "one source language, got en-de and fr-de"),
        (("sample_reviews/books",), "classification and translation"),
    ],
)
def test_tasks_that_do_not_go_together(tmp_path, others, message):
    config = config_of(tmp_path, "en-de")
    config["pipeline"]["fractions"] = {}
    config["tasks"] = [*config["tasks"]] + [
        other if "/" in other else entry(tmp_path, other) for other in others
    ]
    run = RunDirectory(str(tmp_path / "run"))
    with pytest.raises(ConfigError, match=message):
        run_data.load(config, run, str(tmp_path / "builds"), None)


@pytest.mark.extended
def test_clean_parts_of_a_group_with_absent_pairs(tmp_path, caplog):
    lines = [f"line {i}\n" for i in range(60)]
    spanish = [f"la {line}" for line in lines]
    manual = europarl(tmp_path / "europarl", lines, spanish, "es")
    europarl(manual, [f"le {line}" for line in lines], lines, "fr")
    where = (str(tmp_path / "build"), str(tmp_path))
    entries = ["multi_target_nmt/en-es", "multi_target_nmt/en-fr"]
    for chosen in (entries, entries[:1]):
        # Texts of both pairs count, whichever of them is trained.
        seen = CleanParts(chosen, *where).seen
        said = ["line 1", "line 2", "le line 1", "le line 2", "other"]
        assert seen.count(said) == 4
    # The others are named in one line.
    (warning,) = {r.getMessage() for r in caplog.records if r.levelno >= 30}
    names = warning.partition("cannot be read: ")[2].split(", ")
    assert names[0].startswith("multi_target_nmt/en-") and len(names) > 1
    assert not set(names) & {*entries}
    # One that is there in part is as good as absent.
    (tmp_path / "europarl" / "europarl-v7.pt-en.pt").write_text("um lado\n")
    assert CleanParts(entries, *where).seen.count(["line 1"]) == 1
    # What a config itself names has to be there.
    parts = CleanParts(["multi_target_nmt"], *where)
    with pytest.raises(MissingData, match="nl-en"):
        parts.seen.count([])
