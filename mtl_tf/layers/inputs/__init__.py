"""What a model reads: vectors of words, n-grams, characters, positions."""
