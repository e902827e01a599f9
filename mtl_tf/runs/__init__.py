"""A run: its directory, its data, its stages, its model; trained and loaded."""
