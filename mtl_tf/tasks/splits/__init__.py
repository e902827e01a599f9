"""How examples are divided into splits, folds and fractions."""
