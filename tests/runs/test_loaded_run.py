import json
import os
import shutil
import threading

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.runs import fitting
from mtl_tf.training.checkpoints.saved_weights import BestWeights
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
    labelled = tf.data.Dataset.from_tensor_slices((tensor, [1, 0, 1]))
    weighted = tf.data.Dataset.zip(named, labelled, labelled)
    for given in (dataset, named, labelled, weighted):
        assert run.predict("plain", given) == known
        assert run.predict("plain", given.batch(2)) == known
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
        (
            tf.data.Dataset.from_tensors(["a", "b"]).batch(1),
            "each must be a string",
        ),
    ],
)
def test_examples_that_are_none(run, given, message):
    with pytest.raises(TypeError, match=message):
        run.predict("plain", given)


def test_the_wrong_one_of_many_examples_is_named(run):
    message = r"^examples\[2\]: the task plain .* got \{'text': nan\}"
    with pytest.raises(TypeError, match=message):
        run.predict("plain", ["yes", "no", {"text": float("nan")}])


def test_a_run_shows_its_folder_and_its_tasks(run, toy_run):
    assert repr(run).startswith(f"<run {toy_run}: ")
    assert "mirror (classification)" in repr(run)


def test_another_thread_changes_no_weights_amid_a_prediction(
    toy_run, tmp_path, monkeypatch
):
    run = mtl_tf.load(shutil.copytree(toy_run, tmp_path / "toy"))
    kept = run.model.get_weights()
    run.model.set_weights([np.zeros_like(value) for value in kept])
    folder = os.path.join(run.directory.path, "fine_tuned", "mirror", "best")
    BestWeights(folder, run.model).save(1, 0.5)
    run.model.set_weights(kept)
    texts = ["the yes tree no stone", "no a yes of"]
    expected = {name: run.predict(name, texts) for name in ("plain", "mirror")}
    predict, others = run.predictor.predict, []

    def interrupted(*args, **options):
        if not others:
            other = threading.Thread(
                target=lambda: others.append(run.predict("mirror", texts))
            )
            others.append(other)
            other.start()
            other.join(timeout=2)
        return predict(*args, **options)

    monkeypatch.setattr(run.predictor, "predict", interrupted)
    assert run.predict("plain", texts) == expected["plain"]
    others[0].join()
    assert others[1] == expected["mirror"]


def test_weights_of_a_task_that_is_not_there(run):
    with pytest.raises(ConfigError, match="unknown task 'plan'.* 'plain'"):
        run.weights_for("plan")


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


def test_a_frame_with_two_columns_of_one_name(run):
    frame = Frame(["the yes tree"])
    frame.columns = ("text", "text")
    with pytest.raises(DataError, match="2 columns .* are called 'text'"):
        run.predict("plain", frame)


def scores(run, texts, **options):
    answers = run.predict("plain", texts, **options)
    return [answer["scores"]["1"] for answer in answers]


def test_a_text_is_scored_the_same_in_any_company(run):
    # Over hundreds of words a recurrence may make much of a rounding error.
    texts = ["yes no", "", "no tree " * 30, "the yes of a no stone", "x"]
    alone = [scores(run, [text])[0] for text in texts]
    together = scores(run, texts, batch_size=5)
    two = scores(run, texts, batch_size=2)
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(two, alone, rtol=1e-5, atol=1e-6)


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


def last_and_other_best(run, toy_run, folder):
    """A run whose best weights, all zeros, are not the last ones."""
    copy = str(shutil.copytree(toy_run, folder / "toy"))
    run.weights_for("plain")
    kept = run.model.get_weights()
    run.model.set_weights([np.zeros_like(value) for value in kept])
    BestWeights(os.path.join(copy, "best"), run.model).save(1, 0.5)
    run.model.set_weights(kept)
    return copy


def test_the_last_weights_are_those_of_the_newest_checkpoint(
    run, toy_run, tmp_path, caplog
):
    """There were the best ones only."""
    copy = last_and_other_best(run, toy_run, tmp_path)
    assert not any(w.any() for w in mtl_tf.load(copy).model.get_weights())
    caplog.set_level("INFO", logger="absl")
    last = mtl_tf.load(copy, weights="last")
    newest = tf.train.latest_checkpoint(os.path.join(copy, "checkpoints"))
    stored = tf.train.load_checkpoint(newest)
    for variable in last.model.variables:
        path = variable.path.partition("/")[2]
        key = path.replace(".", "..").replace("/", ".S")
        value = stored.get_tensor(f"model/{key}/.ATTRIBUTES/VARIABLE_VALUE")
        np.testing.assert_array_equal(variable.numpy(), value, err_msg=path)
    step = stored.get_tensor("step/.ATTRIBUTES/VARIABLE_VALUE")
    assert f"those of step {step} in {copy}" in caplog.text
    assert "could not be found" not in caplog.text  # of the optimizer
    assert last.predict("plain", ["no yes"])[0]["label"] in ("0", "1")
    # Those of a task's own stage come first, as of the best ones.
    shutil.copytree(
        os.path.join(copy, "checkpoints"),
        os.path.join(copy, "fine_tuned", "mirror", "checkpoints"),
    )
    assert last.weights_for("mirror").startswith(f"{copy}/fine_tuned/mirror/")
    assert last.weights_for("plain") == f"{copy}/checkpoints"


def test_what_is_of_the_best_weights_is_not_made_with_the_last(
    run, toy_run, tmp_path, caplog
):
    copy = last_and_other_best(run, toy_run, tmp_path)
    with open(os.path.join(copy, "fitted.json"), "w") as file:
        json.dump({"plain": {"temperature": 2.0}}, file)
    last = mtl_tf.load(copy, weights="last")
    assert "fitted.json were fitted with the best weights" in caplog.text
    with pytest.raises(ConfigError, match="launch.compare reads is of a run's"):
        last.evaluate(keep=True)
    with pytest.raises(ConfigError, match="fitted.json is of a run's best"):
        fitting.fit(last, [])
    with pytest.raises(
        ConfigError, match="unknown weights .newest.; did you mean .best."
    ):
        mtl_tf.load(copy, weights="newest")


def test_averages_are_told_not_to_be_in_the_last_weights(
    run, toy_run, tmp_path, caplog
):
    copy = last_and_other_best(run, toy_run, tmp_path)
    last = mtl_tf.load(copy, weights="last")
    caplog.set_level("INFO", logger="absl")
    last.config["training"]["average_last"] = 3
    last.loaded = None
    last.weights_for("plain")
    assert f"in {copy}, not their average." in caplog.text


def test_last_weights_that_are_not_there(run, toy_run, tmp_path):
    copy = last_and_other_best(run, toy_run, tmp_path)
    states = os.path.join(copy, "checkpoints")
    newest = tf.train.latest_checkpoint(states)
    with open(f"{newest}.index", "r+b") as file:
        file.truncate(9)
    with pytest.raises(RunError, match="cannot read the weights .*/ckpt-"):
        mtl_tf.load(copy, weights="last")
    with open(os.path.join(states, "checkpoint"), "w"):
        pass
    with pytest.raises(RunError, match="checkpoint names no state that is"):
        mtl_tf.load(copy, weights="last")
    shutil.rmtree(states)
    with pytest.raises(RunError, match="has its best weights alone"):
        mtl_tf.load(copy, weights="last")
