"""The trainer: optimizers, checkpoints, distribution, loss weighting."""
