"""Options that name files and folders, and what opens a sealed file: the options of ``unseal`` and ``verify``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

_SIZE = re.compile(r"(\d{1,18}) ?(|[KMGT]i?B|B)", re.IGNORECASE)
_UNITS = ("", "K", "M", "G", "T")
#: An option that names a file, and one that names a folder.
file_option = partial(click.option, type=click.Path(path_type=Path), metavar="FILE")
folder_option = partial(click.option, type=click.Path(path_type=Path), metavar="DIR")


def opening_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add --identity, --passphrase-file and --max-size; the function gets ``key`` and ``max_size``."""

    @file_option("--identity", "-i", help="Open with the secret key in FILE, of age-keygen or SSH.")
    @file_option("--passphrase-file", help="Open with the passphrase in the first line of FILE.")
    @click.option(
        "--max-size",
        callback=parse_size,
        metavar="SIZE",
        help="Unpack at most SIZE, such as 50GiB; default: 1 TiB, and 200 times the file.",
    )
    @wraps(function)
    def called(identity: Path | None, passphrase_file: Path | None, **others: Any) -> None:
        from mlsub.packing.forms import Form, Key, read_identities, read_passphrase

        if identity and passphrase_file:
            raise click.UsageError("--identity and --passphrase-file exclude each other.")
        key = None
        if identity:
            key = Key(Form.RECIPIENTS, identities=read_identities(identity))
        elif passphrase_file:
            key = Key(Form.PASSPHRASE, passphrase=read_passphrase(passphrase_file))
        function(key=key, **others)

    return called


def parse_size(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Return bytes, of a number with kB, MB, GB, TB or KiB, MiB, GiB, TiB if there is a unit."""
    if value is None:
        return None
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise click.BadParameter(f"{value!r} is not a size. Say bytes, or 500MB, or 50GiB.")
    unit = match[2].upper()
    step = 1024 if "I" in unit else 1000
    return int(match[1]) * int(step ** _UNITS.index(unit[:1].replace("B", "")))
