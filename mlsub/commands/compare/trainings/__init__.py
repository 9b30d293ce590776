"""What differs between two trainings of one benchmark, and why one of them is faster."""
