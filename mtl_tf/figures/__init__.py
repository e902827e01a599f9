"""Pictures of trained runs; matplotlib is imported where it draws."""
