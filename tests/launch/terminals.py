"""Programs in a pseudo-terminal of a given width."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

from tests.launch.helpers import ROOT, environment

_SECONDS = 120


class InTerminal:
    """Python with `command`, whose streams are one terminal.

    Args:
        command: arguments of Python.
        columns: the terminal's width.
        cwd: where the program is started.
        extra: environment variables.
    """

    def __init__(self, *command, columns=80, cwd=ROOT, **extra):
        self.ours, theirs = pty.openpty()
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
        self.process = subprocess.Popen(
            [sys.executable, *map(str, command)],
            cwd=cwd,
            env=environment(**{"TERM": "xterm", **extra}),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.written = ""

    def read_until(self, text=None, seconds=_SECONDS):
        """Reads until `text` was written, or the end; returns all so far."""
        end = time.monotonic() + seconds
        while text is None or text not in self.written:
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError(f"no {text!r} in {self.written!r}")
            if not select.select([self.ours], [], [], 0.05)[0]:
                continue
            try:
                read = os.read(self.ours, 1 << 16)
            except OSError:  # Linux says so when the other side is closed.
                read = b""
            if not read:
                assert text is None, self.written
                break
            self.written += read.decode()
        return self.written

    def type(self, keys):
        """Types, such as Ctrl-C as `\\x03`."""
        os.write(self.ours, keys.encode())

    def end(self):
        """Reads to the end; returns the status and all that was written."""
        written = self.read_until()
        return self.process.wait(_SECONDS), written


def shown(written):
    """Each state of each line that a person saw, without colours."""
    plain = re.sub(r"\x1b\[\d*[mK]", "", written)
    return [part for part in re.split(r"[\r\n]+", plain) if part]


def screen(written):
    """What stands on the screen in the end, line by line."""
    lines = []
    for line in written.replace("\r\n", "\n").split("\n"):
        last = line.split("\r\x1b[K")[-1]
        lines.append(re.sub(r"\x1b\[\d*m", "", last))
    return lines
