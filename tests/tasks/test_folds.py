import dataclasses
import json
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks.registry import group_of, resolve
from mtl_tf.tasks.source import tell
from mtl_tf.tasks.splits.folds import OTHERS, TESTED, fold_numbers, in_fold
from mtl_tf.tasks.task import NO_FOLDS, WHOLE_CORPUS, Source, Task

SIZES = {"train": 80, "validation": 10, "test": 10, "more": 3}


class Numbers(Source):
    """Texts that name their split; a third of the labels is 0."""

    @property
    def split_names(self):
        return tuple(SIZES)

    def size(self, split):
        return SIZES[split]

    def dataset(self, split):
        size = SIZES[split]
        return tf.data.Dataset.from_tensor_slices(
            {
                "text": [f"{split} {i}" for i in range(size)],
                "label": (np.arange(size) % 3 > 0).astype(np.int64),
            }
        )


def task(**fields):
    return Task("mails", "classification", Numbers(), ("a", "b"), **fields)


def texts(task, split):
    return [
        example["text"].decode()
        for example in task.dataset(split).as_numpy_iterator()
    ]


def splits(task):
    return {s: texts(task, s) for s in ("train", "validation", "test")}


def every(*names):
    return {f"{split} {i}" for split in names for i in range(SIZES[split])}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        (None, every("train", "validation")),
        (WHOLE_CORPUS, every("train", "validation", "test")),
    ],
)
def test_the_folds_are_disjoint_and_whole(pool, expected):
    base = task(**({"pool": pool} if pool else {}))
    tested = []
    for fold in range(5):
        parts = splits(in_fold(base, {"folds": 5, "fold": fold}))
        together = [text for part in parts.values() for text in part]
        assert len(together) == len(set(together)) and set(together) == expected
        assert len(parts["test"]) == pytest.approx(len(expected) / 5, abs=1)
        assert len(parts["validation"]) == pytest.approx(
            len(expected) * 0.08, abs=1
        )
        tested += parts["test"]
    assert sorted(tested) == sorted(expected)


@pytest.mark.extended
def test_sizes_order_and_other_splits():
    part = in_fold(task(), {"folds": 5, "fold": 1})
    for split, found in splits(part).items():
        assert part.size(split) == len(found)
        assert int(part.dataset(split).cardinality()) == len(found)
    order = [f"train {i}" for i in range(80)]
    order += [f"validation {i}" for i in range(10)]
    for found in splits(part).values():
        assert found == sorted(found, key=order.index)
    assert part.size("more") == 3 and len(texts(part, "more")) == 3
    assert {OTHERS, TESTED, "more"} <= set(part.source.split_names)
    assert (part.name, part.labels) == ("mails", ("a", "b"))


def test_no_folds_gives_the_task_back():
    base = task()
    assert in_fold(base, None) is base
    assert in_fold(base, {"folds": 0, "fold": 0}) is base


@pytest.mark.extended
def test_a_fold_is_the_same_in_every_run():
    where = {"folds": 4, "fold": 2}
    one = splits(in_fold(task(), where))
    assert one == splits(in_fold(task(), where))
    # Pinned: another division would change the results of old runs.
    assert one["test"][:4] == PINNED


PINNED = ["train 3", "train 7", "train 9", "train 10"]


def test_a_fold_is_told_once(caplog):
    """A run looks its tasks up several times."""
    tell.cache_clear()
    with caplog.at_level("INFO", logger="absl"):
        for _ in range(2):
            splits(in_fold(task(), {"folds": 5, "fold": 1}))
    told = "task mails: fold 1 of 5 has 18 of 90 examples, from train and"
    assert caplog.text.count(told) == 1


def test_examples_held_out_are_told_once(tmp_path, caplog):
    """Not those that the folds join again."""
    rows = [f"text {n},{'ab'[n % 2]}" for n in range(40)]
    (tmp_path / "mails.csv").write_text("\n".join(["text,label", *rows]))
    entry = {
        "name": "mails",
        "type": "classification",
        "files": {"train": str(tmp_path / "mails.csv")},
    }
    tell.cache_clear()
    with caplog.at_level("INFO", logger="absl"):
        (mails,) = resolve([entry], cross_validation={"folds": 4, "fold": 1})
        sizes = [mails.size(s) for s in ("train", "validation", "test")]
    assert sum(sizes) == 40
    told = [m for m in caplog.messages if "held out for validation" in m]
    assert len(told) == 1
    assert f"{sizes[1]} of its {sum(sizes[:2])} training examples" in told[0]


def test_examples_of_a_fold_have_their_place_in_the_source():
    divided = in_fold(task(), {"folds": 5, "fold": 1})
    for split in ("train", "validation", "test"):
        for number, text in enumerate(texts(divided, split)):
            part, index = text.split()
            place = f"split {part}, example {index}"
            assert divided.place(split, number) == place


def test_folds_are_stratified():
    labels = [0] * 70 + [1] * 25 + [-1] * 5
    names = [f"t{i}".encode() for i in range(100)]
    numbers = fold_numbers(names, labels, 5)
    for fold in range(5):
        found = Counter(np.array(labels)[numbers == fold].tolist())
        assert found == {0: 14, 1: 5, -1: 1}
    assert len(set(numbers[:14].tolist())) > 2  # not in the order of the file
    uneven = fold_numbers(names[:13], [0] * 13, 5)
    assert sorted(Counter(uneven.tolist()).values()) == [2, 2, 3, 3, 3]


def test_equal_texts_are_in_the_same_fold():
    names = [f"text {i // 3}".encode() for i in range(42)]
    names[1] = b" Text  0 "
    # Cuts after 10.5, 21 and 31.5 examples would part copies.
    numbers = fold_numbers(names, [0] * 42, 4).reshape(14, 3)
    assert (numbers == numbers[:, :1]).all()
    assert min(Counter(numbers.ravel().tolist()).values()) >= 9


def test_tasks_that_share_texts_mostly_share_folds():
    names = np.array([f"text {i}".encode() for i in range(5000)])
    five = np.random.default_rng(0).integers(0, 5, 5000)
    kept = five != 2
    of_five = fold_numbers(names.tolist(), five, 10)
    of_two = fold_numbers(names[kept].tolist(), five[kept] > 2, 10)
    assert np.mean(of_five[kept] == of_two) > 0.85


@pytest.mark.parametrize(
    ("folds", "fold", "message"),
    [
        (1, 0, "cross_validation.folds must be 0 .off. or at least 2, got 1"),
        (-2, 0, "cross_validation.folds must be zero or a positive"),
        (5, 5, r"fold must be less than cross_validation.folds \(5\), got 5"),
        (0, 1, r"must be less than cross_validation.folds \(0\), got 1"),
        (5, -1, "cross_validation.fold must be zero or a positive"),
        (True, 0, "got True"),
    ],
)
def test_wrong_numbers(folds, fold, message):
    with pytest.raises(ConfigError, match=message):
        in_fold(task(), {"folds": folds, "fold": fold})


def test_tasks_that_cannot_be_divided():
    where = {"folds": 2, "fold": 0}
    with pytest.raises(ConfigError, match="mails cannot be cross-validated"):
        in_fold(task(pool=NO_FOLDS), where)
    with pytest.raises(ConfigError, match="sst1 cannot be cross-validated"):
        resolve(["sst_phrases/sst1"], cross_validation=where)
    small = in_fold(task(), {"folds": 91, "fold": 0})
    with pytest.raises(ConfigError, match="in 91 folds: it has 90 examples"):
        small.size("train")


def questions(tmp_path, contexts):
    """A task of four questions on each context, and one on none."""
    lines = [
        {"context": context, "question": f"which {i}?", "answer": "a"}
        for context in contexts
        for i in range(4)
    ]
    lines.append({"context": "", "question": "who?", "answer": "b"})
    path = tmp_path / "train.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {
        "name": "asked",
        "type": "question_answering",
        "files": {"train": str(path), "test": str(path)},
    }


def contexts_of_folds(entry, folds):
    """The contexts of the tested and of the other examples, for each fold."""
    for fold in range(folds):
        where = {"folds": folds, "fold": fold}
        (task,) = resolve([entry], cross_validation=where)
        yield [
            [example["context"].decode() for example in examples]
            for split in (TESTED, OTHERS)
            for examples in [task.source.dataset(split).as_numpy_iterator()]
        ]


def test_questions_on_a_context_share_their_fold(tmp_path):
    entry = questions(tmp_path, [f"context {i}" for i in range(20)])
    everything = []
    for tested, others in contexts_of_folds(entry, 3):
        assert not set(tested) & set(others)
        assert 24 <= len(tested) <= 30
        everything += tested
    assert len(everything) == 81


@pytest.mark.extended
def test_too_few_contexts_to_keep_them_whole(tmp_path, caplog):
    entry = questions(tmp_path, ["only one", "another"])
    sizes = [len(tested) for tested, _ in contexts_of_folds(entry, 4)]
    assert sorted(sizes) == [2, 2, 2, 3]
    assert "too few different contexts to keep each in one of 4" in caplog.text


@pytest.mark.extended
def test_tasks_of_a_config_and_their_group(prepared):
    where = {"folds": 4, "fold": 1}
    entry = {"name": "reviews", "dataset": "fake_reviews"}
    (one,) = resolve([entry], cross_validation=where)
    assert [one.size(s) for s in ("train", "validation", "test")] == [28, 3, 9]
    (same,) = group_of(entry, cross_validation=where).tasks
    assert texts(same, "test") == texts(one, "test")
    whole = [
        dataclasses.replace(t, source=None)
        for t in resolve(["subj", "mr", "imdb"], cross_validation=where)
    ]
    assert [t.name for t in whole] == ["subj", "mr", "imdb"]


def test_what_is_divided_of_our_corpora(prepared):
    tasks = {t.name: t for t in resolve(["movie_reviews", "mr"])}
    assert tasks["subj"].pool == tasks["mr"].pool == WHOLE_CORPUS
    assert tasks["sst1"].pool == tasks["imdb"].pool == ("train", "validation")
    (own,) = resolve([{"name": "own", "dataset": "subj"}])
    assert own.pool == WHOLE_CORPUS
