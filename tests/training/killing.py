"""Python in a process of its own that `kill -9` ends at a checkpoint."""

import os
import signal
import subprocess
import sys

_CHILD = """
import json, os, sys
import tensorflow as tf
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.training.checkpoints import checkpoints
# As in conftest.py: other graphs and sums of other parts have other bits.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
whole_batches = recurrence.options(shards=1)
whole_batches.__enter__()
saves, *arguments = sys.argv[1:]
save, count = checkpoints.Checkpoints.save, [0]
def counted(self):
    save(self)
    count[0] += 1
    if count[0] == int(saves):
        os.kill(os.getpid(), 9)
checkpoints.Checkpoints.save = counted
"""


def run_killed(program, saves, *arguments):
    """Runs a program, with `arguments` as strings, to its save number `saves`.

    It fails if the program ends in any other way.
    """
    child = subprocess.run(
        [sys.executable, "-c", _CHILD + program, str(saves)]
        + [str(argument) for argument in arguments],
        capture_output=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert child.returncode == -signal.SIGKILL, child.stderr[-2000:]
