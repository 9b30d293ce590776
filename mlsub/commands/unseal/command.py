"""``mlsub unseal``: open a sealed submission."""

from __future__ import annotations

from pathlib import Path

import click

from mlsub.commands.lazy import Command
from mlsub.commands.options import tell
from mlsub.commands.seal.options import (
    format_option,
    limits_of,
    open_key,
    opening_options,
    print_document,
    print_text,
    refused,
)


@click.command("unseal", cls=Command, example="mlsub unseal NVIDIA.tar.gz.age -o NVIDIA --identity key.txt")
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--output", "-o", type=click.Path(), required=True, metavar="DIR", help="New folder for tree and manifest."
)
@opening_options
@format_option
def command(
    file: str, output: str, identity: str | None, passphrase_file: str | None, max_size: int | None, format_: str
) -> None:
    """Open FILE, sealed by mlsub seal, into DIR, and compare it with the manifest inside.

    DIR is there whole and verified, or not at all. Refused are members that lead out of DIR, links out of the tree,
    devices, and more than --max-size. Files of openssl enc are opened too, and compared with FILE.sha1 if that
    is there.

    Exit status: 0 opened, 1 refused, 2 could not be done.
    """
    from mlsub.commands.seal.errors import RefusedError
    from mlsub.commands.unseal.run import unseal
    from mlsub.io.plain import plain

    try:
        key = open_key(identity, passphrase_file)
        opened = unseal(Path(file), Path(output), key, limits_of(max_size))
    except RefusedError as error:
        refused(error.findings, format_, "not opened: nothing was written")
    for note in opened.notes:
        tell(note)
    if format_ == "json":
        print_document(opened=opened, findings=[])
    else:
        print_text(
            plain(f"opened: {opened.tree}, {opened.files} files, {opened.size} bytes, as the manifest says") + "\n"
        )
