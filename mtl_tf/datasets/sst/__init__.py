"""SST: the Stanford Sentiment Treebank (Socher et al. 2013)."""

# Only sentences, in five or two classes; and with training phrases.
CONFIGS = ("sst1", "sst2", "sst1_phrases", "sst2_phrases")
