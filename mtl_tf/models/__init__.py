"""Sharing schemes and whole models, built from layers."""
