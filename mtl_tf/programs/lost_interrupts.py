"""A Ctrl-C that Python would forget."""

import os
import signal
import sys
import threading
from typing import Any

# Until it is repeated.
_SECONDS = 0.05


def repeat() -> None:
    """Repeats a Ctrl-C that came while Python finalized an object.

    Python prints and forgets exceptions in finalizers.
    """
    before = sys.unraisablehook

    def hook(told: Any) -> None:
        if told.exc_type is not KeyboardInterrupt:
            before(told)
            return
        # From here, it would be forgotten again.
        again = threading.Timer(_SECONDS, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()

    sys.unraisablehook = hook
