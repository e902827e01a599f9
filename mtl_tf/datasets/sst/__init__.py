"""SST: the Stanford Sentiment Treebank (Socher et al. 2013)."""

# Sentences only, five classes and two; and with training phrases.
CONFIGS = ("sst1", "sst2", "sst1_phrases", "sst2_phrases")
