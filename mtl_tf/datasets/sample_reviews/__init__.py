"""Short reviews of four domains, generated from a grammar."""

DOMAINS = ("books", "films", "gadgets", "kitchen")
CONFIGS = DOMAINS
