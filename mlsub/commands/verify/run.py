"""Compare a sealed file with its manifest or receipt, or an unpacked tree with a manifest. Nothing is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.look import failing_as, file_digest, names_in, open_regular
from mlsub.io.show import plural
from mlsub.packing.archive import discard
from mlsub.packing.forms import Form, Key, check_opener, check_sha1, form_of, read_sealed
from mlsub.packing.names import MANIFEST, RECEIPT_SUFFIX
from mlsub.packing.tree import RefusedError, compare_tree, read_checksums
from mlsub.present.document import Document, Findings, Span, Text, document
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding

_MAX_RECEIPT = 1 << 20
_RECEIPT = re.compile(r"^sealed file: .*\nbytes: +(\d{1,19})\nSHA-256: +([0-9a-f]{64})$", re.MULTILINE)

_UNVERIFIED = "the signature of the statement was not checked: the signer's program does, such as cosign"


class Verification(Answer, frozen=True, kw_only=True):
    """What was compared with what, in words; what differs; what to note."""

    SCHEMA: ClassVar[int] = 3

    compared: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()


def document_of(checked: Verification) -> Document:
    """Build what differs, and what was compared."""
    count = len(checked.findings)
    verdict = plural(count, "finding") if count else "Nothing differs"
    return document(
        "Verification",
        Findings(checked.findings),
        Text((Span(verdict, "bad" if count else "good"), f": {checked.compared}")),
    )


def verify_sealed(
    file: Path, key: Key | None, max_size: int | None = None, progress: Progress | None = None
) -> Verification:
    """Open a sealed file without writing, and compare it with the manifest in it.

    Without a key, a file sealed for others is compared with the receipt beside it.

    Raises:
        MlsubError: it cannot be read, or there is neither key nor receipt.
    """
    form = form_of(file)
    receipt = file.with_name(file.name + RECEIPT_SUFFIX)
    if key is None and form is not Form.ARCHIVE and receipt.is_file():
        return verify_receipt(file, receipt)
    check_opener(file, form, key)
    compared = f"{file.name} ({form.value})"
    notes: tuple[str, ...] = ()
    try:
        with failing_as(f"{file} cannot be read"):
            notes = check_sha1(file) if form is Form.OPENSSL else ()
            found, size = read_sealed(file, form, key, discard, max_size, progress)
    except RefusedError as error:
        return Verification(compared=compared, findings=error.findings, notes=notes)
    compared += f" with its manifest: {len(found.files)} files, {size} bytes"
    return Verification(compared=compared, findings=(), notes=notes)


def verify_receipt(file: Path, receipt: Path) -> Verification:
    """Compare the sealed file with the size and SHA-256 its receipt names; what is in it stays unseen.

    Raises:
        MlsubError: one of them cannot be read, or is not a receipt.
    """
    with failing_as(f"{file} cannot be compared with {receipt}"):
        with open_regular(receipt) as stream:
            named = _RECEIPT.search(stream.read(_MAX_RECEIPT).decode("utf-8", "replace"))
        if named is None:
            raise MlsubError(f"{receipt} is not a receipt of mlsub seal.")
        found = (("size", named[1], str(file.stat().st_size)), ("SHA-256", named[2], file_digest(file)))
    findings: tuple[Finding, ...] = ()
    if changed := next((one for one in found if one[1] != one[2]), None):
        message = f"the file has another {changed[0]} than its receipt says"
        findings = (finding("seal.damaged", file.name, message, expected=changed[1], actual=changed[2]),)
    note = "no key was given: the sealed file was compared with its receipt, its content was not checked"
    return Verification(compared=f"{file.name} with {receipt.name}", findings=findings, notes=(note,))


def verify_tree(folder: Path, manifest: Path | None = None, progress: Progress | None = None) -> Verification:
    """Compare an unpacked tree with its manifest.

    Args:
        folder: the tree; without a manifest, what ``mlsub unseal`` made: a folder with the tree and its manifest alone.
        manifest: the file beside the sealed one, which lists the tree, or a statement.
        progress: called with the members that are compared, and those there are.

    Raises:
        MlsubError: one of them cannot be read, or the manifest is of a tree of another name.
    """
    file = folder / MANIFEST if manifest is None else manifest
    listed = read_checksums(file)
    folder = folder.resolve()
    tree = folder / listed.top if manifest is None else folder
    if tree.name != listed.top:
        raise MlsubError(f"the manifest is of {listed.top}, and {folder} has another name. Name the tree itself.")
    if tree.is_symlink() or not tree.is_dir():
        raise MlsubError(f"the manifest is of {listed.top}, which {folder} does not contain. Name another folder.")
    beside: list[Finding] = []
    if manifest is None:
        with failing_as(f"{folder} cannot be read"):
            names = sorted(set(names_in(folder)) - {listed.top, MANIFEST})
        message = f"it lies beside {listed.top}, and the manifest does not list it"
        beside = [finding("seal.extra", name, message) for name in names]
    found = (*beside, *compare_tree(tree, listed, progress))
    compared = f"{tree} with {file}: {len(listed.files)} files listed"
    return Verification(compared=compared, findings=found, notes=(_UNVERIFIED,) if listed.signed else ())
