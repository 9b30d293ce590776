"""The one error of mlsub."""

from __future__ import annotations


class MlsubError(Exception):
    """What was asked for cannot be done, for a reason outside of mlsub: a missing file, a name that does not exist.

    A command that raises it ends with status 2; each line of its text becomes a line on standard error. The text says
    what is wrong, where, and how to fix it. What a checked file gets wrong is a finding, not an error.
    """
