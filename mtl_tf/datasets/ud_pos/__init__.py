"""UD POS: parts of speech of a treebank of Universal Dependencies."""

# The tagged column.
CONFIGS = ("upos", "xpos")
