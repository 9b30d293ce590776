"""``mlsub seal``: one encrypted archive of a submission."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands.lazy import Command
from mlsub.commands.options import Asked, asks
from mlsub.commands.output import Target, format_option, tell
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.commands.seal.forms import OpenKey, SealKey
    from mlsub.commands.seal.tar import Limits
    from mlsub.findings import Verdict


F = TypeVar("F", bound=Callable[..., Any])
_SIZE = re.compile(r"(\d{1,18}) ?(|[KMGT]i?B|B)", re.IGNORECASE)
_UNITS = ("", "K", "M", "G", "T")
#: An option that names a file.
file_option = partial(click.option, type=click.Path(), metavar="FILE")


@click.command("seal", cls=Command, example="mlsub seal v5.1/ACME -o ACME.tar.gz.age --recipient age1...")
@click.argument("tree", metavar="TREE", type=click.Path())
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
@click.option("--even-rejected", is_flag=True, help="Seal TREE even if mlsub check rejects it or cannot check it.")
@click.option("--even-unfilled", is_flag=True, help="Seal TREE even if templates or TODO are left in it.")
@click.option("--dry-run", is_flag=True, help="Check whether TREE can be sealed; write nothing.")
@click.option("--force", is_flag=True, help="Replace FILE and the files beside it; those of others are kept.")
@format_option
def command(
    asked: Asked,
    tree: str,
    output: str | None,
    recipients: tuple[str, ...],
    recipients_file: str | None,
    passphrase_file: str | None,
    no_encryption: bool,
    legacy_openssl: bool,
    even_rejected: bool,
    even_unfilled: bool,
    dry_run: bool,
    force: bool,
    format_: str,
) -> None:
    """Seal TREE, a submission, in one encrypted archive with a manifest inside.

    TREE is checked first: a package that is rejected, or in which something is left to fill in, is not sealed.

    The same tree gives the same tar, whenever and wherever it is sealed. It is encrypted in age's format, for
    recipients, each of whom can open it, or with a passphrase. Beside FILE, mlsub writes FILE.MANIFEST.sha256, for
    sha256sum -c, and FILE.receipt.txt, for the mail that confirms the submission; it prints the receipt, too.

    Exit status: 0 sealed; 1 TREE is rejected, unfinished, changing, or cannot be sealed; 2 it could not be done.
    """
    from msgspec.structs import replace

    from mlsub.commands.seal.receipt import Sealing, document_of
    from mlsub.commands.seal.run import default_name, prepare, seal_tree
    from mlsub.commands.seal.streams import RefusedError

    def answer(sealing: Sealing) -> None:
        Target("seal", format_).write(sealing, lambda: document_of(sealing))

    key = _key(recipients, recipients_file, passphrase_file, no_encryption, legacy_openssl)
    file = Path(output) if output else default_name(Path(tree), key)
    try:
        scanned = prepare(Path(tree), file, key, force=force)
        official = _check_first(asked, scanned.folder, rejected_too=even_rejected, unfilled_too=even_unfilled)
        found = Sealing(
            file=str(file),
            official=official,
            files=scanned.files,
            files_size=scanned.size,
            findings=(),
        )
        if dry_run:
            answer(found)
            return
        aside: list[Path] = []
        with progress_bar("sealing") as progress:
            receipt = seal_tree(
                Path(tree), file, key, force=force, scanned=scanned, kept=aside.append, progress=progress
            )
    except RefusedError as error:
        answer(Sealing(file=str(file), official=error.official, findings=error.findings))
        sys.exit(1)
    for kept in aside:
        tell(f"a file that sealing did not write is kept as {kept}")
    answer(replace(found, receipt=receipt))
    if legacy_openssl:
        tell("openssl enc is not authenticated: whoever carries the file can change it. Send the receipt another way.")


def _check_first(asked: Asked, tree: Path, *, rejected_too: bool, unfilled_too: bool) -> Verdict:
    """The official verdict on a tree.

    Raises:
        RefusedError: it is rejected or not filled in, and nobody asked to seal it all the same.
    """
    from mlsub.commands.seal.run import check_first
    from mlsub.commands.seal.streams import RefusedError

    with progress_bar() as progress:
        settings = asked.settings(progress)
        official, findings = check_first(tree, settings, rejected_too=rejected_too, unfilled_too=unfilled_too)
    if findings:
        raise RefusedError(*findings, official=official)
    return official


def _key(
    recipients: tuple[str, ...],
    recipients_file: str | None,
    passphrase_file: str | None,
    no_encryption: bool,
    legacy_openssl: bool,
) -> SealKey:
    """What to seal with: exactly one way."""
    from mlsub.commands.seal.forms import OpenSSL, Passphrase, Recipients, Unencrypted, read_passphrase, read_recipients

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
    from mlsub.commands.seal.tar import Limits

    return Limits() if max_size is None else Limits(size=max_size, ratio=None)


def open_key(identity: str | None, passphrase_file: str | None) -> OpenKey:
    """The key that was given."""
    from mlsub.commands.seal.forms import Passphrase, read_identities, read_passphrase

    if identity and passphrase_file:
        raise click.UsageError("--identity and --passphrase-file exclude each other.")
    if identity:
        return read_identities(Path(identity))
    return Passphrase(read_passphrase(Path(passphrase_file))) if passphrase_file else None
