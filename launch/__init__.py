"""Programs to run from the command line: `python -m launch.train`."""
