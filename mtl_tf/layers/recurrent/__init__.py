"""The recurrence primitive and the recurrent layers that run on it."""
