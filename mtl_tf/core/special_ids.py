"""The ids that every vocabulary keeps for what is not a word."""

#: Padding.
PAD = 0
#: Every word that is not in the vocabulary.
OOV = 1
#: The begin of a text that is written; of target vocabularies only.
BOS = 2
#: The end of a text that is written; of target vocabularies only.
EOS = 3
