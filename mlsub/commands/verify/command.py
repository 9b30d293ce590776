"""``mlsub verify``: compare a sealed submission or a tree with its manifest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.opening import file_option, opening_options
from mlsub.commands.output import Target, output_options, tell
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.packing.forms import Key


@click.command("verify", cls=Command, example="mlsub verify ACME.tar.gz.age --identity key.txt")
@click.argument("path", metavar="FILE|DIR", type=click.Path(path_type=Path))
@file_option("--manifest", help="Compare DIR, a copy of the tree, with this manifest or statement.")
@opening_options
@output_options("verify")
def command(path: Path, manifest: Path | None, key: Key | None, max_size: int | None, target: Target) -> None:
    """Compare FILE, a sealed submission, or DIR, an opened one, with its manifest, and print what differs.

    Without a key, mlsub compares a file that is sealed for others with FILE.receipt.txt. DIR is what mlsub unseal made:
    a folder with the tree and its manifest, in which all else is extra. With --manifest, DIR is the tree itself.

    Exit status: 0 nothing differs; 1 something does; 2 it could not be checked.
    """
    from mlsub.commands.verify.run import document_of, verify_sealed, verify_tree
    from mlsub.io import MlsubError
    from mlsub.submission.find import is_folder

    tree = is_folder(path)
    if tree and key is not None:
        raise MlsubError(f"{path} is a folder: no key is needed. Name a sealed file, or leave out the key.")
    if not tree and manifest is not None:
        raise click.UsageError(f"--manifest is for a folder, and {path} is not one.")
    with progress_bar("comparing") as progress:
        checked = verify_tree(path, manifest, progress) if tree else verify_sealed(path, key, max_size, progress)
    for note in checked.notes:
        tell(note)
    target.write(checked, lambda: document_of(checked))
    sys.exit(1 if checked.findings else 0)
