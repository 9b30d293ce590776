"""The ``system`` command."""
