"""The ids that every vocabulary reserves for special tokens."""

#: Padding.
PAD = 0
#: Any word that is not in the vocabulary.
OOV = 1
#: The start of a written text; only in target vocabularies.
BOS = 2
#: The end of a written text; only in target vocabularies.
EOS = 3
