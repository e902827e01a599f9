"""The counter of imports that a program reaches."""

import pathlib

from build_support import import_closure


def test_lazy_relative_and_package_imports_count(tmp_path):
    for name, text in {
        "launch/train.py": "from mtl_tf import a\nimport os\n",
        "mtl_tf/__init__.py": "",
        "mtl_tf/a.py": "def f():\n    from .b import c\n",
        "mtl_tf/b/__init__.py": "",
        "mtl_tf/b/c.py": "import mtl_tf.a\n",
        "mtl_tf/d.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = import_closure.closure(tmp_path, tmp_path / "launch/train.py")
    names = {file.relative_to(tmp_path).as_posix() for file in found}
    assert names == {
        "launch/train.py",
        "mtl_tf/__init__.py",
        "mtl_tf/a.py",
        "mtl_tf/b/__init__.py",
        "mtl_tf/b/c.py",
    }


def test_the_program_prints_rooms(capsys):
    root = pathlib.Path(__file__).parents[2]
    import_closure.main(["launch/train.py", str(root)])
    out = capsys.readouterr().out
    assert "mtl_tf/runs" in out and out.splitlines()[-1].startswith("in all")
