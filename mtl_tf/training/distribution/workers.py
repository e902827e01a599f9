"""Communication between the processes of a training, besides gradients.

The first process is the chief. Only the chief locks the run directory, writes
files and logs. The others read its files after it has reported that they are
written.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import tensorflow as tf

from mtl_tf.core.errors import Interrupted, LostWorker, RunError

T = TypeVar("T")

#: How long a file that the chief wrote may take to appear. Network file systems
#: remember for some seconds that a file did not exist.
VISIBLE_SECONDS = 60.0
# What TensorFlow raises when another process of the cluster has ended.
_LOST = (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.FailedPreconditionError,
)
# Of a worker that raises one of these, the others are not told. They treat it
# as lost, and all are started again.
_RESTARTED = (Interrupted, LostWorker, OSError)


class Workers:
    """The processes that train one model; usually only this one.

    Args:
        strategy: the distribution strategy of the model.

    Attributes:
        count: number of processes.
        number: number of this process.
    """

    def __init__(self, strategy: tf.distribute.Strategy):
        self._strategy = strategy
        resolver, self.count, self.number = strategy.cluster_resolver, 1, 0
        several = tf.distribute.MultiWorkerMirroredStrategy
        if resolver is not None and isinstance(strategy, several):
            jobs = resolver.cluster_spec().as_dict()
            self.count = max(1, sum(map(len, jobs.values())))
            of_chief = resolver.task_type == "chief"
            before = 0 if of_chief else len(jobs.get("chief", ()))
            self.number = before + (resolver.task_id or 0)

    @property
    def is_chief(self) -> bool:
        """Whether this process writes and logs."""
        return self.number == 0

    @property
    def several(self) -> bool:
        """Whether there are other workers."""
        return self.count > 1

    def share(self, value: float) -> float:
        """Returns the chief's number on all workers, as float64.

        All workers must call it, and it waits for them.

        Args:
            value: the number; only the chief's counts.
        """
        if not self.several:
            return value
        return self._sum(value if self.is_chief else 0.0)

    def any(self, flag: object) -> bool:
        """Whether the flag is set on at least one worker; see `share`."""
        return self._sum(float(bool(flag))) > 0 if self.several else bool(flag)

    def _sum(self, value: float) -> float:
        total = self._total(tf.constant(value, tf.float64))
        # Every replica of a worker has added the same value.
        return float(total) * self.count / self._strategy.num_replicas_in_sync

    @tf.function
    def _total(self, value: tf.Tensor) -> tf.Tensor:
        values = self._strategy.run(tf.identity, (value,))
        return self._strategy.reduce("SUM", values, axis=None)

    def chief_first(self, action: Callable[[], T]) -> T:
        """Calls `action` on the chief, and then on the other workers.

        Raises:
            RunError: it raised an error on another worker.
        """
        result = self.by_chief(action)
        return self.together(lambda: result if self.is_chief else action())

    def together(self, action: Callable[[], T]) -> T:
        """Calls `action` on every worker and waits until all have finished.

        An error on one worker is an error for all. Otherwise the others would
        take that worker for lost, and be restarted again and again.

        Raises:
            RunError: it raised an error on another worker.
        """
        if not self.several:
            return action()
        try:
            result = action()
        except _RESTARTED:
            raise
        except Exception:
            self._sum(1.0)
            raise
        if self._sum(0.0):
            raise RunError("another worker stopped with an error: see its log")
        return result

    def by_chief(self, action: Callable[[], T]) -> T | None:
        """Calls `action` on the chief only; the other workers wait for it.

        Returns:
            The result on the chief, None on the others.

        Raises:
            RunError: on the other workers, if it raised an error on the chief.
        """
        if not self.several:
            return action()
        if not self.is_chief:
            if not self._sum(0.0):
                raise RunError("the chief stopped with an error: see its log")
            return None
        try:
            result = action()
        except _RESTARTED:
            raise
        except Exception:
            self._sum(0.0)
            raise
        self._sum(1.0)
        return result

    def check_same(self, noun: str, value: float) -> None:
        """Refuses to continue if workers have different values.

        Raises:
            RunError: this worker's value differs from the chief's.
        """
        chiefs = self.share(value)

        def check() -> None:
            if chiefs != value:
                raise RunError(
                    f"{noun} is {value:g} on worker {self.number} and "
                    f"{chiefs:g} on the chief: all workers need the same "
                    "folders, files and versions"
                )

        self.together(check)

    def wait_for(self, path: str) -> None:
        """Waits for a file that the chief has written.

        Raises:
            RunError: the file does not appear.
        """
        end = time.monotonic() + VISIBLE_SECONDS
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise RunError(
                    f"worker {self.number} does not find {path}, which the "
                    "chief has written: --model_dir has to be one folder that "
                    "all workers see, such as on a shared volume"
                )
            time.sleep(0.2)

    @contextlib.contextmanager
    def losses_reported(self) -> Iterator[None]:
        """Reports in plain words that another worker has ended.

        Raises:
            LostWorker: instead of TensorFlow's errors.
        """
        try:
            yield
        except tf.errors.OpError as error:
            aborted = "Collective ops is aborted" in str(error)
            if not self.several or not (aborted or isinstance(error, _LOST)):
                raise
            raise LostWorker(
                f"worker {self.number} of {self.count} stops, because another "
                "one has ended or cannot be reached; the log of that one says "
                "why. The same command on all workers continues from the last "
                f"checkpoint. ({_reason(error)})"
            )


def _reason(error: tf.errors.OpError) -> str:
    """The most informative line of TensorFlow's message."""
    lines = [line.strip() for line in str(error).splitlines()]
    aborted = [line for line in lines if "Collective ops is aborted" in line]
    return next(iter(aborted or filter(None, lines)), type(error).__name__)
