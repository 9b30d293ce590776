"""The harnesses: each module has some in ``HARNESSES``."""
