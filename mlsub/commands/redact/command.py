"""``mlsub redact``: private things out of logs."""

from __future__ import annotations

import sys
from typing import Any

import click

from mlsub.commands import Command
from mlsub.commands.output import Target, format_option, tell
from mlsub.present.terminal import progress_bar


@click.command("redact", cls=Command, example="mlsub redact v5.1/ACME/results --write")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--write", is_flag=True, help="Redact the logs in place; otherwise only list what would be replaced.")
@click.option("-o", "--output", metavar="OUT", type=click.Path(), help="Write redacted copies of the logs below OUT.")
@click.option("--user", "users", multiple=True, metavar="NAME", help="Replace this user wherever it is named.")
@click.option("--host", "hosts", multiple=True, metavar="NAME", help="Replace this host wherever it is named.")
@click.option("--env", is_flag=True, help="Replace the values of all variables in UPPER_CASE.")
@click.option(
    "--pattern", "patterns", multiple=True, metavar="TEXT", help="Replace this text; * for what varies in a word."
)
@click.option(
    "--also", metavar="FILE", type=click.Path(), help="Replace what FILE names: rows of the list, or a text a line."
)
@format_option
def command(
    paths: tuple[str, ...], write: bool, output: str | None, also: str | None, format_: str, **words: Any
) -> None:
    """Replace secrets, hosts, addresses, users and home folders in logs by <secret-1> and the like.

    PATH is a log, or a folder for all logs below it; the other files of a folder are searched and listed, never
    written. The same thing has the same placeholder in all logs of a call, so name a submission as a whole. Records are
    never altered, which redact proves before it writes anything; what is private inside records is listed.

    Exit status: 0 nothing of what it looks for is left; 1 something would be replaced, is left in a record or another
    file, or was not searched; 2 a log could not be read or written. The answer ends with what is not replaced and may
    be private, masked; it does not count. Choose of it with --also.
    """
    from mlsub.commands.redact import document, run
    from mlsub.packing.manifest import Redact

    if write and output is not None:
        raise click.UsageError("--write replaces in place, -o writes copies. Give one of them.")
    with progress_bar() as progress:
        redactor = run.build_redactor(Redact(**words), also)
        redaction, problems = run.redact(paths, redactor, write=write, output=output, progress=progress)
    for problem in problems:
        tell(f"{problem}", "redact")
    if redaction is not None:
        Target("redact", format_).write(redaction, lambda: document.redaction_document(redaction))
    sys.exit(2 if redaction is None or problems else int(redaction.remains))
