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
@file_option("--manifest", help="Compare with this manifest, not with the one inside.")
@opening_options
@output_options("verify")
def command(path: Path, manifest: Path | None, key: Key | None, max_size: int | None, target: Target) -> None:
    """Compare FILE, a sealed submission, or DIR, an opened one, with its manifest, and print what differs.

    Without a key, mlsub compares a file that is sealed for others with FILE.receipt.txt. DIR is what mlsub unseal made,
    or, with --manifest, any copy of the tree, or the folder around it. What else lies in DIR is extra.

    Exit status: 0 nothing differs; 1 something does; 2 it could not be checked.
    """
    from mlsub.commands.verify.run import document_of, verify

    with progress_bar("comparing") as progress:
        checked = verify(path, key, manifest, max_size, progress)
    for note in checked.notes:
        tell(note)
    target.write(checked, lambda: document_of(checked))
    sys.exit(1 if checked.findings else 0)
