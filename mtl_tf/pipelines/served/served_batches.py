"""Batches made by the workers of a tf.data service.

The service gives batch numbers to its workers, which make the batches by a
graph from files (`served_files`). Batches arrive in any order and are sorted
here. So a run gets the same batches as without a service, whichever and however
many workers there are. If a worker is lost, its batches are made here.
"""

import contextlib
import dataclasses
import functools
import os
import queue
import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError, LostWorker, RunError
from mtl_tf.pipelines.batches import (
    Batch,
    BatchPlan,
    make_batch,
    plan_pieces,
)
from mtl_tf.pipelines.examples.disk_split import DiskSplit
from mtl_tf.pipelines.served import served_files
from mtl_tf.pipelines.without_autotuning import fixed

_Numbered = tuple[int, Batch]

#: The longest wait for the dispatcher when a run starts.
CONNECT_SECONDS = 10.0
#: The longest wait for any batch.
WAIT_SECONDS = 60.0
# The batches a worker gets at once; fewer mean more requests.
_BATCHES_AT_ONCE = 8
# The most early batches; beyond that a missing one counts as lost.
_MOST_WAITING = 512
_PREFETCHED = 32
_STEPS_AT_ONCE = 4096
# The files become part of a graph, which must stay below 2 GB.
_MOST_BYTES = 1 << 30


class DataService:
    """A tf.data service that makes a run's batches.

    Args:
        address: the dispatcher's address, `grpc://HOST:PORT`.
        folder: the folder of the workers' files; they must see it under the
            same path.
    """

    def __init__(self, address: str, folder: str):
        self.address, self.folder = address, os.path.abspath(folder)
        self._failure: Exception | None = None

    def check(self) -> None:
        """Refuses an address without a running dispatcher.

        Raises:
            RunError: nothing answers within `CONNECT_SECONDS`.
        """
        host, _, port = self.address.rpartition("://")[2].rpartition(":")
        try:
            with socket.create_connection((host, int(port)), CONNECT_SECONDS):
                pass
        except OSError as error:
            raise RunError(
                f"pipeline.service: no dispatcher answers at {self.address} "
                f"({error.strerror or error}): start one with python -m "
                "launch.data_service, or set the field to ''"
            )

    def prepare(self, plans: Sequence[BatchPlan]) -> None:
        """Writes the examples of each piece's plan, unless they exist.

        Only one process at a time may do so.
        """
        for piece, plan in enumerate(plans):
            served_files.write_examples(
                plan.splits, self._file(piece, "examples")
            )

    def _file(self, piece: int, name: str) -> str:
        return os.path.join(self.folder, str(piece), name)

    def training_dataset(
        self,
        plan: BatchPlan,
        start_step: int,
        replicas: int,
        stop_step: int,
        part: range,
        piece: int = 0,
    ) -> tf.data.Dataset:
        """The result of `batches.training_dataset`, made by the service.

        `piece` is the index of the plan among the plans of a step.

        Reading fails if no batch arrives for `WAIT_SECONDS`;
        `failures_reported` then gives the reason.

        Raises:
            ConfigError: the files are larger than a graph can hold.
        """
        steps = range(start_step, stop_step)
        name = f"plan-{start_step}-{stop_step}-{part.start}-{replicas}"
        rows = served_files.write_rows(
            _plan_rows(plan, steps, replicas, part),
            self._file(piece, name),
        )
        examples = served_files.write_examples(
            plan.splits, self._file(piece, "examples")
        )
        _check_size(served_files.size_of(examples) + served_files.size_of(rows))
        make = _Maker(plan, rows, examples)
        count = len(steps) * len(part)
        numbered = _numbered(make, count)
        source = Source(self.address, numbered, make, count)
        return fixed(
            tf.data.Dataset.from_generator(
                functools.partial(self._in_order, source),
                output_signature=numbered.element_spec[1],
            ).prefetch(_PREFETCHED * len(part))
        )

    def _in_order(self, source: "Source") -> Iterator[Batch]:
        try:
            yield from in_order(source)
        except LostWorker as error:
            self._failure = error
            raise

    @contextlib.contextmanager
    def failures_reported(self) -> Iterator[None]:
        """Replaces TensorFlow's error by the reason why the service failed.

        Raises:
            LostWorker: no batch arrived for a while.
        """
        try:
            yield
        except tf.errors.OpError:
            if self._failure is not None:
                raise self._failure
            raise


def clear(folder: str) -> None:
    """Removes the files of a `DataService`, if there are any."""
    shutil.rmtree(folder, ignore_errors=True)


def _check_size(size: int) -> None:
    if size > _MOST_BYTES:
        raise ConfigError(
            f"pipeline.service: its workers would hold {size >> 20} MB of "
            f"encoded examples and plan, more than the {_MOST_BYTES >> 20} "
            "that a graph can: set the field to ''"
        )


def _plan_rows(
    plan: BatchPlan, steps: range, replicas: int, part: range
) -> Iterator[dict[str, np.ndarray]]:
    for first in range(steps.start, steps.stop, _STEPS_AT_ONCE):
        stop = min(first + _STEPS_AT_ONCE, steps.stop)
        yield plan_pieces(plan, first, stop, replicas, part)


class _Maker:
    """Makes a batch from its number, in a graph that reads files."""

    def __init__(self, plan: BatchPlan, rows: DiskSplit, examples: DiskSplit):
        sizes = [len(split) for split in plan.splits]
        self._store = served_files.FileStore(examples, sizes)
        self._static, self._varies = plan.static_shapes, plan.varies
        self._rows = rows

    @tf.autograph.experimental.do_not_convert
    def __call__(self, number: tf.Tensor) -> Batch:
        """The batch of that number, an int64 scalar."""
        row = {
            key: served_files.read_column(self._rows, key)[0][number]
            for key in self._rows.columns
            if key != "size" or self._varies
        }
        return make_batch(self._store, self._static, row)


def _numbered(make: Callable[[tf.Tensor], Batch], count: int):
    """Batches with their numbers; a worker takes several at once."""

    @tf.autograph.experimental.do_not_convert
    def several(first: tf.Tensor) -> tf.data.Dataset:
        stop = tf.minimum(first + _BATCHES_AT_ONCE, count)
        return tf.data.Dataset.range(first, stop)

    @tf.autograph.experimental.do_not_convert
    def numbered(number: tf.Tensor) -> tuple[tf.Tensor, Batch]:
        return number, make(number)

    numbers = tf.data.Dataset.range(0, count, _BATCHES_AT_ONCE)
    # Each worker makes two batches at a time.
    return numbers.flat_map(several).map(numbered, num_parallel_calls=2)


@dataclasses.dataclass(frozen=True)
class Source:
    """The origin of numbered batches.

    Attributes:
        address: the dispatcher's address.
        dataset: the dataset of numbers and batches, as if made here.
        make: makes a batch from its number.
        count: the number of batches.
    """

    address: str
    dataset: tf.data.Dataset
    make: Callable[[tf.Tensor], Batch]
    count: int

    def served(self) -> tf.data.Dataset:
        """Numbers and batches in the order in which workers finish them.

        This sends the graph to the service, which may take as long as its
        dispatcher takes.
        """
        service = tf.data.experimental.service
        return self.dataset.apply(
            service.distribute(service.ShardingPolicy.DYNAMIC, self.address)
        )


def in_order(source: Source) -> Iterator[Batch]:
    """Yields the batches of a source in order of their numbers.

    Raises:
        LostWorker: no batch arrived for `WAIT_SECONDS`.
    """
    with _Arrivals(source) as arrivals:
        waiting: dict[int, Batch] = {}
        for number in range(source.count):
            while number not in waiting and not arrivals.ended:
                if len(waiting) > _MOST_WAITING:
                    break
                few = source.count - number <= _MOST_WAITING
                came = arrivals.next(may_stall=bool(waiting) or few)
                if not came:
                    break
                # Batches that were meanwhile made here arrive too late.
                waiting |= {n: b for n, b in came.items() if n >= number}
            batch = waiting.pop(number, None)
            if batch is None:
                arrivals.tell_loss(number)
                with tf.device("/CPU:0"):
                    batch = source.make(tf.constant(number, tf.int64))
            yield batch


class _Arrivals(contextlib.ExitStack):
    """Receives numbered batches in a separate thread.

    TensorFlow may wait for the service forever, and no other thread can stop
    it. This object waits for that thread only for a limited time.
    """

    def __init__(self, source: Source):
        super().__init__()
        self._source = source
        self._arrived: queue.Queue = queue.Queue(_PREFETCHED)
        self._stopped = threading.Event()
        self.ended = self._warned = False
        self._served = self._stalled = False

    def __enter__(self) -> "_Arrivals":
        self.callback(self._stopped.set)
        threading.Thread(target=self._take, daemon=True).start()
        return self

    def _take(self) -> None:
        try:
            for number, batch in self._source.served():
                self._put((int(number), batch))
                if self._stopped.is_set():
                    return
            self._put(None)
        except Exception as error:  # only the other thread can report it
            self._put(error)

    def _put(self, arrived: _Numbered | Exception | None) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._arrived.put(arrived, timeout=1)
                return

    def next(self, may_stall: bool) -> dict[int, Batch]:
        """The next batches by number; {} at the end.

        Args:
            may_stall: whether to return {} if a service that has worked gives
                no more for a while. TensorFlow waits for the batches of a
                killed worker after all others have arrived.

        Raises:
            LostWorker: the service fails.
        """
        at_once = self._stalled and may_stall
        try:
            arrived = self._arrived.get(timeout=0 if at_once else WAIT_SECONDS)
        except queue.Empty:
            self._stalled = self._served
            if self._served and may_stall:
                return {}
            raise self._lost(f"no batch has come for {WAIT_SECONDS:g} s")
        self._served, self._stalled = True, False
        if isinstance(arrived, Exception):
            raise self._lost(str(arrived).splitlines()[0])
        if arrived is None:
            self.ended = True
            return {}
        return dict([arrived])

    def _lost(self, reason: str) -> LostWorker:
        return LostWorker(
            f"the tf.data service at {self._source.address} fails ({reason}): "
            "its dispatcher or all of its workers have ended. The same command "
            "continues from the last checkpoint"
        )

    def tell_loss(self, number: int) -> None:
        """Logs, once, that a batch was lost."""
        if not self._warned:
            logging.warning(
                "The tf.data service has lost batch %d, as when a worker ends: "
                "what is lost is made here.",
                number,
            )
        self._warned = True
