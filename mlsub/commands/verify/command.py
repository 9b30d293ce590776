"""``mlsub verify``: compare a sealed submission or a tree with its manifest."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from mlsub.commands.lazy import Command
from mlsub.commands.output import Target, output_options, tell
from mlsub.commands.seal.command import file_option, limits_of, open_key, opening_options
from mlsub.io.errors import MlsubError


@click.command("verify", cls=Command, example="mlsub verify ACME.tar.gz.age --identity key.txt")
@click.argument("path", metavar="FILE|DIR", type=click.Path())
@file_option("--manifest", help="Compare with this manifest, not with the one inside.")
@opening_options
@output_options("verify")
def command(
    path: str,
    manifest: str | None,
    identity: str | None,
    passphrase_file: str | None,
    max_size: int | None,
    target: Target,
) -> None:
    """Compare FILE, a sealed submission, or DIR, an opened one, with its manifest, and print what differs.

    Without a key, mlsub compares a file that is sealed for others with FILE.receipt.txt. DIR is what mlsub unseal made,
    or, with --manifest, any copy of the tree.

    Exit status: 0 nothing differs; 1 something does; 2 it could not be checked.
    """
    from mlsub.commands.verify.run import document_of, verify_sealed, verify_tree
    from mlsub.present.terminal import progress_bar
    from mlsub.submission.find import is_folder

    listed = Path(manifest) if manifest else None
    key = open_key(identity, passphrase_file)
    if is_folder(Path(path)):
        if key is not None:
            raise MlsubError(f"{path} is a folder: no key is needed. Name a sealed file, or leave out the key.")
        with progress_bar("comparing") as progress:
            checked = verify_tree(Path(path), listed, progress)
    else:
        with progress_bar("comparing") as progress:
            checked = verify_sealed(Path(path), key, listed, limits_of(max_size), progress)
    for note in checked.notes:
        tell(note)
    target.write(checked, lambda: document_of(checked))
    sys.exit(1 if checked.findings else 0)
