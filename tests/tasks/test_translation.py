import gzip

import pytest

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.registry import group_of, present, resolve
from mtl_tf.tasks.splits.folds import in_fold
from mtl_tf.tasks.splits.fractions import cut
from mtl_tf.tasks.task import Task
from mtl_tf.tasks.task_statistics import statistics
from mtl_tf.tasks.task_types import translation
from tests.datasets import catalogue  # noqa: F401  (registers datasets)
from tests.datasets.parallel_corpora import europarl, multi30k

ENGLISH = "".join(f"sentence {i}\n" for i in range(40))
GERMAN = "".join(f"Satz {i}\n" for i in range(40))
_LINES = [f"line {i}\n" for i in range(60)], [f"x {i}\n" for i in range(60)]


def entry(tmp_path, train=(ENGLISH, GERMAN), test=("a\n", "b\n"), **fields):
    files = {}
    for split, texts in {"train": train, "test": test}.items():
        files[split] = {}
        for side, text in zip(("source", "target"), texts):
            path = tmp_path / f"{split}.{side}.gz"
            path.write_bytes(gzip.compress(text.encode()))
            files[split][side] = str(path)
    return {"name": "en-de", "type": "translation", "files": files, **fields}


def rows(task, split):
    return [
        (example["source"].decode(), example["target"].decode())
        for example in task.dataset(split).as_numpy_iterator()
    ]


def test_line_aligned_files(tmp_path):
    (task,) = resolve([entry(tmp_path, bleu_tokenizer="none")])
    assert (task.type, task.labels) == ("translation", ())
    assert task.metrics == ("bleu", "bleu_lc", "chrf")
    assert rows(task, "test") == [("a", "b")]
    train, held_out = rows(task, "train"), rows(task, "validation")
    assert (len(train), len(held_out)) == (36, 4)
    both = sorted(train + held_out)
    assert both == sorted(zip(ENGLISH.splitlines(), GERMAN.splitlines()))
    example = next(iter(task.dataset("test")))
    assert task.text_of(example).numpy() == b"a"
    assert task.to_json()["bleu_tokenizer"] == "none"


@pytest.mark.extended
def test_pairs_of_one_file_of_sources_hold_out_the_same_lines(tmp_path):
    # What one pair is validated on, the encoder would read for the others.
    entries = [entry(tmp_path), {**entry(tmp_path), "name": "en-fr"}]
    german, french = resolve(entries)
    assert rows(german, "validation") == rows(french, "validation")
    assert rows(german, "train") == rows(french, "train")
    crossed = {"folds": 2, "fold": 0}
    german, french = (in_fold(task, crossed) for task in (german, french))
    assert rows(german, "validation") == rows(french, "validation")
    assert len(rows(german, "validation")) == 2


def test_pairs_of_other_numbers_of_lines_hold_out_the_same_sources(tmp_path):
    (german,) = resolve([entry(tmp_path)])
    held_out = {source for source, _ in rows(german, "validation")}
    fewer = [text.split("\n", 3)[3] for text in (ENGLISH, GERMAN)]
    (tmp_path / "fr").mkdir()
    (french,) = resolve(
        [{**entry(tmp_path / "fr", train=fewer), "name": "en-fr"}]
    )
    assert french.size("train") + french.size("validation") == 37
    others = {source for source, _ in rows(french, "validation")}
    # One at the border may come or go.
    assert len(held_out - others - set(ENGLISH.split("\n")[:3])) <= 1
    assert len(others) == 3


def test_of_many_pairs_a_few_are_held_out(tmp_path, monkeypatch):
    monkeypatch.setattr(translation.TYPE, "most_held_out", 2)
    (task,) = resolve([entry(tmp_path)])
    assert task.size("validation") == 2


def test_misaligned_and_empty_lines(tmp_path):
    (task,) = resolve([entry(tmp_path, test=("a\nb\n", "c\n"))])
    with pytest.raises(DataError, match="has 2 lines, but .* has 1: they are"):
        task.size("test")
    (task,) = resolve([entry(tmp_path, test=("a\n\nc\n", "A\nB\n \n"))])
    assert rows(task, "test") == [("a", "A")]
    (warning,) = task.source.warnings
    assert "2 pairs with an empty text skipped" in warning
    assert {s.split: s.examples for s in statistics(task)}["test"] == 1


TABLES = {
    "a.csv": (b'de,en\r\n"Eins, zwei",one\r\n,two\r\nDrei, three \r\n', {}),
    "a.tsv.gz": (
        gzip.compress(b"one\tEins, zwei\ntwo\t \nthree\tDrei\n"),
        {"source": 0, "target": 1},
    ),
    "a.jsonl": (
        b'{"en": "one", "de": "Eins,\\r\\nzwei"}\n{"en": "", "de": "Zwei"}\n'
        b'{"en": "three", "de": "Drei"}\n',
        {},
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_both(tmp_path, name):
    written, columns = TABLES[name]
    (tmp_path / name).write_bytes(written)
    files = {**entry(tmp_path)["files"], "test": str(tmp_path / name)}
    columns = columns or {"source": "en", "target": "de"}
    (task,) = resolve([entry(tmp_path) | {"files": files, "columns": columns}])
    assert rows(task, "test") == [("one", "Eins, zwei"), ("three", "Drei")]
    (warning,) = task.source.warnings
    line = 3 if name.endswith("csv") else 2
    assert f"1 row with an empty text skipped (first: line {line})" in warning
    # The other split has two files.
    assert task.size("train") == 36


@pytest.mark.parametrize(
    "written, message",
    [
        ("source,target\none\n", "a.csv:2: no comma in the line, but"),
        (
            "en,de\none,Eins\n",
            r"a.csv:1: no column 'source' in the header \('en', 'de'\); known: "
            r"de, en \(columns.source in the task's entry gives it another "
            r"name\). Without a header, give the columns by number$",
        ),
        ("source,target\n,Eins\n", "a.csv: in no row both have a text"),
        ("source,target\n", "a.csv is empty: it has no rows"),
        ("", "a.csv is empty: it has no rows"),
    ],
)
def test_wrong_tables(tmp_path, written, message):
    path = tmp_path / "a.csv"
    path.write_text(written)
    made = entry(tmp_path)
    made["files"]["test"] = str(path)
    with pytest.raises(DataError, match=message):
        resolve([made])[0].size("test")
    path = tmp_path / "a.jsonl"
    path.write_text('{"source": "one", "target": ["Eins"]}\n')
    made["files"]["test"] = str(path)
    with pytest.raises(DataError, match="jsonl:1: 'target' must be a string"):
        resolve([made])[0].size("test")


def test_several_tables_are_named_with_their_own_lines(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, text in zip(paths, ("one,Eins\n", ",Zwei\ntwo,Zwei\n")):
        path.write_text("source,target\n" + text)
    made = entry(tmp_path)
    made["files"]["test"] = list(map(str, paths))
    (task,) = resolve([made])
    assert rows(task, "test") == [("one", "Eins"), ("two", "Zwei")]
    (warning,) = task.source.warnings
    assert warning == (
        f"{paths[1]}: 1 row with an empty text skipped (first: line 2)"
    )
    paths[1].write_text("target,source\nZwei,two\n")
    with pytest.raises(DataError, match="b.csv:1: the header .*/a.csv"):
        resolve([made])[0].size("test")


def test_a_language_in_place_of_both_is_told(tmp_path):
    told = "in all pairs source and target are the same text"
    files = entry(tmp_path, train=(ENGLISH, ENGLISH))
    (tmp_path / "a.csv").write_text("source,target\na,a\nb,b\n")
    table = {**files, "files": {"train": str(tmp_path / "a.csv")}}
    for copied in (files, table):
        (task,) = resolve([copied])
        task.size("train")
        assert told in task.source.warnings[-1]
    # Names, for example, are the same in many languages.
    (task,) = resolve([entry(tmp_path, train=("Ann\na\n", "Ann\nb\n"))])
    task.size("train")
    assert not task.source.warnings


def test_one_column_is_not_both(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("source,target\none,Eins\n")
    made = entry(tmp_path) | {"columns": {"source": 1}}
    made["files"]["test"] = str(path)
    with pytest.raises(DataError, match="source and columns.target are both"):
        resolve([made])[0].size("test")


@pytest.mark.parametrize("text", ["", "\n"])
def test_ones_own_files_with_nothing_in_them(tmp_path, text):
    (task,) = resolve([entry(tmp_path, test=(text, text))])
    with pytest.raises(DataError, match="source.gz: the file is empty$"):
        task.size("test")


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"name": "german"}, "source-target, such as 'en-de', got 'german'"),
        ({"name": "en-source"}, "no target language can be called 'source'"),
        ({"files": {"train": 3}}, "files.train must be two paths such"),
        (
            {"files": {"train": {"source": ["a.en"], "target": ["a.de"]}}},
            "train must be two paths such as .* both or a list of such tables",
        ),
        ({"files": {"train": []}}, "files.train is an empty list"),
        ({"files": {"train": "/no/a.csv"}}, "train: /no/a.csv does not exist"),
        ({"header": True}, "header is of tables, and all files are pairs of"),
        ({"files": {}}, "files must name files"),
        ({"bleu_tokenizer": "14a"}, "unknown bleu_tokenizer '14a'; did you"),
        ({"labels": ["a", "b"]}, "unknown field 'labels'"),
        ({"metrics": ["blue"]}, "metric of translation 'blue'; did .*'bleu'"),
        ({"metrics": ["accuracy"]}, "unknown metric of translation"),
        ({"type": "translate"}, "did you mean 'translation'"),
        (
            {"files": {"train": {"source": "/no/en", "target": "/no/de"}}},
            "files.train.source: /no/en is no file",
        ),
    ],
)
def test_wrong_fields(tmp_path, fields, message):
    with pytest.raises((ConfigError, DataError), match=message):
        resolve([entry(tmp_path) | fields])


def test_a_bleu_that_cannot_be_computed_is_said_at_once(tmp_path, monkeypatch):
    from sacrebleu.metrics import BLEU

    class Refuses:
        def __init__(self, **settings):
            asked.append(settings)
            raise error

    asked, error = [], RuntimeError("\n Please install sacrebleu[ja]")
    Refuses.TOKENIZERS = BLEU.TOKENIZERS
    monkeypatch.setattr("sacrebleu.metrics.BLEU", Refuses)
    made = entry(tmp_path) | {"name": "en-ja_JP"}
    with pytest.raises(
        ConfigError, match="'ja_JP' .*: Please install .*'char'"
    ):
        resolve([made])
    error = OSError("no network")
    with pytest.raises(ConfigError, match="tokenizer 'flores200': no network"):
        resolve([made | {"bleu_tokenizer": "flores200"}])
    assert [(a["trg_lang"], a["tokenize"]) for a in asked] == [
        ("ja", None),
        ("ja", "flores200"),
    ]
    (task,) = resolve([made | {"metrics": ["chrf"]}])
    assert task.metrics == ("chrf",)


def test_any_dataset_with_two_texts(tmp_path):
    made = {
        "name": "en-de",
        "type": "translation",
        "dataset": "translated_catalogue",
        "splits": {"train": "train[:3]", "test": "train[3:]"},
    }
    (task,) = resolve([made], str(tmp_path))
    ((english, german),) = rows(task, "test")
    assert english.removeprefix("sentence") == german.removeprefix("der Satz")
    assert task.size("train") + task.size("validation") == 3
    (back,) = resolve([made | {"name": "de-en"}], str(tmp_path))
    assert rows(back, "test") == [(german, english)]
    with pytest.raises(ConfigError, match="no feature 'fr' for columns.target"):
        resolve([made | {"name": "en-fr"}], str(tmp_path))
    same = made | {"columns": {"source": "de"}}
    with pytest.raises(ConfigError, match="are both 'de'"):
        resolve([same], str(tmp_path))


def test_our_corpora_are_tasks(tmp_path):
    multi30k(tmp_path / "multi30k", languages=("en", "de", "fr", "cs"))
    where = (str(tmp_path / "build"), str(tmp_path))
    tasks = resolve(["multi30k"], *where)
    assert [task.name for task in tasks] == ["en-de", "en-fr", "en-cs"]
    assert {task.settings["bleu_tokenizer"] for task in tasks} == {"none"}
    assert rows(tasks[2], "test")[0] == (
        "test_2016_flickr en 0",
        "test_2016_flickr cs 0",
    )
    assert rows(tasks[0], "test_2016_flickr") == rows(tasks[0], "test")
    names = [task.name for task in resolve(["multi_target_nmt"], *where)]
    assert names == ["en-es", "en-fr", "en-nl", "en-pt"]
    assert len(resolve(["europarl"], *where)) == 20
    (one,) = group_of("europarl/fr-en", *where).tasks
    assert one.name == "fr-en"
    turned = {
        "name": "de-en",
        "type": "translation",
        "dataset": "multi30k/en-de",
        "columns": {"source": "target", "target": "source"},
    }
    (back,) = resolve([turned], *where)
    assert rows(back, "train")[0] == ("train de 0", "train en 0")


def test_pairs_without_files_are_missing_and_half_a_pair_is_wrong(tmp_path):
    manual = europarl(tmp_path / "europarl", *_LINES)
    europarl(manual, *_LINES, "es")
    where = (str(tmp_path / "build"), str(tmp_path))
    there, missing = present(["multi_target_nmt"], *where)
    assert there == ["multi_target_nmt/en-es", "multi_target_nmt/en-fr"]
    assert list(missing) == ["multi_target_nmt/en-nl", "multi_target_nmt/en-pt"]
    for pair in ("nl", "pt"):
        why = missing[f"multi_target_nmt/en-{pair}"]
        assert f"europarl-v7.{pair}-en.{pair}" in why and "--manual_dir" in why
    (tmp_path / "europarl" / "europarl-v7.nl-en.en").write_text("a\n")
    with pytest.raises(DataError, match="nl-en.nl: No such file.*leave this"):
        present(["multi_target_nmt"], *where)


def test_fractions_of_training_data(tmp_path):
    task = resolve([entry(tmp_path)])[0]
    other = Task("en-fr", "translation", task.source, (), splits=task.splits)
    poor, same = cut([task, other], {"en-de": 0.25})
    assert same is other
    drawn = rows(poor, "train")
    assert len(drawn) == poor.size("train") == 9
    whole = rows(task, "train")
    assert [row for row in whole if row in drawn] == drawn  # in order
    assert drawn != whole[:9]
    assert rows(poor, "validation") == rows(task, "validation")
    (richer,) = cut([task], {"en-de": 0.5})
    assert set(drawn) < set(rows(richer, "train"))
    for fraction, message in ((1.5, "at most 1"), (0, "positive")):
        with pytest.raises(ConfigError, match=message):
            cut([task], {"en-de": fraction})
    with pytest.raises(ConfigError, match="pipeline.fractions 'en-da'; did"):
        cut([task], {"en-da": 0.1})
