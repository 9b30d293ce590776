"""The ``inspect`` command."""
