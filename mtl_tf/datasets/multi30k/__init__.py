"""Multi30k: captions of pictures in English, German, French and Czech."""

# Source and target; English is what was translated.
CONFIGS = ("en-de", "en-fr", "en-cs")
