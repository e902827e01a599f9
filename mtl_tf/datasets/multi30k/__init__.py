"""Multi30k: captions of pictures in English, German, French and Czech."""

# Source and target; English is the original.
CONFIGS = ("en-de", "en-fr", "en-cs")
