import numpy as np
import pytest

import mtl_tf
from mtl_tf.configs import base
from mtl_tf.core.errors import DataError, RunError
from mtl_tf.pipelines.examples import encoding
from mtl_tf.pipelines.examples.text_examples import TextExamples
from mtl_tf.prediction import task_types as prediction_types
from mtl_tf.prediction.clean_parts import CleanParts, texts
from mtl_tf.prediction.prediction_type import as_tensors
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks import registry
from mtl_tf.tasks.features import inputs
from tests.system import tagging
from tests.system.random_runs import write_weights

TRAIN = "The DT\ncat NN\n\nA DT\ndog NN\nsees VB\n\n"


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    return str(tmp_path_factory.mktemp("builds"))


def loaded(tmp_path, builds, max_length=400):
    files = {}
    for split, text in (("train", TRAIN), ("test", "A DT\ndog NN\n\na b\n")):
        path = tmp_path / f"{split}.conll"
        path.write_text(text)
        files[split] = str(path)
    config = base.paper_config().to_dict()
    tags = {"name": "tags", "type": "tagging", "files": files}
    config["tasks"] = ["sample_reviews/books", tags]
    config["text"]["characters"]["max_word_length"] = 6
    config["text"]["max_length"] = max_length
    run = RunDirectory(str(tmp_path / "run"))
    return run_data.load(config, run, builds, None), config


@pytest.mark.extended
def test_data_of_both_kinds(tmp_path, builds):
    first, _ = loaded(tmp_path, builds)
    again, config = loaded(tmp_path, builds)
    assert [task.type for task in first.tasks] == ["classification", "tagging"]
    books, tags = first.train
    assert set(books.columns) == set(tags.columns)
    assert {"characters", "label", "tags"} <= set(tags.columns)
    assert not books.columns["tags"].values.any()
    # What the run directory holds gives the same numbers again.
    for a, b in zip(first.train + first.validation, again.train):
        for key in a.columns:
            np.testing.assert_array_equal(
                a.columns[key].values, b.columns[key].values
            )


def test_the_clean_part_compares_joined_tokens(tmp_path, builds):
    run, config = loaded(tmp_path, builds)
    parts = CleanParts(config["tasks"][1:], None, None)
    about = parts.about(run.tasks[1], "test")
    assert list(texts(run.tasks[1], "test")) == [b"A dog", b"a"]
    assert about["clean"].tolist() == [True, True]


def test_sentences_are_whole_and_given_tokens_are_encoded(tmp_path, builds):
    run, _ = loaded(tmp_path, builds, max_length=1)
    predictions = prediction_types.of("tagging")
    tokens = predictions.inputs(run.tasks[1], "test")
    tags = predictions.targets(run.tasks[1], "test")
    assert tokens == [["A", "dog"], ["a"]]
    labels = run.tasks[1].labels
    assert [[labels[i] for i in row] for row in tags] == [["DT", "NN"], ["b"]]
    given = [{"tokens": words} for words in (["A", "dog"], [], ["x y"])]
    read = TextExamples(run.encoder, inputs(run.tasks[1].features))
    split = encoding.TensorEncoder(read)(as_tensors(given))
    assert split.lengths.tolist() == [1, 0, 1]
    assert set(split.columns) == {"tokens", "characters"}
    assert run.train[1].lengths.max() == 1


@pytest.mark.extended
def test_a_run_numbers_labels_as_it_was_trained(tmp_path):
    _, *entries = tagging.entries(tmp_path)
    run = mtl_tf.load(tagging.write_run(tmp_path / "run", entries))
    before = run.evaluate("validation")
    # Tags are those of all files: a new one moves the others' numbers.
    (tmp_path / "test.conll").write_text("EU AAA B-NP\n")
    (words,) = registry.resolve(entries)
    assert words.labels == ("AAA", *run.tasks[0]["labels"])
    assert run.evaluate("validation") == before
    with pytest.raises(DataError, match="test.conll:1: unknown tag 'AAA'"):
        run.evaluate()


def test_labels_that_nobody_can_number_as_before_are_refused(tmp_path, builds):
    config = base.paper_config().to_dict()
    config["tasks"] = ["sample_reviews/books"]
    config["model"]["scheme"] = {"name": "nbow"}
    run, _ = write_weights(tmp_path / "run", config, data_dir=builds)
    run = mtl_tf.load(run.path)
    run.tasks[0]["labels"].reverse()
    with pytest.raises(RunError, match="of the task books are others than"):
        run.evaluate(data_dir=builds)
