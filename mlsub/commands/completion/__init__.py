"""The ``completion`` command."""
