"""The rules on quoting results, applied to a claims file that has been judged, and to the documents it names."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

import msgspec

from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.messaging.bridge import documents, messages, name_of
from mlsub.commands.audit.messaging.check import check
from mlsub.commands.audit.messaging.tables import AUTO
from mlsub.commands.audit.messaging.write import footnotes
from mlsub.commands.audit.quoting import Quoting, Unchecked
from mlsub.commands.audit.verdict import Judged
from mlsub.commands.audit.written import Source
from mlsub.io.show import plain

#: A text that people read is some kilobytes; the bound keeps a hostile one from being read at all.
MAX_BYTES = 4 << 20


def judge_messaging(
    judged: Sequence[Judged], world: World, *, folders: Iterable[str] = (), wanted: str = AUTO
) -> Quoting:
    """Check the claims of a file, and the documents it names, against the rules in force.

    Args:
        judged: the claims and the verdicts on their numbers.
        world: the file and the facts.
        folders: where the documents' texts lie, besides the folder of the file.
        wanted: the text to apply, by name, or ``auto`` for the one in force on each document's day.
    """
    file = world.file
    places = (*(Path(folder) for folder in folders), file.file.parent)
    sources = {name_of(one.claim.source, one.claim.document): one.claim.source for one in judged}
    texts: dict[str, str] = {}
    unread = []
    for name, source in {**sources, **file.documents}.items():
        text, reason = text_of(source, places)
        if text is not None:
            texts[name] = text
        elif reason is not None:
            unread.append(Unchecked("text", reason))
    sentences = messages(judged, world, texts)
    # A source that no claim stands in is checked as well where its text is at hand.
    others = [document for document in documents(file, texts) if document.text is not None]
    found = check(sentences, others, wanted=wanted, file=str(file.file))
    return msgspec.structs.replace(
        found, not_looked_at=(*unread, *found.not_looked_at), footnotes=footnotes(sentences, wanted)
    )


def text_of(source: Source, folders: Sequence[Path]) -> tuple[str | None, str | None]:
    """The text of a document, or None and why there is none; (None, None) for one that names no file."""
    if source.file is None:
        return None, None
    shown = plain(source.file)
    path = PurePath(source.file)
    if path.is_absolute() or ".." in path.parts or "\0" in source.file:
        return None, f"{shown}: a document lies beside the claims file or in a folder given with --documents"
    for folder in folders:
        found, reason = _read(folder, folder / path)
        if found is not None or reason is not None:
            return found, f"{shown}: {reason}" if reason else None
    return None, f"{shown} is not there; name its folder with --documents"


def _read(folder: Path, path: Path) -> tuple[str | None, str | None]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None, "not a file"
        if not path.resolve().is_relative_to(folder.resolve()):
            return None, "a link that leads out of its folder"
        if status.st_size > MAX_BYTES:
            return None, f"larger than {MAX_BYTES >> 20} MiB"
        return path.read_bytes().decode("utf-8", "replace"), None
    except FileNotFoundError:
        return None, None
    except OSError as error:
        return None, f"cannot be read: {error.strerror or os.strerror(error.errno or 0)}"
