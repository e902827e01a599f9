"""Batches that workers of a tf.data service make.

The service hands out the numbers of batches to its workers, which make them by
a graph from files (`served_files`). They come as they are ready; here they are
put in order, so that a run gets what it would have made itself, whichever and
however many workers there are. A batch that a lost worker had is made here.
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
from mtl_tf.pipelines import served_files
from mtl_tf.pipelines.batches import (
    Batch,
    BatchPlan,
    make_batch,
    plan_pieces,
)
from mtl_tf.pipelines.disk_split import DiskSplit
from mtl_tf.pipelines.without_autotuning import fixed

_Numbered = tuple[int, Batch]

#: How long the dispatcher may take to answer when a run starts.
CONNECT_SECONDS = 10.0
#: How long no batch at all may come.
WAIT_SECONDS = 60.0
# What a worker is given at once: the fewer, the more questions.
_BATCHES_AT_ONCE = 8
# Batches that came early; past them a missing one counts as lost.
_MOST_WAITING = 512
_PREFETCHED = 32
_STEPS_AT_ONCE = 4096
# A graph, of which the files become a part, has to stay below 2 GB.
_MOST_BYTES = 1 << 30


class DataService:
    """A tf.data service that makes a run's batches.

    Args:
        address: of its dispatcher, `grpc://HOST:PORT`.
        folder: for files that the workers read: they have to see it by the
            same name.
    """

    def __init__(self, address: str, folder: str):
        self.address, self.folder = address, os.path.abspath(folder)
        self._failure: Exception | None = None

    def check(self) -> None:
        """Refuses an address where nobody answers.

        Raises:
            RunError: nobody does, within `CONNECT_SECONDS`.
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
        """Writes the examples of each piece's plan, or finds them.

        One process at a time may do so.
        """
        for piece, plan in enumerate(plans):
            served_files.write_examples(
                plan.splits, self._file(piece, "examples")
            )

    def _file(self, piece: int, name: str) -> str:
        return os.path.join(self.folder, str(piece), name)

    def clear(self) -> None:
        """Removes the files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def training_dataset(
        self,
        plan: BatchPlan,
        start_step: int,
        replicas: int,
        stop_step: int,
        part: range,
        piece: int = 0,
    ) -> tf.data.Dataset:
        """What `batches.training_dataset` returns, made by the service.

        `piece` is the number of the plan among those of a step.

        Reading it fails, for `failures_reported` to tell, if no batch comes for
        `WAIT_SECONDS`.

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
        """Raises why the service failed in place of TensorFlow's error.

        Raises:
            LostWorker: no batch came for a while.
        """
        try:
            yield
        except tf.errors.OpError:
            if self._failure is not None:
                raise self._failure
            raise


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
    """Makes a batch from its number, by a graph that reads files."""

    def __init__(self, plan: BatchPlan, rows: DiskSplit, examples: DiskSplit):
        sizes = [len(split) for split in plan.splits]
        self._store = served_files.FileStore(examples, sizes)
        self._static, self._varies = plan.static_shapes, plan.varies
        self._rows = rows

    @tf.autograph.experimental.do_not_convert
    def __call__(self, number: tf.Tensor) -> Batch:
        """The batch of a number, an int64 scalar."""
        row = {
            key: served_files.read_column(self._rows, key)[0][number]
            for key in self._rows.columns
            if key != "size" or self._varies
        }
        return make_batch(self._store, self._static, row)


def _numbered(make: Callable[[tf.Tensor], Batch], count: int):
    """Numbers and batches, of which workers take several at once."""

    @tf.autograph.experimental.do_not_convert
    def several(first: tf.Tensor) -> tf.data.Dataset:
        stop = tf.minimum(first + _BATCHES_AT_ONCE, count)
        return tf.data.Dataset.range(first, stop)

    @tf.autograph.experimental.do_not_convert
    def numbered(number: tf.Tensor) -> tuple[tf.Tensor, Batch]:
        return number, make(number)

    numbers = tf.data.Dataset.range(0, count, _BATCHES_AT_ONCE)
    # Each worker makes two at a time.
    return numbers.flat_map(several).map(numbered, num_parallel_calls=2)


@dataclasses.dataclass(frozen=True)
class Source:
    """Where numbered batches come from.

    Attributes:
        address: of the dispatcher.
        dataset: numbers and batches, if they were made here.
        make: makes a batch from its number.
        count: how many there are.
    """

    address: str
    dataset: tf.data.Dataset
    make: Callable[[tf.Tensor], Batch]
    count: int

    def served(self) -> tf.data.Dataset:
        """Numbers and batches as the workers have them ready.

        The graph is sent to the service now, which may take as long as its
        dispatcher does.
        """
        service = tf.data.experimental.service
        return self.dataset.apply(
            service.distribute(service.ShardingPolicy.DYNAMIC, self.address)
        )


def in_order(source: Source) -> Iterator[Batch]:
    """Yields the batches of a source by their numbers.

    Raises:
        LostWorker: none came for `WAIT_SECONDS`.
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
                # One that was made here meanwhile is late.
                waiting |= {n: b for n, b in came.items() if n >= number}
            batch = waiting.pop(number, None)
            if batch is None:
                arrivals.tell_loss(number)
                with tf.device("/CPU:0"):
                    batch = source.make(tf.constant(number, tf.int64))
            yield batch


class _Arrivals(contextlib.ExitStack):
    """Numbered batches as they come, taken by a thread of its own.

    TensorFlow waits for the service without end, which no other thread can
    end: this one does not wait for that one longer than it says.
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
        except Exception as error:  # which only the other thread can report
            self._put(error)

    def _put(self, arrived: _Numbered | Exception | None) -> None:
        while not self._stopped.is_set():
            with contextlib.suppress(queue.Full):
                self._arrived.put(arrived, timeout=1)
                return

    def next(self, may_stall: bool) -> dict[int, Batch]:
        """The next that comes, by its number; {} at the end.

        Args:
            may_stall: return {} where a service that has worked gives no more
                for a while. TensorFlow waits for what a killed worker had,
                after all others have given theirs.

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
