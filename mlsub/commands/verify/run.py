"""Compare a sealed file with its manifest or receipt, or an unpacked tree with a manifest. Nothing is written."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import ClassVar

from mlsub.commands.seal.forms import Form, OpenKey, check_key, form_of, legacy_notes, opened
from mlsub.commands.seal.names import MANIFEST
from mlsub.commands.seal.receipt import sealed_digest
from mlsub.commands.seal.run import RECEIPT_SUFFIX
from mlsub.commands.seal.streams import Counted, RefusedError, failing_as, file_digest, open_regular
from mlsub.commands.seal.tar import Limits, manifest_of, nowhere, read_unchanged, take
from mlsub.commands.seal.tree import MAX_MANIFEST, Manifest, MemberKind, differences, parse_manifest, walk
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.present.document import Document, Findings, Span, Text, document
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding

_MAX_RECEIPT = 1 << 20


class Checked(Answer, frozen=True, kw_only=True):
    """What was compared with what, in words; what differs; what to note."""

    SCHEMA: ClassVar[int] = 2

    compared: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def document_of(checked: Checked) -> Document:
    """What differs, and what was compared."""
    count = len(checked.findings)
    verdict = f"{count} finding{'s' * (count > 1)}" if count else "Nothing differs"
    return document(
        "Verification",
        Findings(checked.findings),
        Text((Span(verdict, "bad" if count else "good"), f": {checked.compared}")),
    )


def verify_sealed(
    file: Path,
    key: OpenKey,
    manifest: Path | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Checked:
    """Open a sealed file without writing, and compare it with the manifest in it, and with another if one is given.

    Without a key, a file sealed for others can still be compared with the receipt beside it.

    Raises:
        MlsubError: it cannot be read, or there is neither key nor receipt.
    """
    form = form_of(file)
    receipt = file.with_name(file.name + RECEIPT_SUFFIX)
    if key is None and manifest is None and form is not Form.ARCHIVE and receipt.is_file():
        return verify_receipt(file, receipt)
    check_key(file, form, key)
    listed = read_manifest(manifest) if manifest is not None else None
    compared = f"{file.name} ({form.value})"
    notes: tuple[str, ...] = ()
    try:
        with failing_as(f"{file} cannot be read"):
            notes = legacy_notes(file) if form is Form.OPENSSL else ()
            with opened(file, key, progress) as chunks:
                contents = take(chunks, file.stat().st_size, limits or Limits(), nowhere)
    except RefusedError as error:
        return Checked(compared=compared, findings=error.findings, notes=notes)
    compared += f" with its manifest: {len(contents.manifest.files)} files, {contents.size} bytes"
    if listed is None:
        return Checked(compared=compared, findings=(), notes=notes)
    changes = tuple(differences(listed, contents.manifest))
    return Checked(compared=f"{compared}; and with {manifest}", findings=changes, notes=notes)


def verify_receipt(file: Path, receipt: Path) -> Checked:
    """Compare the sealed file with the size and SHA-256 its receipt names; what is in it stays unseen.

    Raises:
        MlsubError: one of them cannot be read, or is not a receipt.
    """
    with failing_as(f"{file} cannot be compared with {receipt}"), open_regular(receipt) as stream:
        named = sealed_digest(stream.read(_MAX_RECEIPT).decode("utf-8", "replace"))
    if named is None:
        raise MlsubError(f"{receipt} is not a receipt of mlsub seal.")
    changes = [
        finding(
            "seal.damaged", file.name, f"the file has another {what} than its receipt says", expected=said, actual=found
        )
        for what, said, found in (
            ("size", str(named[0]), str(file.stat().st_size)),
            ("SHA-256", named[1], file_digest(file)),
        )
        if said != found
    ][:1]
    note = "no key was given: the sealed file was compared with its receipt, its content was not checked"
    return Checked(compared=f"{file.name} with {receipt.name}", findings=tuple(changes), notes=(note,))


def verify_tree(folder: Path, manifest: Path | None = None, progress: Progress | None = None) -> Checked:
    """Compare an unpacked tree with a manifest.

    Args:
        folder: the tree, or the folder it lies in.
        manifest: None for ``MANIFEST.sha256`` in the folder.
        progress: called with each file that is compared.

    Raises:
        MlsubError: one of them cannot be read.
    """
    beside = folder / MANIFEST
    listed = read_manifest(beside if manifest is None else manifest)
    tree = _tree_of(folder.resolve(), listed.top)
    problems: list[Finding] = []
    members = sorted(walk(tree, listed.top, problems), key=lambda member: member.path)
    files: dict[str, str] = {}
    for number, member in enumerate(members):
        if progress is not None:
            progress(number, len(members))
        if member.kind is MemberKind.FILE:
            content = Counted(read_unchanged(tree / member.path.partition("/")[2], member))
            try:
                deque(content, maxlen=0)
            except RefusedError as error:
                problems += error.findings
            files[member.path] = content.sha256
    found = manifest_of(files, members)
    known = {problem.path for problem in problems}
    changes = [change for change in differences(listed, found) if change.path not in known]
    compared = f"{tree} with {beside if manifest is None else manifest}: {len(listed.files)} files listed"
    return Checked(compared=compared, findings=(*problems, *changes))


def _tree_of(folder: Path, top: str) -> Path:
    """The tree called ``top``: the folder itself, or in it."""
    inside = folder / top
    if inside.is_dir() and not inside.is_symlink() and (folder.name != top or (folder / MANIFEST).is_file()):
        return inside
    if folder.name != top:
        raise MlsubError(
            f"the manifest is of {top}, which {folder} neither is nor contains. Name another folder or manifest."
        )
    return folder


def read_manifest(file: Path) -> Manifest:
    """Read a manifest.

    Raises:
        MlsubError: it cannot be read, or is not one.
    """
    with failing_as(f"{file} cannot be read", ". Name a manifest with --manifest."), open_regular(file) as stream:
        content = stream.read(MAX_MANIFEST + 1)
    if len(content) > MAX_MANIFEST:
        raise MlsubError(f"{file} is not a manifest: longer than {MAX_MANIFEST} bytes.")
    return parse_manifest(content, str(file))
