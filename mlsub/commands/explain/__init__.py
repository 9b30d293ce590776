"""The ``explain`` command."""
