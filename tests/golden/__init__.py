"""Golden facts: what every command answers about published packages and broken inputs, in whatever shape."""
