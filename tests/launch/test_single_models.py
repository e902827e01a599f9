"""Programs on a run with a model for each task."""

import json

import pytest

import mtl_tf
from launch import evaluate, predict
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import runner


def test_programs_take_models_of_single_tasks(single_run, tmp_path):
    output = tmp_path / "scores.json"
    argv = ["evaluate", f"--model_dir={single_run}", f"--output={output}"]
    evaluate.main(runner.parse(evaluate.PROGRAM, argv))
    assert json.loads(output.read_text())["tasks"].keys() == {"plain", "mirror"}
    texts = tmp_path / "texts.jsonl"
    texts.write_text(
        '{"text": "yes", "task": "mirror"}\n{"text": "no", "task": "plain"}\n'
    )
    argv = ["predict", f"--model_dir={single_run}", f"--input={texts}"]
    argv.append(f"--output={output}")
    predict.main(runner.parse(predict.PROGRAM, argv))
    lines = output.read_text().splitlines()
    assert [json.loads(line)["task"] for line in lines] == ["mirror", "plain"]
    with pytest.raises(ConfigError, match="one run for each task: export one"):
        mtl_tf.export_saved_model(single_run, tmp_path / "export")
    assert not (tmp_path / "export").exists()
