"""Which tasks a step has, and what is computed together."""

import dataclasses
import types

import numpy as np
import pytest

from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.served.served_batches import DataService
from mtl_tf.runs.stages.stage_batches import StageBatches
from mtl_tf.runs.stages.stage_plan import Stage
from tests.pipelines.helpers import (
    as_numpy,
    assert_same_batches,
    random_split,
)

# Words are tagged in short texts, and there are more of them.
SIZES = {"books": (40, 16), "names": (90, 6), "dvd": (23, 16)}
TYPES = ("classification", "tagging", "classification")
BATCH = 4


@dataclasses.dataclass
class Model:
    """What a stage asks of a model."""

    keys: tuple
    joint_key: str | None = None
    static_shapes: bool = False

    def key_of(self, task):
        return self.keys[task]


def data():
    splits = [random_split(name, *size) for name, size in SIZES.items()]
    task = types.SimpleNamespace(balanced=lambda settings: "")
    return types.SimpleNamespace(
        train=splits,
        boundaries=[8, 16],
        tasks=[
            types.SimpleNamespace(name=name, settings={}, task_type=task)
            for name in SIZES
        ],
    )


def batches(
    model, mixing="joint", tasks=(0, 1, 2), replicas=1, budget=0, **training
):
    config = base.paper_config().to_dict()
    config["pipeline"] |= {"batch_size": BATCH, "mixing": {"name": mixing}}
    config["pipeline"]["tokens_per_batch"] = budget
    config["training"] |= training
    stage = Stage("joint", "", tuple(tasks), tuple(tasks), False, 1, 0, 0, 0.1)
    return StageBatches(config, data(), model, stage, replicas)


def taken(made, start, stop, replicas=1):
    """The pieces of some steps, each as NumPy."""
    dataset = made.dataset(stop)(start, replicas, range(replicas))
    return [as_numpy(pieces) for pieces in dataset]


def test_joint_steps_of_several_types_have_a_batch_of_each():
    made = batches(Model(TYPES))
    assert made.pieces == [(0, 2), (1,)]
    assert made.next_key(5, 9) == (9, ("classification", "tagging"))
    steps = taken(made, 0, made.steps_per_epoch)
    assert len(steps) == made.steps_per_epoch
    for number, (texts, words) in enumerate(steps):
        np.testing.assert_array_equal(texts["task"], [0, 2])
        np.testing.assert_array_equal(words["task"], [1])
        assert texts["step"] == words["step"] == number
        # Each piece is as long as its own texts.
        assert words["tokens"].shape[2] <= 6
    assert max(texts["tokens"].shape[2] for texts, _ in steps) > 8


def test_own_classes_of_joint_have_its_pieces(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from mtl_tf.pipelines.mixing import Joint\n"
        "class Together(Joint):\n    pass\n"
    )
    own, made = (
        batches(Model(TYPES), name) for name in (f"{file}:Together", "joint")
    )
    assert own.pieces == made.pieces == [(0, 2), (1,)]
    assert own.next_key(5, 9) == made.next_key(5, 9)
    for one, other in zip(taken(own, 0, 9), taken(made, 0, 9), strict=True):
        assert_same_batches(one, other)


def test_an_epoch_ends_when_every_task_has_been_seen_whole():
    """`names` has the most batches; the others start over."""
    made = batches(Model(TYPES))
    assert made.steps_per_epoch == -(-SIZES["names"][0] // BATCH)
    seen = {number: [] for number in range(3)}
    for pieces in taken(made, 0, made.steps_per_epoch):
        for batch in pieces:
            for task, tokens in zip(batch["task"], batch["tokens"]):
                # A text's first token tells its place in its split.
                first = tokens[tokens[:, 0] > 0, 0] // 1000
                seen[int(task)] += first.tolist()
    for number, split in enumerate(data().train):
        told = np.flatnonzero(split.lengths > 0)
        assert set(seen[number]) == set(told)
    assert len(seen[1]) == len(set(seen[1]))
    assert len(seen[0]) > len(set(seen[0]))


def test_steps_are_a_function_of_their_number():
    whole = taken(batches(Model(TYPES)), 0, 40)
    for start in (1, 23):
        rest = taken(batches(Model(TYPES)), start, 40)
        for one, other in zip(whole[start:], rest, strict=True):
            assert_same_batches(one, other)


@pytest.mark.extended
def test_a_service_makes_every_piece(tmp_path, data_service):
    made = batches(Model(TYPES))
    service = DataService(data_service, str(tmp_path / "served"))
    service.prepare(made.plans)
    dataset = made.dataset(9, service)(2, 1, range(1))
    served = [as_numpy(pieces) for pieces in dataset]
    for one, other in zip(taken(made, 2, 9), served, strict=True):
        assert_same_batches(one, other)


def test_replicas_share_the_rows_of_every_piece():
    made = batches(Model(TYPES), replicas=2)
    assert made.static_shapes
    one = taken(batches(Model(TYPES, static_shapes=True)), 0, 12)
    two = taken(made, 0, 12, replicas=2)
    assert len(two) == 2 * len(one)
    for step, whole in enumerate(one):
        parts = two[2 * step : 2 * step + 2]
        for piece, batch in enumerate(whole):
            for name in ("tokens", "label", "weight"):
                both = [part[piece][name] for part in parts]
                np.testing.assert_array_equal(
                    np.concatenate(both, 1), batch[name]
                )
            for part in parts:
                np.testing.assert_array_equal(
                    part[piece]["normalizer"], batch["weight"].sum(1)
                )


def test_any_number_of_replicas_shares_a_budget_of_tokens():
    made = batches(Model((None,) * 3), "uniform", replicas=3, budget=140)
    parts = as_numpy(made.dataset(20)(0, 3, range(3)))
    # One device takes 16 texts of up to 8 tokens, or 8 of up to 16.
    assert {part["weight"].shape for part in parts} == {(1, 5), (1, 2)}


def test_padding_is_that_of_all_pieces():
    made = batches(Model(TYPES, static_shapes=True))
    tokens = cells = 0
    for pieces in taken(made, 0, made.steps_per_epoch):
        for batch in pieces:
            tokens += np.count_nonzero(batch["tokens"])
            cells += batch["tokens"].size
    assert made.padding_share() == pytest.approx(1 - tokens / cells)


@pytest.mark.parametrize(
    ("model", "options", "pieces", "key"),
    [
        (Model((None,) * 3), {}, [(0, 1, 2)], None),
        # One task of a type, and tasks of one type.
        (Model(TYPES), {"tasks": (1,)}, [(1,)], "tagging"),
        (Model(TYPES), {"tasks": (0, 2)}, [(0, 2)], "classification"),
        # Pairs of a translation: together, unless compared.
        (Model((0, 1, 2), "joint"), {}, [(0, 1, 2)], "joint"),
        (
            Model((0, 1, 2), "joint"),
            {"gradient_surgery": "pcgrad"},
            [(0,), (1,), (2,)],
            (0, 1, 2),
        ),
    ],
)
def test_what_has_one_graph_is_one_batch(model, options, pieces, key):
    made = batches(model, **options)
    assert made.pieces == pieces
    assert made.next_key(0, 7) == (7, key)


def test_other_mixings_have_steps_of_one_type():
    made = batches(Model(TYPES), "round_robin")
    assert made.pieces == [(0, 1, 2)]
    found = [made.next_key(step, 9) for step in range(4)]
    assert found == [
        (1, "classification"),
        (1, "tagging"),
        # Of the next round, too: dvd, then books.
        (2, "classification"),
        (1, "classification"),
    ]


def test_phases_name_no_tasks_of_a_stage_of_one():
    with pytest.raises(ConfigError, match="phases"):
        batches(Model(TYPES), "phases")
    assert batches(Model(TYPES), "phases", (1,)).next_key(0, 5)[0] == 5


@pytest.mark.parametrize(
    ("replicas", "budget", "rounded"),
    [
        (1, 64, {}),
        (4, 64, {}),
        (3, 64, {"rounded_for_replicas": 3}),
        (3, 0, {}),
    ],
)
def test_rounded_batches_are_a_fact_of_the_run(replicas, budget, rounded):
    """It does not go on with replicas that have other batches."""
    made = batches(
        Model(TYPES), "uniform", tasks=(0,), replicas=replicas, budget=budget
    )
    steps = {"steps_per_epoch": made.steps_per_epoch}
    assert made.facts() == steps | rounded
