"""What a machine tells about itself."""

import os

from mtl_tf.core import machine


def files(folder, limit="max"):
    texts = {
        "status": "Name: python\nVmRSS:\t 1000 kB\n",
        "meminfo": "MemTotal: 9000 kB\nMemAvailable: 3000 kB\n",
        "memory.max": f"{limit}\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in texts]


def test_share_of_memory(tmp_path):
    assert machine.memory_share(*files(tmp_path)) == 0.25
    # A container may take 2,000 kB.
    assert machine.memory_share(*files(tmp_path, 2000 * 1024)) == 0.5
    os.remove(tmp_path / "memory.max")
    status, meminfo = (str(tmp_path / name) for name in ("status", "meminfo"))
    assert machine.memory_share(status, meminfo, "none") == 0.25
    # Not on Linux.
    assert machine.memory_share("none", meminfo, "none") == 0.0
    assert machine.memory_share(meminfo, meminfo, "none") == 0.0


def test_free_memory(tmp_path):
    _, meminfo, _ = files(tmp_path)
    assert machine.free_memory(meminfo) == 3000 * 1024
    assert machine.free_memory("none") == float("inf")


def test_this_process_has_taken_some():
    known = os.path.exists("/proc/self/status")
    assert (machine.memory_share() > 0) == known
