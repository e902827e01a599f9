"""Who trains together, from the variables of whoever started the process."""

import json

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.training.distribution import cluster

WORKERS = ["a:2222", "b:2222", "c:2222"]


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch):
    for name in (
        "TF_CONFIG",
        "SLURM_PROCID",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_JOB_ID",
        "SLURM_STEP_NODELIST",
        "SLURM_STEP_TASKS_PER_NODE",
        "SLURMD_NODENAME",
    ):
        monkeypatch.delenv(name, raising=False)


def tf_config(monkeypatch, value):
    text = value if isinstance(value, str) else json.dumps(value)
    monkeypatch.setenv("TF_CONFIG", text)


def slurm(monkeypatch, **changes):
    variables = {
        "SLURM_JOB_ID": "31",
        "SLURM_PROCID": "2",
        "SLURM_STEP_NUM_TASKS": "3",
        "SLURM_STEP_NODELIST": "node[1-2]",
        "SLURM_STEP_TASKS_PER_NODE": "2,1",
        **changes,
    }
    for name, value in variables.items():
        if value is not None:
            monkeypatch.setenv(name, value)


def test_no_variables_no_cluster():
    assert cluster.find() is None


@pytest.mark.parametrize("text", ["", "{}", '{"task": {"type": "worker"}}'])
def test_a_tf_config_without_others(monkeypatch, text):
    tf_config(monkeypatch, text)
    assert cluster.find() is None


def test_workers_of_tf_config(monkeypatch):
    task = {"type": "worker", "index": 2}
    tf_config(monkeypatch, {"cluster": {"worker": WORKERS}, "task": task})
    members = cluster.find()
    assert (members.count, members.number) == (3, 2)
    resolver = members.resolver()
    assert resolver.cluster_spec().as_dict() == {"worker": WORKERS}
    assert (resolver.task_type, resolver.task_id) == ("worker", 2)


@pytest.mark.parametrize(
    ("job", "index", "number"),
    [("chief", 0, 0), ("worker", 0, 1), ("worker", "2", 3)],
)
def test_a_chief_is_the_first_of_all(monkeypatch, job, index, number):
    """As Kubeflow's TFJob has it, which writes indices as texts at times."""
    jobs = {"chief": ["d:1"], "worker": WORKERS}
    task = {"type": job, "index": index}
    tf_config(monkeypatch, {"cluster": jobs, "task": task})
    members = cluster.find()
    assert (members.count, members.number) == (4, number)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("{", "TF_CONFIG is not valid JSON"),
        ([1], r"TF_CONFIG must be an object, got \[1\]"),
        ({"cluster": [1]}, "TF_CONFIG cluster must be an object"),
        ({"cluster": {"ps": ["a:1"]}}, "TF_CONFIG cluster.ps: .* chief"),
        (
            {"cluster": {"worker": "a:1"}},
            'TF_CONFIG cluster.worker must be a list of addresses "host:port"',
        ),
        ({"cluster": {"worker": []}}, "a list of addresses"),
        ({"cluster": {"worker": ["a"]}}, r"got \['a'\]"),
        ({"cluster": {"worker": ["a:70000"]}}, "a:70000"),
        ({"cluster": {"worker": [":1"]}}, "host:port"),
        ({"cluster": {"worker": ["grpc://a:1"]}}, "grpc://a:1"),
        ({"cluster": {"worker": ["a b:1"]}}, "a b:1"),
        ({"cluster": {"worker": ["a:\u00b2"]}}, "host:port"),
        (
            {"cluster": {"worker": ["a:1", "b:1", "a:1"]}},
            "cluster names 'a:1' 2 times: every process needs an address",
        ),
        (
            {"cluster": {"chief": ["a:1"], "worker": ["a:1", "b:1"]}},
            "cluster names 'a:1' 2 times: .* the chief is not one of the",
        ),
        (
            {"cluster": {"chief": ["a:1", "b:1"], "worker": ["c:1"]}},
            "cluster.chief must be one address",
        ),
        ({"task": 3}, "TF_CONFIG task must be an object, got 3"),
        (
            {"task": {"type": "chief", "index": 0}},
            r"task.type must be one of \['worker'\], got 'chief'",
        ),
        (
            {"task": {"type": "worker", "index": 3}},
            "task.index must be from 0 to 2, one of the 3 of 'worker', got 3",
        ),
        ({"task": {"type": ["worker"], "index": 0}}, r"got \['worker'\]"),
        ({"task": {"type": "worker", "index": "\u00b2"}}, "task.index must be"),
        ({"task": {"type": "worker"}}, "task.index .* got None"),
        ({"task": {"type": "worker", "index": True}}, "got True"),
        ({"task": {"type": "worker", "index": -1}}, "got -1"),
    ],
)
def test_a_wrong_tf_config(monkeypatch, change, message):
    task = {"type": "worker", "index": 0}
    right = {"cluster": {"worker": WORKERS}, "task": task}
    value = right | change if isinstance(change, dict) else change
    tf_config(monkeypatch, value)
    with pytest.raises(ConfigError, match=message):
        cluster.find()


def test_tasks_of_a_slurm_step(monkeypatch):
    slurm(monkeypatch)
    members = cluster.find()
    assert members.jobs == {
        "worker": ("node1:10031", "node1:10032", "node2:10031")
    }
    assert (members.count, members.number) == (3, 2)
    # The resolver would set it, to GPUs that may not be there.
    assert members.resolver().num_accelerators() == {"GPU": 0}


def test_jobs_on_a_node_have_ports_of_their_own(monkeypatch):
    slurm(monkeypatch, SLURM_JOB_ID="40062")
    assert cluster.find().jobs["worker"][0] == "node1:10062"


def test_tf_config_goes_before_slurm(monkeypatch):
    slurm(monkeypatch)
    task = {"type": "worker", "index": 0}
    tf_config(monkeypatch, {"cluster": {"worker": ["a:1"]}, "task": task})
    assert cluster.find().jobs == {"worker": ("a:1",)}


@pytest.mark.parametrize(
    "changes",
    [
        {"SLURM_STEP_NUM_TASKS": "1"},
        # A batch script itself, without srun.
        {"SLURM_STEP_NUM_TASKS": None},
    ],
)
def test_one_slurm_task_is_no_cluster(monkeypatch, changes):
    slurm(monkeypatch, **changes)
    assert cluster.find() is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"SLURM_PROCID": "x"}, "SLURM_PROCID must be a whole number, got 'x'"),
        ({"SLURM_PROCID": "3"}, "SLURM_PROCID must be below 3, got 3"),
        ({"SLURM_JOB_ID": None}, "SLURM_JOB_ID must be a whole number, got ''"),
        ({"SLURM_STEP_NODELIST": None}, "SLURM_STEP_NODELIST"),
        ({"SLURM_STEP_NODELIST": "node[1-"}, "do not name the 3 tasks"),
        ({"SLURM_STEP_TASKS_PER_NODE": "1,1"}, "do not name the 3 tasks"),
        ({"SLURMD_NODENAME": "node1"}, "runs on the node node1, .* node2"),
    ],
)
def test_wrong_slurm_variables(monkeypatch, changes, message):
    slurm(monkeypatch, **changes)
    with pytest.raises(ConfigError, match=message):
        cluster.find()


def test_nodes_that_sort_as_texts_in_another_order(monkeypatch):
    """Task 0 runs on n2, but the resolver takes n10 first."""
    slurm(
        monkeypatch,
        SLURM_PROCID="0",
        SLURM_STEP_NUM_TASKS="2",
        SLURM_STEP_NODELIST="n[2,10]",
        SLURM_STEP_TASKS_PER_NODE="1(x2)",
        SLURMD_NODENAME="n2",
    )
    with pytest.raises(ConfigError, match="on the node n2, .* n10"):
        cluster.find()
