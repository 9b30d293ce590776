"""Scores: from the times of the runs to the time of an entry."""
