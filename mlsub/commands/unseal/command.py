"""``mlsub unseal``: open a sealed submission."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mlsub.commands import Command
from mlsub.commands.opening import folder_option, opening_options
from mlsub.commands.output import Target, format_option, tell
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.packing.forms import Key


@click.command("unseal", cls=Command, example="mlsub unseal ACME.tar.gz.age -o ACME --identity key.txt")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@folder_option("--output", "-o", required=True, help="Create DIR for the tree and its manifest.")
@opening_options
@format_option
def command(file: Path, output: Path, key: Key | None, max_size: int | None, format_: str) -> None:
    """Open FILE, sealed by mlsub seal, into DIR, and compare it with the manifest inside.

    DIR is complete and verified afterwards, or it is not there. mlsub refuses members that lead out of DIR, links out
    of the tree, devices, and more than --max-size. It opens files of openssl enc too, and compares them with FILE.sha1
    if that is there.

    Exit status: 0 opened; 1 refused; 2 it could not be done.
    """
    from mlsub.commands.unseal.run import Unsealing, document_of, unseal
    from mlsub.packing.tree import RefusedError

    try:
        with progress_bar("opening") as progress:
            unsealing = Unsealing(opened=unseal(file, output, key, max_size, progress), findings=())
    except RefusedError as error:
        unsealing = Unsealing(opened=None, findings=error.findings)
    for note in unsealing.opened.notes if unsealing.opened else ():
        tell(note)
    Target("unseal", format_).write(unsealing, lambda: document_of(unsealing))
    sys.exit(0 if unsealing.opened else 1)
