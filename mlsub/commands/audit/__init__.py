"""Claims about published results, held against the logs: what was said, what the logs give, what would change it."""
