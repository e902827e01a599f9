"""CoNLL-2000: chunks of Wall Street Journal text."""

# The column that is tagged.
CONFIGS = ("chunk", "pos")
