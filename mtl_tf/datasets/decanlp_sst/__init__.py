"""SST as question answering, as in decaNLP."""
