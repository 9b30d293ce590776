"""A rehearsal round: a small benchmark, trained for real, to walk the whole way to a verdict on a laptop."""
