"""Previews show what a run encodes of its tasks."""

import json
import os
import tempfile

import pytest

from mtl_tf.config_fields.validation import validate
from mtl_tf.configs import base, starter
from mtl_tf.core.errors import DataError
from mtl_tf.runs.data import run_data, task_preview
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks import registry
from mtl_tf.text.encoding.token_columns import CUT, KNOWN, SPECIAL, UNKNOWN
from tests.text import small_presets

PAIRS = [
    "text,text_pair,label",
    "the good book is bad,not very bad,yes",
    "the film,zyx film,no",
    "a film is not a film,it is,no",
    "the book,the good film is not a bad film,yes",
    ",it,no",
]
SENTENCE = {
    "tokens": ["The", "Book", "is", "xyzzy", "good", "☃", "film", "the"],
    "tags": ["O", "B-T", "I-T", "O", "O", "O", "B-T", "O"],
}


@pytest.fixture(autouse=True)
def temporary_folders_are_removed(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    # TensorFlow removes what it has generated when the process ends.
    left = [n for n in os.listdir(folder) if "autograph" not in n]
    assert not left


def written(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return {split: str(path) for split in ("train", "validation", "test")}


def entries(tmp_path):
    pairs = written(tmp_path / "pairs.csv", *PAIRS)
    line = json.dumps(SENTENCE)
    tags = written(tmp_path / "tags.jsonl", line, line.replace("xyz", "zyx"))
    kind = "pair_classification"
    return (
        {"name": "joined", "type": kind, "files": pairs, "pairs": "joined"},
        {"name": "apart", "type": kind, "files": pairs},
        {"name": "things", "type": "tagging", "files": tags},
    )


def config_of(tasks, chosen=None, **text):
    config = chosen or base.default_config()
    config.tasks = tuple(tasks)
    for name, value in text.items():
        config.text[name] = value
    return validate(config.to_dict())


def previews_of(config, examples=2):
    tasks = registry.resolve(config["tasks"])
    return task_preview.previews(config, tasks, (None, None), examples)


def assert_as_trained(config, tmp_path, names_of, examples=2):
    """The tokens that are shown are the ids of a run's training split."""
    previews = previews_of(config, examples)
    run = RunDirectory(str(tmp_path / "run"))
    loaded = run_data.load(config, run, None, None)
    system = run_data.system_of(loaded.tasks)
    for preview, task, split in zip(previews, loaded.tasks, loaded.train):
        assert preview.name == task.name
        assert len(preview.examples) == min(examples, len(split))
        encoder = system.example_encoder(
            loaded.encoder, task.name, task.features
        )
        for name, column in encoder.token_columns().items():
            names = names_of(loaded.encoder, task, name)
            for number, example in enumerate(preview.examples):
                shown = [
                    "?" if one.kind == UNKNOWN else one.text
                    for one in example.tokens[tuple(column.texts)]
                    if one.kind != CUT
                ]
                ids = split.columns[name][number].tolist()
                expected = [
                    names[i].removeprefix("\\") if i < len(names) else "oov"
                    for i in ids
                ]
                expected = ["?" if n in LACKING else n for n in expected]
                assert shown == expected
    return previews


LACKING = ("oov", "[UNK]")


@pytest.mark.by_default("False-memory")
@pytest.mark.parametrize(
    ("casing", "storage"), [(False, "memory"), (True, "disk")]
)
def test_words_pairs_and_tags_are_those_of_the_training(
    tmp_path, casing, storage
):
    chosen = base.default_config()
    chosen.model.casing_dim = 4 * casing
    chosen.pipeline.storage = storage
    config = config_of(
        entries(tmp_path),
        chosen,
        **{"max_length": 6, "min_count": 3, "casing": casing},
    )
    joined, apart, things = assert_as_trained(
        config, tmp_path, lambda text, *_: text.vocabulary.tokens, 5
    )
    first, second, *_ = joined.examples
    (tokens,) = first.tokens.values()
    assert [(t.kind, t.text) for t in tokens if t.kind in (CUT, SPECIAL)] == [
        (CUT, "2"),
        (SPECIAL, "<sep>"),
        (CUT, "1"),
    ]
    assert first.raw == {
        "text": "the good book is bad",
        "text_pair": "not very bad",
    }
    assert first.targets == {"label": "yes"}
    (tokens,) = second.tokens.values()
    assert [t.text for t in tokens if t.kind == UNKNOWN] == ["zyx"]
    _, last = apart.examples[3].tokens.values()
    assert [t.text for t in last[-2:]] == ["a", "2"]
    assert last[-1].kind == CUT
    (tokens,) = things.examples[0].tokens.values()
    assert tokens[-1] == (CUT, "2")
    assert things.examples[0].targets == {"tags": "O B-T I-T O O O"}
    assert things.examples[0].raw == {"tokens": " ".join(SENTENCE["tokens"])}


def test_lengths_are_those_of_whole_texts(tmp_path):
    config = config_of(entries(tmp_path), max_length=6, min_count=1)
    joined, apart, things = previews_of(config)
    assert [texts.split for texts in joined.texts] == [
        "train",
        "validation",
        "test",
    ]
    assert joined.texts[0].texts == ("text", "text_pair")
    # A separator in each.
    assert joined.texts[0].lengths.tolist() == [9, 5, 9, 11, 2]
    assert joined.texts[0].cut == pytest.approx(3 / 5)
    assert [texts.texts for texts in apart.texts[:2]] == [
        ("text",),
        ("text_pair",),
    ]
    assert apart.texts[1].lengths.tolist() == [3, 2, 2, 8, 1]
    assert apart.texts[1].cut == pytest.approx(1 / 5)
    assert things.texts[0].lengths.tolist() == [8, 8]
    rare = config_of(entries(tmp_path)[2:], max_length=6, min_count=2)
    (things,) = previews_of(rare)
    assert things.texts[0].unknown == pytest.approx(2 / 12)


def test_texts_that_are_never_cut(tmp_path):
    config = config_of(entries(tmp_path)[1:2], max_length=0)
    (preview,) = previews_of(config)
    assert {texts.cut for texts in preview.texts} == {None}
    assert preview.texts[0].lengths.tolist() == [5, 2, 6, 2, 0]


@pytest.mark.extended
def test_pieces_of_an_encoder_are_those_of_the_training(tmp_path):
    preset = small_presets.bert(tmp_path / "bert")
    chosen = base.default_config()
    chosen.model.encoder.preset = preset
    chosen.model.scheme = {"name": "direct"}
    config = config_of(entries(tmp_path), chosen, max_length=9)
    joined, apart, things = assert_as_trained(
        config, tmp_path, lambda text, *_: text.pieces, 5
    )
    (tokens,) = joined.examples[3].tokens.values()
    specials = [t.text for t in tokens if t.kind == SPECIAL]
    assert specials == ["[CLS]", "[SEP]", "[SEP]"]
    assert [t.text for t in tokens if t.kind == CUT] == ["4"]
    assert joined.texts[0].lengths.tolist()[0] == 5 + 3 + 3
    text, _ = apart.examples[0].tokens.values()
    assert [t.text for t in text[1:3]] == ["the", "good"]
    # Words are cut, and no piece: the snowman has an unknown one.
    (tokens,) = things.examples[0].tokens.values()
    assert [t.text for t in tokens[1:3]] == ["the", "book"]
    assert [t.text for t in tokens if t.kind == UNKNOWN] == ["[UNK]"]
    assert things.texts[0].cut == 0.0


def test_pairs_that_are_left_out_of_a_translation(tmp_path):
    files = {}
    for split, longest in (("train", 1), ("validation", 0)):
        lines = {"source": ["the " * 9] * longest, "target": ["die"] * longest}
        lines["source"] += ["the dog", "the cat", "the dog"]
        lines["target"] += ["der Hund", "die Katze", "der Hund"]
        files[split] = {
            side: written(tmp_path / f"{split}.{side}", *texts)["train"]
            for side, texts in lines.items()
        }
    entry = {"name": "en-de", "type": "translation", "files": files}
    chosen = starter.get_config("translation")
    chosen.text.tokenizer = {"name": "whitespace", "lowercase": False}
    config = config_of([entry], chosen, max_length=5, min_count=2)
    (preview,) = assert_as_trained(
        config,
        tmp_path,
        lambda text, task, name: (
            (
                text.source if name == "tokens" else text.target(task.name)
            ).vocabulary.tokens
        ),
    )
    source, target = preview.texts[:2]
    assert source.left_out == target.left_out == {"long_source": 1}
    assert len(source.lengths) == 4 and source.cut is None
    first, second = preview.examples
    assert first.raw == {"source": "the dog", "target": "der Hund"}
    assert second.tokens["target",] == [
        (UNKNOWN, "die"),
        (UNKNOWN, "Katze"),
        (SPECIAL, "</s>"),
    ]


def test_words_of_their_own_in_questions(tmp_path):
    line = {"question": "who is it ?", "context": "it is Ann", "answer": "Ann"}
    more = {**line, "context": "who is it it is it", "answer": "who"}
    path = tmp_path / "questions.jsonl"
    files = written(path, json.dumps(line), json.dumps(more), json.dumps(more))
    entry = {"name": "mine", "type": "question_answering", "files": files}
    chosen = starter.get_config("question_answering")
    config = config_of([entry], chosen, max_length=4, min_count=3)
    (preview,) = assert_as_trained(
        config, tmp_path, lambda text, *_: text.vocabulary.tokens
    )
    first, second = preview.examples
    assert first.tokens["context",][-1].kind == UNKNOWN
    assert first.tokens["context",][-1].text.lower().strip("▁") == "ann"
    assert second.tokens["context",][-1] == (CUT, "2")
    assert first.tokens["answer",][-1].text == "</s>"


def test_separate_models_know_the_words_of_all_tasks(tmp_path):
    chosen = base.default_config()
    chosen.train_separately = True
    config = config_of(entries(tmp_path)[1:], chosen, min_count=1)
    apart, things = previews_of(config)
    assert {texts.unknown for texts in (*apart.texts, *things.texts)} == {0.0}
    assert KNOWN in {t.kind for t in things.examples[0].tokens["tokens",]}


def test_a_held_out_split_stands_before_that_of_the_test(tmp_path):
    files = written(
        tmp_path / "a.csv", "text,label", *["good,yes", "bad,no"] * 9
    )
    del files["validation"]
    files["unlabelled"] = str(tmp_path / "more.csv")
    (tmp_path / "more.csv").write_text("text\ngood or bad\n")
    entry = {"name": "a", "type": "classification", "files": files}
    (preview,) = previews_of(config_of([entry]))
    splits = [texts.split for texts in preview.texts]
    assert splits == ["train", "validation", "test"]


def test_wrong_data_are_refused_as_in_training(tmp_path):
    files = written(tmp_path / "a.csv", "text,label", "good,yes", "bad,")
    entry = {
        **{"name": "a", "type": "classification", "files": files},
        "labels": ["yes", "no"],
    }
    with pytest.raises(DataError):
        previews_of(config_of([entry]))
