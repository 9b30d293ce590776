"""The ``verify`` command."""
