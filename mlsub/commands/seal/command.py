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

if TYPE_CHECKING:
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
@file_option("--statement", help="Also write the digests to FILE as an in-toto Statement, to be signed.")
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
    statement: Path | None,
    format_: str,
    **chosen: bool,
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
    from mlsub.packing.forms import Form, Key, read_passphrase, read_recipients

    if [bool(recipients or recipients_file), bool(passphrase_file), no_encryption].count(True) != 1:
        raise click.UsageError("give one of --recipient, --passphrase-file and --no-encryption.")
    if legacy_openssl and not passphrase_file:
        raise click.UsageError("--legacy-openssl needs --passphrase-file.")
    key = None
    if passphrase_file:
        key = Key(Form.OPENSSL if legacy_openssl else Form.PASSPHRASE, passphrase=read_passphrase(passphrase_file))
    elif not no_encryption:
        listed = read_recipients(recipients_file) if recipients_file else ()
        key = Key(Form.RECIPIENTS, recipients=(*recipients, *listed))
    options = run.SealOptions(**chosen, statement=statement, context=ready(asked))
    sealing = run.seal(tree, output or run.default_name(tree, key), key, options, tell)
    Target("seal", format_).write(sealing, lambda: run.document_of(sealing))
    if sealing.receipt and key and key.form is Form.OPENSSL:
        tell("openssl enc is not authenticated: whoever carries the file can change it. Send the receipt another way.")
    sys.exit(1 if sealing.findings else 0)
