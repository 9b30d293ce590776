"""Verdicts: on a log, on an entry, on an organisation's package. Everything above only reports them."""
