"""Compare a sealed file with its manifest or receipt, or an unpacked tree with a manifest. Nothing is written."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from mlsub.commands.seal.archive import empty_folders, read_unchanged
from mlsub.commands.seal.contents import Limits, Nowhere, take
from mlsub.commands.seal.errors import RefusedError, SealError, reason_of
from mlsub.commands.seal.keys import OpenKey
from mlsub.commands.seal.manifest import MAX_MANIFEST, Manifest, differences, parse_manifest
from mlsub.commands.seal.names import MANIFEST
from mlsub.commands.seal.opening import Form, check_key, form_of, opened
from mlsub.commands.seal.reading import open_regular
from mlsub.commands.seal.receipt import sealed_digest
from mlsub.commands.seal.seal import RECEIPT_SUFFIX, digests_of
from mlsub.commands.seal.tree import MemberKind, walk
from mlsub.commands.unseal.run import legacy_notes
from mlsub.findings import Finding
from mlsub.rules.catalogue import finding

_MAX_RECEIPT = 1 << 20


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared with what, in words; what differs; what to mind."""

    compared: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def verify_sealed(file: Path, key: OpenKey, manifest: Path | None = None, limits: Limits | None = None) -> Checked:
    """Open a sealed file without writing, and compare it with the manifest in it, and with another if one is given.

    Without a key, a file sealed for others can still be compared with the receipt beside it.

    Raises:
        SealError: it cannot be read, or there is neither key nor receipt.
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
        if form is Form.OPENSSL:
            notes = legacy_notes(file)
        with opened(file, key) as chunks:
            contents = take(chunks, file.stat().st_size, limits or Limits(), Nowhere())
    except RefusedError as error:
        return Checked(compared=compared, findings=error.findings, notes=notes)
    except OSError as error:
        raise SealError(f"{file} cannot be read: {reason_of(error)}") from error
    compared += f" with its manifest: {len(contents.manifest.files)} files, {contents.size} bytes"
    if listed is None:
        return Checked(compared=compared, findings=(), notes=notes)
    changes = tuple(differences(listed, contents.manifest))
    return Checked(compared=f"{compared}; and with {manifest}", findings=changes, notes=notes)


def verify_receipt(file: Path, receipt: Path) -> Checked:
    """Compare the sealed file with the size and SHA-256 its receipt names; what is in it stays unseen.

    Raises:
        SealError: one of them cannot be read, or is not a receipt.
    """
    try:
        with open_regular(receipt) as stream:
            named = sealed_digest(stream.read(_MAX_RECEIPT).decode("utf-8", "replace"))
        digests = digests_of(file)
    except OSError as error:
        raise SealError(f"{file} cannot be compared with {receipt}: {reason_of(error)}") from error
    if named is None:
        raise SealError(f"{receipt} is not a receipt of mlsub seal.")
    changes = []
    if named[0] != digests.size:
        message = "the file has another size than its receipt says"
        changes.append(finding("seal.damaged", file.name, message, expected=str(named[0]), actual=str(digests.size)))
    elif named[1] != digests.sha256:
        message = "the file has another SHA-256 than its receipt says"
        changes.append(finding("seal.damaged", file.name, message, expected=named[1], actual=digests.sha256))
    note = "no key was given: the sealed file is compared with its receipt, what is in it was not looked at"
    return Checked(compared=f"{file.name} with {receipt.name}", findings=tuple(changes), notes=(note,))


def verify_tree(folder: Path, manifest: Path | None = None) -> Checked:
    """Compare an unpacked tree with a manifest.

    Args:
        folder: the tree, or the folder it lies in.
        manifest: None for ``MANIFEST.sha256`` in the folder.

    Raises:
        SealError: one of them cannot be read.
    """
    beside = folder / MANIFEST
    listed = read_manifest(beside if manifest is None else manifest)
    tree = _tree_of(folder.resolve(), listed.top)
    problems: list[Finding] = []
    members = sorted(walk(tree, listed.top, problems), key=lambda member: member.path)
    files: dict[str, str] = {}
    for member in members:
        if member.kind is MemberKind.FILE:
            digest = hashlib.sha256()
            try:
                for chunk in read_unchanged(tree / member.path.partition("/")[2], member):
                    digest.update(chunk)
            except RefusedError as error:
                problems += error.findings
            files[member.path] = digest.hexdigest()
    links = {member.path: member.target for member in members if member.kind is MemberKind.LINK}
    found = Manifest(files=files, links=links, folders=empty_folders(members))
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
        raise SealError(
            f"the manifest is of {top}, which {folder} neither is nor holds. Name another folder or manifest."
        )
    return folder


def read_manifest(file: Path) -> Manifest:
    """Read a manifest.

    Raises:
        SealError: it cannot be read, or is none.
    """
    try:
        with open_regular(file) as stream:
            content = stream.read(MAX_MANIFEST + 1)
    except OSError as error:
        raise SealError(f"{file} cannot be read: {reason_of(error)}. Name a manifest with --manifest.") from error
    if len(content) > MAX_MANIFEST:
        raise SealError(f"{file} is not a manifest: longer than {MAX_MANIFEST} bytes.")
    return parse_manifest(content, str(file))
