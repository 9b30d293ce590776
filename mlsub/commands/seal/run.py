"""Seal a tree: scan, archive, encrypt, put in place.

What is written: FILE, and beside it ``FILE.receipt.txt``, ``FILE.MANIFEST.sha256`` and, for openssl, ``FILE.sha1``.
FILE is the state: it gets its name in one step, and contains all there is to know. What lies beside it is removed
before and written after, so that it is never that of another FILE, whenever the process is killed. What is replaced or
removed and was not written by sealing, or was changed since, is kept under another name.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from mlsub.commands.seal import age, openssl, recipients
from mlsub.commands.seal.forms import OpenSSL, Passphrase, Recipients, SealKey, Unencrypted
from mlsub.commands.seal.names import MANIFEST, name_problem
from mlsub.commands.seal.receipt import Receipt, render
from mlsub.commands.seal.streams import Counted, compress, failing_as, file_digest, reason_of, with_progress
from mlsub.commands.seal.tar import TarWriter
from mlsub.commands.seal.tree import Tree, real_folder, scan
from mlsub.findings import Finding, Verdict
from mlsub.io import VERSION
from mlsub.io.errors import MlsubError
from mlsub.io.folders import back_up_foreign, digest, digest_of, record
from mlsub.io.write import check_output, put_file, staging_beside, sync_file, sync_folder
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding
from mlsub.submission.find import find, folders, is_organisation
from mlsub.submission.report import Report
from mlsub.submission.unfilled import unfilled_in
from mlsub.workspace import Settings, check_paths

#: Rules that are named of many.
_SHOWN = 5
RECEIPT_SUFFIX = ".receipt.txt"
MANIFEST_SUFFIX = f".{MANIFEST}"
SHA1_SUFFIX = ".sha1"


def default_name(tree: Path, key: SealKey) -> Path:
    """Next to the tree: its name and the ending of the form.

    Raises:
        MlsubError: it is not a folder, or has no name.
    """
    folder = real_folder(tree)
    return folder.with_name(f"{folder.name}.tar.gz{key.ending}")


def prepare(tree: Path, out: Path, key: SealKey, *, force: bool = False) -> Tree:
    """Look whether all can be done, and write nothing.

    Raises:
        MlsubError: the key, the tree or the output cannot be used.
        RefusedError: the tree contains what cannot be sealed.
    """
    if isinstance(key, Recipients):
        recipients.check_recipients(key.keys)
    elif isinstance(key, OpenSSL):
        openssl.program()
    scanned = scan(tree)
    if problem := name_problem(out.name):
        raise MlsubError(f"{out} cannot be the sealed file: {problem}. Name another.")
    try:
        inside = out.resolve().is_relative_to(scanned.folder)
    except (OSError, ValueError, RuntimeError) as error:
        raise MlsubError(f"{out} cannot be written: {reason_of(error)}") from error
    if inside:
        raise MlsubError(f"{out} lies in the tree that is to be sealed. Name a file outside of it.")
    for file in (out, *_beside(out)):
        check_output(file, force=force)
    return scanned


def seal_tree(
    tree: Path,
    out: Path,
    key: SealKey,
    *,
    force: bool = False,
    now: datetime | None = None,
    scanned: Tree | None = None,
    kept: Callable[[Path], None] = lambda _: None,
    progress: Progress | None = None,
) -> Receipt:
    """Seal a tree into a file.

    Args:
        tree: the folder; it is only read.
        out: the sealed file.
        key: what it is encrypted with.
        force: replace a sealed file that is there.
        now: the time of the receipt.
        scanned: what :func:`prepare` gave, where it was asked before.
        kept: called with each name under which something is kept that is replaced.
        progress: called with the bytes that were read of the tree, and those there are.

    Raises:
        MlsubError: it cannot be done; nothing was written.
        RefusedError: the tree contains what cannot be sealed, or changed meanwhile; nothing was written.
    """
    scanned = scanned or prepare(tree, out, key, force=force)
    writer = TarWriter(scanned)
    tar = Counted(with_progress(writer.chunks(), scanned.size, progress))
    archive = Counted(compress(tar))
    with staging_beside(out) as staging, failing_as(f"{out} cannot be written"):
        part = staging / out.name
        with part.open("xb") as stream:
            _encrypt_into(archive, stream, key)
            sync_file(stream)
        manifest = writer.manifest.render()
        receipt = Receipt(
            version=VERSION,
            **_words(scanned, key),
            sealed=now or datetime.now(UTC),
            file=out.name,
            size=part.stat().st_size,
            sha256=file_digest(part),
            sha1=file_digest(part, "sha1") if isinstance(key, OpenSSL) else None,
            archive_size=archive.size,
            archive_sha256=archive.sha256,
            tar_sha256=tar.sha256,
            manifest_sha256=hashlib.sha256(manifest).hexdigest(),
            files=scanned.files,
            files_size=scanned.size,
        )
        for backup in back_up_foreign(out, (out, *_beside(out))) if force else ():
            kept(backup)
        _commit(part, out, receipt, manifest, force=force)
    return receipt


def _encrypt_into(chunks: Iterable[bytes], stream: BinaryIO, key: SealKey) -> None:
    match key:
        case Recipients():
            recipients.encrypt_into(chunks, stream, key.keys)
        case OpenSSL():
            openssl.encrypt_into(chunks, stream, key.secret)
        case Passphrase():
            stream.writelines(age.encrypt(chunks, key.secret, key.work_factor))
        case Unencrypted():
            stream.writelines(chunks)


def _words(tree: Tree, key: SealKey) -> dict[str, Any]:
    """What a receipt says of whose tree it is, and for whom; the comments of SSH keys are left out."""
    place = find(tree.folder)
    keys = key.keys if isinstance(key, Recipients) else ()
    return {
        "organisation": (place.organisation or tree.folder).name,
        "round": f"{place.usage} v{place.round}" if place.round else None,
        "encryption": key.words,
        "recipients": tuple(" ".join(line.split()[:2]) for line in keys),
    }


def _beside(out: Path) -> tuple[Path, ...]:
    return tuple(out.with_name(out.name + suffix) for suffix in (RECEIPT_SUFFIX, MANIFEST_SUFFIX, SHA1_SUFFIX))


def _commit(part: Path, out: Path, receipt: Receipt, manifest: bytes, *, force: bool) -> None:
    """The step from the old state to the new one; see the module."""
    receipt_file, manifest_file, sha1_file = _beside(out)
    beside = {manifest_file: manifest}
    if receipt.sha1:
        beside[sha1_file] = f"{receipt.sha1}  {out.name}\n".encode()
    beside[receipt_file] = render(receipt).encode("utf-8", "backslashreplace")
    ours = {file.name: digest_of(content) for file, content in beside.items()}
    # What is there stays known until it is replaced, so that no backup is made of it after a kill.
    there = {file.name: digest(file) for file in (out, *_beside(out)) if file.exists()}
    record(out, ours | {out.name: f"sha256:{receipt.sha256}"}, there)
    if force:
        for file in _beside(out):
            file.unlink(missing_ok=True)
        sync_folder(out.parent)
    put_file(part, out, force=force)
    for file, content in beside.items():
        part = part.with_name(file.name)
        with part.open("xb") as stream:
            stream.write(content)
            sync_file(stream)
        put_file(part, file, force=force)


def check_first(
    tree: Path, settings: Settings, *, rejected_too: bool, unfilled_too: bool
) -> tuple[Verdict, tuple[Finding, ...]]:
    """The official verdict on a tree, and why it is not sealed.

    Args:
        tree: an organisation's folder, or one of organisations.
        settings: how it is checked.
        rejected_too: seal it whatever the check says.
        unfilled_too: seal it although somebody has to fill something in.
    """
    reports = check_paths([tree], settings)
    worst = max((report.official for report in reports), key=list(Verdict).index)
    found = [] if rejected_too else list(_rejected(tree, reports))
    if not unfilled_too:
        found += _unfilled(tree)
    return worst, tuple(found)


def _rejected(tree: Path, reports: Sequence[Report]) -> Iterator[Finding]:
    for report in reports:
        wrong = [found for found in report.findings if found.rejects]
        if report.official is Verdict.NOT_CHECKED:
            why = wrong[0].message if wrong else None
            yield finding("seal.rejected", tree.name, "The package cannot be checked", expected="accepted", actual=why)
        elif report.official is Verdict.REJECTED:
            rules = Counter(found.rule for found in wrong).most_common()
            more = [f"and {len(rules) - _SHOWN} more rules"] if len(rules) > _SHOWN else []
            named = [f"{rule} ({count} times)" if count > 1 else rule for rule, count in rules[:_SHOWN]]
            yield finding("seal.rejected", tree.name, expected="accepted", actual=", ".join([*named, *more]))


def _unfilled(tree: Path) -> Iterator[Finding]:
    inside = [tree] if is_organisation(tree) else [child for child in folders(tree) if is_organisation(child)]
    for package in inside:
        for each in unfilled_in(package):
            path = (package / each.path).relative_to(tree.parent).as_posix()
            yield finding("seal.unfilled", path, actual=None if each.template else ", ".join(each.fields))
