"""The ``status`` command."""
