"""CoNLL-2003: named entities in Reuters news."""

# The column that is tagged.
CONFIGS = ("ner", "chunk", "pos")
