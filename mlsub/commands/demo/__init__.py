"""The ``demo`` command."""
