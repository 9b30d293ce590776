"""``mlsub seal``: one encrypted archive of a submission."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands.lazy import Command
from mlsub.commands.options import tell
from mlsub.commands.seal.options import format_option, print_document, print_findings, print_text, refused

if TYPE_CHECKING:
    from mlsub.commands.seal.keys import SealKey
    from mlsub.commands.seal.tree import Tree


@click.command("seal", cls=Command, example="mlsub seal v5.1/NVIDIA -o NVIDIA.tar.gz.age --recipient age1...")
@click.argument("tree", metavar="TREE", type=click.Path())
@click.option("--output", "-o", type=click.Path(), metavar="FILE", help="Else TREE.tar.gz.age, next to TREE.")
@click.option(
    "--recipient",
    "-r",
    "recipients",
    multiple=True,
    metavar="KEY",
    help="age1... or an SSH public key; again for more.",
)
@click.option("--recipients-file", "-R", type=click.Path(), metavar="FILE", help="Public keys, one a line.")
@click.option("--passphrase-file", type=click.Path(), metavar="FILE", help="Its first line is the passphrase.")
@click.option("--no-encryption", is_flag=True, help="Only the archive.")
@click.option("--legacy-openssl", is_flag=True, help="openssl enc and a SHA-1 file; not authenticated.")
@click.option("--dry-run", is_flag=True, help="Look whether it can be sealed; write nothing.")
@click.option("--force", is_flag=True, help="Replace FILE and what lies beside it; what sealing did not write is kept.")
@format_option
def command(
    tree: str,
    output: str | None,
    recipients: tuple[str, ...],
    recipients_file: str | None,
    passphrase_file: str | None,
    no_encryption: bool,
    legacy_openssl: bool,
    dry_run: bool,
    force: bool,
    format_: str,
) -> None:
    """Seal TREE, a submission: one archive, encrypted, with a manifest inside.

    The same tree gives the same tar, whenever and wherever it is sealed. It is encrypted in age's format, for
    recipients, each of whom can open it, or with a passphrase. Beside FILE are written FILE.MANIFEST.sha256, for
    sha256sum -c, and FILE.receipt.txt, for the mail that confirms the submission, which is printed too.

    Exit status: 0 sealed, 1 TREE holds what cannot be sealed, or changed meanwhile, 2 could not be done.
    """
    from mlsub.commands.seal.errors import RefusedError
    from mlsub.commands.seal.receipt import render
    from mlsub.commands.seal.seal import default_name, prepare, seal_tree

    try:
        key = _key(recipients, recipients_file, passphrase_file, no_encryption, legacy_openssl)
        file = Path(output) if output else default_name(Path(tree), key)
        scanned = prepare(Path(tree), file, key, force=force)
        if dry_run:
            _tell_plan(scanned, file, format_)
            return
        aside: list[Path] = []
        receipt = seal_tree(Path(tree), file, key, force=force, scanned=scanned, kept=aside.append)
    except RefusedError as error:
        refused(error.findings, format_, "not sealed: nothing was written")
    for kept in aside:
        tell(f"what was there and sealing did not write is kept as {kept}")
    if format_ == "json":
        print_document(receipt=receipt, findings=scanned.warnings)
    else:
        print_findings(scanned.warnings)
        print_text(render(receipt))
    if legacy_openssl:
        tell("openssl enc is not authenticated: whoever carries the file can change it. Send the receipt another way.")


def _key(
    recipients: tuple[str, ...],
    recipients_file: str | None,
    passphrase_file: str | None,
    no_encryption: bool,
    legacy_openssl: bool,
) -> SealKey:
    """What to seal with: exactly one way."""
    from mlsub.commands.seal.keys import OpenSSL, Passphrase, Recipients, Unencrypted, read_passphrase, read_recipients

    ways = [bool(recipients or recipients_file), bool(passphrase_file), no_encryption]
    if sum(ways) != 1:
        raise click.UsageError("give one of --recipient, --passphrase-file and --no-encryption.")
    if legacy_openssl and not passphrase_file:
        raise click.UsageError("--legacy-openssl needs --passphrase-file.")
    if no_encryption:
        return Unencrypted()
    if passphrase_file:
        secret = read_passphrase(Path(passphrase_file))
        return OpenSSL(secret) if legacy_openssl else Passphrase(secret)
    listed = read_recipients(Path(recipients_file)) if recipients_file else ()
    return Recipients((*recipients, *listed))


def _tell_plan(tree: Tree, file: Path, format_: str) -> None:
    from mlsub.io.plain import plain

    if format_ == "json":
        print_document(file=str(file), files=tree.files, files_size=tree.size, findings=tree.warnings)
        return
    print_findings(tree.warnings)
    print_text(plain(f"would seal {tree.files} files ({tree.size} bytes) of {tree.folder.name} into {file}") + "\n")
