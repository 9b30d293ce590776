"""Why a file is left as it is."""

from __future__ import annotations


class MendError(Exception):
    """A file that cannot be read or changed; the text says what, why and what to do, in one line."""
