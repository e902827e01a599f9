"""SQuAD v1.1: questions on paragraphs of Wikipedia (Rajpurkar et al. 2016)."""
