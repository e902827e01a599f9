import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.random import generator
from mtl_tf.pipelines.batches import (
    BatchPlan,
    evaluation_batches,
    training_dataset,
)
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.pipelines.examples.encoding import encode
from mtl_tf.pipelines.examples.pairs import PairFilter, build_text
from mtl_tf.pipelines.schedule import buckets
from mtl_tf.pipelines.schedule.epoch_order import batch_sizes, cut_into_batches
from mtl_tf.tasks.task import Task
from mtl_tf.tasks.task_types import translation
from tests.pipelines.helpers import as_numpy, bucket_padding

TEXT = {
    "tokenizer": {"name": "whitespace", "lowercase": False},
    "tokenizers": {},
    "max_length": 0,
    "target_max_length": 0,
    "max_ratio": 0.0,
    "min_count": 1,
    "max_size": 0,
}


def ragged(lengths, draw, axis):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = draw.integers(4, 50, offsets[-1]).astype(np.int32)
    return Column(values, offsets, axis)


def split_of(name, sources, targets):
    draw = generator(0, name)
    columns = {
        "tokens": ragged(sources, draw, "source"),
        "target": ragged(targets, draw, "target"),
    }
    return EncodedSplit(name, columns)


def drawn_split(name, size, growth=1.2):
    draw = generator(1, name)
    sources = draw.integers(1, 30, size)
    targets = (sources * growth + draw.integers(0, 4, size)).astype(int) + 1
    return split_of(name, sources, targets)


AXES = ("source", "target")
SPLITS = [drawn_split("en-de", 103), drawn_split("en-fr", 61, 1.4)]
LENGTHS = np.concatenate([split.lengths for split in SPLITS])
BOUNDARIES = buckets.make_boundaries(4, LENGTHS)
BUDGET = 400


def make_plan(**options):
    arguments = {"batch_size": 8, "mixing_config": {"name": "uniform"}}
    arguments |= {"boundaries": BOUNDARIES, "seed": 5, **options}
    return BatchPlan(SPLITS, **arguments)


def task_of(tmp_path, name, sources, targets):
    paths = {side: str(tmp_path / f"{name}.{side}") for side in AXES}
    for path, lines in zip(paths.values(), (sources, targets)):
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
    entry = {"name": name, "files": {"train": paths}}
    source = translation.TYPE.file_source(entry)
    return Task(name, "translation", source, ())


def test_pair_buckets_rise_and_hold_all():
    boundaries = np.array(BOUNDARIES)
    assert boundaries.shape == (4, 2)
    assert np.diff(boundaries, axis=0).min() >= 0
    chosen = buckets.bucket_of(LENGTHS, BOUNDARIES)
    room = boundaries[chosen] - LENGTHS
    assert room.min() >= 0
    # No earlier bucket holds the pair, too.
    before = boundaries[np.maximum(chosen - 1, 0)] - LENGTHS
    assert np.all((before.min(axis=1) < 0) | (chosen == 0))
    shares = [
        bucket_padding(LENGTHS, buckets.make_boundaries(n, LENGTHS))
        for n in (1, 2, 4, 16)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.15 < 0.4 < shares[0]


def test_pair_boundaries_by_hand():
    assert buckets.make_boundaries([20, 60], LENGTHS)[1] == [60, 60]
    given = buckets.make_boundaries([[20, 20], [30, 50]], LENGTHS)
    assert given == [[20, 20], [30, 50]]
    assert buckets.extend_boundaries(given, [31, 9]) == [*given, [60, 50]]
    boxes = [[8, 8], [8, 12], [16, 24]]
    assert buckets.of_axes(boxes, [0]) == [8, 16]
    assert buckets.of_axes(boxes, [1]) == [8, 12, 24]
    with pytest.raises(
        ConfigError,
        match="ends at .20, 20., but the longest source has 29 tokens and the "
        "longest target has 43 tokens",
    ):
        buckets.make_boundaries([20], LENGTHS, axes=AXES)
    for wrong in (
        [[8, 9], [7, 10]],
        [[8, 9], [8, 9]],
        [[8]],
        [[8, 0]],
        [[1.5, 2]],
    ):
        with pytest.raises(ConfigError, match="pipeline.buckets must be"):
            buckets.check_boundaries(wrong)


def test_a_budget_gives_short_texts_large_batches():
    sizes = batch_sizes([[8, 8], [16, 24], [32, 40]], 64, 400)
    assert sizes.tolist() == [24, 8, 5]
    assert batch_sizes([8, 16], 64).tolist() == [64, 64]
    with pytest.raises(ConfigError, match="72 tokens .* got 71; .*max_length"):
        batch_sizes([[32, 40]], 64, 71)
    with pytest.raises(ConfigError, match="tokens_per_batch must be"):
        batch_sizes([[32, 40]], 64, -1)


def test_batches_of_unequal_sizes_hold_all_examples():
    numbers = np.repeat([0, 1, 3], [11, 2, 6])
    found = cut_into_batches(np.arange(19), numbers, [4, 3, 2, 2])
    taken = [row[row >= 0] for row in found.rows]
    np.testing.assert_array_equal(np.concatenate(taken), np.arange(19))
    # The 3 left of bucket 0 do not fit into a batch of bucket 1.
    expected = [(4, 0), (4, 0), (3, 0), (2, 1), (2, 3), (2, 3), (2, 3)]
    assert list(zip(map(len, taken), found.buckets)) == expected
    numbers = np.repeat([0, 1], [5, 3])
    found = cut_into_batches(np.arange(8), numbers, [4, 3])
    assert [int(np.sum(row >= 0)) for row in found.rows] == [4, 3, 1]


@pytest.mark.by_default("400-True")
@pytest.mark.parametrize("static_shapes", [True, False])
@pytest.mark.parametrize("budget", [0, BUDGET])
def test_batches_of_pairs(static_shapes, budget):
    plan = make_plan(static_shapes=static_shapes, tokens_per_batch=budget)
    steps = 300
    whole = as_numpy(training_dataset(plan, 0, stop_step=steps))
    seen, cells, tokens = [0, 0], 0, 0
    for batch, size in zip(whole, plan.steps(0, steps).sizes):
        source, target = batch["tokens"][0], batch["target"][0]
        rows = batch["weight"][0] > 0
        assert source.shape[0] == target.shape[0] == len(rows)
        shape = [source.shape[1], target.shape[1]]
        if static_shapes:
            assert shape in BOUNDARIES and len(rows) == size
        else:
            assert source.any(axis=0).all() and target.any(axis=0).all()
        assert batch["normalizer"] == rows.sum() > 0
        if budget:
            assert source.size + target.size <= budget
        assert not source[~rows].any() and not target[~rows].any()
        task = SPLITS[int(batch["task"][0])]
        known = {tuple(task.columns["tokens"][n]): n for n in range(len(task))}
        for a, b in zip(source[rows], target[rows]):
            row = known[tuple(a[a > 0])]
            assert b[b > 0].tolist() == task.columns["target"][row].tolist()
        seen[int(batch["task"][0])] += rows.sum()
        cells += source.size + target.size
        tokens += (source > 0).sum() + (target > 0).sum()
    assert min(seen) > len(SPLITS[0])
    # A run that resumes sees what an uninterrupted one sees.
    for start in (1, 256, 299):
        later = as_numpy(training_dataset(plan, start, stop_step=steps))
        assert len(later) == steps - start
        for a, b in zip(later, whole[start:]):
            assert all(np.array_equal(a[key], b[key]) for key in b)


@pytest.mark.parametrize("static_shapes", [True, False])
@pytest.mark.parametrize("budget", [0, BUDGET])
def test_cells_of_pairs(static_shapes, budget):
    plan = make_plan(
        static_shapes=static_shapes,
        tokens_per_batch=budget,
        mixing_config={"name": "shuffled_rounds"},
    )
    steps = plan.steps_per_epoch
    cells = tokens = 0
    for batch in as_numpy(training_dataset(plan, 0, stop_step=steps)):
        for key in ("tokens", "target"):
            cells += batch[key].size
            tokens += np.sum(batch[key] > 0)
    assert tokens == LENGTHS.sum()
    assert plan.cells(steps) == (tokens, cells)


def test_replicas_share_batches_of_all_sizes():
    sizes = {"boundaries": [[8, 12], [32, 48]], "tokens_per_batch": 640}
    plan = make_plan(**sizes)
    assert plan.batch_sizes.tolist() == [32, 8]
    whole = as_numpy(training_dataset(plan, 0, stop_step=20))
    parts = as_numpy(training_dataset(plan, 0, replicas=4, stop_step=20))
    for step, batch in enumerate(whole):
        pieces = parts[4 * step : 4 * step + 4]
        for key in ("tokens", "target", "weight"):
            joined = np.concatenate([piece[key] for piece in pieces], axis=1)
            np.testing.assert_array_equal(joined, batch[key])
        assert {float(p["normalizer"][0]) for p in pieces} == {
            float(batch["normalizer"][0])
        }


def test_batches_of_a_budget_have_as_many_rows_for_each_replica():
    """Three replicas could not share batches of eight."""
    sizes = {"boundaries": [[8, 12], [32, 48]], "tokens_per_batch": 640}
    rounds = {"name": "shuffled_rounds"}
    plan = make_plan(**sizes, replicas=3, mixing_config=rounds)
    assert plan.batch_sizes.tolist() == [30, 6]
    steps = plan.steps_per_epoch
    pieces = as_numpy(training_dataset(plan, replicas=3, stop_step=steps))
    assert len(pieces) == 3 * steps
    for first in range(0, len(pieces), 3):
        step = pieces[first : first + 3]
        rows = {p["weight"].shape[1] for p in step}
        assert rows in ({10}, {2})
        real = sum(p["weight"].sum() for p in step)
        assert {float(p["normalizer"][0]) for p in step} == {real}
    assert sum(p["weight"].sum() for p in pieces) == len(LENGTHS)
    with pytest.raises(
        ConfigError,
        match="must give each of the 9 replicas a row, but .* has 8 within 640",
    ):
        make_plan(**sizes, replicas=9)


def test_joint_steps_take_no_budget():
    with pytest.raises(ConfigError, match="tokens_per_batch to 0"):
        make_plan(tokens_per_batch=BUDGET, mixing_config={"name": "joint"})


def test_evaluation_of_pairs_and_of_sources_alone():
    longer = split_of("en-de", [3, 70, 1, 12], [4, 9, 100, 12])
    found = np.zeros(4, int)
    for batch in as_numpy(evaluation_batches(longer, 1, 3, BOUNDARIES)):
        for row, target in zip(batch["row"][0], batch["target"][0]):
            if row >= 0:
                found[row] = np.sum(target > 0)
    assert found.tolist() == [4, 9, 100, 12]
    alone = EncodedSplit("", {"tokens": longer.columns["tokens"]})
    batches = as_numpy(evaluation_batches(alone, 0, 3, BOUNDARIES, AXES))
    assert sum(int(b["weight"].sum()) for b in batches) == 4
    assert "target" not in batches[0]


def test_select_takes_rows_of_all_columns():
    split = SPLITS[0]
    rows = np.array([5, 0, 102])
    some = split.select(rows)
    for key, column in some.columns.items():
        for place, row in enumerate(rows):
            expected = split.columns[key][row].tolist()
            assert column[place].tolist() == expected
    assert len(split.select(np.zeros(103, bool))) == 0


def test_what_is_left_out_is_counted_by_its_first_reason():
    # A target has its end beside its words.
    split = split_of("en-de", [5, 0, 9, 3, 2, 4, 8], [6, 4, 20, 8, 9, 1, 8])
    kept, counts = PairFilter(8, 7, 2.0).apply(split)
    assert counts == {
        "empty": 2,
        "long_source": 1,
        "long_target": 1,
        "ratio": 1,
    }
    assert kept.lengths.tolist() == [[5, 6], [8, 8]]
    same, counts = PairFilter().apply(split.select([0, 2]))
    assert counts == {} and len(same) == 2
    with pytest.raises(DataError, match="none of its 7 training pairs"):
        PairFilter(max_ratio=1.0).apply(split_of("en-de", [1] * 7, [9] * 7))
    for wrong in ({"max_ratio": 0.5}, {"target_max_length": -1}):
        with pytest.raises(ConfigError, match="text." + next(iter(wrong))):
            PairFilter.of_config({**TEXT, **wrong})


def test_each_language_has_its_words(tmp_path):
    tasks = [
        task_of(tmp_path, "en-de", ["a b", "c c c c"], ["A", "B"]),
        task_of(tmp_path, "en-fr", ["a d", "e"], ["<s> A B", "C \\</s>"]),
    ]
    text = build_text(tasks, TEXT | {"max_ratio": 3.0})
    assert sorted(text.source.vocabulary.tokens[2:]) == ["a", "b", "d", "e"]
    assert text.targets["de"].vocabulary.tokens[4:] == ["A"]
    assert len(text.targets["fr"].vocabulary) == 4 + 5
    encoded = encode(tasks[1].dataset("train"), text.pair("en-fr"), "en-fr")
    assert encoded.lengths.tolist() == [[2, 4], [1, 3]]
    ids = encoded.columns["target"].values
    assert (ids == 3).sum() == 2 and ids[[3, 6]].tolist() == [3, 3]
    limited = build_text(tasks, TEXT | {"max_size": 5})
    assert limited.target_sizes == {"de": 5, "fr": 5}


@pytest.mark.parametrize(
    ("fields", "warns"),
    [({}, True), ({"min_count": 2}, False), ({"max_size": 9}, False)],
)
def test_an_unknown_word_that_is_never_trained_is_told(
    tmp_path, caplog, fields, warns
):
    task = task_of(tmp_path, "en-de", ["a b a"] * 3, ["c d"] * 3)
    build_text([task], TEXT | fields)
    assert caplog.text.count("do not train the vector of unknown") == warns


def test_tokenizers_by_language(tmp_path):
    sources = ["the old house .", "the house is old !"] * 3
    targets = ["das alte Haus .", "das Haus ist alt !"] * 3
    tasks = [task_of(tmp_path, "en-de", sources, targets)]
    subwords = {"name": "sentencepiece"}
    text = build_text(
        tasks, TEXT | {"tokenizers": {"de": subwords}, "max_size": 34}
    )
    assert text.source.tokenizer.name == "whitespace"
    assert text.targets["de"].tokenizer.name == "sentencepiece"
    assert len(text.targets["de"].vocabulary) <= 34
    assert text.targets["de"].vocabulary.specials == ("<s>", "</s>")
    found = text.pair("en-de")(
        {
            "source": tf.constant(["the house"]),
            "target": tf.constant(["das Haus"]),
        }
    )
    assert found["target"].to_list()[0][-1] == 3
    # The message says whose texts have more characters than fit.
    with pytest.raises(ConfigError, match="^texts in 'en': .*max_size by at"):
        build_text(tasks, TEXT | {"tokenizer": subwords, "max_size": 5})
    with pytest.raises(ConfigError, match="^texts in 'de': .*max_size by at"):
        build_text(
            tasks, TEXT | {"tokenizers": {"de": subwords}, "max_size": 6}
        )
    both = build_text(tasks, TEXT | {"tokenizer": subwords, "max_size": 40})
    assert (
        both.source.tokenizer.pieces and both.source.vocabulary.specials == ()
    )
    with pytest.raises(ConfigError, match="language in text.tokenizers 'dé'"):
        build_text(tasks, TEXT | {"tokenizers": {"dé": subwords}})
