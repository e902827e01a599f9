"""Short reviews of four domains, generated from our own grammar."""

DOMAINS = ("books", "films", "gadgets", "kitchen")
