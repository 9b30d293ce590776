"""Claims about published results, checked against the logs: what was said, what the logs give, what would change it."""
