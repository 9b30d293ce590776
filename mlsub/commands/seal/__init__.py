"""The ``seal`` command."""
