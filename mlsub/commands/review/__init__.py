"""The ``review`` command."""
