"""Describe the machine this runs on: what the system and its tools report, each value with where it is from."""
