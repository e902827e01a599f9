"""Two virtual CPU devices for every test, so that replicas can be tried."""

import gc
import os
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import pytest
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration()] * 2,
)
# To rewrite a graph takes longer than to run it a few times. The programs that
# tests start keep TensorFlow's default.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})


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


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the rooms of the longest tests first.

    A long file that comes last keeps one process busy while the others wait.
    """
    long = ("tests/docs/", "tests/runs/", "tests/experiments/")
    items.sort(key=lambda item: not item.nodeid.startswith(long))


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
    from mtl_tf.layers import recurrence

    with recurrence.options(shards=1):
        yield


@pytest.fixture(scope="session")
def two_replicas() -> tf.distribute.MirroredStrategy:
    # One for the whole session: two strategies in a process use the same keys
    # for their collectives, and TensorFlow then mixes them up.
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


@pytest.fixture(scope="session")
def toy_files(tmp_path_factory):
    """Config entries of two tasks on files; see `tests.system.corpus`."""
    from tests.system import corpus

    seed = random.SystemRandom().randrange(2**31)
    print(f"corpus seed {seed}")
    return corpus.write(tmp_path_factory.mktemp("corpus"), seed)


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

    directory = str(tmp_path_factory.mktemp("run") / "toy")
    training_run.train(corpus.config(toy_files), directory)
    return directory


@pytest.fixture(scope="session")
def transformer_run(tmp_path_factory, toy_files):
    """A run of a small L-E Transformer on `toy_files`, in bfloat16."""
    from mtl_tf.runs import training_run
    from tests.system import corpus

    directory = str(tmp_path_factory.mktemp("run") / "l_e")
    config = corpus.transformer(
        toy_files, epochs=1, mixed_precision="mixed_bfloat16"
    )
    training_run.train(config, directory)
    return directory


@pytest.fixture(scope="session")
def tagging_run(tmp_path_factory):
    """A run of random weights that tags and classifies."""
    from tests.system import tagging

    folder = tmp_path_factory.mktemp("tagging")
    return tagging.write_run(folder / "run", tagging.entries(folder, mood=True))


@pytest.fixture(scope="session")
def translation_run(tmp_path_factory):
    """A run of random weights that translates from xx to aa and bb."""
    from tests.system import translating

    folder = tmp_path_factory.mktemp("translation")
    return translating.write_run(folder / "run", translating.entries(folder))
