"""Distribution strategies by name."""

import contextlib
import functools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.training.distribution import cluster

#: Seconds that workers wait for each other, or for a TPU, at the start.
START_SECONDS = 600.0


def _one_device() -> tf.distribute.Strategy:
    gpus = tf.config.list_logical_devices("GPU")
    return tf.distribute.OneDeviceStrategy("gpu:0" if gpus else "cpu:0")


# One per process: the collective operations of a second one would reuse the
# numbers of the first one's, and TensorFlow refuses gradients of other sizes
# there.
@functools.cache
def _mirrored() -> tf.distribute.Strategy:
    gpus = tf.config.list_logical_devices("GPU")
    cpus = tf.config.list_logical_devices("CPU")
    return tf.distribute.MirroredStrategy([d.name for d in gpus or cpus])


# One per process: its server cannot be started twice.
@functools.cache
def _multi_worker() -> tf.distribute.Strategy:
    members = cluster.find()
    if members is None:
        raise ConfigError(
            "--strategy=multi_worker takes the other workers' addresses from "
            "the environment variable TF_CONFIG, or from Slurm's in a job step "
            "of several tasks (srun); there is neither"
        )
    logging.info(
        "Worker %d of %d (%s) waits for the others.",
        members.number,
        members.count,
        members.source,
    )
    if members.number:
        # The chief logs the progress; the others log only problems.
        logging.set_verbosity(min(logging.get_verbosity(), logging.WARNING))
    message = (
        f"error: worker {members.number} waited {START_SECONDS:.0f} seconds "
        f"for the other {members.count - 1} of {members.source} in vain: start "
        "all of them, and see that they can reach "
        f"{dict(members.jobs)}"
    )
    with _limited(START_SECONDS, message), _handlers_kept():
        try:
            return tf.distribute.MultiWorkerMirroredStrategy(
                cluster_resolver=members.resolver()
            )
        except RuntimeError as error:
            if "program startup" not in str(error):
                raise
            raise ConfigError(
                "several workers have to meet before TensorFlow runs anything "
                "in this process: make the strategy, or call train, first"
            )
        except tf.errors.OpError as error:
            if "Could not start gRPC server" in error.message:
                raise ConfigError(
                    f"worker {members.number} of {members.source} cannot "
                    f"listen at {members.address}: another process does, such "
                    "as this worker started twice, or one that has not ended "
                    "yet"
                )
            raise ConfigError(
                f"the workers of {members.source}, {dict(members.jobs)}, do "
                f"not find together: {error.message.splitlines()[0]}"
            )


# TensorFlow holds Python's lock while workers connect or a TPU is located. No
# thread or signal handler can run then, so another process has to end this one.
_WATCH = """
import os, select, signal, sys
seconds, message = sys.argv[1:]
if not select.select([sys.stdin], [], [], float(seconds))[0]:
    print(message, file=sys.stderr, flush=True)
    os.kill(os.getppid(), signal.SIGKILL)
"""


@contextlib.contextmanager
def _limited(seconds: float, message: str) -> Iterator[None]:
    """Kills the process, with a message, if the block takes too long."""
    watch = subprocess.Popen(
        [sys.executable, "-S", "-c", _WATCH, str(seconds), message],
        stdin=subprocess.PIPE,
    )
    try:
        yield
    finally:
        # Closing its input ends the watch process, also if this one is killed.
        watch.communicate()


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    """Undoes TensorFlow's SIGTERM handler for preemption notices.

    With that handler SIGTERM would no longer end the process. The training loop
    handles the signal itself.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# Raised when no TPU is found. A name is looked up over HTTP: an OSError.
_NO_TPU = (
    tf.errors.OpError,
    ImportError,
    OSError,
    RuntimeError,
    ValueError,
)


@functools.cache
def _tpu() -> tf.distribute.Strategy:
    name = os.environ.get("TPU_NAME", "local")
    message = (
        f"error: the TPU that TPU_NAME names, {name!r}, did not answer within "
        f"{START_SECONDS:.0f} seconds: see that it runs and can be reached"
    )
    try:
        with _limited(START_SECONDS, message):
            return _tpu_at(name)
    except _NO_TPU as error:
        raise ConfigError(
            f"--strategy=tpu finds no TPU (TPU_NAME {name!r}): run it on a "
            "Cloud TPU VM with a TensorFlow made for TPUs, or name a TPU node "
            f"in the environment variable TPU_NAME. {_first_line(error)}"
        )


def _tpu_at(name: str) -> tf.distribute.Strategy:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
    if name != "local":
        tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _auto() -> tf.distribute.Strategy:
    return STRATEGIES[chosen_by_auto()]()


def chosen_by_auto() -> str:
    """The strategy that `auto` selects in this environment.

    Raises:
        ConfigError: the environment describes a cluster wrongly.
    """
    members = cluster.find()
    if members is not None and members.count > 1:
        return "multi_worker"
    # Searching for a TPU takes long where there is none.
    if "TPU_NAME" in os.environ:
        return "tpu"
    many = len(tf.config.list_physical_devices("GPU")) > 1
    return "mirrored" if many else "one_device"


STRATEGIES = {
    "auto": _auto,
    "one_device": _one_device,
    "mirrored": _mirrored,
    "multi_worker": _multi_worker,
    "tpu": _tpu,
}


def make_strategy(name: str) -> tf.distribute.Strategy:
    """Makes the strategy that `--strategy` names.

    `auto` takes the first that applies: the workers that `TF_CONFIG` or Slurm
    names, the TPU that `TPU_NAME` names, all GPUs if there are several, one
    device. `mirrored` uses all GPUs, or all (virtual) CPU devices.
    `multi_worker` uses all GPUs, or the CPU, of every worker. It must be made
    before TensorFlow runs anything in the process, and returns when all workers
    have connected.

    GPU memory is allocated as needed, not all at once.

    Raises:
        ConfigError: an unknown name, a wrong `TF_CONFIG` or wrong variables of
            Slurm, or no TPU.
    """
    make = look_up(name, STRATEGIES, "strategy")
    _let_memory_grow()
    return make()


def is_chief(name: str) -> bool:
    """Whether this process is the one that writes, logs and shows results.

    Args:
        name: name of the strategy.

    Raises:
        ConfigError: a wrong `TF_CONFIG`, or wrong variables of Slurm.
    """
    several = name in ("auto", "multi_worker")
    members = cluster.find() if several else None
    return members is None or members.number == 0


def check_one_process(name: str, program: str) -> None:
    """Refuses several workers for a program that trains many runs.

    Args:
        name: name of the strategy.
        program: the program, for the message.

    Raises:
        ConfigError: several workers would train.
    """
    look_up(name, STRATEGIES, "strategy")
    if "multi_worker" in (name, name == "auto" and chosen_by_auto()):
        raise ConfigError(
            f"{program} trains many runs in one process, not on several "
            "workers: start launch.train on all workers for every run, or "
            "choose another --strategy and start it without TF_CONFIG and srun"
        )


def _let_memory_grow() -> None:
    for gpu in tf.config.list_physical_devices("GPU"):
        # Too late if TensorFlow has already run something, as in a notebook.
        with contextlib.suppress(RuntimeError):
            tf.config.experimental.set_memory_growth(gpu, True)
