"""The multitask question answering network."""
