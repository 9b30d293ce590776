"""Mechanical repairs: what can be mended without knowing anything of the run, and without touching a number."""
