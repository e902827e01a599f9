"""The training of one stage of a run."""
