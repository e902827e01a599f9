"""The processes of a training on several hosts, from the environment.

Kubernetes (Kubeflow's TFJob), Ray and users set `TF_CONFIG`. Slurm sets its own
variables. Nothing here communicates with other processes.
"""

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core.errors import ConfigError

# The jobs that train. A chief, if any, is the first process.
_JOBS = ("chief", "worker")
# Different jobs on one node get different ports; so do a node's workers.
_FIRST_PORT, _PORTS = 10_000, 20_000


@dataclasses.dataclass(frozen=True)
class Cluster:
    """The workers of a training and this process's place among them.

    Attributes:
        jobs: addresses `host:port` by job: `chief` (at most one) and `worker`.
        job: the job of this process.
        index: this process's index within the job.
        source: where these facts come from, for messages.
    """

    jobs: Mapping[str, tuple[str, ...]]
    job: str
    index: int
    source: str

    @property
    def count(self) -> int:
        """Number of processes."""
        return sum(map(len, self.jobs.values()))

    @property
    def number(self) -> int:
        """This process's number among all processes; the chief's is 0."""
        before = len(self.jobs.get("chief", ())) if self.job != "chief" else 0
        return before + self.index

    @property
    def address(self) -> str:
        """Where this process listens, `host:port`."""
        return self.jobs[self.job][self.index]

    def resolver(self) -> tf.distribute.cluster_resolver.ClusterResolver:
        """The cluster resolver that `tf.distribute` needs."""
        gpus = len(tf.config.list_physical_devices("GPU"))
        return tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec(
                {job: list(addresses) for job, addresses in self.jobs.items()}
            ),
            task_type=self.job,
            task_id=self.index,
            num_accelerators={"GPU": gpus},
            rpc_layer="grpc",
        )


def find() -> Cluster | None:
    """The cluster described by the environment; None if there is none.

    `TF_CONFIG` takes precedence, because it can be set within a Slurm job.

    Raises:
        ConfigError: the environment variables are wrong.
    """
    if os.environ.get("TF_CONFIG", "").strip():
        return _from_tf_config(os.environ["TF_CONFIG"])
    if {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"} <= os.environ.keys():
        return _from_slurm()
    return None


def _from_tf_config(text: str) -> Cluster | None:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"TF_CONFIG is not valid JSON: {error}: {text!r:.80}")
    _check(isinstance(value, dict), "an object", value, "TF_CONFIG")
    jobs, task = value.get("cluster") or {}, value.get("task") or {}
    if not jobs:
        return None
    _check(isinstance(jobs, dict), "an object", jobs, "TF_CONFIG cluster")
    for job, addresses in jobs.items():
        _check_job(job, addresses)
    _check_once(jobs)
    _check(isinstance(task, dict), "an object", task, "TF_CONFIG task")
    job, index = task.get("type"), task.get("index")
    named = isinstance(job, str) and job in jobs
    _check(named, f"one of {sorted(jobs)}", job, "TF_CONFIG task.type")
    # Kubeflow has written the index as a string and as a number.
    if isinstance(index, str) and index.isdecimal():
        index = int(index)
    count = len(jobs[job])
    inside = type(index) is int and 0 <= index < count
    right = f"from 0 to {count - 1}, one of the {count} of {job!r}"
    _check(inside, right, index, "TF_CONFIG task.index")
    jobs = {job: tuple(addresses) for job, addresses in jobs.items()}
    return Cluster(jobs, job, index, "TF_CONFIG")


def _check_job(job: str, addresses: Any) -> None:
    field = f"TF_CONFIG cluster.{job}"
    if job not in _JOBS:
        raise ConfigError(
            f"{field}: a training has the jobs chief (one process) and worker "
            "only: all processes train, and the first one evaluates"
        )
    addressed = (
        isinstance(addresses, list)
        and bool(addresses)
        and all(isinstance(a, str) and _is_address(a) for a in addresses)
    )
    _check(addressed, 'a list of addresses "host:port"', addresses, field)
    if job == "chief":
        _check(len(addresses) == 1, "one address", addresses, field)


def _check_once(jobs: Mapping[str, list[str]]) -> None:
    """Refuses two processes with one address; they would wait forever."""
    every = [address for addresses in jobs.values() for address in addresses]
    for address in every:
        if every.count(address) > 1:
            raise ConfigError(
                f"TF_CONFIG cluster names {address!r} {every.count(address)} "
                "times: every process needs an address of its own, and the "
                "chief is not one of the workers"
            )


def _is_address(text: str) -> bool:
    host, _, port = text.rpartition(":")
    bare = bool(host) and "/" not in host and not any(map(str.isspace, text))
    return bare and port.isdecimal() and 0 < int(port) < 65536


def _check(right: bool, rule: str, value: Any, field: str) -> None:
    if not right:
        raise ConfigError(f"{field} must be {rule}, got {value!r:.80}")


def _from_slurm() -> Cluster | None:
    """The tasks of a Slurm job step (`srun`); None if there is only one."""
    count = _number("SLURM_STEP_NUM_TASKS")
    rank = _number("SLURM_PROCID")
    if count == 1:
        return None
    _check(rank < count, f"below {count}", rank, "SLURM_PROCID")
    job = _number("SLURM_JOB_ID")
    # The resolver would distribute GPUs by nvidia-smi and fail without it. Here
    # each task takes the GPUs that Slurm shows it.
    try:
        resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
            port_base=_FIRST_PORT + job % _PORTS,
            gpus_per_node=count,
            gpus_per_task=1,
            auto_set_gpu=False,
        )
        workers = resolver.cluster_spec().job_tasks("worker")
    except (AssertionError, LookupError, RuntimeError, ValueError) as error:
        raise ConfigError(
            "the Slurm variables SLURM_STEP_NODELIST and "
            "SLURM_STEP_TASKS_PER_NODE do not name the "
            f"{count} tasks of SLURM_STEP_NUM_TASKS: {error}. Start the "
            "training with srun, or set TF_CONFIG"
        )
    _check_node(workers[rank], rank)
    return Cluster({"worker": tuple(workers)}, "worker", rank, "Slurm")


def _number(name: str) -> int:
    text = os.environ.get(name, "")
    _check(text.isdigit(), "a whole number", text, name)
    return int(text)


def _check_node(address: str, rank: int) -> None:
    """Refuses a task order that differs from the resolver's.

    The resolver sorts node names as text, n10 before n2.
    """
    host = address.rpartition(":")[0]
    node = os.environ.get("SLURMD_NODENAME", host)
    if node != host:
        raise ConfigError(
            f"task {rank} of the Slurm step runs on the node {node}, but nodes "
            f"in the order of their names give it {host}: start srun with "
            "--distribution=block on nodes whose names sort alike as texts "
            "and as numbers, or set TF_CONFIG"
        )
