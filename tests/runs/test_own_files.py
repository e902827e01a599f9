import os

import pytest

from mtl_tf.configs import base
from mtl_tf.core.errors import RunError
from mtl_tf.runs.directory import own_files, seals
from mtl_tf.runs.directory.run_directory import RunDirectory


def config_of(*entries):
    config = base.paper_config().to_dict()
    config["tasks"] = list(entries)
    return config


def test_paths_of_all_forms_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entries = [
        "sample_reviews/books",
        {"name": "a", "files": {"train": "data/a.csv", "test": "/b.csv"}},
        {"name": "b-c", "files": {"train": ["a.b", "../a.c"]}},
        {"name": "d", "files": {"train": "gs://bucket/d.csv"}},
        {"name": "f", "files": {"train": {"source": "f.en"}}},
        {"name": "e", "dataset": "glue/sst2"},
        {"name": "g", "files": {"train": "~/g.csv"}},
    ]
    config = config_of(*entries)
    config["evaluation"]["group"] = [entries[1]]
    config["text"]["vocabulary_tasks"] = [entries[1]]
    made = own_files.absolute(config)
    here = str(tmp_path)
    first = {
        "name": "a",
        "files": {"train": f"{here}/data/a.csv", "test": "/b.csv"},
    }
    assert made["tasks"] == [
        entries[0],
        first,
        {
            "name": "b-c",
            "files": {"train": [f"{here}/a.b", f"{tmp_path.parent}/a.c"]},
        },
        entries[3],
        {"name": "f", "files": {"train": {"source": f"{here}/f.en"}}},
        entries[5],
        {"name": "g", "files": {"train": os.path.expanduser("~/g.csv")}},
    ]
    assert made["evaluation"]["group"] == [first]
    assert made["text"]["vocabulary_tasks"] == [first]
    assert config["tasks"] == entries, "what was given is not changed"


def test_the_path_of_a_scheme_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = config_of("sample_reviews")
    for name, made in (
        ("mine.py:Own", f"{tmp_path}/mine.py:Own"),
        ("package.mine:Own", "package.mine:Own"),
        ("lstm", "lstm"),
    ):
        config["model"]["scheme"] = {"name": name, "units": 3}
        scheme = own_files.absolute(config)["model"]["scheme"]
        assert scheme == {"name": made, "units": 3}
        assert config["model"]["scheme"]["name"] == name


def test_the_paths_of_other_code_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = config_of({"name": "a", "type": "mine.py:Type", "dataset": "x"})
    config["text"]["tokenizer"] = {"name": "mine.py:Words", "width": 3}
    config["text"]["tokenizers"] = {"de": {"name": "mine.py:Words"}}
    config["training"]["optimizer"]["name"] = "mine.py:SGD"
    config["training"]["optimizer"]["schedule"] = "mine.py:stairs"
    config["training"]["loss_weighting"] = "mine.py:Highest"
    phases = [{"tasks": ["a"], "epochs": 1, "mixing": "mine.py:Mix"}]
    mixing = {"name": "mine.py:Mix", "phases": phases, "mixing": "uniform"}
    config["pipeline"]["mixing"] = mixing
    made = own_files.absolute(config)
    place = f"{tmp_path}/mine.py"
    assert made["tasks"][0]["type"] == f"{place}:Type"
    assert made["text"]["tokenizer"] == {"name": f"{place}:Words", "width": 3}
    assert made["text"]["tokenizers"]["de"]["name"] == f"{place}:Words"
    assert made["training"]["optimizer"]["name"] == f"{place}:SGD"
    assert made["training"]["optimizer"]["schedule"] == f"{place}:stairs"
    assert made["training"]["loss_weighting"] == f"{place}:Highest"
    assert made["pipeline"]["mixing"] == {
        "name": f"{place}:Mix",
        "phases": [{**phases[0], "mixing": f"{place}:Mix"}],
        "mixing": "uniform",
    }
    assert mixing["name"] == "mine.py:Mix", "what was given is not changed"


def test_a_run_is_continued_whether_its_paths_were_stored_so_or_not(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    relative = config_of({"name": "a", "files": {"train": "a.csv"}})
    os.mkdir("checkpoints")
    for old, new in (
        (relative, own_files.absolute(relative)),
        (own_files.absolute(relative), relative),
    ):
        run = RunDirectory(str(tmp_path))
        run.write("config.json", old)
        (tmp_path / "results.json").write_text("{}")
        run.claim(new)
    other = config_of({"name": "a", "files": {"train": "b.csv"}})
    with pytest.raises(RunError, match="another config"):
        run.claim(other)


def test_a_list_of_files_that_were_moved_is_no_other_config(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x")
    os.makedirs("run/checkpoints")
    config = config_of({"name": "a", "files": {"train": ["a.csv", "b.csv"]}})
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(own_files.absolute(config))
    run.write("results.json", {})
    other = config_of({"name": "a", "files": {"train": ["b.csv", "a.csv"]}})
    with pytest.raises(RunError, match="another config"):
        run.claim(own_files.absolute(other))
    os.mkdir("moved")
    for name in ("a.csv", "b.csv"):
        os.rename(name, f"moved/{name}")
    monkeypatch.chdir("moved")
    run.claim(own_files.absolute(config))
    (stored,) = run.read("config.json")["tasks"]
    assert stored["files"]["train"] == [
        str(tmp_path / "moved" / name) for name in ("a.csv", "b.csv")
    ]


def test_files_that_were_moved_are_no_other_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x")
    os.makedirs("run/checkpoints")
    entry = {"name": "a", "type": "classification"}
    config = config_of({**entry, "files": {"train": "a.csv"}})
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(config)
    run.write("results.json", {})
    os.mkdir("moved")
    other = config_of({**entry, "files": {"train": "b.csv"}})
    with pytest.raises(RunError, match="another config"):
        run.claim(other)  # what was trained on is still there
    os.rename("a.csv", "moved/a.csv")
    nowhere = config_of({**entry, "files": {"train": "c.csv"}})
    with pytest.raises(RunError, match="another config"):
        run.claim(nowhere)
    renamed = config_of({"name": "b", "files": {"train": "moved/a.csv"}})
    with pytest.raises(RunError, match="another config"):
        run.claim(renamed)
    moved = config_of({**entry, "files": {"train": "moved/a.csv"}})
    run.claim(moved)
    (stored,) = run.read("config.json")["tasks"]
    assert stored["files"]["train"].endswith("moved/a.csv")


def of_code(*files):
    config = config_of("sample_reviews/books")
    places = [f"{file}:Name" for file in files]
    config["model"]["scheme"] = {"name": places[0]}
    config["text"]["tokenizer"] = {"name": places[-1]}
    return config


def written(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(text)
    return folder / "mine.py"


def claimed(tmp_path, *files):
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(of_code(*files))
    seals.note_code(run, of_code(*files))
    os.makedirs(run.file("tasks"))
    return run


def test_code_that_was_moved_twice_is_no_other_config(tmp_path):
    """A finished run notes no new path beside that of its config."""
    file = written(tmp_path / "a", "one = 1\n")
    run = claimed(tmp_path, file)
    for name in "bc":
        (tmp_path / name).mkdir()
        file = file.rename(tmp_path / name / "mine.py")
        run.claim(of_code(file))
        assert run.read("config.json")["model"]["scheme"] == {
            "name": f"{file}:Name"
        }


def test_code_of_one_name_is_told_apart_where_it_moved(tmp_path):
    one = written(tmp_path / "a", "one = 1\n")
    two = written(tmp_path / "b", "two = 2\n")
    run = claimed(tmp_path, one, two)
    for number, file in enumerate((one, two)):
        (tmp_path / f"new{number}").mkdir()
        file.rename(tmp_path / f"new{number}" / "mine.py")
    places = [tmp_path / f"new{n}" / "mine.py" for n in range(2)]
    with pytest.raises(RunError, match="another config"):
        run.claim(of_code(*reversed(places)))
    run.claim(of_code(*places))


def test_a_damaged_note_of_code_is_an_error(tmp_path):
    run = claimed(tmp_path, written(tmp_path / "a", "one = 1\n"))
    run.write("own_code.json", [])
    with pytest.raises(RunError, match="own_code.json must hold an object"):
        run.claim(of_code(tmp_path / "a" / "mine.py"))
