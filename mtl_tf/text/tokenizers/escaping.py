r"""How tokens are written: one spelling in the graph and in the files.

A vocabulary file holds one token per line, so no token may contain a line
break. Tokenizers therefore make *written* tokens, and a line of the file equals
the string in the graph, byte for byte:

====================  =======  =============================================
in the text           written  why
====================  =======  =============================================
``\``                 ``\\``   it starts the other spellings
U+2581 ``▁``          ``\_``   a bare ``▁`` is a carried space (reversible)
line feed             ``\n``   it ends a line of the file
carriage return       ``\r``   TensorFlow drops it at the end of a line
space inside a token  ``\s``   visible, and safe from editors that trim lines
====================  =======  =============================================

The markers ``\pad`` and ``\oov`` are not the written form of any text, so no
text can contain them: the text ``\pad`` is written ``\\pad``.
"""

import re

import tensorflow as tf

CARRIED_SPACE = "▁"

_WRITTEN = (
    ("\\", "\\\\"),  # first, because the others add backslashes
    (CARRIED_SPACE, "\\_"),
    ("\n", "\\n"),
    ("\r", "\\r"),
    (" ", "\\s"),
)
_READ = {written: plain for plain, written in _WRITTEN}
_ANY_WRITTEN = re.compile(r"\\(?:.|$)", re.DOTALL)
# A byte that no UTF-8 text contains. A regular expression cannot match it, but
# it can be inserted by one and split at.
BOUNDARY = b"\xff"


def write(token: str) -> str:
    """Returns the written form of a piece of text, in Python."""
    for plain, written in _WRITTEN:
        token = token.replace(plain, written)
    return token


def read(token: str) -> str:
    """Returns the text of a written token; carried spaces become spaces."""
    token = token.replace(CARRIED_SPACE, " ")
    return _ANY_WRITTEN.sub(lambda m: _READ.get(m[0], m[0]), token)


def surface(token: str) -> str:
    """Returns the word inside a written token, without carried spaces."""
    return read(token.removeprefix(CARRIED_SPACE).removesuffix(CARRIED_SPACE))


def write_in_graph(texts: tf.Tensor, characters: str) -> tf.Tensor:
    """Escapes the given characters in whole texts.

    Args:
        texts: string [n], valid UTF-8 except for boundaries.
        characters: the characters to escape, out of backslash, carried space,
            line feed, carriage return and space.

    Returns:
        string [n].
    """
    for plain, written in _WRITTEN:
        if plain in characters:
            rewrite = written.replace("\\", "\\\\")
            texts = tf.strings.regex_replace(texts, re.escape(plain), rewrite)
    return texts


def write_all_in_graph(texts: tf.Tensor) -> tf.Tensor:
    """The written form of pieces of text: string [n] to string [n]."""
    return write_in_graph(texts, "".join(plain for plain, _ in _WRITTEN))


def read_in_graph(texts: tf.Tensor) -> tf.Tensor:
    """Undoes `write_in_graph`: string [n] to string [n]."""
    # A backslash restored too early would look like the start of an escape. It
    # is kept as U+2581 first, which written texts never contain bare.
    steps = (
        ("\\\\", f"{CARRIED_SPACE}b"),
        ("\\_", f"{CARRIED_SPACE}u"),
        ("\\n", "\n"),
        ("\\r", "\r"),
        ("\\s", " "),
        (f"{CARRIED_SPACE}b", "\\"),
        (f"{CARRIED_SPACE}u", CARRIED_SPACE),
    )
    for written, plain in steps:
        rewrite = plain.replace("\\", "\\\\")
        texts = tf.strings.regex_replace(texts, re.escape(written), rewrite)
    return texts


def surface_in_graph(tokens: tf.Tensor) -> tf.Tensor:
    """The words inside written tokens, without carried spaces.

    Args:
        tokens: string, of any shape.
    """
    carried = f"^{CARRIED_SPACE}|{CARRIED_SPACE}$"
    return read_in_graph(tf.strings.regex_replace(tokens, carried, ""))
