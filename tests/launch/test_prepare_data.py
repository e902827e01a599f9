import os
import re
import subprocess
import sys
import tempfile

import pytest

from launch import prepare_data
from mtl_tf.datasets import building
from tests.datasets.corpora import line, make_fdu_mtl
from tests.datasets.parallel_corpora import multi30k
from tests.launch import helpers


@pytest.fixture(autouse=True)
def no_folders_from_the_environment(monkeypatch):
    for name in ("MTL_TF_DATA_DIR", "MTL_TF_MANUAL_DIR", "TFDS_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)


def run(capsys, *arguments):
    return helpers.run(capsys, prepare_data.PROGRAM, *arguments)


@pytest.mark.extended
def test_builds_and_prints_tables(capsys, tmp_path):
    status, out, _ = run(
        capsys, "--datasets=sample_reviews", f"--data_dir={tmp_path}"
    )
    assert not status
    table = out.splitlines()
    assert table[0].split() == [
        "dataset", "split", "texts", "tokens/text", "labels", "(%)",
    ]  # fmt: skip
    assert len(table) == 1 + 4 * 4 + 1
    assert table[1].split()[:3] == ["sample_reviews/books", "train", "300"]
    assert table[1].endswith("negative 50.0, positive 50.0")
    assert table[4].split()[-1] == "-"
    assert table[-1] == f"4 prepared in {tmp_path}"


def test_warnings_are_printed_for_new_and_for_reused_builds(capsys, tmp_path):
    manual = make_fdu_mtl(tmp_path / "m", test=line(1, "") + line(1, "a"))
    arguments = (
        "--datasets=fdu_mtl/books,fdu_mtl/books",
        f"--data_dir={tmp_path / 'data'}",
        f"--manual_dir={manual}",
    )
    first = run(capsys, *arguments)
    again = run(capsys, *arguments)
    assert first[:2] == again[:2]
    warnings = [x for x in first[1].splitlines() if x.startswith("warning: ")]
    assert len(warnings) == 5
    assert any("1 empty text, kept (first: line 1)" in x for x in warnings)
    assert any("of one class, positive" in x for x in warnings)
    assert "1 prepared" in first[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets=fdu_mlt"], "did you mean 'fdu_mtl'"),
        (["--datasets=fdu_mtl"], "--manual_dir"),
        (["--datasets=fdu_mtl", "--manual_dir=/nowhere"], "/nowhere"),
        ([], "--datasets"),
        (
            ["--datasets=sample_reviews", "--beam_pipeline_options=a=1"],
            "needs --beam_runner",
        ),
    ],
)
def test_mistakes_exit_with_1(capsys, tmp_path, arguments, message):
    status, out, err = run(capsys, f"--data_dir={tmp_path}", *arguments)
    assert status == 1
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_beam_that_is_not_installed(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    status, out, err = run(
        capsys,
        "--datasets=sample_reviews",
        f"--data_dir={tmp_path}",
        "--beam_runner=DirectRunner",
    )
    assert (status, out) == (1, "") and len(err.splitlines()) == 1
    assert "pip install 'mtl_tf[beam]'" in err
    assert not os.listdir(tmp_path)


OWN = """
import pathlib

from mtl_tf.configs import starter

HERE = pathlib.Path(__file__).parent


def get_config():
    config = starter.get_config()
    file = str(HERE / "mails.csv")
    things = str(HERE / "things.jsonl")
    config.tasks = (
        {
            "name": "mails",
            "type": "multi_label",
            "files": {"train": file, "validation": file, "test": file},
            "separator": ";",
        },
        {"name": "things", "type": "tagging", "files": {"train": things}},
        {
            "name": "stars",
            "type": "regression",
            "files": {"train": str(HERE / "stars.csv")},
        },
        "sample_reviews/books",
    )
    return config
"""


RAW = """
from mtl_tf.configs import starter

FILES = dict.fromkeys(("train", "validation", "test"), "PATH")


def get_config():
    config = starter.get_config()
    config.tasks = ({"name": "mails", "files": FILES}, "sample_reviews/books")
    return config
"""


@pytest.mark.by_default("*-75")
@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ('"Well, the parcel came.",x\nIs it late?,y\n', 43),
        ("包裹来了,x\n我的 包裹 呢,y\n", 75),
    ],
)
def test_raw_texts_need_another_tokenizer(capsys, tmp_path, rows, share):
    file = tmp_path / "mails.csv"
    file.write_text(f"text,label\n{rows}")
    (tmp_path / "raw.py").write_text(RAW.replace("PATH", str(file)))
    flags = (f"--config={tmp_path / 'raw.py'}", f"--data_dir={tmp_path}")
    spaces = "--config.text.tokenizer.name=whitespace"
    status, out, err = run(capsys, *flags, spaces)
    told = f"Chinese: mails ({share} %). The tokenizer whitespace is for texts"
    assert not status, err
    assert told in " ".join((out + err).split())
    advised = "{'name':'regex','lowercase':True}"
    for more in ((f"--config.text.tokenizer={advised}",), ()):
        # The starter's own tokenizer is for raw texts.
        status, out, err = run(capsys, *flags, *more)
        assert not status and "tokenizer whitespace" not in out + err


def test_a_config_shows_the_statistics_of_its_own_files(capsys, tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "mails.csv").write_text(
        "text,labels\na b c,x;y\na b,x\na,x\n,\n"
    )
    sentence = '{"tokens": ["a", "b"], "tags": ["O", "B-T"]}\n'
    (tmp_path / "things.jsonl").write_text(20 * sentence)
    (tmp_path / "stars.csv").write_text("text,value\na,2.5\na,2.5\n")
    status, out, _ = run(
        capsys, f"--config={tmp_path / 'own.py'}", f"--data_dir={tmp_path}"
    )
    assert not status
    table = [" ".join(line.split()) for line in out.splitlines()]
    assert table[0] == "task split texts tokens/text labels (%)"
    assert "mails train 4 1.5 x 75.0, y 25.0" in table
    assert "things train 18 2.0 O 50.0, B-T 50.0, I-T 0.0" in table
    assert "stars train 1 1.0 2.5 to 2.5, mean 2.5" in table
    (held_out,) = [t for t in table if t.startswith("things validation")]
    assert held_out.startswith("things validation 2 2.0 O 50.0")
    assert any(line.startswith("books test 200 ") for line in table)
    warnings = [line for line in table if line.startswith("warning: mails")]
    empty, *repeated = sorted(warnings)
    assert "1 row with an empty text" in empty
    assert [text.split("split ")[1].split()[0] for text in repeated] == [
        "'test'",
        "'validation'",
    ]
    assert all("4 of the 4 texts of the" in text for text in repeated)
    assert "prepared in" not in out


TWO_SOURCES = """
from mtl_tf.configs import starter


def get_config():
    config = starter.get_config("translation")
    config.tasks = tuple(
        {"name": pair, "type": "translation",
         "files": {"TRAIN": "PATH", "validation": "PATH", "TEST": "PATH"},
         "columns": {"source": "x", "target": "y"}}
        for pair in PAIRS
    )
    return config
"""


@pytest.mark.parametrize(
    ("pairs", "splits", "refusal"),
    [
        (("en-de", "en-fr"), "train test", ""),
        (("en-de", "fr-de"), "train test", "all translation tasks of a run"),
        (("en-de", "en-fr"), "train other", "task en-de has no test split"),
        (
            ("en-de", "en-fr"),
            "trian test",
            "task en-de has no train split: name one in its entry; did you "
            "mean 'trian'?",
        ),
    ],
)
def test_what_a_training_refuses_is_told(
    capsys, tmp_path, pairs, splits, refusal
):
    path = tmp_path / "pairs.csv"
    path.write_text("x,y\na b,c d\ne f,g h\n")
    train, test = splits.split()
    text = TWO_SOURCES.replace("PATH", str(path)).replace("TEST", test)
    text = text.replace("TRAIN", train)
    config = tmp_path / "own.py"
    config.write_text(text.replace("PAIRS", repr(pairs)))
    status, out, err = run(capsys, f"--config={config}")
    assert not status, err
    told = "a training refuses this config: "
    assert told + refusal in out if refusal else told not in out


SHOWN_CONFIG = """
import pathlib

from mtl_tf.configs import starter

HERE = pathlib.Path(__file__).parent


def get_config():
    config = starter.get_config()
    config.text.max_length = 2
    config.text.min_count = 2
    files = {
        split: str(HERE / f"{split}.jsonl") for split in ("train", "validation")
    }
    config.tasks = ({"name": "things", "type": "tagging", "files": files},)
    return config
"""
SHOWN = """
task    split       read as  examples  mean  95 %  longest  unknown %  cut %  left out
things  train       tokens          4   2.5     3        3       12.5   50.0  -
things  validation  tokens          1   2.0     2        2        0.0    0.0  -

things: split train, example 0
  tokens: A b c
  tokens as read: a b [cut 1]
  tags: O B-T

things: split train, example 1
  tokens: a d
  tokens as read: a [?d]
  tags: B-T O

[?word] is not in the vocabulary,
"""  # noqa: E501


def test_examples_are_shown_as_the_model_reads_them(
    capsys, tmp_path, monkeypatch
):
    lines = [
        '{"tokens": ["A", "b", "c"], "tags": ["O", "B-T", "O"]}\n',
        '{"tokens": ["a", "d"], "tags": ["B-T", "O"]}\n',
        '{"tokens": ["a", "b"], "tags": ["O", "O"]}\n',
    ]
    train = [*lines, lines[0]]
    (tmp_path / "train.jsonl").write_text("".join(train))
    (tmp_path / "validation.jsonl").write_text(lines[2])
    (tmp_path / "own.py").write_text(SHOWN_CONFIG)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", os.getcwd())
    status, out, _ = run(capsys, f"--config={tmp_path / 'own.py'}", "--show=2")
    assert not status
    assert out.startswith("task    split       texts  tokens/text  labels (%)")
    assert SHOWN.rstrip() in out
    assert not os.listdir(tmp_path / "here")


def test_what_to_show_needs_a_config(capsys, tmp_path):
    status, out, err = run(
        capsys,
        "--datasets=sample_reviews",
        "--show=1",
        f"--data_dir={tmp_path}",
    )
    assert (status, out) == (1, "") and len(err.splitlines()) == 1
    assert "--show needs --config" in err
    assert not os.listdir(tmp_path)


def test_wrong_line_is_named(capsys, tmp_path):
    manual = make_fdu_mtl(tmp_path / "m", test=b"1\ta\nno tab\n")
    status, _, err = run(
        capsys,
        "--datasets=fdu_mtl/books",
        f"--data_dir={tmp_path}",
        f"--manual_dir={manual}",
    )
    assert status == 1
    assert "books.task.test:2: no tab" in err


def test_parts_without_files_are_left_out_unless_they_are_named(
    capsys, tmp_path
):
    multi30k(tmp_path / "m" / "multi30k")
    folders = (f"--data_dir={tmp_path / 'd'}", f"--manual_dir={tmp_path / 'm'}")
    status, out, _ = run(capsys, "--datasets=multi30k", *folders)
    assert not status
    assert out.splitlines()[1].startswith("multi30k/en-de  ")
    assert "left out: multi30k/en-fr: " in out and "no file in fr" in out
    assert out.splitlines()[-1].startswith("1 prepared in ")
    for name in ("multi30k/en-fr", "multi_target_nmt"):
        status, out, err = run(capsys, f"--datasets={name}", *folders)
        assert (status, out) == (1, "")
        assert "fr" in err


def test_help_lists_all_corpora_of_the_package(capsys):
    _, out, _ = run(capsys, "--help")
    listed = re.search(r"The corpora are (.*?)\.", " ".join(out.split()))
    assert listed[1].split(", ") == list(building.OWN)


def test_help_does_not_load_tensorflow():
    code = (
        "import sys; sys.argv = ['prepare_data', '--help']\n"
        "from launch import prepare_data\n"
        "try:\n"
        "    prepare_data.run()\n"
        "except SystemExit as leaving:\n"
        "    assert not leaving.code, leaving.code\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "--datasets" in done.stdout
