"""Where a submission stands: what is there, what is missing, and the next command."""
