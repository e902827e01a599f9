import gzip
import json

import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.task import Task
from mtl_tf.tasks.task_statistics import statistics
from tests.datasets.tagged_corpora import word
from tests.tasks.tagging import TRAIN, entry, rows, task


def test_columns(tmp_path):
    chunks = task(tmp_path, train=2 * TRAIN)
    assert chunks.labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert (chunks.settings["scheme"], chunks.type) == ("iob2", "tagging")
    assert chunks.metrics == ("span_f1", "token_accuracy")
    assert rows(chunks, "test") == [("Bonn Paris", "B-LOC B-LOC")] + [
        ("Ann", "B-PER")
    ]
    # One in ten, at least one, is held out.
    assert (chunks.size("train"), chunks.size("validation")) == (1, 1)
    assert rows(chunks, "train") == [("I saw New York", "O O B-LOC I-LOC")]
    spec = chunks.dataset("test").element_spec
    assert spec["tags"].dtype == tf.int64 and spec["tokens"].shape == [None]
    described = json.loads(json.dumps(chunks.to_json()))
    assert described["scheme"] == "iob2"


@pytest.mark.parametrize(("tokens", "is_told"), [(500, True), (499, False)])
def test_missing_blank_lines_are_told(tmp_path, tokens, is_told):
    source = task(tmp_path, train="a O\n" * tokens, test="a B-X\n").source
    told = [w for w in source.warnings if "500 tokens are one sentence" in w]
    assert bool(told) == is_told
    assert not told or "train.conll: its" in told[0]


def test_tags_of_words(tmp_path):
    columns = {"tags": 1}
    words = task(tmp_path, columns=columns, train=2 * TRAIN)
    assert words.labels == ("NNP", "PRP", "VBD")
    assert (words.settings["scheme"], words.metrics) == (
        "",
        ("token_accuracy",),
    )
    assert rows(words, "test")[1] == ("Ann", "NNP")
    # The tags of spans, taken for tags of words.
    words = task(tmp_path, scheme="none", train=2 * TRAIN)
    assert words.labels == ("O", "B-LOC", "B-PER", "I-LOC")


@pytest.mark.parametrize("scheme", ["auto", "iob1"])
def test_training_in_another_scheme(tmp_path, scheme):
    iob1 = "I NN O\nNew NN I-LOC\nYork NN I-LOC\nBonn NN B-LOC\n"
    fields = {"train": iob1, "test": iob1, "scheme": scheme}
    whole = [("I New York Bonn", "O B-LOC E-LOC S-LOC")]
    iobes = task(tmp_path, **fields, train_scheme="iobes")
    assert rows(iobes, "test") == whole and iobes.settings["scheme"] == "iobes"
    assert iobes.labels == ("O", "B-LOC", "I-LOC", "E-LOC", "S-LOC")
    # Without a wish IOB1 becomes IOB2, and nothing is wrong with it.
    iob2 = task(tmp_path, **fields)
    assert rows(iob2, "test") == [("I New York Bonn", "O B-LOC I-LOC B-LOC")]
    assert iob2.settings["scheme"] == "iob2" and iob2.source.warnings == []


@pytest.mark.parametrize(
    ("train", "line", "tag"),
    [
        ("I O\nsaw O\nAnn B-PER\nLee I-PER\n\nBonn B_LOC\n", 6, "B_LOC"),
        ("I O\nsaw _\nAnn B-X\n", 2, "_"),
        ("I 0\nsaw 0\nwas 0\nAnn B-X\nLee I-X\n", 1, "0"),
        ("a B-X\n" + "b O\n" * 9 + "c b-x\nd i-x\ne B_X\n", 11, "b-x"),
    ],
)
def test_a_slip_does_not_make_words_of_spans(tmp_path, train, line, tag):
    with pytest.raises(DataError, match=rf"train.conll:{line}: .*'{tag}'"):
        task(tmp_path, train=train, test=train)
    with pytest.raises(ConfigError, match=rf"train.conll:{line}: .*'{tag}'"):
        task(tmp_path, train=train, test=train, scheme="iob2")
    words = task(tmp_path, train=f"{train}\n{train}", scheme="none")
    assert tag in words.labels and not words.settings["scheme"]


@pytest.mark.parametrize(
    "tags", ["O COMMA O", "B I E", "NN B-x VB JJ IN", "L-x NN VB"]
)
def test_what_are_tags_of_words(tmp_path, tags):
    content = "".join(f"a {tag}\n" for tag in tags.split())
    words = task(tmp_path, train=f"{content}\n{content}", test=content)
    assert words.settings["scheme"] == ("iobes" if tags == "B I E" else "")
    assert [tags for _, tags in rows(words, "test")] == [tags]


def test_spaces_around_cells(tmp_path):
    train = "New York\tB-LOC \n,\tO \nBonn \t B-LOC\n\nAnn\tO\n"
    own = task(tmp_path, train=train, test=train, separator="\t")
    assert own.labels == ("O", "B-LOC", "I-LOC")
    assert rows(own, "test")[0] == ("New York , Bonn", "B-LOC O B-LOC")
    lines = json.dumps({"tokens": ["Bonn", "x"], "tags": ["B-LOC ", " O"]})
    own = task(tmp_path, "jsonl", train=f"{lines}\n{lines}", test=lines)
    assert rows(own, "test") == [("Bonn x", "B-LOC O")]
    with pytest.raises(DataError, match="conll:2: column -1 is empty"):
        task(tmp_path, train="a\tO\nb\t \n", separator="\t")


@pytest.mark.parametrize("scheme", ["auto", "bilou"])
def test_bilou_is_read_as_iobes(tmp_path, scheme):
    train = "I O\nNew B-LOC\nYork L-LOC\nBonn U-LOC\n\nNo O\n"
    own = task(tmp_path, train=train, test=train, scheme=scheme)
    assert own.labels == ("O", "B-LOC", "I-LOC", "E-LOC", "S-LOC")
    assert own.settings["scheme"] == "iobes" and own.source.warnings == []
    assert rows(own, "test")[0][1] == "O B-LOC E-LOC S-LOC"
    iob2 = task(tmp_path, train=train, scheme=scheme, train_scheme="iob2")
    assert iob2.labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    # Labels may be given in its letters, too.
    given = ["O", "B-LOC", "I-LOC", "L-LOC", "U-LOC"]
    own = task(tmp_path, train=train, test=train, labels=given, scheme=scheme)
    assert own.labels == ("O", "B-LOC", "I-LOC", "E-LOC", "S-LOC")
    slip = train.replace("No O", "Lee Bx")
    with pytest.raises((DataError, ConfigError), match="conll:6: .*'Bx'"):
        task(tmp_path, train=slip, scheme=scheme)


def test_labels_keep_their_order_and_are_completed(tmp_path):
    order = ["I-PER", "B-PER", "B-LOC", "I-LOC", "O"]
    assert task(tmp_path, labels=order).labels == tuple(order)
    given = ["O", "B-PER", "B-LOC"]
    assert set(task(tmp_path, labels=given).labels) == set(order)
    with pytest.raises(DataError, match="test.conll:6: unknown tag 'B-PER'; "):
        rows(task(tmp_path, labels=["O", "B-LOC"]), "test")


def test_what_breaks_the_scheme_is_repaired_and_counted(tmp_path):
    train = "a x B-X\nb x O\nc x I-X\n\nd x B-X\n"
    broken = task(tmp_path, train=train, scheme="iob2")
    found = rows(broken, "train") + rows(broken, "validation")
    assert sorted(found) == [("a b c", "B-X O B-X"), ("d", "B-X")]
    assert broken.source.warnings == [
        "1 tags that iob2 does not allow, read as conlleval reads them "
        f"(first: {tmp_path}/train.conll:3)"
    ]


def test_training_tokens_with_one_tag_alone_are_told(tmp_path):
    one = task(tmp_path, train="a x N\nb x N\n\nc x N\n", test="a x V\n")
    rows(one, "train"), rows(one, "test")
    assert one.source.warnings == ["all 3 training tokens have the tag 'N'"]


def test_separators_comments_and_packed_files(tmp_path):
    content = "# id\nNew York\tLOC\n\u00a0\tO\r\n\n"
    fields = {"separator": "\t", "comment": "# ", "format": "conll"}
    made = entry(tmp_path, train=2 * content, test=content, **fields)
    packed = tmp_path / "test.txt.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    made["files"]["test"] = str(packed)
    (split,) = resolve([made])
    assert rows(split, "test") == [("New York \u00a0", "LOC O")]


def test_conllu(tmp_path):
    content = "# text\n" + word("1-2", "dont", "_") + word(1, "a", "X", "Y")
    fields = {"train": 2 * f"{content}\n", "test": content}
    upos = task(tmp_path, "conllu", **fields)
    assert rows(upos, "test") == [("a", "X")]
    xpos = task(tmp_path, "conllu", **fields, columns={"tags": "xpos"})
    assert rows(xpos, "test") == [("a", "Y")]


def test_jsonl(tmp_path):
    line = json.dumps({"words": ["a b", "\ud800"], "tags": [1, "NN"]})
    empty = json.dumps({"words": [], "tags": []})
    content = f"{line}\n{empty}\n"
    columns = {"tokens": "words"}
    fields = {"train": content, "test": content, "columns": columns}
    words = task(tmp_path, "jsonl", **fields)
    assert words.labels == ("1", "NN")
    assert rows(words, "test") == [("a b ?", "1 NN"), ("", "")]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("c B-X\nd\n", "b.conll:2: 1 column, but 2 are wanted: 'd'"),
        ("c NN B-X\n", "b.conll: 3 columns, but .*/a.conll has 2: the files"),
        ("c B-X\n\nd B-Y\n", "b.conll:3: unknown tag 'B-Y'; did you mean"),
        ("\n\n", "b.conll is empty: it has no sentences"),
    ],
)
def test_what_is_wrong_in_one_of_several_files_names_it(
    tmp_path, second, message
):
    paths = [tmp_path / "a.conll", tmp_path / "b.conll"]
    for path, text in zip(paths, ("a O\n\nb B-X\n\nc O\n", second)):
        path.write_text(text)
    fields = {"labels": ["O", "B-X", "I-X"], "scheme": "iob2"}
    one = entry(tmp_path, **fields)
    one["files"] = {"test": list(map(str, paths))}
    with pytest.raises(DataError, match=message):
        list(resolve([one])[0].dataset("test"))


def test_what_is_odd_in_one_of_several_files_names_it(tmp_path):
    paths = [tmp_path / "a.conll", tmp_path / "b.conll"]
    for path, text in zip(paths, (b"a O\n", b"a O\ncaf\xe9 I-X\n")):
        path.write_bytes(text)
    own = entry(tmp_path, labels=["O", "B-X", "I-X"], scheme="iob2")
    own["files"] = {"test": list(map(str, paths))}
    (task,) = resolve([own])
    assert rows(task, "test") == [("a", "O"), ("a café", "O B-X")]
    latin, broken = task.source.warnings
    assert latin.startswith(f"{paths[1]}: 1 lines not UTF-8")
    assert f"(first: {paths[1]}:2)" in broken


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a x O\n\nb O\n",
            "conll:3: 2 columns, but 3 are wanted .if their number differs by "
            "sentence, give the columns .* by numbers from 0.: 'b O'",
        ),
        ("a x O\nb O\n", "conll:2: 2 columns, but 3 are wanted: 'b O'"),
        (
            "a/DT b/NN ./.\nc/PRP d/VB\n",
            "conll:2: 2 columns, but 3 are wanted .these look like pairs word/"
            "tag: write a token and its tag a line, and a blank line after",
        ),
        (
            "# id = 1\na x O\n",
            "conll:2: 3 columns, but 4 are wanted .if lines that begin with "
            "'#' are comments, set comment.: 'a x O'",
        ),
        ("a\n", "conll:1: the column|columns are"),
        ("-DOCSTART- O\n", "train.conll is empty: it has no sentences"),
    ],
)
def test_wrong_columns(tmp_path, content, message):
    columns = {"tokens": 0, "tags": 1 if content == "a\n" else -1}
    message = "1 column, but the tags" if content == "a\n" else message
    with pytest.raises(DataError, match=message):
        task(tmp_path, train=content, columns=columns)


# As in the files of CoNLL-2012, with a column for each predicate.
ONTONOTES = """#begin document (bc/x); part 000
bc/x 0 0 Bonn NNP (S* - - - A (GPE) (0)
bc/x 0 1 sleeps VBZ *) sleep 01 - A * -

bc/x 0 0 New NNP (S* - - - B (ORG* (A0* * (1
bc/x 0 1 York NNP * - - - B * *) (A1*) -
bc/x 0 2 Times NNP * - - - B *) (V*) * 1)
bc/x 0 3 sees VBZ *) see 01 - B * * (V*) -

#end document
#begin document (bc/y); part 000
bc/y 0 0 Ann NNP (S*) - - - A (PERSON) -

#end document
"""
PLACES = {"tokens": 3, "tags": 10}


def test_sentences_may_have_different_numbers_of_columns(tmp_path):
    fields = {"columns": PLACES, "comment": "#"}
    names = task(tmp_path, train=ONTONOTES, test=ONTONOTES, **fields)
    assert rows(names, "test") == [
        ("Bonn sleeps", "B-GPE O"),
        ("New York Times sees", "B-ORG I-ORG I-ORG O"),
        ("Ann", "B-PERSON"),
    ]
    assert names.settings["scheme"] == "iob2"
    nameless = "x 0 0 Bonn NNP * - - - A *\n"
    names = task(tmp_path, train=ONTONOTES, test=nameless, **fields)
    assert rows(names, "test") == [("Bonn", "O")]
    fields["columns"] = PLACES | {"tags": 4}
    words = task(tmp_path, train=ONTONOTES, test=ONTONOTES, **fields)
    assert rows(words, "test")[0] == ("Bonn sleeps", "NNP VBZ")


def test_files_of_a_split_may_have_different_numbers_of_columns(tmp_path):
    one = entry(tmp_path, columns={"tokens": 0, "tags": 1}, labels=["x", "y"])
    for number in (1, 2):
        (tmp_path / f"{number}").write_text("a x y\n"[: 2 + 2 * number] + "\n")
    one["files"] = {"test": [str(tmp_path / "1"), str(tmp_path / "2")]}
    (task,) = resolve([one | {"format": "conll"}])
    assert rows(task, "test") == [("a", "x"), ("a", "x")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a x y\nb x\n", "conll:2: 2 columns, but 3 are wanted: 'b x'"),
        ("a x y\n\nb\n", "conll:3: 1 column, but the tags are wanted in col"),
        (ONTONOTES, "conll:2: 12 columns, but 5 are wanted .if lines that beg"),
        ("a (X* y\nb (Y)\n", "conll:2: 2 columns"),
        ("a (X*\nb (Y)\n", r"conll:2: at '\(Y\)' the brackets"),
        ("a *\nb *)\n", r"conll:2: at '\*\)' the brackets"),
        ("a (X*\n\nb *)\n", r"conll:1: at '\(X\*' the brackets"),
    ],
)
def test_wrong_columns_by_numbers_from_0(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        task(tmp_path, train=content, columns={"tokens": 0, "tags": 1})


def test_brackets_among_other_tags_are_tags(tmp_path):
    fields = {"columns": {"tokens": 0, "tags": 1}}
    content = "a (X*\nb :\n"
    words = task(tmp_path, train=content, test=content, **fields)
    assert rows(words, "test") == [("a b", "(X* :")]


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("EU,NNP,O\n", {}, "conll:1: of 1 column the token and the tag"),
        ("EU N O\n", {"tokens": 2}, "conll:1: of 3 columns .* in 'EU N O'"),
    ],
)
def test_tokens_that_would_be_their_own_tags(
    tmp_path, content, columns, message
):
    with pytest.raises(DataError, match=message):
        task(tmp_path, train=content, columns=columns)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"tokens": ["a"]}, "jsonl:1: no key 'tags'"),
        ({"tokens": ["a"], "tags": []}, "jsonl:1: 1 tokens, but 0 tags"),
        ({"tokens": "a", "tags": ["O"]}, "'tokens' must be a list of strings"),
        ({"tokens": [""], "tags": ["O"]}, "of strings that are not empty"),
        ({"tokens": ["a"], "tags": [True]}, "'tags' must be a list"),
        (
            {"tokens": ["a"], "tags": ["B-\ud800"]},
            r"jsonl:1: in the tag 'B-\\ud800', half of a surrogate pair",
        ),
    ],
)
def test_wrong_json(tmp_path, value, message):
    with pytest.raises(DataError, match=message):
        task(tmp_path, "jsonl", train=json.dumps(value))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scheme": "bio"}, "own: unknown scheme 'bio'"),
        ({"train_scheme": "iob1"}, "unknown train_scheme 'iob1'"),
        ({"header": True}, "unknown field 'header'"),
        ({"metrics": ["spanf1"]}, "own: unknown metric of tagging 'spanf1'; d"),
        (
            {"metrics": ["span_f1"], "columns": {"tags": 1}},
            "metrics has 'span_f1', but the tags are of words",
        ),
        ({"columns": {"tokens": "word"}}, "tokens must be a column's number"),
        ({"columns": {"text": 0}}, "unknown columns.text"),
        ({"columns": {"tokens": 1, "tags": 1}}, "are both 1"),
        ({"format": "conllu", "columns": {"tags": "pos"}}, "must be one of id"),
        ({"format": "conllu", "comment": "#"}, "neither separator nor comment"),
        ({"format": "csv"}, "unknown format 'csv'"),
        ({"separator": 1}, "separator must be a string, got 1"),
        (
            {"columns": {"tags": 1}, "scheme": "iob2"},
            "conll:3: scheme is 'iob2', but the tag 'PRP' is no tag of a",
        ),
        (
            {"columns": {"tags": 1}, "train_scheme": "iobes"},
            "train_scheme is 'iobes', but the tags are not those of spans",
        ),
    ],
)
def test_wrong_fields(tmp_path, fields, message):
    with pytest.raises(ConfigError, match=message):
        task(tmp_path, **fields)


def test_a_format_has_to_be_known(tmp_path):
    with pytest.raises(ConfigError, match="set format to conll, conllu, jsonl"):
        task(tmp_path, "txt")


def test_statistics_count_tokens_and_sentences(tmp_path):
    train, validation, test = statistics(task(tmp_path, train=2 * TRAIN))
    assert train.labels["O"] == 2 and train.labels["I-LOC"] == 1
    assert validation.repeated == 1
    assert test.examples == 2


def test_the_text_of_a_sentence():
    words = Task("t", "tagging", None, ("A", "B"), settings={"scheme": ""})
    tokens = tf.ragged.constant([["a", "b"], []])
    assert words.text_of({"tokens": tokens}).numpy().tolist() == [b"a b", b""]
    assert words.text_of({"tokens": tokens[0]}).numpy() == b"a b"
