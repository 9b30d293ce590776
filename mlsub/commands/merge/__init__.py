"""The ``merge`` command."""
