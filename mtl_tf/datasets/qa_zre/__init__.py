"""QA-ZRE: relations as questions and answers (Levy et al. 2017)."""
