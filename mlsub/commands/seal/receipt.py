"""The answer of sealing: the receipt, for the mail that confirms a submission, or why nothing was sealed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.io.show import plain
from mlsub.present.document import Document, Facts, Findings, Text, document
from mlsub.present.envelope import Answer


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was sealed.

    Sizes are in bytes, digests hexadecimal. ``tar_sha256`` is that of the tar before compression, the same wherever the
    same tree is sealed; ``archive_sha256`` is that of the tar.gz before encryption, the same where zlib is the same;
    ``sha256`` is that of the sealed file, which differs each time, for encryption is never the same twice.
    ``round`` is read off the folders, None where they do not name one.
    """

    organisation: str
    round: str | None
    sealed: datetime
    file: str
    size: int
    sha256: str
    sha1: str | None
    archive_size: int
    archive_sha256: str
    tar_sha256: str
    manifest_sha256: str
    files: int
    files_size: int
    encryption: str
    recipients: tuple[str, ...]
    version: str

    @property
    def title(self) -> str:
        """What stands above it."""
        return f"Receipt of the sealed submission of {self.organisation}"

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Names and values as a person reads them."""
        return (
            ("organisation", self.organisation),
            ("round", self.round or "not named by the folders"),
            ("sealed", self.sealed.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")),
            ("files", f"{self.files} ({self.files_size} bytes)"),
            ("encryption", self.encryption),
            *(("recipient", key) for key in self.recipients),
            ("sealed file", self.file),
            ("bytes", str(self.size)),
            ("SHA-256", self.sha256),
            *([("SHA-1", self.sha1)] if self.sha1 else []),
            ("tar.gz bytes", str(self.archive_size)),
            ("tar.gz SHA-256", self.archive_sha256),
            ("tar SHA-256", self.tar_sha256),
            ("manifest SHA-256", self.manifest_sha256),
            ("sealed with", f"mlsub {self.version}"),
        )


class Sealing(Answer, frozen=True, kw_only=True):
    """What became of a tree that was to be sealed.

    ``file`` is where it goes; ``official`` is the verdict of the check, null where the tree was refused before;
    ``files`` and ``files_size`` (bytes) are what is in the tree, null where it is refused; ``receipt`` is null where
    nothing was written.
    """

    SCHEMA: ClassVar[int] = 2

    file: str
    official: Verdict | None = None
    files: int | None = None
    files_size: int | None = None
    receipt: Receipt | None = None
    findings: tuple[Finding, ...]


def document_of(sealing: Sealing) -> Document:
    """The receipt, or what would be sealed, or why it is not."""
    if sealing.receipt:
        return document(sealing.receipt.title, Facts(sealing.receipt.rows))
    if sealing.files is None:
        return document("Not sealed", Findings(sealing.findings), Text(f"Not sealed: {'; '.join(_reasons(sealing))}"))
    plan = f"Would seal {sealing.files} files ({sealing.files_size} bytes) into {sealing.file}"
    return document("Dry run", Text(plan))


def _reasons(sealing: Sealing) -> Iterator[str]:
    """Each defect once, with how many there are of it."""
    counts = Counter((found.rule, found.message) for found in sealing.findings)
    for (rule, message), count in list(counts.items())[:3]:
        why = next((found.actual for found in sealing.findings if found.rule == rule == "seal.rejected"), None)
        times = f"{count} times" if count > 1 else why
        yield f"{message} ({times})" if times else message


def render(receipt: Receipt) -> str:
    """The text of the file beside the sealed one, ending in a line feed; no name folds, however long."""
    width = max(len(name) for name, _ in receipt.rows) + 2
    rows = (f"{f'{name}:':{width}}{plain(value)}" for name, value in receipt.rows)
    return "\n".join([plain(receipt.title), "", *rows]) + "\n"


def sealed_digest(text: str) -> tuple[int, str] | None:
    """Size in bytes and SHA-256 of the sealed file, as a receipt's text has them; None where it is not a receipt."""
    match = re.search(r"^sealed file: .*\nbytes: +(\d{1,19})\nSHA-256: +([0-9a-f]{64})$", text, re.MULTILINE)
    return (int(match[1]), match[2]) if match else None
