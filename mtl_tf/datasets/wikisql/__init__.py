"""WikiSQL: questions on tables and their SQL queries (Zhong et al. 2017)."""
