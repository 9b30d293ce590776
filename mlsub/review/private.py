"""What logs and code show that the public need not know: a question with its places, never with the thing itself."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate

from mlsub.findings import Finding
from mlsub.review.run import tell_private
from mlsub.rules.catalogue import finding
from mlsub.submission.file_tree import Item, ItemKind
from mlsub.submission.model import Package
from mlsub.submission.templates import content_of

#: What configures or starts a training, by its name, and how much of it is read; of other code the head is.
_CONFIG = re.compile(
    r"[^.]+|(?:dockerfile|makefile|\.?env).*|.*\.(?:sh|bash|sub|slurm|sbatch|ya?ml|toml|cfg|conf|ini|env)",
    re.IGNORECASE,
)
MAX_CONFIG, MAX_HEAD = 1 << 16, 1 << 11
#: What is read of one package; data, documents and licences are not.
MAX_TEXT = 1 << 24
_NO_CODE = re.compile(
    r"(?:licen[cs]e|notice|copying|third).*|.*\.(?:json|txt|csv|md|rst|ipynb|patch|diff)", re.IGNORECASE
)
_CONFIDENTIAL_WORDS = (b"confidential", b"distribut", b"internal use", b"trade secret")
_CONFIDENTIAL = re.compile(
    rb"(?<![\w-])(?:confidential(?![\w-]| computing| vms?\b)|(?:do not|not for|no) (?:re)?distribut(?:e|ion)\b"
    rb"|(?:for )?internal use only|trade secrets? of)"
)
#: Whoever wrote a file may be named in it.
_AUTHOR = re.compile(rb"(?:copyright|author|maintain|contribut|\(c\)|licen[cs]e)[^\n]*", re.IGNORECASE)


def audit_code_text(package: Package) -> Iterator[Finding]:
    """Yield what the code of an organisation says that is private or confidential.

    Of each file the head is read, of those that configure a training more.
    """
    from mlsub.log.free_text import FreeText
    from mlsub.log.private.places import PrivateReader, find_asked

    texts = dict(_read_code(package))
    for path, text in texts.items():
        head = text[:MAX_HEAD].lower()
        match = _CONFIDENTIAL.search(head) if any(word in head for word in _CONFIDENTIAL_WORDS) else None
        if match:
            yield finding("code.confidential", package.prefix + path, line=head.count(b"\n", 0, match.start()) + 1)
    # Most files have nothing to ask about, which takes one look at all that they say.
    ends = list(accumulate(text.count(b"\n") + text.count(b"\r") + 1 for text in texts.values()))
    lines = {number for number, *_ in find_asked(FreeText(b"\n".join(texts.values())))}
    places = {bisect(ends, number) for number in lines}
    for place, (path, text) in enumerate(texts.items()):
        if place in places:
            reader = PrivateReader()
            reader.free(FreeText(_AUTHOR.sub(b"", text)))
            yield from tell_private(package.prefix + path, reader.finish(), {})


def _read_code(package: Package) -> Iterator[tuple[str, bytes]]:
    """Yield the text of each file of the code, as much as is read of it, by its path."""
    left = MAX_TEXT
    for item in package.file_tree.items if package.file_tree else ():
        if not _is_code(item) or left <= 0:
            continue
        try:
            text = content_of(
                package.folder / item.path, MAX_CONFIG if _CONFIG.fullmatch(item.name) else MAX_HEAD, follow=False
            )
        except OSError:
            continue  # There is a finding on it, where it is asked for.
        left -= len(text)
        if b"\0" not in text:
            yield item.path, text


def _is_code(item: Item) -> bool:
    is_file = item.kind is ItemKind.FILE and item.path.startswith("benchmarks/") and bool(item.size)
    return is_file and not _NO_CODE.fullmatch(item.name)
