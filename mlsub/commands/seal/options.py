"""Options of ``mlsub seal``, ``unseal`` and ``verify``: files, keys to open with, and how much is unpacked."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from mlsub.commands.seal.contents import Limits
    from mlsub.commands.seal.keys import OpenKey

F = TypeVar("F", bound=Callable[..., Any])
_SIZE = re.compile(r"(\d{1,18}) ?(|[KMGT]i?B|B)", re.IGNORECASE)
_UNITS = ("", "K", "M", "G", "T")
#: An option that names a file.
file_option = partial(click.option, type=click.Path(), metavar="FILE")


def opening_options(function: F) -> F:
    """--identity, --passphrase-file and --max-size."""
    decorators = (
        file_option("--identity", "-i", help="Open with the secret key in FILE, of age-keygen or SSH."),
        file_option("--passphrase-file", help="Open with the passphrase in the first line of FILE."),
        click.option(
            "--max-size",
            callback=_size,
            metavar="SIZE",
            help="Unpack at most SIZE, such as 50GiB; default: 1 TiB, and 200 times the file.",
        ),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def _size(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Bytes, with kB, MB, GB, TB or KiB, MiB, GiB, TiB if there is a unit."""
    if value is None:
        return None
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise click.BadParameter(f"{value!r} is not a size. Say bytes, or 500MB, or 50GiB.")
    unit = match[2].upper()
    step = 1024 if "I" in unit else 1000
    return int(match[1]) * int(step ** _UNITS.index(unit[:1].replace("B", "")))


def limits_of(max_size: int | None) -> Limits:
    """The usual limits; a size that is named replaces both, the size and the ratio."""
    from mlsub.commands.seal.contents import Limits

    return Limits() if max_size is None else Limits(size=max_size, ratio=None)


def open_key(identity: str | None, passphrase_file: str | None) -> OpenKey:
    """The key that was given."""
    from mlsub.commands.seal.keys import Passphrase, read_identities, read_passphrase

    if identity and passphrase_file:
        raise click.UsageError("--identity and --passphrase-file exclude each other.")
    if identity:
        return read_identities(Path(identity))
    return Passphrase(read_passphrase(Path(passphrase_file))) if passphrase_file else None
