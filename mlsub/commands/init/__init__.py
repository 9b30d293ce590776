"""The ``init`` command."""
