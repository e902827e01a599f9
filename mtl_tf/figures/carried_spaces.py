"""Tokens that carry their spaces, as figures and tables show them."""

from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.tokenizers.escaping import CARRIED_SPACE, surface

GLUE = "+"
NOTE = f"{GLUE}x: continues the word before"


class Pieces:
    """Shows tokens of a language: `+` is before what is not a word's start.

    Args:
        encoder: of the language; tokens of some tokenizers carry no spaces,
            and are all words.
    """

    def __init__(self, encoder: TextEncoder):
        tokens = encoder.vocabulary.tokens
        # Elsewhere the sign of a carried space stands behind a backslash.
        self._carries = any(t.startswith(CARRIED_SPACE) for t in tokens)

    def __call__(self, token: str) -> str:
        """A written token as it is shown."""
        glued = self._carries and not token.startswith(CARRIED_SPACE)
        text = surface(token) or token
        return f"{GLUE}{text}" if glued else text
