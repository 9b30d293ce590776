"""The ``compare`` command."""
