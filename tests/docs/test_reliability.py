"""What docs/reliability.md and docs/strategies.md say can be checked."""

import ast
import pathlib
import re
import shlex
import subprocess

import pytest
import yaml

from launch import train
from mtl_tf.programs import runner

ROOT = pathlib.Path(__file__).parent.parent.parent
RELIABILITY = (ROOT / "docs" / "reliability.md").read_text()
STRATEGIES = (ROOT / "docs" / "strategies.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", STRATEGIES, re.M | re.S)


def named_tests():
    return sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", RELIABILITY)))


@pytest.mark.parametrize(("path", "name"), named_tests())
def test_each_promise_names_a_test_that_exists(path, name):
    tree = ast.parse((ROOT / path).read_text())
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    assert name in [function.name for function in functions]


def test_every_promise_has_a_test():
    rows = [
        line.split("|")
        for line in RELIABILITY.splitlines()
        if line.startswith("| ") and "::" in line
    ]
    assert len(rows) > 20 and len(named_tests()) > 20
    tables = RELIABILITY.split("## Replicas")[0]
    lines = [n for n in tables.splitlines() if n.startswith("| ")]
    # But for the heads of the two tables.
    assert len(lines) == len(rows) + 2


def parsed(arguments):
    return runner.parse(train.PROGRAM, ["train", *arguments])


def test_the_manifest_of_kubernetes():
    [text] = blocks("yaml")
    job = yaml.safe_load(text)
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v1", "TFJob")
    worker = job["spec"]["tfReplicaSpecs"]["Worker"]
    assert worker["restartPolicy"] == "OnFailure" and worker["replicas"] == 2
    pod = worker["template"]["spec"]
    # The operator finds the container by this name.
    [container] = pod["containers"]
    assert container["name"] == "tensorflow"
    assert container["command"] == ["python", "-m", "launch.train"]
    assert parsed(container["args"]).strategy == "multi_worker"
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {m["name"] for m in container["volumeMounts"]} == volumes


def test_the_script_of_slurm():
    [script] = blocks("sh")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    command = script.replace("\\\n", " ").partition("launch.train")[2]
    arguments = shlex.split(command.partition("\n")[0])
    assert parsed(arguments).strategy == "multi_worker"


def test_the_function_of_ray():
    [code] = blocks("python")
    tree = ast.parse(code)
    imported = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    }
    assert {"ray.train", "mtl_tf.config_fields", "mtl_tf.runs"} <= imported
