"""The power measurements of an entry: their files, the energy they give, and what an auditor asks about them."""
