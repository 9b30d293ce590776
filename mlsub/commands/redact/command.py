"""``mlsub redact``: private things out of logs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from mlsub.commands.options import tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mlsub.commands.redact.redactor import Redactor


@click.command("redact")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--write", is_flag=True, help="Replace in place; without it, list what would be replaced.")
@click.option("-o", "--output", metavar="OUT", type=click.Path(), help="Write redacted copies of the logs below OUT.")
@click.option("--user", "users", multiple=True, metavar="NAME", help="A user to replace wherever named.")
@click.option("--host", "hosts", multiple=True, metavar="NAME", help="A host to replace wherever named.")
@click.option("--env", is_flag=True, help="Replace whatever is assigned to variables in UPPER_CASE.")
@click.option("--pattern", "texts", multiple=True, metavar="TEXT", help="Text to replace; * for what varies in a word.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    paths: tuple[str, ...],
    write: bool,
    output: str | None,
    users: tuple[str, ...],
    hosts: tuple[str, ...],
    env: bool,
    texts: tuple[str, ...],
    format_: str,
) -> None:
    """Replace home folders, users, hosts, addresses, e-mail addresses and secrets in logs by <user-1> and the like.

    PATH is a log, or a folder for all logs below it. The same thing has the same placeholder in all logs of a call, so
    name a submission as a whole. Records are never altered, which is proven before anything is written; what is
    private in them is listed.

    Exit status: 0 nothing to replace, or all replaced; 1 something would be, or stands in a record; 2 a log could not.
    """
    from mlsub.commands.fix.logs import find_logs
    from mlsub.commands.redact.redactor import Redactor, Wanted
    from mlsub.io.errors import MlsubError

    if write and output is not None:
        raise click.UsageError("--write replaces in place, -o writes copies. Give one of them.")
    try:
        redactor = Redactor(Wanted(users, hosts, texts, env))
        files = find_logs(paths)
        write_one = _writer(redactor, files, output) if write or output is not None else None
    except ValueError as error:
        raise MlsubError(str(error)) from error
    failed = _run(redactor, files, write_one)
    if failed < len(files):
        _print(redactor, files, len(files) - failed, format_, output or ("in place" if write else ""))
    if failed:
        sys.exit(2)
    remains = [item for item in redactor.items.values() if item.in_records or (item.count and write_one is None)]
    sys.exit(1 if remains else 0)


def _run(redactor: Redactor, files: list[Path], write_one: Callable[[Path], None] | None) -> int:
    """Learn from all logs, list what is in each, and write where asked to; how many logs failed."""
    from mlsub.io.errors import MlsubError

    failed = dict(redactor.learn(files))
    for file in files:
        if file in failed:
            continue
        try:
            redactor.survey(file)
            if write_one is not None:
                write_one(file)
        except MlsubError as error:
            failed[file] = error
    for problem in failed.values():
        tell(f"{problem}", "redact")
    return len(failed)


def _writer(redactor: Redactor, files: list[Path], output: str | None) -> Callable[[Path], None]:
    """How one log is written: in place, or into a new folder that holds the same folders.

    Raises:
        MlsubError: the folder for copies is there and not empty, or cannot be made.
    """
    from pathlib import Path

    from mlsub.commands.fix.logs import root_of
    from mlsub.io.errors import MlsubError

    if output is None:
        return redactor.write
    out, root = Path(output), root_of(files)
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise MlsubError(f"{out} is not empty. Name a folder that is not there yet.")
    except (OSError, ValueError) as error:
        raise MlsubError(f"{out} cannot be a folder for copies: {error}. Name another.") from error

    def copy(file: Path) -> None:
        target = out / file.relative_to(root)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MlsubError(f"{target.parent} cannot be made: {error.strerror}.") from error
        redactor.write(file, target)

    return copy


def _print(redactor: Redactor, files: list[Path], read: int, format_: str, written: str) -> None:
    from mlsub.commands.fix.logs import root_of
    from mlsub.commands.redact.words import as_json, as_text, ordered
    from mlsub.present.report import console

    items, root = ordered(redactor.items.values()), root_of(files)
    if format_ == "json":
        sys.stdout.write(as_json(items, root, read, written=written))
        return
    out = console()
    for line in as_text(items, root, read, written=written):
        out.print(line)
