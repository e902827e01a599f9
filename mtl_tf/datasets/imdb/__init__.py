"""IMDB: whole movie reviews in two classes (Maas et al. 2011)."""
