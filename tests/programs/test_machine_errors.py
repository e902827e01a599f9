"""What the machine refuses is told in one line, not in a traceback."""

import errno
import types

import pytest
import tensorflow as tf

from mtl_tf.programs import runner


def program(error):
    def main(_):
        raise error

    return runner.Program(
        name="fails", summary="Fails.", main=main, define_flags=lambda _: None
    )


def outcome(error, capfd):
    with pytest.raises(SystemExit) as stopped:
        runner.run(program(error), ["fails"])
    return stopped.value.code, capfd.readouterr().err.strip()


@pytest.mark.parametrize(
    "error, message",
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "run/best"),
            "No space left on device: run/best",
        ),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "denied: x"),
        (OSError(errno.EROFS, "Read-only file system", "x"), "Read-only"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x"), "too long"),
        (MemoryError(), "out of memory: sizes or batches are too large"),
        (MemoryError("Unable to allocate 8 TiB"), "Unable to allocate 8 TiB"),
        (
            tf.errors.ResourceExhaustedError(
                None, None, "OOM when allocating tensor"
            ),
            "out of memory: OOM when allocating tensor",
        ),
        (
            tf.errors.ResourceExhaustedError(
                None,
                None,
                "Graph execution error:\n\nDetected at node e/Einsum\n\n"
                "OOM when allocating tensor with shape[3,60000,60000] and "
                "type float on /job:localhost by allocator cpu\n\t [[{{node",
            ),
            "out of memory: OOM when allocating tensor with "
            "shape[3,60000,60000] and type float",
        ),
        (
            tf.errors.UnknownError(
                None, None, "ckpt.data: No space left on device\n\tat x"
            ),
            "ckpt.data: No space left on device",
        ),
        (
            tf.errors.PermissionDeniedError(None, None, "a; Permission denied"),
            "a; Permission denied",
        ),
    ],
)
def test_one_line_and_status_1(error, message, capfd):
    status, text = outcome(error, capfd)
    assert status == 1
    last = text.splitlines()[-1]
    assert last.startswith("error: ") and message in last
    assert "Traceback" not in text


@pytest.mark.parametrize(
    "words, start",
    [
        (
            "{{function_node __wrapped__SaveV2_device_CPU:0}} "
            "/full/best/weights-1_temp/part-0-of-1.data.tempstate4; "
            "No space left on device [Op:SaveV2]",
            "No space left on device: /full/best/weights-1, where 1.5 MB are "
            "free (TensorFlow: {{function_node ",
        ),
        (
            "/full/allocated/r.tfrecord; No space left on device",
            "No space left on device: /full/allocated/r.tfrecord, where 1.5 "
            "MB are free (TensorFlow: /full/",
        ),
        (
            "/full/events; Read-only file system",
            "Read-only file system: /full/events (TensorFlow: /full/events; ",
        ),
        (
            "{{function_node __wrapped__SaveV2_}} /run/ckpt-8_temp; Operation "
            "not permitted [Op:SaveV2]",
            "Operation not permitted: /run/ckpt-8_temp (TensorFlow: {{",
        ),
        (
            "/run/ckpt-8_temp; No such file or directory",
            "No such file or directory: /run/ckpt-8_temp (TensorFlow: /run/",
        ),
    ],
)
def test_a_full_disk_is_told_with_the_file_first(
    words, start, monkeypatch, capfd
):
    """The line began with TensorFlow's own words."""
    usage = types.SimpleNamespace(free=1_500_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    error = tf.errors.ResourceExhaustedError(None, None, words)
    status, text = outcome(error, capfd)
    assert status == 1
    assert text.splitlines()[-1].startswith(f"error: {start}")


def test_a_full_disk_that_cannot_be_asked_is_told_all_the_same(
    monkeypatch, capfd
):
    def fail(folder):
        raise OSError(errno.EIO, "Input/output error", folder)

    monkeypatch.setattr("shutil.disk_usage", fail)
    error = OSError(errno.ENOSPC, "No space left on device", "/full/a")
    status, text = outcome(error, capfd)
    assert status == 1
    told = "error: No space left on device: /full/a"
    assert text.splitlines()[-1] == told


@pytest.mark.parametrize(
    "error",
    [
        KeyError("a defect"),
        OSError(errno.EINVAL, "Invalid argument"),
        tf.errors.InvalidArgumentError(None, None, "shapes"),
        tf.errors.ResourceExhaustedError(None, None, "a queue is full"),
    ],
)
def test_defects_keep_their_traceback(error, capfd):
    with pytest.raises(type(error)):
        runner.run(program(error), ["fails"])
