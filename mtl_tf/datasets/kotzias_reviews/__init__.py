"""Sentences of reviews from three sites (Kotzias et al. 2015)."""

# The site.
CONFIGS = ("imdb", "amazon", "yelp")
