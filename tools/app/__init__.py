"""A page that checks, scores and reviews in a browser: what it is made of, and ``build.py``, which makes it."""
