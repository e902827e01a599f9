import ml_collections
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.mixing import MIXINGS, for_tasks, make_mixing

PHASES = {
    "name": "phases",
    "phases": [
        {"tasks": [2], "epochs": 2},
        {"tasks": [0, 1], "steps": 25, "mixing": {"name": "round_robin"}},
    ],
    "mixing": {"name": "shuffled_rounds"},
}
CONFIGS = [PHASES if name == "phases" else {"name": name} for name in MIXINGS]
CONFIGS += [{"name": "blocks", "block": 3}]
BATCHES = [4, 9, 1]
names = pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c["name"])


def tally(mixing, start, stop):
    tasks = mixing.tasks(start, stop).ravel()
    return np.bincount(tasks, minlength=len(mixing.batches_per_task))


@names
def test_tasks_have_the_shape_and_type_of_the_contract(config):
    mixing = make_mixing(config, BATCHES, 1)
    tasks = mixing.tasks(5, 47)
    assert tasks.dtype == np.int32
    assert tasks.shape == (42, 3 if config["name"] == "joint" else 1)
    assert mixing.tasks(7, 7).shape == (0, tasks.shape[1])


@names
@settings(deadline=None, max_examples=15)
@given(data=st.data())
def test_steps_do_not_depend_on_where_one_starts(config, data):
    batches = data.draw(st.lists(st.integers(1, 9), min_size=3, max_size=5))
    cuts = st.integers(0, 3000)
    a, b, c = sorted(data.draw(st.tuples(cuts, cuts, cuts)))
    one, other = (make_mixing(config, batches, 1) for _ in range(2))
    whole = one.tasks(a, c)
    parts = [other.tasks(b, c), other.tasks(a, b)]  # out of order on purpose
    np.testing.assert_array_equal(whole, np.concatenate(parts[::-1]))
    np.testing.assert_array_equal(one.counts(b), tally(other, 0, b))
    assert one.counts(b).dtype == np.int64


@names
def test_counts_of_a_late_step(config):
    mixing = make_mixing(config, [90] * 16, 1)
    counts = mixing.counts(1_000_000)
    mixing.tasks(1_000_000, 1_000_256)
    groups = 16 if config["name"] == "joint" else 1
    assert counts.sum() == 1_000_000 * groups


@pytest.mark.parametrize(
    "config",
    [c for c in CONFIGS if c["name"] in ("uniform", "shuffled_rounds")],
)
def test_the_seed_matters(config):
    first, second = (make_mixing(config, BATCHES, s) for s in (1, 2))
    assert not np.array_equal(first.tasks(0, 50), second.tasks(0, 50))


def expected_temperature(batches, temperature, cap):
    rates = np.minimum(batches, cap) ** (1 / temperature)
    return rates / rates.sum()


@pytest.mark.parametrize(
    "config, shares",
    [
        ({"name": "uniform"}, [1 / 3] * 3),
        ({"name": "proportional"}, [0.1, 0.3, 0.6]),
        ({"name": "temperature", "temperature": 1}, [0.1, 0.3, 0.6]),
        (
            {"name": "temperature", "temperature": 3.0, "cap": 40},
            expected_temperature([10, 30, 60], 3.0, 40),
        ),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_mixings_draw_with_their_probabilities(config, shares, seed):
    mixing = make_mixing(config, [10, 30, 60], seed)
    np.testing.assert_allclose(mixing.probabilities, shares)
    steps = 50_000
    expected = np.asarray(shares) * steps
    seen = tally(mixing, 0, steps)
    chi_square = np.sum((seen - expected) ** 2 / expected)
    assert chi_square < 13.8  # 2 degrees of freedom: passed by 999 of 1000


def test_weights_are_by_task():
    config = {"name": "weighted", "weights": {"b": 3, "c": 0.5}}
    mixing = make_mixing(config, [7, 1, 4], 5, ["a", "b", "c"])
    shares = np.array([1, 3, 0.5]) / 4.5
    np.testing.assert_allclose(mixing.probabilities, shares)
    seen = tally(mixing, 0, 50_000) / 50_000
    np.testing.assert_allclose(seen, shares, atol=0.01)


@pytest.mark.parametrize(
    "weights, message",
    [
        ({"bb": 1}, "unknown task in mixing.weights 'bb'.*'b'"),
        ({"b": 0}, r"mixing.weights\['b'\] must be positive, got 0"),
        ({"b": "1"}, r"mixing.weights\['b'\] must be positive, got '1'"),
        ([1, 2], "must give numbers by task"),
    ],
)
def test_wrong_weights_are_named(weights, message):
    config = {"name": "weighted", "weights": weights}
    with pytest.raises(ConfigError, match=message):
        make_mixing(config, [7, 1], 5, ["a", "b"])


def test_blocks_of_draws_differ_from_each_other():
    tasks = make_mixing("uniform", [1, 1], 0).tasks(0, 4096)[:, 0]
    first = tasks.reshape(4, 1024)
    assert len({tuple(block) for block in first}) == 4
    # Neighbouring steps are independent: half of them change the task.
    assert 0.45 < np.mean(tasks[1:] != tasks[:-1]) < 0.55


def test_a_tiny_temperature_stays_finite():
    config = {"name": "temperature", "temperature": 1e-3}
    mixing = make_mixing(config, [10, 1000], 0)
    np.testing.assert_allclose(mixing.probabilities, [0, 1], atol=1e-12)


def test_round_robin_takes_turns():
    tasks = make_mixing("round_robin", BATCHES, 0).tasks(2, 9)[:, 0]
    np.testing.assert_array_equal(tasks, [2, 0, 1, 2, 0, 1, 2])


def test_blocks_stay_with_a_task():
    config = {"name": "blocks", "block": 3}
    tasks = make_mixing(config, [1, 1], 0).tasks(0, 10)[:, 0]
    np.testing.assert_array_equal(tasks, [0, 0, 0, 1, 1, 1, 0, 0, 0, 1])
    assert make_mixing("blocks", [1, 1], 0).block == 1000


@settings(deadline=None, max_examples=30)
@given(
    batches=st.lists(st.integers(1, 7), min_size=1, max_size=5),
    seed=st.integers(0, 100),
    epoch=st.integers(0, 3),
)
def test_algorithm_1_exhausts_every_task_in_rounds(batches, seed, epoch):
    mixing = make_mixing("shuffled_rounds", batches, seed)
    length = mixing.steps_per_epoch
    assert length == sum(batches)
    tasks = mixing.tasks(epoch * length, (epoch + 1) * length)[:, 0]
    position = 0
    for done in range(max(batches)):
        left = {t for t, count in enumerate(batches) if count > done}
        one_round = tasks[position : position + len(left)]
        assert sorted(one_round) == sorted(left)
        position += len(left)


def test_algorithm_1_shuffles_every_round_and_epoch():
    mixing = make_mixing("shuffled_rounds", [20] * 8, 0)
    rounds = mixing.tasks(0, 320).reshape(40, 8)
    assert len({tuple(r) for r in rounds}) == 40


def test_joint_steps_hold_every_task():
    mixing = make_mixing("joint", BATCHES, 0)
    assert mixing.groups == 3
    np.testing.assert_array_equal(mixing.tasks(5, 7), [[0, 1, 2]] * 2)
    np.testing.assert_array_equal(mixing.counts(5), [5, 5, 5])
    assert mixing.steps_per_epoch == 9


def test_phases_run_one_after_another_then_all_tasks():
    mixing = make_mixing(PHASES, BATCHES, 0)
    tasks = mixing.tasks(0, 27 + 14)[:, 0]
    np.testing.assert_array_equal(tasks[:2], [2, 2])
    np.testing.assert_array_equal(tasks[2:27], np.arange(25) % 2)
    np.testing.assert_array_equal(np.bincount(tasks[27:]), BATCHES)
    assert mixing.steps_per_epoch == 14


def test_phases_know_tasks_by_name():
    config = {"name": "phases", "phases": [{"tasks": ["mnli"], "epochs": 0.5}]}
    mixing = make_mixing(config, [4, 9], 0, ["squad", "mnli"])
    np.testing.assert_array_equal(mixing.tasks(0, 5)[:, 0], [1] * 5)
    assert set(mixing.tasks(5, 105)[:, 0]) == {0, 1}


def test_weights_beside_phases_are_those_of_all_tasks():
    phase = {"tasks": ["a", "b"], "steps": 2000}
    weighted = {"name": "weighted", "weights": {"b": 3.0, "c": 8.0}}
    config = {"name": "phases", "phases": [phase], "mixing": weighted}
    mixing = make_mixing(config, BATCHES, 0, ["a", "b", "c"])
    shares = tally(mixing, 0, 2000) / 2000
    np.testing.assert_allclose(shares, [1 / 4, 3 / 4, 0], atol=0.05)
    shares = tally(mixing, 2000, 4000) / 2000
    np.testing.assert_allclose(shares, [1 / 12, 3 / 12, 8 / 12], atol=0.05)
    config["mixing"] = {**weighted, "weights": {"d": 1.0}}
    with pytest.raises(ConfigError, match="unknown task in .* 'd'"):
        make_mixing(config, BATCHES, 0, ["a", "b", "c"])
    # What a phase says itself is of its own tasks.
    phase["mixing"] = weighted
    with pytest.raises(ConfigError, match="unknown task in .* 'c'"):
        make_mixing(config, BATCHES, 0, ["a", "b", "c"])


def test_phases_draw_independently():
    again = {"tasks": [0, 1, 2], "steps": 50}
    config = {"name": "phases", "phases": [again, again]}
    tasks = make_mixing(config, BATCHES, 0).tasks(0, 150).reshape(3, 50)
    assert len({tuple(phase) for phase in tasks}) == 3


def test_options_of_a_config_dict_and_none():
    config = ml_collections.ConfigDict(
        {"name": "blocks", "block": 2, "temperature": None}
    )
    assert make_mixing(config, [1, 1], 0).block == 2


def phases(*parts):
    return {"name": "phases", "phases": list(parts)}


@pytest.mark.parametrize(
    "config, message",
    [
        ({"name": "unifrom"}, "unknown mixing 'unifrom'; did you mean 'uni"),
        ({}, "unknown mixing None"),
        (3, "a mixing must be a dict, got 3"),
        (
            {"name": "blocks", "blok": 3},
            "no option 'blok'; did you mean 'block",
        ),
        ({"name": "uniform", "cap": 3}, "no option 'cap'; known: none"),
        ({"name": "blocks", "block": 0}, "mixing.block must be a positive"),
        ({"name": "temperature", "temperature": 0}, "must be positive, got 0"),
        ({"name": "temperature", "temperature": float("nan")}, "got nan"),
        ({"name": "temperature", "cap": -1}, "zero or positive, got -1"),
        ({"name": "phases"}, "must list phases"),
        (phases({"tasks": [0]}), r"phases\[0\] must give either steps or"),
        (phases({"tasks": [0], "steps": 1, "epochs": 1}), "either steps or"),
        (phases({"tasks": [0], "steps": 0}), r"phases\[0\].steps must be"),
        (phases({"tasks": [0], "epochs": -1}), r"phases\[0\].epochs must be"),
        (phases({"tasks": [], "steps": 1}), r"\.tasks must list tasks, got"),
        (phases({"tasks": "books", "steps": 1}), "must list tasks"),
        (phases({"tasks": [3], "steps": 1}), "unknown task in .* 3"),
        (phases({"tasks": ["boks"], "steps": 1}), "did you mean 'books'"),
        (phases({"tasks": [1, "dvd"], "steps": 1}), "names a task twice"),
        (phases({"tasks": [0], "step": 1}), "did you mean 'steps'"),
        (phases(7), "a phase must be a dict, got 7"),
        (
            phases({"tasks": [0], "steps": 1, "mixing": "joint"}),
            "cannot hold joint steps",
        ),
    ],
)
def test_wrong_options(config, message):
    with pytest.raises(ConfigError, match=message):
        make_mixing(config, BATCHES, 0, ["books", "dvd", "toys"])


@pytest.mark.parametrize("batches", [[], [3, 0]])
def test_tasks_without_batches(batches):
    with pytest.raises(ConfigError, match="at least one batch each"):
        make_mixing("uniform", batches, 0)


@pytest.mark.parametrize(
    "config",
    [
        {"name": "weighted", "weights": {"a": 1.0, "b": 2.0}},
        {"name": "phases", "phases": [{"tasks": ["a"], "steps": 1}]},
    ],
)
def test_a_single_task_is_not_mixed(config):
    assert for_tasks(config, ["a", "b"]) == config
    assert for_tasks(config, ["b"]) == {"name": "round_robin"}
    with pytest.raises(ConfigError, match="unknown task in mixing"):
        for_tasks(config, ["c", "d"])
    assert for_tasks({"name": "uniform"}, ["c"]) == {"name": "uniform"}
