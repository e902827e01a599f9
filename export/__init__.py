"""SavedModels that take raw strings, and programs to check them."""
