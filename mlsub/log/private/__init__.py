"""What is private in logs: found by its look and by names that are known, and replaced outside of records."""
