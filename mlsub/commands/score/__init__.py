"""The ``score`` command."""
