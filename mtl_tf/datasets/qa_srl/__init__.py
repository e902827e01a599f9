"""QA-SRL: semantic roles as questions and answers (He et al. 2015)."""

# The release of 2015, Wikipedia; and QA-SRL Bank 2.0.
CONFIGS = ("wiki1", "bank2")
