"""What is private in a text: its kinds, where it stands, and how it is counted."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class PrivateKind(StrEnum):
    """What a private thing is. Where two overlap, the earlier kind counts."""

    SECRET = "secret"  # noqa: S105  (no password)
    ENV = "env"
    TEXT = "text"
    EMAIL = "email"
    PATH = "path"
    HOST = "host"
    ADDRESS = "address"
    ID = "id"
    USER = "user"


#: What a placeholder stands for.
Thing = tuple[PrivateKind, bytes]
#: A private thing in a text: from where to where.
PrivateSpan = tuple[int, int, Thing]


class Spot(msgspec.Struct, frozen=True):
    """A line of a file, whose path is relative to the root; of a record its key, too."""

    path: str
    line: int
    key: str = ""


class Where(StrEnum):
    """Where a thing stands: in the free text of a log, in its records, or in another file.

    ``UNSURE``: in the free text of a log, where it is not replaced.
    """

    FREE = "free"
    RECORD = "record"
    FILE = "file"
    UNSURE = "unsure"


class Private(msgspec.Struct):
    """One private thing over all files: how often it stands in which kind of place, and the first few places of each.

    ``text`` is safe to print: of a secret it is no more than its beginning. The counts grow as files are read.
    """

    kind: PrivateKind
    text: str
    placeholder: str
    counts: dict[Where, int] = {}
    places: dict[Where, list[Spot]] = {}
