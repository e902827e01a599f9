"""Named entities of CoNLL-2003 as question answering, as in decaNLP."""
