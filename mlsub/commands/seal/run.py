"""Seal a tree: check it, archive and encrypt it, and put it in place with its manifest and its receipt.

What is written: FILE, and beside it ``FILE.receipt.txt``, ``FILE.MANIFEST.sha256`` and, for openssl, ``FILE.sha1``;
where it is asked for, a statement. FILE gets its name in one step. The files beside it are removed before that and
written after it, so that they never belong to another FILE. A file that is replaced or removed, and that sealing did
not write or somebody changed since, is kept under another name.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from mlsub.findings import Effect, Finding, Severity, Verdict
from mlsub.io import VERSION, MlsubError
from mlsub.io.folders import back_up_foreign, bytes_digest, write_record
from mlsub.io.look import failing_as, file_digest, lies_in
from mlsub.io.show import first_few, plain
from mlsub.io.write import check_output, put_file, staging_beside, sync_file, write_file
from mlsub.packing.archive import write_archive
from mlsub.packing.forms import Form, Key, check_key, encrypt
from mlsub.packing.names import MANIFEST_SUFFIX, RECEIPT_SUFFIX, SHA1_SUFFIX, name_problem
from mlsub.packing.statement import SealedTree, render_statement
from mlsub.packing.tree import RefusedError, Tree, real_folder, scan
from mlsub.present.document import Document, Facts, Findings, Text, document
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress, progress_bar
from mlsub.rules.catalogue import finding, has_effect
from mlsub.submission.find import find, folders, is_organisation
from mlsub.submission.report import Report
from mlsub.submission.templates import unfilled_in
from mlsub.workspace import AS_FOUND, Context, check_paths

#: Rules that are named of many.
_SHOWN = 5


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
        """The heading of the receipt."""
        return f"Receipt of the sealed submission of {self.organisation}"

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The names and values that people read."""
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

    def render(self) -> str:
        """Return the text of the file beside the sealed one, ending in a line feed; no name folds, however long."""
        width = max(len(name) for name, _ in self.rows) + 2
        rows = (f"{f'{name}:':{width}}{plain(value)}" for name, value in self.rows)
        return "\n".join([plain(self.title), "", *rows]) + "\n"


class Sealing(Answer, frozen=True, kw_only=True):
    """What became of a tree that was to be sealed.

    ``file`` is where it goes; ``official`` is the verdict of the check, null where the tree was refused before;
    ``files`` and ``files_size`` (bytes) are what is in the tree, null where it is refused; ``receipt`` is null where
    nothing was written.
    """

    SCHEMA: ClassVar[int] = 3

    file: str
    official: Verdict | None = None
    files: int | None = None
    files_size: int | None = None
    receipt: Receipt | None = None
    findings: tuple[Finding, ...]


def document_of(sealing: Sealing) -> Document:
    """Build the receipt, or what would be sealed, or why it is not."""
    if sealing.receipt:
        return document(sealing.receipt.title, Facts(sealing.receipt.rows))
    if sealing.findings:
        return document("Not sealed", Findings(sealing.findings), Text(f"Not sealed: {'; '.join(_reasons(sealing))}"))
    plan = f"Would seal {sealing.files} files ({sealing.files_size} bytes) into {sealing.file}"
    return document("Dry run", Text(plan))


def _reasons(sealing: Sealing) -> Iterator[str]:
    """Yield each defect once, with how many there are of it."""
    counts = Counter((found.rule, found.message) for found in sealing.findings)
    for (rule, message), count in list(counts.items())[:3]:
        first = next(found for found in sealing.findings if (found.rule, found.message) == (rule, message))
        why = first.actual if has_effect(first, Effect.REASON) else None
        times = f"{count} times" if count > 1 else why
        yield f"{message} ({times})" if times else message


class SealOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is sealed, and how.

    ``even_rejected``: whatever the check says; ``even_with_errors``: although it finds review errors;
    ``even_unfilled``: although somebody has to fill something in. ``dry_run`` writes nothing, ``force`` replaces a
    sealed file that is there. ``statement`` is the file of the in-toto Statement, and ``context`` says how the tree is
    checked.
    """

    even_rejected: bool = False
    even_with_errors: bool = False
    even_unfilled: bool = False
    dry_run: bool = False
    force: bool = False
    statement: Path | None = None
    context: Context = AS_FOUND


_USUAL = SealOptions()


def seal(tree: Path, file: Path, key: Key | None, options: SealOptions, tell: Callable[[str], None]) -> Sealing:
    """Check a tree, and seal it into a file.

    Args:
        tree: an organisation's folder, or one of organisations.
        file: the sealed file.
        key: what it is encrypted with; None for an archive that is not.
        options: what is sealed, and how.
        tell: called with each note for the user, as soon as it is known.

    Raises:
        MlsubError: it cannot be done.
    """
    official: Verdict | None = None
    receipt: Receipt | None = None
    kept: list[Path] = []
    try:
        scanned = scan_for(tree, file, key, options)
        if scanned.left_out:
            tell(f"left out what a killed command began: {first_few(scanned.left_out)}. Remove it.")
        with progress_bar() as progress:
            reports = check_paths([scanned.folder], replace(options.context, progress=progress))
        official = max((report.official for report in reports), key=list(Verdict).index)
        if found := [*_why_not(scanned.folder, reports, options)]:
            raise RefusedError(*found)
        everything = [one for report in reports for one in report.findings]
        no_code = [f.path for f in everything if has_effect(f, Effect.NO_CODE) and f.severity is Severity.WARNING]
        if no_code:
            where = first_few(no_code, 3)
            tell(f"the package has no code in {where}: reviewers will ask for it; see mlsub check")
        if not options.dry_run:
            with progress_bar("sealing") as progress:
                receipt = seal_tree(scanned, file, key, options, kept.append, progress)
    except RefusedError as error:
        return Sealing(file=str(file), official=official, findings=error.findings)
    if scanned.linked:
        shown = first_few(scanned.linked, 3, "log")
        tell(f"the content of logs that are links out of {scanned.folder.name} is sealed: {shown}")
    for backup in kept:
        tell(f"a file that sealing did not write is kept as {backup}")
    return Sealing(
        file=str(file),
        official=official,
        files=scanned.files,
        files_size=scanned.size,
        receipt=receipt,
        findings=(),
    )


def _why_not(tree: Path, reports: Sequence[Report], options: SealOptions) -> Iterator[Finding]:
    """Yield why a tree is not sealed: rejected, review errors, and what is not filled in."""
    packages = [tree] if is_organisation(tree) else [child for child in folders(tree) if is_organisation(child)]
    unfilled = [each for package in packages for each in unfilled_in(package, tree.parent)]
    if not options.even_rejected:
        yield from _rejected(tree, reports)
        if not options.even_with_errors:
            yield from _errors(tree, reports, {each.path for each in unfilled})
    for each in unfilled if not options.even_unfilled else ():
        yield finding("seal.unfilled", each.path, actual=None if each.template else ", ".join(each.fields))


def _errors(tree: Path, reports: Sequence[Report], unfilled: Collection[str]) -> Iterator[Finding]:
    """Yield the review errors of each report, without the placeholders of files that have a finding already."""
    for report in reports:
        rules = Counter(
            found.rule
            for found in report.review_errors()
            if not (has_effect(found, Effect.UNFILLED) and any(path.endswith(found.path) for path in unfilled))
        )
        if rules:
            yield finding("seal.errors", tree.name, actual=first_few(rules, _SHOWN, "rule"))


def _rejected(tree: Path, reports: Sequence[Report]) -> Iterator[Finding]:
    """Yield why each report is not accepted: that it cannot be checked, or the rules that reject it."""
    for report in reports:
        wrong = [found for found in report.findings if found.rejects]
        if report.official is Verdict.NOT_CHECKED:
            why = wrong[0].message if wrong else None
            yield finding("seal.rejected", tree.name, "The package cannot be checked", expected="accepted", actual=why)
        elif report.official is Verdict.REJECTED:
            rules = Counter(found.rule for found in wrong).most_common()
            named = (f"{rule} ({count} times)" if count > 1 else rule for rule, count in rules)
            yield finding("seal.rejected", tree.name, expected="accepted", actual=first_few(named, _SHOWN, "rule"))


def default_name(tree: Path, key: Key | None) -> Path:
    """Return the name next to the tree: its own and the ending of the form.

    Raises:
        MlsubError: it is not a folder, or has no name.
    """
    folder = real_folder(tree)
    return folder.with_name(folder.name + (Form.ARCHIVE if key is None else key.form).ending)


def scan_for(tree: Path, out: Path, key: Key | None, options: SealOptions) -> Tree:
    """Look at a tree, and whether it can be sealed into a file; nothing is written.

    Raises:
        MlsubError: the key, the tree or the output cannot be used.
        RefusedError: the tree contains what cannot be sealed.
    """
    check_key(key)
    scanned, statement = scan(tree), options.statement
    if problem := name_problem(out.name):
        raise MlsubError(f"{out} cannot be the sealed file: {problem}. Name another.")
    beside = _beside(out, statement)
    if statement and statement.name in {out.name, *(file.name for file in beside[:-1])}:
        raise MlsubError(f"{statement} has the name of another file that is written. Name another statement.")
    for file in filter(None, (out, statement)):
        if lies_in(file, scanned.folder):
            raise MlsubError(f"{file} lies in the tree that is to be sealed. Name a file outside of it.")
    for file in (out, *beside):
        check_output(file, force=options.force)
    return scanned


def seal_tree(
    tree: Path | Tree,
    out: Path,
    key: Key | None,
    options: SealOptions = _USUAL,
    kept: Callable[[Path], None] = lambda _: None,
    progress: Progress | None = None,
) -> Receipt:
    """Seal a tree into a file.

    Args:
        tree: the folder, or what :func:`scan_for` gave; it is only read.
        out: the sealed file.
        key: what it is encrypted with; None for an archive that is not.
        options: whether a statement is written too, and what is there replaced.
        kept: called with each name under which something is kept that is replaced.
        progress: called with the bytes that were read of the tree, and those there are.

    Raises:
        MlsubError: it cannot be done; nothing was written.
        RefusedError: the tree contains what cannot be sealed, or changed meanwhile; nothing was written.
    """
    scanned = tree if isinstance(tree, Tree) else scan_for(tree, out, key, options)
    statement, force = options.statement, options.force
    place = find(scanned.folder)
    scanned = replace(scanned, round=f"{place.usage}_v{place.round}" if place.round else "")
    with staging_beside(out) as staging, failing_as(f"{out} cannot be written"):
        part = staging / out.name
        with TemporaryFile(dir=staging) as open_, part.open("xb") as stream:
            manifest, tar, archive = write_archive(scanned, open_ if key else stream, progress)
            if key:
                open_.seek(0)
                encrypt(open_, stream, key)
            sync_file(stream)
        listed = manifest.render()
        receipt = Receipt(
            version=VERSION,
            organisation=(place.organisation or scanned.folder).name,
            round=f"{place.usage} v{place.round}" if place.round else None,
            encryption=_encryption(key),
            # The comments of SSH keys are left out.
            recipients=tuple(" ".join(line.split()[:2]) for line in key.recipients) if key else (),
            sealed=datetime.now(UTC),
            file=out.name,
            size=part.stat().st_size,
            sha256=file_digest(part),
            sha1=file_digest(part, "sha1") if key and key.form is Form.OPENSSL else None,
            archive_size=archive.size,
            archive_sha256=archive.digest.hex(),
            tar_sha256=tar.digest.hex(),
            manifest_sha256=hashlib.sha256(listed).hexdigest(),
            files=scanned.files,
            files_size=scanned.size,
        )
        for backup in back_up_foreign(out, (out, *_beside(out, statement))) if force else ():
            kept(backup)
        beside = {out.with_name(out.name + MANIFEST_SUFFIX): listed}
        if receipt.sha1:
            beside[out.with_name(out.name + SHA1_SUFFIX)] = f"{receipt.sha1}  {out.name}\n".encode()
        beside[out.with_name(out.name + RECEIPT_SUFFIX)] = receipt.render().encode("utf-8", "backslashreplace")
        if statement:
            made = msgspec.Raw(msgspec.json.encode(receipt))
            sealed = SealedTree(manifest.links, manifest.folders, manifest.round, made)
            beside[statement] = render_statement({out.name: receipt.sha256, **manifest.files}, sealed)
        _put(part, out, receipt, beside, force=force)
    return receipt


def _encryption(key: Key | None) -> str:
    if key is None:
        return "none"
    if key.form is Form.PASSPHRASE:
        return f"{key.form} (scrypt, work factor 2^{key.work_factor})"
    return "openssl enc, AES-256-CBC with PBKDF2; not authenticated" if key.form is Form.OPENSSL else key.form


def _beside(out: Path, statement: Path | None = None) -> tuple[Path, ...]:
    named = (out.with_name(out.name + suffix) for suffix in (RECEIPT_SUFFIX, MANIFEST_SUFFIX, SHA1_SUFFIX))
    return (*named, statement) if statement else tuple(named)


def _put(part: Path, out: Path, receipt: Receipt, beside: Mapping[Path, bytes], *, force: bool) -> None:
    """Give FILE its name, and write what lies beside it; see the module."""
    written = {file.name: bytes_digest(made) for file, made in beside.items()}
    write_record(out, written, {out.name: f"sha256:{receipt.sha256}"})
    if force:
        for file in (*_beside(out), *beside):
            file.unlink(missing_ok=True)
    put_file(part, out, force=force)
    for file, content in beside.items():
        write_file(file, content, force=force)
