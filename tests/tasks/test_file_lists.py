"""A split in several files."""

import gzip

import pytest

from mtl_tf.core.errors import MtlError
from mtl_tf.tasks.registry import resolve
from tests.tasks.fakes import own

# Of each format two files: what both begin with, and what each has.
LISTS = {
    "csv": ("classification", "text,label\n", 'a,x\n"b\nc",y\n', ",x\n" * 9),
    "tsv": ("regression", "text\tvalue\n", "a\t1\nb\t2.5\n", "c\t-1\n" * 9),
    "jsonl": (
        "multi_label",
        "",
        '{"text": "a", "labels": ["x"]}\n',
        '{"text": "b", "labels": ["y", "x"]}\n' * 9,
    ),
    "csv.gz": (
        "pair_classification",
        "text,text_pair,label\n",
        "a,b,x\nc,d,y\n",
        "e,f,y\n" * 9,
    ),
    "conll": (
        "tagging",
        "# a comment\n",
        "Ann B-PER\nsaw O\n\nit O\n\n",
        "Bob B-PER\n\n" * 9,
    ),
    "conllu": (
        "tagging",
        "# a comment\n",
        "1\tAnn" + "\tPROPN" * 8 + "\n\n",
        ("1\tsaw" + "\tVERB" * 8 + "\n\n") * 9,
    ),
    "json": (
        "question_answering",
        "",
        '{"question": "q", "context": "a", "answer": ["b", "c"]}\n',
        "".join(
            f'{{"question": "q", "context": "d{n}", "answer": "e"}}\n'
            for n in range(9)
        ),
    ),
    "qa.csv": (
        "question_answering",
        "question,context,answer\n",
        "q,a,b\nq,c,\n",
        "q,d,e\n" * 9,
    ),
    "pairs.csv": (
        "translation",
        "source,target\n",
        "a,b\n,c\n",
        "d,e\n" * 9,
    ),
}


@pytest.mark.by_default("pairs.csv")
@pytest.mark.parametrize("ending", LISTS)
def test_a_list_of_files_is_read_as_if_they_were_one(tmp_path, ending):
    kind, head, *bodies = LISTS[ending]
    paths = [str(tmp_path / f"{n}.{ending}") for n in range(3)]
    texts = [head + bodies[0], head + bodies[1], head + "".join(bodies)]
    for path, text in zip(paths, texts):
        with (gzip.open if path.endswith("gz") else open)(path, "wt") as file:
            file.write(text)
    entry = {"name": "en-de", "type": kind}
    if ending == "conll":
        entry["comment"] = "#"
    listed, whole = (
        resolve([{**entry, "files": {"train": of_split, "test": paths[1]}}])[0]
        for of_split in (paths[:2], paths[2])
    )
    assert listed.to_json() == whole.to_json()
    for split in ("train", "validation", "test"):
        assert examples(listed, split) == examples(whole, split)
    (back,) = resolve([{**entry, "files": {"train": paths[1::-1]}}])
    assert back.size("train") == whole.size("train")
    assert examples(back, "train") != examples(whole, "train")


def examples(task, split):
    return list(map(str, task.dataset(split).as_numpy_iterator()))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "files.train is an empty list: name a file or several$"),
        (["train.tsv", 3], r"files.train\[1\] must be a path, got 3$"),
        ([["train.tsv"]], r"files.train\[0\] must be a path, got \['train"),
        (["train.tsv", "./train.tsv"], "files.train names a file twice: ./tr"),
        (["train.tsv", "no.tsv"], "files.train: no.tsv does not exist$"),
        (["train.tsv", "b.csv"], "b.csv is read as csv, but train.tsv as tsv"),
        (["train.tsv", "*.tsv"], r"files.train: \*.tsv does not exist$"),
    ],
)
def test_wrong_lists_of_files(files, tmp_path, monkeypatch, given, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.csv").write_text("a,b\n")
    with pytest.raises(MtlError, match=f"task mails: .*{message}"):
        resolve([own({**files, "train": given})])
