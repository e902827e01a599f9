"""The predict program on column files, which come back with tags in them."""

import io

import pytest

import mtl_tf
from launch import predict
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets import column_rows, tag_columns
from mtl_tf.programs import runner, text_input
from mtl_tf.runs.loaded import tag_files
from tests.launch.stand_in import POS, TAGGING, TASKS, Run

CONLLU = """\
# sent_id = a-1
# text = Ann sees it.
1\tAnn\tAnn\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\tGloss=a b
2-3\tseesit\t_\t_\t_\t_\t_\t_\t_\t_
2\tsees\tsee\tVERB\tVBZ\t_\t0\troot\t_\t_
3\tit\tit\tPRON\tPRP\t_\t2\tobj\t_\tSpaceAfter=No
3.1\tto\t_\t_\t_\t_\t_\t_\t_\t_

# newpar

# sent_id = a-2
1\tBonn\t_\t_\t_\t_\t_\t_\t_\t_

# the end
"""


def entry(**fields):
    return {
        "name": "names",
        "type": "tagging",
        "files": {"train": "a.conll"},
        **fields,
    }


@pytest.fixture
def run(monkeypatch):
    run = Run([TAGGING, POS, *TASKS])
    monkeypatch.setattr(mtl_tf, "load", lambda *_: run)
    return run


@pytest.fixture
def call(tmp_path):
    def call(content, *flags, form="conll", task="names"):
        source, output = tmp_path / f"in.{form}", tmp_path / f"out.{form}"
        if isinstance(content, str):
            content = content.encode()
        source.write_bytes(content)
        argv = ["predict", "--model_dir=x", f"--task={task}", *flags]
        argv += [f"--input={source}", f"--output={output}"]
        predict.main(runner.parse(predict.PROGRAM, argv))
        return output.read_bytes().decode()

    return call


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # The last column holds tags: it is replaced, and nothing else is.
        ("Ann NNP I-X\nsees  VBZ\tO\n\n", "Ann NNP B-X\nsees  VBZ\tO\n\n"),
        ("Ann _\n", "Ann B-X\n"),
        # There is none: it is added.
        ("Ann\nsees \n\n\nBonn", "Ann B-X\nsees O \n\n\nBonn B-X\n"),
        (
            "-DOCSTART- -X- O\n\nAnn NNP O\n\n-DOCSTART- -X- O\n",
            "-DOCSTART- -X- O\n\nAnn NNP B-X\n\n-DOCSTART- -X- O\n",
        ),
        ("\n \nAnn O\r\n\r\n\t\n", "\n \nAnn B-X\r\n\r\n\t\n"),
        ("\ufeffAnn O\n", "Ann B-X\n"),
        ("New\u00a0York O\n", "New\u00a0York B-X\n"),
        ("", ""),
        ("\n\n", "\n\n"),
    ],
)
def test_the_file_comes_back(run, call, content, expected):
    assert call(content) == expected


def test_a_type_of_ones_own_may_tag(run, call, tmp_path):
    path = tmp_path / "mine.py"
    rooms = "tasks = models = evaluation = prediction = export = baselines"
    path.write_text(f"class Tags:\n    {rooms} = 'tagging'\n")
    run.tasks = [{**TAGGING, "type": f"{path}:Tags"}]
    assert call("Ann NNP I-X\n") == "Ann NNP B-X\n"


def test_conllu_comes_back(run, call):
    lines = CONLLU.splitlines()
    expected = list(lines)
    for number, tag in ((2, "B-X"), (4, "O"), (5, "O"), (11, "B-X")):
        cells = lines[number].split("\t")
        cells[4] = tag
        expected[number] = "\t".join(cells)
    text = call(CONLLU, "--columns=tags=xpos", form="conllu")
    assert text.splitlines() == expected
    assert run.calls == [("names", [["Ann", "sees", "it"], ["Bonn"]], 64)]
    # Without its last line end it is the same but for that.
    assert call(CONLLU[:-1], "--columns=tags=XPOS", form="conllu") == text


def test_the_column_is_that_of_the_training(run, call):
    run.config = {"tasks": [entry(files={"train": "a.conllu"})]}
    text = call(CONLLU, form="conllu")
    assert [line.split("\t")[3] for line in text.splitlines()[2:6]] == [
        "B-X",
        "_",
        "O",
        "O",
    ]
    settings = {"columns": {"tokens": 2, "tags": 1}, "separator": "|"}
    run.config = {"tasks": [entry(**settings, comment="#")]}
    content = "#a|b\n1|_|new Ann |x\n2|O|sees|y\n"
    assert call(content) == "#a|b\n1|O|new Ann |x\n2|O|sees|y\n"
    assert run.calls[-1][1] == [["new Ann", "sees"]]
    # A task that is called like a column of CoNLL-U is meant by that.
    run.tasks = [{**TAGGING, "name": "xpos"}]
    run.config = {"tasks": ["ud_pos/xpos"]}
    run._answer = run._tagged
    text = call(CONLLU, form="conllu", task="xpos")
    assert text.splitlines()[2].split("\t")[4] == "B-X"


def test_flags_say_how_columns_are_laid_out(run, call):
    content = "# id\n1;Ann;x\n2;a b;y\n"
    flags = ("--delimiter=;", "--comment=#", "--columns=tokens=1,tags=2")
    assert call(content, *flags) == "# id\n1;Ann;B-X\n2;a b;O\n"
    assert run.calls[-1][1] == [["Ann", "a b"]]
    flags = (*flags[:2], "--columns=tokens=-2,tags=3")
    assert call(content, *flags) == "# id\n1;Ann;x;B-X\n2;a b;y;O\n"


def test_tags_of_several_tasks(run, call):
    assert call("Ann\nsees\n", task="pos,names") == "Ann NN B-X\nsees VB O\n"
    flags = ("--columns=names=2,pos=3",)
    assert call("Ann\t\tx\n", *flags, task="pos,names") == (
        "Ann\t\tx\t\tB-X\t\tNN\n"
    )
    run.config = {"tasks": [entry(name="pos", columns={"tags": 1})]}
    assert call("Ann _ _\n", task="pos,names") == "Ann NN B-X\n"
    text = call(
        CONLLU,
        "--columns=pos=upos,names=misc",
        form="conllu",
        task="names,pos",
    )
    cells = text.splitlines()[2].split("\t")
    assert (cells[3], cells[9]) == ("NN", "B-X")


@pytest.mark.parametrize(
    ("settings", "tag"),
    [
        ({"train_scheme": "iobes"}, "B-X"),
        ({"train_scheme": "iobes", "scheme": "iob1"}, "I-X"),
        ({"scheme": "bilou"}, "S-X"),
        ({}, "S-X"),
    ],
)
def test_tags_are_in_the_scheme_of_the_files(run, call, settings, tag):
    tags = ["O", "B-X", "I-X", "E-X", "S-X"]
    run.tasks = [{**TAGGING, "labels": tags, "scheme": "iobes"}]
    run.config = {"tasks": [entry(**settings)]}
    run._tagged = lambda task, text: {"tags": ["S-X"] * len(text)}
    assert call("Ann O\n") == f"Ann {tag}\n"


def test_tokens_that_are_not_read_have_no_tag_of_the_input(run, call, caplog):
    run.max_length = 1
    content = "Ann B-X\nBonn B-X\n\nAnn O\nIs B-X\nHe B-X\n"
    assert call(content) == "Ann B-X\nBonn O\n\nAnn B-X\nIs O\nHe O\n"
    assert "3 tokens not read, since text.max_length cuts" in caplog.text
    assert "in.conll:2): their tags are O" in caplog.text
    assert call("Ann NN\nBonn NN\n", task="pos") == "Ann NN\nBonn _\n"


def test_a_line_that_is_not_utf_8(run, call, caplog):
    assert call(b"Ann\xe9 O\n") == "Ann\xe9 B-X\n"
    assert "not UTF-8, read as Latin-1: 1" in caplog.text


@pytest.mark.parametrize(
    ("content", "flags", "message"),
    [
        ("a O\nb\n", (), r"in.conll:2: 1 column, but 2 are wanted: 'b'"),
        (
            "a NNP\nb VBZ\n",
            (),
            "in.conll:1: column 1 .counted from 0. is that of the tags of "
            "names, but has 'NNP', which is none: --columns=tags=1 replaces "
            "it, --columns=tags=2 adds one",
        ),
        (
            "# id\na NNP O\n",
            (),
            "in.conll:2: '# id' is read as a token .* give --comment=#",
        ),
        ("a b c O\n\n# id = 3\n", (), "in.conll:3: '# id = 3' is read as a to"),
        (
            "a;O\nb O\n",
            ("--delimiter=;",),
            "in.conll:2: 1 column, but 2 are wanted .';' separates them, and",
        ),
        (
            "\na,O\nb,O\n",
            (),
            "in.conll:2: one column, 'a,O': if ',' .*, give --delimiter=','",
        ),
        (
            "a O\nb O\n",
            ("--delimiter=\\t",),
            "in.conll:1: one column, 'a O': if ' ' .*, give --delimiter=' '",
        ),
        ("a O\n", ("--columns=tags=3",), "tags is column 3 .* 2 columns: the "),
        ("a O\n", ("--columns=tags=0",), "which is that of the tokens in"),
        ("a O\n", ("--columns=tags=-3",), "which is none in .*, of 2 columns"),
        ("a O\n", ("--columns=tags=xpos",), "tags must be a number, from 0"),
        ("a O\n", ("--columns=tag=1",), "unknown field .* did you mean 'tags'"),
        ("a O\n", ("--columns=tokens=5",), "in.conll:1: 2 columns, but the to"),
        ("a\n", ("--output_format=conllu",), "conllu is for input in conllu"),
        ("a O\n", ("--task=names,names",), "--task names the task names twice"),
        ("a O\n", ("--task=names,nams",), "unknown task 'nams'; did you mean"),
        ("a O\n", ("--task=books",), "the task books is of type classifica"),
        ("a O\n", ("--task=pos,names",), "in.conll:1: column 1 .* tags of pos"),
        (
            "a _\n",
            ("--task=pos,names",),
            "pos and names would go into the same column of .*in.conll: give "
            "--columns=pos=COLUMN,names=COLUMN",
        ),
        (
            "a _\n",
            ("--task=pos,names", "--output_format=jsonl"),
            "--task names 2 tasks: only a file of columns",
        ),
        (
            "a\n",
            ("--format=text", "--comment=#"),
            "--comment is for conll, and",
        ),
        ("a\n", ("--score",), "names is of the type tagging, whose models wri"),
    ],
)
def test_wrong_columns(run, call, tmp_path, content, flags, message):
    with pytest.raises((ConfigError, DataError), match=message):
        call(content, *flags)
    assert [file.name for file in tmp_path.iterdir()] == ["in.conll"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            CONLLU.replace("\t", " "),
            "in.conllu:3: 1 column, but 10 are wanted .a tab",
        ),
        (CONLLU.replace("3\tit", "4\tit"), "in.conllu:6: the id '4' where wo"),
        (CONLLU.replace("\tNNP", ""), "in.conllu:3: 9 columns, but 10 are wan"),
    ],
)
def test_wrong_conllu(run, call, tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        call(content, "--columns=tags=xpos", form="conllu")
    assert [file.name for file in tmp_path.iterdir()] == ["in.conllu"]
    message = "the task names was not trained on CoNLL-U: name the column for"
    with pytest.raises(ConfigError, match=f"{message} .*--columns=tags=xpos"):
        call(CONLLU, form="conllu")


def test_conllu_as_other_forms(run, call, tmp_path):
    call(CONLLU, "--output_format=conll", form="conllu")
    assert (tmp_path / "out.conllu").read_text() == (
        "Ann B-X\nsees O\nit O\n\nBonn B-X\n\n"
    )


def test_a_pipe_gets_each_sentence_with_its_lines(run):
    """The writer of the pipe waits for an answer before it goes on."""
    output = io.BytesIO()
    before = []

    class Talk(io.RawIOBase):
        pieces = [b"# a\nAnn O\n\n", b"# b\n", b"is O\n\n# c", b""]

        def readable(self):
            return True

        def readinto(self, buffer):
            before.append(output.getvalue().decode())
            piece = self.pieces.pop(0)
            buffer[: len(piece)] = piece
            return len(piece)

    columns = [tag_columns.TagColumn("names", 1)]
    layout = column_rows.ColumnLayout(comment="#", one_width=True)
    stream = io.BufferedReader(Talk())
    reader = text_input.TextReader(stream, "-", "conll", layout=layout)
    tagged = tag_columns.TagColumns("-", layout, columns)
    tag_files.tag(run, ["names"], reader, output, 64, tagged)
    first, second = "# a\nAnn B-X\n\n", "# b\nis O\n\n"
    assert before == ["", first, first, first + second]
    assert output.getvalue().decode() == f"{first}{second}# c\n"


@pytest.mark.parametrize(
    ("separator", "line"), [("", "Ann B-my_tag\n"), ("\t", "Ann\tB-my tag\n")]
)
def test_a_tag_with_a_space_starts_no_column(separator, line):
    layout = column_rows.ColumnLayout(separator=separator)
    sentences = column_rows.ColumnRows("a.conll", layout)
    sentences.add(line.split("B-")[0].strip(), 1)
    tagged = tag_columns.TagColumns(
        "a.conll", layout, [tag_columns.TagColumn("names", 1)]
    )
    tags = {"names": ["B-my tag"]}
    assert tagged.text(sentences.sentence(), tags) == line
