"""A tf.data service over loopback makes the batches that a run would make."""

import contextlib
import os
import socket
import threading

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, LostWorker, RunError
from mtl_tf.pipelines.batches import BatchPlan, training_dataset
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit, alike
from mtl_tf.pipelines.served import served_batches
from mtl_tf.pipelines.served.served_batches import DataService
from tests.pipelines.helpers import (
    as_numpy,
    assert_same_batches,
    make_split,
    on_disk,
    random_split,
    wide_split,
)

START, STOP = 3, 60


class Servers:
    """A dispatcher and its workers in this process."""

    def __init__(self, workers):
        service = tf.data.experimental.service
        self.dispatcher = service.DispatchServer(
            service.DispatcherConfig(
                port=0, worker_timeout_ms=1000, job_gc_check_interval_ms=200
            )
        )
        self.address = self.dispatcher.target
        self.workers = []
        for _ in range(workers):
            self.add_worker()

    def add_worker(self):
        service = tf.data.experimental.service
        config = service.WorkerConfig(
            dispatcher_address=self.address.partition("://")[2],
            heartbeat_interval_ms=100,
        )
        self.workers.append(service.WorkerServer(config))

    def stop(self):
        for server in (*self.workers, self.dispatcher):
            with contextlib.suppress(RuntimeError):
                server._stop()


@pytest.fixture(scope="module")
def servers():
    made = Servers(2)
    yield made
    made.stop()


def served(address, folder, plan, replicas=1, part=None, start=START):
    service = DataService(address, str(folder / "served"))
    service.prepare([plan])
    part = part or range(replicas)
    return service.training_dataset(plan, start, replicas, STOP, part)


def two_axes(name, lengths):
    """Texts on two axes, of which the second is the first the other way."""
    first = make_split(name, lengths).columns["tokens"]
    second = make_split(name, lengths[::-1]).columns["tokens"]
    columns = {
        "question": Column(first.values, first.offsets, "question"),
        "answer": Column(second.values, second.offsets, "answer"),
    }
    return EncodedSplit(name, columns)


# Of different widths, and one lacks what the others have.
MIXED = [
    wide_split("a", [3, 0, 5, 1, 7, 2, 2], 4),
    wide_split("b", [2, 6, 1, 1], 2),
    make_split("c", [4, 4, 3, 1, 1]),
]
ALIKE = [random_split("a", 70, 8), random_split("b", 30, 8)]
PAIRS = [two_axes("a", [3, 1, 5, 2, 8]), two_axes("b", [2, 8, 1])]


@pytest.mark.by_default("ragged")
@pytest.mark.parametrize(
    ("splits", "options"),
    [
        pytest.param(MIXED, {}, id="uniform"),
        pytest.param(
            MIXED,
            {"mixing_config": "joint"},
            id="joint",
            marks=pytest.mark.extended,
        ),
        pytest.param(MIXED, {"static_shapes": False}, id="ragged"),
        pytest.param(
            ALIKE,
            {"tokens_per_batch": 24},
            id="tokens",
            marks=pytest.mark.extended,
        ),
        pytest.param(
            PAIRS,
            {"boundaries": [[4, 8], [8, 8]]},
            id="pairs",
            marks=pytest.mark.extended,
        ),
    ],
)
def test_batches_are_those_of_this_process(tmp_path, servers, splits, options):
    usual = {"boundaries": [4, 8], "batch_size": 2, "seed": 3}
    options = {**usual, "mixing_config": "uniform", **options}
    plan = BatchPlan(alike(splits), **options)
    expected = training_dataset(plan, START, stop_step=STOP)
    found = served(servers.address, tmp_path, plan)
    assert found.element_spec == expected.element_spec
    assert_same_batches(as_numpy(expected), as_numpy(found))


@pytest.mark.extended
def test_what_lies_on_disk_is_served_too(tmp_path, servers):
    stored = [on_disk(split, tmp_path) for split in MIXED]
    plan = BatchPlan(alike(stored), 2, [4, 8], "uniform", 3)
    assert_same_batches(
        as_numpy(training_dataset(plan, START, stop_step=STOP)),
        as_numpy(served(servers.address, tmp_path, plan)),
    )


@pytest.mark.extended
def test_every_process_gets_its_pieces(tmp_path, servers):
    plan = BatchPlan(ALIKE, 8, [4, 8], "uniform", 3)
    for part in (range(2), range(2, 4)):
        assert_same_batches(
            as_numpy(training_dataset(plan, START, 4, STOP, part)),
            as_numpy(served(servers.address, tmp_path, plan, 4, part)),
        )


def test_what_workers_run_calls_no_python(tmp_path):
    plan = BatchPlan(alike(MIXED), 2, [4, 8], "uniform", 3)
    asked = []

    class Recorded(DataService):
        def _in_order(self, source):
            asked.append(source.dataset)
            return iter(())

    service = Recorded("grpc://nowhere:1", str(tmp_path))
    assert not list(service.training_dataset(plan, 0, 1, STOP, range(1)))
    options = tf.data.experimental.ExternalStatePolicy.FAIL
    graph = asked[0]._as_serialized_graph(external_state_policy=options)
    text = graph.numpy()
    assert b"ImmutableConst" in text and b"PyFunc" not in text
    # The examples do not travel with it.
    plan = BatchPlan([random_split("a", 5000, 8)], 2, [8], "uniform", 3)
    list(service.training_dataset(plan, 0, 1, STOP, range(1)))
    large = asked[1]._as_serialized_graph(external_state_policy=options)
    assert len(large.numpy()) < len(text) + 1000


@pytest.mark.extended
def test_a_worker_that_ends_costs_no_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(served_batches, "_MOST_WAITING", 16)
    servers = Servers(2)
    plan = BatchPlan(ALIKE, 2, [4, 8], "uniform", 3)
    service = DataService(servers.address, str(tmp_path))
    found = []
    for batch in service.training_dataset(plan, 0, 1, 600, range(1)):
        found.append(batch)
        if len(found) == 20:
            servers.workers.pop()._stop()
    servers.stop()
    expected = training_dataset(plan, 0, stop_step=600)
    assert_same_batches(as_numpy(expected), as_numpy(found))


@pytest.mark.extended
def test_a_worker_may_come_later(tmp_path):
    servers = Servers(0)
    plan = BatchPlan(ALIKE, 2, [4, 8], "uniform", 3)
    later = threading.Timer(0.5, servers.add_worker)
    later.start()
    found = as_numpy(served(servers.address, tmp_path, plan))
    later.join()
    servers.stop()
    expected = training_dataset(plan, START, stop_step=STOP)
    assert_same_batches(as_numpy(expected), found)


def test_batches_that_were_lost_are_made_here(tmp_path, monkeypatch):
    plan = BatchPlan(ALIKE, 2, [4, 8], "uniform", 3)
    service = DataService("grpc://nowhere:1", str(tmp_path))

    def most_of_them(source):
        numbers = np.random.default_rng(0).permutation(STOP)
        lost = {0, 7, 8, STOP - 1}
        return [(n, source.make(n)) for n in numbers if n not in lost]

    monkeypatch.setattr(served_batches.Source, "served", most_of_them)
    found = as_numpy(service.training_dataset(plan, 0, 1, STOP, range(1)))
    expected = as_numpy(training_dataset(plan, 0, stop_step=STOP))
    assert_same_batches(expected, found)


@pytest.mark.extended
@pytest.mark.parametrize("lost", [{7, 8}, {STOP - 2, STOP - 1}])
def test_what_a_killed_worker_had_is_made_here(tmp_path, monkeypatch, lost):
    """TensorFlow waits for it without end; a run ended with status 75."""
    monkeypatch.setattr(served_batches, "WAIT_SECONDS", 5.0)
    plan = BatchPlan(ALIKE, 2, [4, 8], "uniform", 3)
    service = DataService("grpc://nowhere:1", str(tmp_path))
    over = threading.Event()

    def all_but_some(source):
        yield from ((n, source.make(n)) for n in range(STOP) if n not in lost)
        over.wait()

    monkeypatch.setattr(served_batches.Source, "served", all_but_some)
    with service.failures_reported():
        found = as_numpy(service.training_dataset(plan, 0, 1, STOP, range(1)))
    over.set()
    expected = as_numpy(training_dataset(plan, 0, stop_step=STOP))
    assert_same_batches(expected, found)


@pytest.mark.extended
def test_a_batch_that_comes_late_hides_no_dead_service(tmp_path, monkeypatch):
    """It stayed among those that wait, so that all were made here."""
    monkeypatch.setattr(served_batches, "WAIT_SECONDS", 2.0)
    monkeypatch.setattr(served_batches, "_MOST_WAITING", 4)
    over = threading.Event()

    def late(source):
        for number in (*range(1, 8), 0):
            yield number, source.make(number)
        over.wait()

    monkeypatch.setattr(served_batches.Source, "served", late)
    with pytest.raises(LostWorker, match="no batch has come"):
        read(DataService("grpc://nowhere:1", str(tmp_path)), tmp_path)
    over.set()


@pytest.mark.extended
def test_many_batches_of_a_service_that_ends_are_not_made_here(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(served_batches, "WAIT_SECONDS", 5.0)
    monkeypatch.setattr(served_batches, "_MOST_WAITING", 16)
    over = threading.Event()

    def some(source):
        yield from ((n, source.make(n)) for n in range(20))
        over.wait()

    monkeypatch.setattr(served_batches.Source, "served", some)
    with pytest.raises(LostWorker, match=r"no batch has come for 5 s"):
        read(DataService("grpc://nowhere:1", str(tmp_path)), tmp_path)
    over.set()


def read(service, folder):
    plan = BatchPlan(ALIKE, 2, [4, 8], "uniform", 3)
    with service.failures_reported():
        list(service.training_dataset(plan, 0, 1, STOP, range(1)))


def test_a_dispatcher_without_workers_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(served_batches, "WAIT_SECONDS", 0.5)
    servers = Servers(0)
    service = DataService(servers.address, str(tmp_path))
    service.check()
    with pytest.raises(LostWorker, match=r"no batch has come for 0\.5 s"):
        read(service, tmp_path)
    servers.stop()


def test_an_error_of_the_service_is_told(tmp_path, monkeypatch):
    def fail(source):
        raise tf.errors.UnavailableError(None, None, "gone\nat all")

    monkeypatch.setattr(served_batches.Source, "served", fail)
    with pytest.raises(LostWorker, match=r"nowhere:1 fails \(gone\)"):
        read(DataService("grpc://nowhere:1", str(tmp_path)), tmp_path)


def test_nobody_at_the_address(tmp_path):
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        address = f"grpc://localhost:{taken.getsockname()[1]}"
        with pytest.raises(RunError, match=f"pipeline.service: .*{address}"):
            DataService(address, str(tmp_path)).check()
    with pytest.raises(RunError, match="no dispatcher answers"):
        DataService("grpc://no.such.host.invalid:1", str(tmp_path)).check()


def test_more_than_a_graph_can_hold_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(served_batches, "_MOST_BYTES", 1000)
    with pytest.raises(ConfigError, match="set the field to ''"):
        served(
            "grpc://nowhere:1", tmp_path, BatchPlan(ALIKE, 2, [8], "joint", 3)
        )


def test_files_go_at_the_end(tmp_path, servers):
    folder = tmp_path / "served"
    plan = BatchPlan(ALIKE, 2, [4, 8], "uniform", 3)
    list(served(servers.address, tmp_path, plan))
    assert os.listdir(folder)
    served_batches.clear(str(folder))
    assert not folder.exists()
