"""What ``mlsub seal``, ``unseal`` and ``verify`` have in common: sizes, keys to open with, words of an answer."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

if TYPE_CHECKING:
    from mlsub.commands.seal.contents import Limits
    from mlsub.commands.seal.keys import OpenKey
    from mlsub.findings import Finding

F = TypeVar("F", bound=Callable[..., Any])
_SIZE = re.compile(r"(\d{1,18}) ?(|[KMGT]i?B|B)", re.IGNORECASE)
_UNITS = ("", "K", "M", "G", "T")


def opening_options(function: F) -> F:
    """--identity, --passphrase-file and --max-size."""
    decorators = (
        click.option(
            "--identity", "-i", type=click.Path(), metavar="FILE", help="Secret key: of age-keygen, or of SSH."
        ),
        click.option("--passphrase-file", type=click.Path(), metavar="FILE", help="Its first line is the passphrase."),
        click.option(
            "--max-size",
            callback=_size,
            metavar="SIZE",
            help="Unpack up to this much, such as 50GiB; else 1 TiB, and 200 times the file.",
        ),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def format_option(function: F) -> F:
    """--format text or json."""
    choice = click.Choice(["text", "json"])
    return click.option("--format", "format_", type=choice, default="text", show_default=True)(function)


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
    """The usual limits; whoever names a size has thought of what the ratio is for."""
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


def print_document(**fields: object) -> None:
    """One JSON document, plain ASCII; paths are text."""
    import msgspec

    sys.stdout.write(json.dumps(msgspec.to_builtins(fields, enc_hook=str), indent=2) + "\n")


def print_text(text: str) -> None:
    """Print; characters an output does not know cost those characters, never the answer."""
    import io

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)


def print_findings(findings: Sequence[Finding]) -> None:
    """Print each defect once, with its places."""
    from mlsub.present.document import Findings
    from mlsub.present.output import put

    put(sys.stdout, Findings(tuple(findings)))


def refused(findings: Sequence[Finding], format_: str, told: str) -> NoReturn:
    """Print why, and end with status 1."""
    if format_ == "json":
        print_document(findings=findings)
    else:
        print_findings(findings)
        print_text(told + "\n")
    sys.exit(1)
