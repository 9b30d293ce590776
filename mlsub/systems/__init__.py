"""System descriptions: what one must say, and whether it does."""
