"""The ``pack`` command."""
