import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from mtl_tf.core.errors import ConfigError
from tests import traces


@pytest.fixture(scope="module")
def run(toy_run):
    return mtl_tf.load(toy_run)


def test_predict_answers_texts(run):
    texts = ["the yes tree no stone", "no a yes of"]
    plain = run.predict("plain", texts)
    mirror = run.predict("mirror", texts)
    assert [a["label"] for a in plain] == ["1", "0"] or [
        a["label"] for a in plain
    ] == ["0", "1"]
    assert [a["label"] for a in plain] != [a["label"] for a in mirror]
    for answer in plain:
        assert set(answer["scores"]) == {"0", "1"}
        np.testing.assert_allclose(sum(answer["scores"].values()), 1, atol=1e-5)


def test_inputs_of_a_split_and_what_tensorflow_holds_are_predicted(run):
    texts = run.inputs("plain")[:3]
    (first, *_) = known = run.predict("plain", [t.decode() for t in texts])
    assert run.predict("plain", texts) == known
    tensor = tf.constant(texts)
    dataset = tf.data.Dataset.from_tensor_slices(tensor)
    named = tf.data.Dataset.from_tensor_slices({"text": tensor})
    for given in (tensor, dataset, named, np.array(texts)):
        assert run.predict("plain", given) == known
    assert run.predict("plain", dataset.take(0)) == []
    assert first["task"] == "plain"


@pytest.mark.parametrize(
    "given, message",
    [
        (b"the yes tree", "must be a list, got a string"),
        (tf.constant("the yes tree"), "must be a list, got a string"),
        (np.array(3), "must be a list, a DataFrame or a .*got ndarray"),
        (None, "must be a list, a DataFrame or a tf.data.Dataset, got None"),
        (3, "must be a list, a DataFrame or a tf.data.Dataset, got int"),
        ([b"caf\xe9"], "each must be a string, got b'caf"),
        (tf.data.Dataset.from_tensors(["a", "b"]), "each must be a string"),
    ],
)
def test_examples_that_are_none(run, given, message):
    with pytest.raises(TypeError, match=message):
        run.predict("plain", given)


class Frame:
    """What a DataFrame of pandas has; going through it gives its columns."""

    columns = ("text", "label")

    def __init__(self, texts):
        self.texts = texts

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return len(self.texts)

    def to_dict(self, orient):
        assert orient == "records"
        return [{"text": text, "label": 1} for text in self.texts]


def test_rows_of_a_frame_and_what_is_gone_through_once(run):
    texts = ["the yes tree no stone", "no a yes of"]
    expected = run.predict("plain", texts)
    assert run.predict("plain", Frame(texts)) == expected
    assert run.predict("plain", (text for text in texts)) == expected
    assert run.predict("plain", iter(())) == []


def scores(run, texts, **options):
    answers = run.predict("plain", texts, **options)
    return [answer["scores"]["1"] for answer in answers]


def test_a_text_is_scored_the_same_in_any_company(run):
    texts = ["yes no", "", "no tree " * 300, "the yes of a no stone", "x"]
    alone = [scores(run, [text])[0] for text in texts]
    together = scores(run, texts, batch_size=5)
    two = scores(run, texts, batch_size=2)
    np.testing.assert_allclose(together, alone, atol=1e-6)
    np.testing.assert_allclose(two, alone, atol=1e-6)


def test_compiled_and_plain_predictions_agree(run):
    texts = [f"{'yes no' if n % 2 else 'no yes'} tree" for n in range(300)]
    np.testing.assert_allclose(
        scores(run, texts), scores(run, texts[:2]) * 150, atol=1e-5
    )


def test_predicting_again_traces_nothing(toy_run):
    run = mtl_tf.load(toy_run)
    with traces.counted() as first:
        scores(run, ["yes no"])
        scores(run, ["yes no of a tree"])
    assert first
    with traces.counted() as later:
        scores(run, ["no"])
        scores(run, ["the yes of a no " * 30])
        scores(run, ["", "no tree"], batch_size=1)
    assert not later


def test_odd_texts_get_answers(run):
    huge = "yes " + "tree " * 100_000 + "no"
    odd = [huge, "", " \t\n", "\x00\x01", "ünï 🎉 \x85", "\udcff"]
    assert len(scores(run, odd)) == len(odd)
    assert np.isfinite(scores(run, odd)).all()
    assert run.predict("plain", []) == []


def test_an_unknown_task_offers_the_nearest(run):
    with pytest.raises(ConfigError, match="did you mean 'mirror'"):
        run.predict("miror", ["a"])
    with pytest.raises(TypeError, match="must be a list, got a string"):
        run.predict("plain", "a text")


def test_a_single_task_may_be_named_as_it_is(run):
    assert list(run.evaluate("test", "plain")["tasks"]) == ["plain"]


def test_evaluate_scores_any_split_and_chosen_tasks(run):
    results = run.evaluate("validation", ["mirror"])
    assert results["split"] == "validation"
    assert set(results["tasks"]) == {"mirror"}
    assert results["tasks"]["mirror"]["examples"] == 300
    assert "clean" not in results["tasks"]["mirror"]
    assert results["mean"]["overall"] > 95
