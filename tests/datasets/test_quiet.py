"""TFDS is kept quiet, and nothing else."""

import sys
import threading

from absl import logging

from mtl_tf.datasets.quiet import quiet


def test_what_is_printed_goes_nowhere_and_comes_back(capsys):
    before = logging.get_verbosity()
    with quiet():
        print("chatter")
        with quiet(progress=True):
            assert sys.stdout is sys.stderr
    print("result")
    assert capsys.readouterr().out == "result\n"
    assert logging.get_verbosity() == before


def test_two_threads_leave_standard_output_as_it_was():
    """The second one that leaves must not put back what the first one put."""
    before = sys.stdout, logging.get_verbosity()
    first_is_in, first_may_leave = threading.Event(), threading.Event()

    def first():
        with quiet():
            first_is_in.set()
            first_may_leave.wait(10)

    def second():
        first_is_in.wait(10)
        threading.Timer(0.05, first_may_leave.set).start()
        with quiet():
            # By now the first one has left.
            first_thread.join(10)

    first_thread, second_thread = (
        threading.Thread(target=target) for target in (first, second)
    )
    first_thread.start()
    second_thread.start()
    second_thread.join(10)
    assert not second_thread.is_alive()
    assert (sys.stdout, logging.get_verbosity()) == before
    print(end="", flush=True)
