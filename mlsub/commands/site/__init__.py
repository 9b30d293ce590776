"""The results page: a static site of what was checked, for people to look at."""
