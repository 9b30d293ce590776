"""The ``unseal`` command."""
