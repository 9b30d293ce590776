"""Mechanical repairs: what can be fixed without knowing anything of the run, and without touching a number."""
