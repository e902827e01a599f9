"""User-facing errors, atomic writing, seeds and nearest-name hints."""
