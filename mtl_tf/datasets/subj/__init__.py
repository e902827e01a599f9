"""SUBJ: objective and subjective sentences (Pang and Lee 2004)."""
