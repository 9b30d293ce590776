"""The tree of an organisation: finding it, reading it, and the rules on entries and whole trees."""
