"""Plain text files with one text per line."""

from mtl_tf.core.errors import DataError


def read(path: str) -> list[str]:
    """The lines of a file that contain more than white space.

    Raises:
        DataError: it cannot be read or has no such line, or is not UTF-8; the
            message names the line.
    """
    texts = []
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                texts.append(_decoded(path, number, line))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}")
    if not any(texts):
        raise DataError(f"{path} holds no text")
    return [text for text in texts if text]


def _decoded(path: str, number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}:{number}: the text must be UTF-8, byte "
            f"{error.start + 1} of the line is 0x{line[error.start]:02x}"
        )
