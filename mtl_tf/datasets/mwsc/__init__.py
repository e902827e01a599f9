"""MWSC: modified Winograd schemas (McCann et al. 2018)."""
