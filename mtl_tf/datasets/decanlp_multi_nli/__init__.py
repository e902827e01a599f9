"""MultiNLI as question answering, as in decaNLP."""
