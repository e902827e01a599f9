"""The runner: flags, help, errors and exit status, in real processes."""

import os
import signal

import pytest

from launch import train
from mtl_tf.config_fields import fields
from mtl_tf.core.errors import ConfigError, Interrupted
from mtl_tf.programs import runner
from tests.launch.helpers import ROOT, environment, execute, run, start

TOY = """
import os, sys, time
from absl import flags, logging
from mtl_tf.programs import runner
from mtl_tf.core.errors import DataError


def define_flags(values):
    flags.DEFINE_string("do", "", "what to do", flag_values=values)
    flags.DEFINE_integer("size", 3, "how many", flag_values=values)


def main(values):
    what = values.do
    if what == "user_error":
        raise DataError("books.tsv:3: no tab in the line")
    if what == "defect":
        raise ZeroDivisionError("a defect")
    if what == "status":
        return 2
    if what == "renewal":
        from mtl_tf.core import renewal
        print(renewal._THIS.command[1:])
    if what == "wait":
        print("ready", flush=True)
        time.sleep(60)
    if what == "finalizer":
        class Slow:
            def __del__(self):
                print("ready", flush=True)
                time.sleep(60)
        Slow()
        time.sleep(60)
    if what == "many":
        for number in range(1_000_000):
            print(number)
    if what == "config":
        print(values.config.to_dict())
        print(values.config.is_locked)
    if what == "tensorflow":
        import tensorflow as tf
        step = tf.function(lambda x: tf.reduce_sum(x @ x), jit_compile=True)
        print(int(step(tf.ones([3, 3]))))
    if what == "log":
        logging.info("some progress")
    print("done", values.size)


PROGRAM = runner.Program(
    name="toy", summary="Does little.", main=main, define_flags=define_flags,
    examples=(("Nothing", "--do=nothing"),),
    takes_config="CONFIG" in os.environ,
    tensorflow="TENSORFLOW" in os.environ,
)
if __name__ == "__main__":
    runner.run(PROGRAM)
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy") / "toy.py"
    path.write_text(TOY)
    return path


def run_toy(toy, *arguments, **extra):
    return execute(toy, *arguments, env=environment(**extra))


def test_a_program_knows_how_to_start_itself_anew(toy):
    _, out, _ = run_toy(toy, "--do=renewal")
    assert out.splitlines()[0] == str([str(toy), "--do=renewal"])


def test_help_of_every_program_exits_0_and_lists_its_own_flags():
    for name in ("train", "evaluate", "predict"):
        status, out, err = execute("-m", f"launch.{name}", "--help")
        assert (status, err) == (0, "")
        assert "--model_dir" in out
        assert f"python -m launch.{name} --" in out
        assert "Examples:" in out
        assert "--logtostderr" not in out
        assert max(len(line) for line in out.splitlines()) <= 140


def test_train_help_lists_the_shipped_configs():
    _, out, _ = execute("-m", "launch.train", "--help")
    shipped = out.partition("Shipped configs")[2]
    for name in ("quickstart", "fdu_mtl_meta", "fdu_mtl_lstm"):
        assert f"  {name}\n" in shipped
    assert "base" not in shipped.split()


def test_programs_with_a_config_list_its_fields():
    _, out, _ = execute("-m", "launch.train", "--help")
    last = out.splitlines()[-1]
    assert (
        last == "python -m launch.train --help_config lists all config fields."
    )
    status, out, err = execute("-m", "launch.train", "--help_config")
    assert (status, err) == (0, "")
    for path, field in fields.every().items():
        about = " ".join(out.split())
        assert (
            f" {path} = " in about
            or f" {path}:" in about
            or (f" {path} (open):" in about)
        )
        assert field.doc.replace("`", "") in about
    assert "\n  training.epochs = 60\n" in out
    assert max(map(len, out.splitlines())) < 80


def test_programs_without_a_config_have_no_fields():
    _, out, _ = execute("-m", "launch.predict", "--help")
    assert "--help_config" not in out
    status, _, err = execute("-m", "launch.predict", "--help_config")
    assert status == 1
    assert err.startswith("error: unknown flag --help_config")


@pytest.mark.parametrize("name", ["train", "evaluate", "predict"])
def test_help_does_not_load_what_takes_long(name):
    """`launch.benchmark --cases=start` tells the time."""
    status, _, err = execute("-X", "importtime", "-m", f"launch.{name}", "-h")
    assert status == 0
    loaded = {line.rpartition("|")[2].strip() for line in err.splitlines()}
    assert "mtl_tf.programs.runner" in loaded
    slow = {"tensorflow", "keras", "numpy", "tensorflow_datasets", "matplotlib"}
    assert not slow & loaded


def test_helpfull_adds_the_flags_of_absl():
    status, out, _ = execute("-m", "launch.train", "--helpfull")
    assert status == 0
    assert "--alsologtostderr" in out


@pytest.mark.parametrize("asked", ["-h", "-help", "-?", "--helpshort"])
def test_other_ways_to_ask_for_help(toy, asked):
    status, out, _ = run_toy(toy, asked)
    assert status == 0
    assert out.startswith("Does little.")


def test_console_script_behaves_like_the_module(tmp_path):
    script = tmp_path / "mtl-train"
    script.write_text("from launch.train import run\nrun()\n")
    status, out, _ = execute(script, "--help")
    _, module_out, _ = execute("-m", "launch.train", "--help")
    assert status == 0
    assert "mtl-train --config=quickstart" in out
    assert out == module_out.replace("python -m launch.train", "mtl-train")


def test_programs_run_from_inside_the_package_as_in_a_wheel(tmp_path):
    package = tmp_path / "mtl_tf"
    package.mkdir()
    for entry in (ROOT / "mtl_tf").iterdir():
        (package / entry.name).symlink_to(entry)
    (package / "launch").symlink_to(ROOT / "launch")
    script = tmp_path / "mtl-train"
    script.write_text("from mtl_tf.launch.train import run\nrun()\n")
    env = environment(PYTHONPATH=str(tmp_path))
    for command in ([script], ["-m", "mtl_tf.launch.train"]):
        status, out, err = execute(*command, "--help", cwd=tmp_path, env=env)
        assert (status, err) == (0, "")
        assert "  quickstart\n" in out


def test_all_programs_can_be_parsed_in_one_process():
    from launch import evaluate, predict

    for program in (evaluate.PROGRAM, predict.PROGRAM, evaluate.PROGRAM):
        values = runner.parse(program, ["x", "--model_dir=a"])
        assert values.model_dir == "a"


def test_done_is_0(toy):
    assert run_toy(toy, "--size=4") == (0, "done 4\n", "")


def test_status_of_main_is_the_exit_status(toy):
    assert run_toy(toy, "--do=status")[0] == 2


def test_user_error_is_one_line_and_1(toy):
    assert run_toy(toy, "--do=user_error") == (
        1,
        "",
        "error: books.tsv:3: no tab in the line\n",
    )


def test_a_defect_keeps_its_traceback(toy):
    status, _, err = run_toy(toy, "--do=defect")
    assert status == 1
    assert "Traceback" in err
    assert "ZeroDivisionError" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sise=4"], "error: unknown flag --sise; did you mean --size?"),
        (["--qqqqqqq=4"], "error: unknown flag --qqqqqqq; no flag has a name"),
        (["--size=x"], "error: flag --size=x: "),
        (["--size"], "error: Missing value for flag --size"),
        (["words"], "error: unexpected argument 'words'"),
        (["--flagfile=/nonexistent"], "error: "),
    ],
)
def test_wrong_flags(toy, arguments, message):
    status, out, err = run_toy(toy, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith(message)
    assert len(err.splitlines()) == 1


def test_a_required_flag_is_explained():
    status, _, err = execute("-m", "launch.predict")
    assert status == 1
    assert err.startswith("error: --model_dir is missing: folder of a trained")


@pytest.mark.parametrize("what", ["wait", "finalizer"])
def test_ctrl_c_is_130_without_traceback(toy, what):
    # What a shell starts in the background ignores Ctrl-C, and so would this.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = start(toy, f"--do={what}")
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err == b"toy: interrupted\n"


def test_a_signal_while_a_graph_is_traced_is_told_as_one(capsys):
    import tensorflow as tf

    def main(values):
        @tf.function
        def traced(x):
            if tf.reduce_sum(x) > 0:
                x += 1
            raise Interrupted("stopped while tracing", 15)

        traced(tf.ones([2]))

    program = runner.Program("toy", "Traces.", main, lambda values: None)
    status, _, err = run(capsys, program)
    assert (status, err) == (143, "toy: stopped while tracing\n")


def test_an_error_that_a_graph_passes_on_is_one_line(capsys):
    import tensorflow as tf

    def main(values):
        def wrong():
            raise ConfigError("tasks must be numbers from 0 to 3")

        tf.function(lambda: tf.numpy_function(wrong, [], tf.int32))()

    program = runner.Program("toy", "Fails.", main, lambda values: None)
    status, _, err = run(capsys, program)
    assert (status, err) == (1, "error: tasks must be numbers from 0 to 3\n")


def test_closed_pipe_is_quiet(toy):
    process = start(toy, "--do=many")
    assert process.stdout.readline() == b"0\n"
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=120) == runner.PIPE_CLOSED
    assert err == b""


def test_progress_is_on_standard_error_only(toy):
    status, out, err = run_toy(toy, "--do=log")
    assert (status, out) == (0, "done 3\n")
    assert "some progress" in err
    assert run_toy(toy, "--do=log", "--verbosity=-1") == (0, out, "")


@pytest.mark.extended
def test_tensorflow_is_quiet(toy):
    status, out, err = run_toy(toy, "--do=tensorflow", TENSORFLOW="1")
    assert (status, out, err) == (0, "27\ndone 3\n", "")


def test_verbosity_sets_no_log_level_of_tensorflow(toy, monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "x")  # restored at the end
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL")
    runner.parse(train.PROGRAM, _train("--verbosity=1"))
    assert "TF_CPP_MIN_LOG_LEVEL" not in os.environ


def _train(*arguments):
    return ["train", "--config=quickstart", "--model_dir=x", *arguments]


def test_data_folders_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("MTL_TF_MANUAL_DIR", "/corpora")
    monkeypatch.setenv("MTL_TF_DATA_DIR", "")
    values = runner.parse(train.PROGRAM, _train())
    assert (values.manual_dir, values.data_dir) == ("/corpora", None)
    values = runner.parse(train.PROGRAM, _train("--manual_dir=here"))
    assert values.manual_dir == "here"


def test_config_reaches_main_locked(toy):
    status, out, err = run_toy(
        toy,
        "--do=config",
        "--config=fdu_mtl_lstm:shared",
        "--config.model.scheme.units=7",
        CONFIG="1",
    )
    assert (status, err) == (0, "")
    assert "'name': 'fdu_mtl_lstm_shared'" in out
    assert "'units': 7" in out
    assert "\nTrue\n" in out


def test_parse_raises_config_errors_only():
    with pytest.raises(ConfigError, match="did you mean --strategy"):
        runner.parse(train.PROGRAM, _train("--stratgy=auto"))
    with pytest.raises(ConfigError, match="one_device"):
        runner.parse(train.PROGRAM, _train("--strategy=two"))
