import hashlib
import os

import pytest

from mtl_tf.core import digests
from mtl_tf.core.errors import RunError


def test_a_changed_file_is_named_and_a_missing_one_is_not(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a", "deep/b", "c"):
        (tmp_path / name).write_bytes(name.encode() * 1_000_000)
    names = digests.files_below(str(tmp_path))
    assert names == ["a", "c", os.path.join("deep", "b")]
    known = digests.of_files(str(tmp_path), names)
    expected = hashlib.blake2b(b"a" * 1_000_000, digest_size=16).hexdigest()
    assert known["a"] == expected
    digests.check(str(tmp_path), known, "was written")
    (tmp_path / "c").unlink()
    digests.check(str(tmp_path), known, "was written")
    with open(tmp_path / "deep" / "b", "ab") as file:
        file.write(b"x")
    with pytest.raises(RunError, match="deep/b has changed .* was written"):
        digests.check(str(tmp_path), known, "was written")


def test_what_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(RunError, match="cannot read .*nothing"):
        digests.of_file(str(tmp_path / "nothing"))
