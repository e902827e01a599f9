"""Two virtual CPU devices for every test, so that replicas can be tried."""

import fcntl
import fnmatch
import gc
import json
import os
import pathlib
import random
import shutil
import time
from collections.abc import Callable
from typing import Any

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

#: The rooms of the longest tests, and those of short ones only.
LONG = ("tests/docs/", "tests/runs/", "tests/experiments/")
SHORT = ("tests/configs/", "tests/core/", "tests/evaluation/", "tests/tasks/")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--start_before",
        type=float,
        metavar="TIME",
        help="skip tests that would start later, in seconds since 1970",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leaves out what would start too late, and what it shares with others."""
    last = item.config.getoption("start_before")
    if last is not None and time.time() > last:
        pytest.skip("left out: no time left")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Sets TensorFlow up; the process that only hands tests out has none."""
    config = session.config
    hands_out = getattr(config.option, "numprocesses", 0)
    if hands_out and not hasattr(config, "workerinput"):
        return
    import tensorflow as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0],
        [tf.config.LogicalDeviceConfiguration()] * 2,
    )
    # To rewrite a graph takes longer than to run it a few times. The programs
    # that tests start keep TensorFlow's default.
    tf.config.optimizer.set_experimental_options(
        {"disable_meta_optimizer": True}
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Runs the whole suite in a process per core, if pytest-xdist is there.

    `-n 0` keeps it in one. Tests of a file stay together: they share runs.
    """
    option = config.option
    # The workers come here, too, and so does a pytest that a test starts.
    if "PYTEST_XDIST_WORKER" in os.environ or option.collectonly:
        return
    if getattr(option, "numprocesses", 0) is not None:
        return
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        option.numprocesses = min(len(os.sched_getaffinity(0)), 4)
        option.dist = "loadfile"
        option.loadscopereorder = False


def pytest_itemcollected(item: pytest.Item) -> None:
    """Makes the cases of a test that `by_default` does not name extended."""
    marker = item.get_closest_marker("by_default")
    if marker is None:
        return
    case = item.callspec.id
    if not any(fnmatch.fnmatchcase(case, pattern) for pattern in marker.args):
        item.add_marker(pytest.mark.extended)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Runs the rooms of the longest tests first, those of short ones last.

    A long file that comes last keeps one process busy while the others wait.
    Where time may run out, each third comes first every third day.
    """
    last = config.getoption("start_before")
    if last is not None:
        first = len(items) * (int(last // 86_400) % 3) // 3
        items[:] = items[first:] + items[:first]
        return

    def place(item: pytest.Item) -> int:
        name = item.nodeid
        return name.startswith(SHORT) - name.startswith(LONG)

    items.sort(key=place)


@pytest.fixture(scope="module", autouse=True)
def lasting_objects_cost_nothing():
    """Keeps the garbage collector off what earlier modules have left.

    TensorFlow never forgets a trace: after a thousand tests, a collection
    walks millions of objects and takes seconds.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def batches_stay_whole():
    """Keeps recurrences from splitting batches by the machine's cores.

    Every part is traced anew, which costs more than it saves in runs this
    short. `tests/layers` holds that splitting changes nothing.
    """
    from mtl_tf.layers.recurrent import recurrence

    with recurrence.options(shards=1):
        yield


@pytest.fixture
def without_jit():
    """Compiling takes seconds: only tests that are about it do it."""
    from mtl_tf.layers.recurrent import recurrence

    with recurrence.options(jit=False, shards=1):
        yield


@pytest.fixture(scope="session")
def two_replicas():
    # One for the whole session: two strategies in a process use the same keys
    # for their collectives, and TensorFlow then mixes them up.
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


@pytest.fixture
def vocabularies(monkeypatch):
    """Grows by the names of the tasks of each vocabulary that is built."""
    from mtl_tf.runs.systems.sharing import Sharing

    build, groups = Sharing.build_text, []

    def note(self, tasks, *rest):
        groups.append([task.name for task in tasks])
        return build(self, tasks, *rest)

    monkeypatch.setattr(Sharing, "build_text", note)
    return groups


@pytest.fixture
def points(monkeypatch):
    """Grows where a program may start anew (`mtl_tf.core.renewal`)."""
    from mtl_tf.core import renewal

    found = []
    monkeypatch.setattr(renewal, "point", lambda: found.append(len(found)))
    return found


def made_once(
    factory: pytest.TempPathFactory,
    name: str,
    make: Callable[[pathlib.Path], Any],
) -> Any:
    """What `make` returns, JSON, from whichever process asks for it first.

    Args:
        factory: of this process.
        name: of what is made.
        make: is given a folder to write to.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return make(factory.mktemp(name))
    # The processes' folders lie in one of the session.
    folder = factory.getbasetemp().parent / f"once_{name}"
    done = folder.with_suffix(".json")
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir()
            done.write_text(json.dumps(make(folder)))
    return json.loads(done.read_text())


def run_made_once(
    factory: pytest.TempPathFactory,
    name: str,
    make: Callable[[pathlib.Path], str],
) -> str:
    """A copy of this process's own of the run directory that `make` returns."""
    original = made_once(factory, name, make)
    copy = factory.mktemp("run") / os.path.basename(original)
    return str(shutil.copytree(original, copy))


@pytest.fixture(scope="session")
def toy_files(tmp_path_factory):
    """Config entries of two tasks on files; see `tests.system.corpus`."""
    from tests.system import corpus

    def make(folder):
        seed = random.SystemRandom().randrange(2**31)
        print(f"corpus seed {seed}")
        return corpus.write(folder, seed)

    return made_once(tmp_path_factory, "corpus", make)


@pytest.fixture(scope="session")
def small_files(tmp_path_factory):
    """The same with few texts: for tests that need not learn them."""
    from tests.system import corpus

    sizes = {"train": 120, "validation": 40, "test": 40}
    return corpus.write(tmp_path_factory.mktemp("small"), 7, sizes)


@pytest.fixture(scope="session")
def toy_run(tmp_path_factory, toy_files):
    """The directory of a run that was trained on `toy_files`."""
    from mtl_tf.runs import training_run
    from tests.system import corpus

    def make(folder):
        directory = str(folder / "toy")
        training_run.train(corpus.config(toy_files), directory)
        return directory

    return run_made_once(tmp_path_factory, "toy", make)


@pytest.fixture(scope="session")
def single_run(tmp_path_factory, small_files):
    """The directory of a run with a model for each task, after one step."""
    from mtl_tf.runs import training_run
    from tests.system import corpus

    def make(folder):
        config = corpus.quick(small_files, steps=1, evaluate_every=1)
        config["train_separately"] = True
        directory = str(folder / "single")
        training_run.train(config, directory)
        return directory

    return run_made_once(tmp_path_factory, "single", make)


@pytest.fixture(scope="session")
def transformer_run(tmp_path_factory, toy_files):
    """A run of a small L-E Transformer on `toy_files`, in bfloat16."""
    from mtl_tf.runs import training_run
    from tests.system import corpus

    def make(folder):
        config = corpus.transformer(
            toy_files, epochs=1, mixed_precision="mixed_bfloat16"
        )
        directory = str(folder / "l_e")
        training_run.train(config, directory)
        return directory

    return run_made_once(tmp_path_factory, "l_e", make)


@pytest.fixture(scope="session")
def tagging_run(tmp_path_factory):
    """A run of random weights that tags and classifies."""
    from tests.system import tagging

    def make(folder):
        entries = tagging.entries(folder, mood=True)
        return tagging.write_run(folder / "run", entries)

    return run_made_once(tmp_path_factory, "tagging", make)


@pytest.fixture(scope="session")
def translation_run(tmp_path_factory):
    """A run of random weights that translates from xx to aa and bb."""
    from tests.system import translating

    def make(folder):
        return translating.write_run(
            folder / "run", translating.entries(folder)
        )

    return run_made_once(tmp_path_factory, "translation", make)


@pytest.fixture(scope="session")
def data_service():
    """The address of a tf.data service with one worker in this process."""
    import tensorflow as tf

    service = tf.data.experimental.service
    dispatcher = service.DispatchServer()
    target = dispatcher.target.partition("://")[2]
    worker = service.WorkerServer(
        service.WorkerConfig(dispatcher_address=target)
    )
    yield dispatcher.target
    worker._stop()
    dispatcher._stop()
