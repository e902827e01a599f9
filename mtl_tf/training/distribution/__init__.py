"""Devices, replicas and workers."""
