"""The parts of the multitask question answering network."""
