"""A stand-in run, and what the predict program makes of files."""

import json

import pytest

import mtl_tf
from launch import predict
from mtl_tf.programs import runner
from tests.launch.stand_in import Run


@pytest.fixture
def run(monkeypatch):
    """What the programs load."""
    run = Run()
    monkeypatch.setattr(mtl_tf, "load", lambda *_: run, raising=False)
    return run


@pytest.fixture
def files(tmp_path):
    """Calls the program; gives the lines of JSON that it wrote."""

    class Files:
        source = tmp_path / "in"
        output = tmp_path / "out"

        def call(self, content, *arguments):
            self.source.write_bytes(content)
            argv = ["predict", "--model_dir=x", f"--input={self.source}"]
            argv += [f"--output={self.output}", *arguments]
            predict.main(runner.parse(predict.PROGRAM, argv))
            return self.lines()

        def lines(self):
            content = self.output.read_text(encoding="utf-8")
            return [json.loads(line) for line in content.split("\n")[:-1]]

    return Files()
