"""The fields of a config: defaults, rules, checks and changes."""
