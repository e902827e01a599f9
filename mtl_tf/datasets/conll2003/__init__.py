"""CoNLL-2003: named entities in Reuters news."""

# The tagged column.
CONFIGS = ("ner", "chunk", "pos")
