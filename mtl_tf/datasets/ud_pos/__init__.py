"""UD POS: parts of speech of a treebank of Universal Dependencies."""

# The column that is tagged.
CONFIGS = ("upos", "xpos")
