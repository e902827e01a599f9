"""What Bazel needs to run the project in the active Python environment."""
