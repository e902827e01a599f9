import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import building
from tests.datasets.parallel_corpora import multi30k
from tests.datasets.question_corpora import rows, sizes, warnings, write

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")
QUESTION = "What is the translation from English to German?"
ENGLISH = (
    "<url>http://example.org/1</url>\n"
    "<keywords>talks, rain</keywords>\n"
    "<title>Of rain</title>\n"
    " It rains. \n"
    "<laughs> Why?\n"
    "\n"
    "Nobody\u0085 knows & cares.\n"
)
# A line about the talk that the other side has not.
GERMAN = (
    "<url>http://example.org/1</url>\n"
    '<translator href="http://example.org/t">A. B.</translator>\n'
    "<title>Vom Regen</title>\n"
    "Es regnet.\n"
    "Warum?\n"
    "Ja.\n"
    "Niemand\u0085 weiß es.\n"
)


def xml(kind, language, *talks):
    docs = "".join(
        f'<doc docid="{number}" genre="lectures"><url>x</url><title>t</title>'
        + "".join(f'<seg id="{i}"> {s} </seg>\n' for i, s in enumerate(talk, 1))
        + "</doc>\n"
        for number, talk in enumerate(talks, 1)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n'
        f'<{kind} setid="s" srclang="english" trglang="{language}">\n{docs}'
        f"</{kind}>\n</mteval>\n"
    )


def iwslt(directory, english=ENGLISH, german=GERMAN):
    write(directory, "train.tags.en-de.en", english)
    return write(directory, "train.tags.en-de.de", german)


def sets(directory, name, english, german):
    prefix = f"IWSLT16.TED.{name}.en-de"
    write(directory, f"{prefix}.en.xml", english)
    return write(directory, f"{prefix}.de.xml", german)


def build(tmp_path, manual, config="en-de"):
    name = f"iwslt2016/{config}"
    return building.prepare(name, str(tmp_path / "d"), str(manual))


def test_iwslt_from_tagged_lines_and_xml(tmp_path):
    inner = tmp_path / "m" / "iwslt2016" / "en-de"
    iwslt(inner)
    for name in ("tst2013", "tst2014", "dev2010"):
        english = [["One &amp; two.", "Three."], [f"Of {name}."]]
        german = [["Eins und zwei.", "Drei."], [f"Aus {name}."]]
        sets(
            inner, name, xml("srcset", "", *english), xml("refset", "", *german)
        )
    builder = build(tmp_path, tmp_path / "m")
    assert sizes(builder) == {
        "train": 3,
        "validation": 3,
        "test": 3,
        "dev2010": 3,
    }
    assert rows(builder, "train") == [
        ("train_0", QUESTION, "It rains.", "Es regnet."),
        ("train_1", QUESTION, "<laughs> Why?", "Warum?"),
        (
            "train_2",
            QUESTION,
            "Nobody\u0085 knows & cares.",
            "Niemand\u0085 weiß es.",
        ),
    ]
    assert rows(builder, "validation") == [
        ("validation_0", QUESTION, "One & two.", "Eins und zwei."),
        ("validation_1", QUESTION, "Three.", "Drei."),
        ("validation_2", QUESTION, "Of tst2013.", "Aus tst2013."),
    ]
    assert rows(builder, "test")[2][2] == "Of tst2014."
    found = warnings(builder)
    assert (
        "train.tags.en-de.en and train.tags.en-de.de: 1 pair with an empty "
        "text skipped" in found
    )
    assert "train: 3 pairs; the released files have 196,884" in found


def test_only_a_part_of_iwslt_and_another_pair(tmp_path):
    manual = tmp_path / "m"
    write(manual, "train.tags.en-cs.en", "One.\n")
    write(manual, "train.tags.en-cs.cs", "Jedna.\n")
    builder = build(tmp_path, manual, "en-cs")
    [row] = rows(builder, "train")
    assert row[1] == "What is the translation from English to Czech?"
    assert warnings(builder).splitlines() == [
        f"there is no IWSLT16.TED.{name}.en-cs.en.xml: the build has no {split}"
        for name, split in (("tst2013", "validation"), ("tst2014", "test"))
    ]
    # A set without a translation.
    write(manual, "IWSLT16.TED.tst2015.en-de.en.xml", xml("srcset", "", ["a"]))
    with pytest.raises(MissingData, match="neither train.tags.en-de"):
        build(tmp_path, manual)


@pytest.mark.parametrize("inner", ["en-de", "2016-01/texts/en/de/en-de"])
def test_the_folders_of_the_archive_of_iwslt(tmp_path, inner):
    """The whole archive has a folder of its own name."""
    (tmp_path / "m/iwslt2016/2016-01/texts").mkdir(parents=True)
    iwslt(tmp_path / "m/iwslt2016" / inner)
    builder = build(tmp_path, tmp_path / "m")
    assert sizes(builder) == {"train": 3}


def test_wrong_files_of_iwslt(tmp_path):
    short = iwslt(tmp_path / "a", german=GERMAN + "Mehr.\n")
    with pytest.raises(DataError, match="has 4 lines of text, .*has 5"):
        build(tmp_path, short)
    os.unlink(os.path.join(short, "train.tags.en-de.de"))
    with pytest.raises(DataError, match="cannot read .*train.tags.en-de.de"):
        build(tmp_path, short)
    two, one = xml("srcset", "", ["a", "b"]), xml("refset", "", ["a"])
    manual = sets(tmp_path / "b", "tst2013", two, one)
    with pytest.raises(DataError, match="2 segments .*segment 2 of talk 1"):
        build(tmp_path, manual)
    manual = sets(tmp_path / "c", "tst2013", "<mteval>\n<doc>", one)
    with pytest.raises(DataError, match=r"en.xml:2: no XML"):
        build(tmp_path, manual)
    manual = sets(tmp_path / "e", "tst2013", "<mteval></mteval>", one)
    with pytest.raises(DataError, match="no <seg> in any <doc>"):
        build(tmp_path, manual)
    twice = two.replace('id="2"', 'id="1"')
    manual = sets(tmp_path / "f", "tst2013", twice, one)
    with pytest.raises(DataError, match="segment '1' of talk '1' is there tw"):
        build(tmp_path, manual)


def test_multi30k_as_questions(tmp_path):
    manual = multi30k(tmp_path / "m", train_en="\na\nb\n", train_de="x\ny\nz\n")
    builder = building.prepare(
        "decanlp_multi30k/en-de", str(tmp_path / "d"), manual
    )
    assert sizes(builder) == {
        "train": 2,
        "validation": 2,
        "test_2016_flickr": 3,
    }
    assert rows(builder, "train") == [
        ("train_0", QUESTION, "a", "y"),
        ("train_1", QUESTION, "b", "z"),
    ]
    assert "1 pair with an empty text skipped" in warnings(builder)
    assert "3 lines; the released file has 29,000" in warnings(builder)


@pytest.mark.parametrize("test_set", ["test2016", "test_2016_flickr"])
def test_raw_captions_as_questions(tmp_path, test_set):
    """McCann et al.'s code reads these; names of WMT, and of the authors."""
    folder = tmp_path / "m/multi30k/data/task1/raw"
    for part in ("train", "val", test_set, "test_2017_mscoco"):
        write(folder, f"{part}.en.gz", f"A dog, {part}.\n")
        write(folder, f"{part}.de.gz", f"Ein Hund, {part}.\n")
    manual = str(tmp_path / "m")
    builder = building.prepare(
        "decanlp_multi30k/en-de", str(tmp_path / "d"), manual
    )
    names = {"train", "validation", "test_2016_flickr", "test_2017_mscoco"}
    assert sizes(builder) == dict.fromkeys(names, 1)
    assert rows(builder, "test_2016_flickr")[0][2:] == (
        f"A dog, {test_set}.",
        f"Ein Hund, {test_set}.",
    )
    # Its BLEU is of tokens.
    with pytest.raises(MissingData, match="such as train.lc.norm.tok.en"):
        building.prepare("multi30k/en-de", "", manual)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "multi30k")), reason="not there"
)
def test_the_released_files_of_multi30k(tmp_path):
    builder = building.prepare("decanlp_multi30k/en-fr", str(tmp_path), REAL)
    found = sizes(builder)
    assert (found["train"], found["validation"]) == (29_000, 1014)
    assert not warnings(builder)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "iwslt2016")), reason="not there"
)
def test_the_released_files_of_iwslt(tmp_path):
    builder = building.prepare("iwslt2016/en-de", str(tmp_path), REAL)
    found = sizes(builder)
    assert (found["validation"], found["test"]) == (993, 1305)
