"""CoNLL-2000: chunks of Wall Street Journal text."""

# The tagged column.
CONFIGS = ("chunk", "pos")
