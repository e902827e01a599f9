"""Runs the pytest cases of the files named as arguments, under Bazel.

A py_test on a file of pytest functions alone passes without running one.
"""

import os
import sys

from build_support import environment


def main(arguments: list[str]) -> int:
    """Runs pytest; the result is its exit status, 5 if there was no test.

    Of a file that has slow and extended tests alone, these are run.
    """
    temporary = os.environ.get("TEST_TMPDIR", "")
    if temporary:
        # A sandbox has no home folder to write to.
        os.environ["HOME"] = temporary
        arguments = [f"--basetemp={temporary}/pytest", *arguments]
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    environment.use_active()
    import pytest

    options = ["-p", "no:cacheprovider", "--rootdir=.", "-c", "pyproject.toml"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        options.append(f"--junitxml={report}")  # each case, with its time
    status = pytest.main([*options, *arguments])
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        late = ["-m", "slow or extended"]
        status = pytest.main([*options, *late, *arguments])
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
