"""The paired bootstrap against what is known of its results."""

import json

import numpy as np
import pytest
from scipy import stats

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation import scored_examples
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.significance import compare


def predictions(right, name="a", **fields):
    """A task whose examples are right where `right` holds."""
    right = np.asarray(right, bool)
    labels = np.arange(len(right)) % 2
    fields = {"metrics": ("accuracy",), "class_names": ("n", "p")} | fields
    return TaskPredictions(
        name=name,
        labels=labels,
        predictions=np.where(right, labels, 1 - labels),
        **fields,
    )


def some(share, size=200, seed=0):
    return np.random.default_rng(seed).random(size) < share


def test_equal_systems_do_not_differ():
    one = {"a": predictions(some(0.8))}
    found, mean = compare([one], [one], draws=200)
    assert found["a"].gain == mean.gain == 0
    assert found["a"].p_value == mean.p_value == 1.0
    assert found["a"].interval == (0.0, 0.0)


@pytest.mark.extended
def test_the_p_value_is_near_that_of_the_exact_test():
    """McNemar's, of the examples on which only one system is right."""
    for seed, (a, b) in enumerate([(0.7, 0.8), (0.75, 0.78), (0.9, 0.8)]):
        first, second = some(a, 400, seed), some(b, 400, 90 + seed)
        one, other = {"a": predictions(first)}, {"a": predictions(second)}
        found = compare([one], [other], draws=4000)[0]["a"]
        gain = 100 * (second.mean() - first.mean())
        assert found.gain == pytest.approx(gain)
        assert found.scores == pytest.approx(
            (100 * first.mean(), 100 * second.mean())
        )
        better, worse = np.sum(second & ~first), np.sum(first & ~second)
        exact = stats.binomtest(int(better), int(better + worse)).pvalue
        assert abs(found.p_value - exact) < 0.03
        low, high = found.interval
        assert low < gain < high
        assert (low > 0 or high < 0) == (found.p_value < 0.05)


def test_standard_errors_are_those_of_a_share():
    right = some(0.8, 500)
    found = compare(
        [{"a": predictions(right)}], [{"a": predictions(~right)}], draws=4000
    )[0]["a"]
    expected = 100 * np.sqrt(right.mean() * (1 - right.mean()) / 500)
    assert found.standard_errors == pytest.approx((expected,) * 2, rel=0.05)


def test_pairing_finds_what_single_test_sets_hide():
    """Ten examples more are right, none less: far below a standard error."""
    first = some(0.7, 1000)
    second = first.copy()
    second[np.flatnonzero(~first)[:10]] = True
    found = compare(
        [{"a": predictions(first)}], [{"a": predictions(second)}], draws=1000
    )[0]["a"]
    assert found.gain == pytest.approx(1.0)
    assert found.gain < found.standard_errors[0]
    assert found.p_value < 0.01


def test_the_choice_of_seeds_counts():
    """One seed is clearly better; of three, another is clearly worse."""
    bad, good = some(0.7, 800), some(0.9, 800, 1)
    first = [{"a": predictions(some(0.8, 800, 2))}] * 3
    one = compare(first[:1], [{"a": predictions(good)}], draws=500)[0]["a"]
    assert one.p_value < 0.01
    mixed = [{"a": predictions(right)} for right in (bad, good, bad)]
    several = compare(first, mixed, draws=500)[0]["a"]
    expected = 100 * np.mean([bad.mean(), good.mean(), bad.mean()])
    assert several.scores[1] == pytest.approx(expected)
    assert several.p_value > 0.05
    low, high = several.interval
    assert high - low > 10


def test_the_mean_is_over_tasks_and_lower_may_be_better():
    draw = np.random.default_rng(0)
    labels = draw.normal(size=300)

    def numbers(noise):
        return TaskPredictions(
            name="n",
            type="regression",
            labels=labels,
            predictions=labels + noise * draw.normal(size=300),
            class_names=(),
            metrics=("mse", "pearson"),
        )

    right = some(0.8)
    first = {"a": predictions(right), "n": numbers(1.0)}
    second = {"a": predictions(right), "n": numbers(0.5)}
    found, mean = compare([first], [second], draws=300)
    assert found["n"].metric == "mse" and found["n"].p_value < 0.01
    before, after = found["n"].scores
    assert found["n"].gain == pytest.approx(before - after) and after < before
    assert mean.gain == pytest.approx(found["n"].gain / 2)
    assert mean.examples == 500


@pytest.mark.parametrize(
    "task",
    [
        TaskPredictions(
            name="t",
            type="tagging",
            labels=[[0, 1, 2], [0, 0], [1, 2, 0]],
            predictions=[[0, 1, 2], [0, 1], [1, 0]],
            class_names=("O", "B-X", "I-X"),
            metrics=("span_f1", "token_accuracy"),
            settings={"scheme": "iob2"},
        ),
        TaskPredictions(
            name="en-de",
            type="translation",
            labels=["das ist ein Haus", "ein Hund läuft schnell", "ja"],
            predictions=["das ist ein Haus", "ein Hund rennt schnell", "na"],
            class_names=(),
            metrics=("bleu",),
        ),
        TaskPredictions(
            name="m",
            type="multi_label",
            labels=np.array([[1, 0], [1, 1], [0, 1]], bool),
            predictions=np.array([[1, 1], [1, 1], [0, 0]], bool),
            scores=np.array([[0.9, 0.6], [0.8, 0.7], [0.2, 0.4]]),
            class_names=("x", "y"),
            metrics=("average_precision",),
        ),
    ],
    ids=lambda task: task.type,
)
def test_every_type_is_compared_and_kept(task, tmp_path):
    """What was written and read is scored the same, also with repetitions."""
    from mtl_tf.evaluation import task_types

    scored_examples.write(str(tmp_path), "test", [task])
    read = scored_examples.read(str(tmp_path), "test")[task.name]
    rows = np.array([2, 0, 0])
    scorer = task_types.of(task.type).scorer
    once, again = scorer(task).part(rows), scorer(read).part(rows)
    assert once == again and once["examples"] == 3
    every = scorer(task).part(np.ones(3, bool))
    assert every == scorer(task).part(np.arange(3))
    found, _ = compare([{"t": task}], [{"t": read}], draws=5)
    assert found["t"].gain == 0


def test_what_is_kept_of_a_split_is_that_split_alone(tmp_path):
    scored_examples.write(str(tmp_path), "test", [predictions([1, 0])])
    assert scored_examples.read(str(tmp_path), "validation") == {}
    path = tmp_path / "scored" / "test" / "a.json"
    whole = json.loads(path.read_text())
    halves = (
        json.dumps(whole | {name: value})
        for name in ("labels", "predictions", "metrics")
        for value in (None, [], 3)
    )
    for damaged in ("[]", "{}", "null", "{", *halves):
        path.write_text(damaged)
        with pytest.raises(RunError, match=r"a\.json"):
            scored_examples.read(str(tmp_path), "test")


def test_there_are_draws():
    one = {"a": predictions([1, 0])}
    with pytest.raises(ConfigError, match="draws must be a positive integer"):
        compare([one], [one], draws=0)


def test_turns_of_a_dialogue_are_drawn_together():
    """A state stays wrong once it is: there are few dialogues, many turns."""
    draw = np.random.default_rng(0)

    def answered(right):
        rows = [(d, t) for d in range(len(right)) for t in range(len(right[d]))]
        return TaskPredictions(
            name="woz",
            type="question_answering",
            labels=[
                {
                    "answers": [f"slot{t}: yes"],
                    "scoring": json.dumps({"dialogue": d, "turn": t}),
                }
                for d, t in rows
            ],
            predictions=[
                f"slot{t}: {'yes' if right[d][t] else 'no'}" for d, t in rows
            ],
            class_names=(),
            metrics=("dsem",),
        )

    sides = draw.random((2, 100, 5)) < 0.85
    one, other = ([{"woz": answered(side)}] for side in sides)
    found = compare(one, other, draws=1000)[0]["woz"]
    assert found.examples == 500
    # The state's share of right turns is a mean over dialogues of equal length.
    for side, error in zip(sides, found.standard_errors):
        of_dialogues = 100 * np.cumprod(side, axis=1).mean(axis=1)
        expected = np.std(of_dialogues) / np.sqrt(100)
        assert error == pytest.approx(expected, rel=0.1)


def test_questions_about_a_context_are_drawn_together(tmp_path):
    """A context whose questions are all right or all wrong is one example."""
    right = some(0.8, 100)
    units = np.repeat(np.arange(100), 5)
    one = {"a": predictions(np.repeat(right, 5), units=units.tolist())}
    scored_examples.write(str(tmp_path), "test", one.values())
    one = scored_examples.read(str(tmp_path), "test")
    expected = 100 * np.sqrt(right.mean() * (1 - right.mean()) / 100)
    # Of an older version, without units.
    other = {"a": predictions(some(0.7, 500, 1))}
    for n, sides in enumerate([(one, other), (other, one)]):
        found = compare([sides[0]], [sides[1]], draws=1000)[0]["a"]
        assert found.standard_errors[n] == pytest.approx(expected, rel=0.1)
    singly = compare([other], [other], draws=1000)[0]["a"]
    assert singly.standard_errors[0] < expected / 1.7


def test_units_of_parts_stay_apart():
    parts = [predictions([1, 0, 1], units=units) for units in ([0, 1, 0],) * 2]
    joined = scored_examples.joined(parts)
    assert joined.units == [0, 1, 0, 2, 3, 2]
    parts[1] = predictions([1, 0, 1])
    assert scored_examples.joined(parts).units is None


@pytest.mark.parametrize("field", ["scores", "units"])
@pytest.mark.parametrize("value", [[0], 3, {}])
def test_a_damaged_file_is_told(tmp_path, field, value):
    scored_examples.write(str(tmp_path), "test", [predictions([1, 0])])
    path = tmp_path / "scored" / "test" / "a.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(RunError, match=f"must hold {field} of all 2 examples"):
        scored_examples.read(str(tmp_path), "test")
