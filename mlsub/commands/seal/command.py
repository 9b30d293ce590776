"""``mlsub seal``: one encrypted archive of a submission."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.opening import file_option
from mlsub.commands.options import asks, ready
from mlsub.commands.output import Target, format_option, tell
from mlsub.io.show import first_few
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.commands.seal.run import Receipt
    from mlsub.findings import Finding, Verdict
    from mlsub.packing.forms import Key
    from mlsub.packing.tree import Tree
    from mlsub.workspace.places import Request


@click.command("seal", cls=Command, example="mlsub seal v5.1/ACME -o ACME.tar.gz.age --recipient age1...")
@click.argument("tree", metavar="TREE", type=click.Path(path_type=Path))
@asks(None)
@file_option("--output", "-o", help="Write to FILE instead of TREE.tar.gz.age beside TREE.")
@click.option(
    *("--recipient", "-r", "recipients"),
    multiple=True,
    metavar="KEY",
    help="Encrypt for a public key: age1..., or of SSH; repeatable.",
)
@file_option("--recipients-file", "-R", help="Encrypt for the public keys in FILE, one a line.")
@file_option("--passphrase-file", help="Encrypt with the passphrase in the first line of FILE.")
@click.option("--no-encryption", is_flag=True, help="Write only the archive.")
@click.option("--legacy-openssl", is_flag=True, help="Write openssl enc and a SHA-1 file; not authenticated.")
@click.option("--even-rejected", is_flag=True, help="Seal TREE even if mlsub check rejects it or cannot check it.")
@click.option("--even-with-errors", is_flag=True, help="Seal TREE even if mlsub check finds review errors.")
@click.option("--even-unfilled", is_flag=True, help="Seal TREE even if templates or TODO are left in it.")
@click.option("--dry-run", is_flag=True, help="Check whether TREE can be sealed; write nothing.")
@click.option("--force", is_flag=True, help="Replace FILE and the files beside it; those of others are kept.")
@format_option
def command(
    asked: Request,
    tree: Path,
    output: Path | None,
    recipients: tuple[str, ...],
    recipients_file: Path | None,
    passphrase_file: Path | None,
    no_encryption: bool,
    legacy_openssl: bool,
    even_rejected: bool,
    even_with_errors: bool,
    even_unfilled: bool,
    dry_run: bool,
    force: bool,
    format_: str,
) -> None:
    """Seal TREE, a submission, in one encrypted archive with a manifest inside.

    TREE is checked first: a package that is rejected, in which a reviewer would raise errors, or in which something is
    left to fill in, is not sealed.

    The same tree gives the same tar, whenever and wherever it is sealed. It is encrypted in age's format, for
    recipients, each of whom can open it, or with a passphrase. Beside FILE, mlsub writes FILE.MANIFEST.sha256, for
    sha256sum -c, and FILE.receipt.txt, for the mail that confirms the submission; it prints the receipt, too.

    Exit status: 0 sealed; 1 TREE is rejected, unfinished, changing, or cannot be sealed; 2 it could not be done.
    """
    from mlsub.commands.seal import run
    from mlsub.packing.tree import RefusedError

    key = _key(recipients, recipients_file, passphrase_file, no_encryption, legacy_openssl)
    file = output or run.default_name(tree, key)
    official: Verdict | None = None
    receipt: Receipt | None = None
    sealed: Tree | None = None
    findings: tuple[Finding, ...] = ()
    backups: list[Path] = []
    try:
        scanned = run.scan_for(tree, file, key, force=force)
        if scanned.left_out:
            tell(f"left out what a killed command began: {first_few(scanned.left_out)}. Remove it.")
        with progress_bar() as progress:
            official, found, without_code = run.check_tree(
                scanned.folder,
                ready(asked, progress),
                even_rejected=even_rejected,
                even_with_errors=even_with_errors,
                even_unfilled=even_unfilled,
            )
        if found:
            raise RefusedError(*found)
        if without_code:
            where = first_few(without_code, 3)
            tell(f"the package has no code in {where}: reviewers will ask for it; see mlsub check")
        if not dry_run:
            with progress_bar("sealing") as progress:
                receipt = run.seal_tree(scanned, file, key, force=force, kept=backups.append, progress=progress)
        sealed = scanned
    except RefusedError as error:
        findings = error.findings
    sealing = run.Sealing(
        file=str(file),
        official=official,
        files=sealed.files if sealed else None,
        files_size=sealed.size if sealed else None,
        receipt=receipt,
        findings=findings,
    )
    if sealed and sealed.linked:
        shown = first_few(sealed.linked, 3, "log")
        tell(f"the content of logs that are links out of {sealed.folder.name} is sealed: {shown}")
    for kept in backups:
        tell(f"a file that sealing did not write is kept as {kept}")
    Target("seal", format_).write(sealing, lambda: run.document_of(sealing))
    if receipt and legacy_openssl:
        tell("openssl enc is not authenticated: whoever carries the file can change it. Send the receipt another way.")
    sys.exit(1 if findings else 0)


def _key(
    recipients: tuple[str, ...],
    recipients_file: Path | None,
    passphrase_file: Path | None,
    no_encryption: bool,
    legacy_openssl: bool,
) -> Key | None:
    """Return what to seal with: exactly one way."""
    from mlsub.packing.forms import Form, Key, read_passphrase, read_recipients

    ways = [bool(recipients or recipients_file), bool(passphrase_file), no_encryption]
    if sum(ways) != 1:
        raise click.UsageError("give one of --recipient, --passphrase-file and --no-encryption.")
    if legacy_openssl and not passphrase_file:
        raise click.UsageError("--legacy-openssl needs --passphrase-file.")
    if passphrase_file:
        form = Form.OPENSSL if legacy_openssl else Form.PASSPHRASE
        return Key(form, passphrase=read_passphrase(passphrase_file))
    listed = read_recipients(recipients_file) if recipients_file else ()
    return None if no_encryption else Key(Form.RECIPIENTS, recipients=(*recipients, *listed))
