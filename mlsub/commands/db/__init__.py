"""A database of results: published rounds as tables to ask questions of."""
