"""Files that every pass reads again, and small ones that are kept."""

import gzip
import json

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.parallel_lines import AlignedFiles
from mtl_tf.tasks.reading.layouts import Layout
from mtl_tf.tasks.sources import streamed_source
from mtl_tf.tasks.sources.parallel_source import ParallelFileSource
from mtl_tf.tasks.sources.question_source import QuestionFileSource

LAYOUT = Layout(
    "jsonl", {name: name for name in ("context", "question", "answer")}, False
)


def parallel(folder, count=7):
    paths = folder / "a.en", folder / "a.de.gz"
    paths[0].write_text("".join(f"one {n}\n" for n in range(count)))
    lines = "".join(f"eins {n}\r\n" for n in range(count))
    paths[1].write_bytes(gzip.compress(lines.encode()))
    pairs = AlignedFiles(*map(str, paths))
    return ParallelFileSource({"train": pairs}), paths[0]


def questions(folder, count=7):
    path = folder / "a.jsonl"
    answers = [["yes"], ["no", "never"], "\ud800"]
    lines = [
        json.dumps(
            {"context": f"c {n}", "question": "q", "answer": answers[n % 3]}
        )
        for n in range(count)
    ]
    path.write_text("\n".join(lines))
    return QuestionFileSource(
        {"train": [str(path)]}, {"train": LAYOUT}, ""
    ), path


@pytest.mark.parametrize("make", [parallel, questions])
def test_parts_of_a_file_are_read_in_order(tmp_path, monkeypatch, make):
    source, _ = make(tmp_path)
    small = source.dataset("train")
    whole = list(small.as_numpy_iterator())
    assert len(whole) == source.size("train") == 7
    monkeypatch.setattr(streamed_source, "_AT_ONCE", 3)
    monkeypatch.setattr(streamed_source, "_MOST_KEPT_BYTES", 0)
    dataset = source.dataset("train")
    assert dataset.cardinality() == small.cardinality() == 7
    assert dataset.element_spec == small.element_spec
    for _ in range(2):
        parts = list(dataset.as_numpy_iterator())
        assert str(parts) == str(whole)


def test_pairs_are_stripped_lines(tmp_path):
    found = list(parallel(tmp_path)[0].dataset("train").as_numpy_iterator())
    assert found[6] == {"source": b"one 6", "target": b"eins 6"}


def test_each_question_has_its_own_number_of_answers(tmp_path):
    found = list(questions(tmp_path)[0].dataset("train").as_numpy_iterator())
    assert [list(one["answers"]) for one in found[:3]] == [
        [b"yes"],
        [b"no", b"never"],
        [b"?"],
    ]
    assert found[1]["answer"] == b"no" and found[2]["context"] == b"c 2"


@pytest.mark.parametrize("make", [parallel, questions])
def test_a_file_that_changes_meanwhile_is_an_error(tmp_path, make):
    source, path = make(tmp_path)
    assert source.size("train") == 7
    path.write_text(path.read_text() + "more\n")
    for ask in (source.size, source.dataset):
        with pytest.raises(DataError, match=f"{path} has changed since"):
            ask("train")
    path.unlink()
    with pytest.raises(DataError, match="cannot be read: No such file"):
        source.size("train")


@pytest.mark.parametrize(
    ("limit", "value", "passes"),
    [
        ("_MOST_KEPT", 7, 1),
        ("_MOST_KEPT", 6, 4),
        ("_MOST_KEPT_BYTES", 10_000, 1),
        ("_MOST_KEPT_BYTES", 200, 4),  # files of 42 and, packed, 61 bytes
    ],
)
def test_only_small_splits_are_kept(
    tmp_path, monkeypatch, limit, value, passes
):
    monkeypatch.setattr(streamed_source, limit, value)
    source, _ = parallel(tmp_path)
    assert source.size("train") == 7
    reads, examples = [], source.examples
    source.examples = lambda split: reads.append(split) or examples(split)
    for _ in range(2):
        dataset = source.dataset("train")
        for _ in range(2):
            assert len(list(dataset)) == 7
    assert len(reads) == passes
