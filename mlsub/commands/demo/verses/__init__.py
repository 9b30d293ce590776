"""The benchmark ``verses``: a small language model that guesses the next character of old poems."""
