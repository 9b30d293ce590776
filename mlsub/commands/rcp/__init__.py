"""The ``rcp`` command."""
