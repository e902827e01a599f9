"""The config fields of one task type each: `TYPE`, fields by dotted path."""
