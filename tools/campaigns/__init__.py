"""Long searches for defects; `make test` replays what they found, and a few inputs of fixed seeds."""
