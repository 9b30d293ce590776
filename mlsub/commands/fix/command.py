"""``mlsub fix``: mechanical repairs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from mlsub.commands.options import tell

if TYPE_CHECKING:
    from mlsub.commands.fix.plan import Plan


@click.command("fix")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("--write", is_flag=True, help="Make the repairs; without it, show them as a diff.")
@click.option("--select", "wanted", multiple=True, metavar="RULE", help="Repair by this rule or prefix alone.")
@click.option("--truncate", is_flag=True, help="Instead, shorten logs above --limit, every record kept.")
@click.option("--limit", type=click.IntRange(100), default=100, show_default=True, metavar="MIB", help="Size in MiB.")
@click.option("--round", "round_", metavar="ROUND", help="1.0, 1.0.0 or v1.0; else read off the folders.")
@click.option("--usage", metavar="USAGE", help="training or rehearsal; else read off the folders.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read logs.")
@click.option("--format", "format_", type=click.Choice(["text", "json", "diff"]), default="text", show_default=True)
def command(
    paths: tuple[str, ...],
    write: bool,
    wanted: tuple[str, ...],
    truncate: bool,
    limit: int,
    round_: str | None,
    usage: str | None,
    jobs: int | None,
    format_: str,
) -> None:
    """Propose repairs that need no knowledge of the run, and with --write make them.

    Duplicate keys of equal value, spellings of the status, names of results, benchmark folders and descriptions,
    byte order marks, CR LF, trailing blanks, and records that only repeat one of a key that appears once. No number is
    ever changed, and nothing is done that would make the official verdict worse. --format diff is for git apply.

    --truncate leaves framework output out of the middle of logs above 100 MiB, which the rules allow for those alone.
    Head and tail stay, and every line with a record; one line says what was left out.

    Exit status: 0 nothing to repair, or all repaired; 1 repairs are proposed, or something is left to you; 2 could not.
    """
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from mlsub.commands.fix.apply import apply
    from mlsub.commands.fix.plan import plan_for
    from mlsub.commands.fix.words import as_diff
    from mlsub.io.errors import MlsubError
    from mlsub.rules.explain import suggestion
    from mlsub.workspace import Settings

    if truncate:
        from mlsub.commands.fix.oversized import truncate_logs

        if wanted or round_ or usage or format_ == "diff":
            raise click.UsageError("--truncate looks at sizes alone: leave out --select, --round, --usage and diff.")
        truncate_logs(paths, limit, format_, write=write)
    hints = [hint for hint in map(suggestion, wanted) if hint is not None]
    if hints:
        raise click.UsageError(hints[0])
    plans: list[Plan] = []
    diffs: list[bytes] = []
    failed = 0
    with TemporaryDirectory(prefix="mlsub-") as work:
        for number, path in enumerate(dict.fromkeys(paths)):
            try:
                Path(work, str(number)).mkdir()
                plan = plan_for(path, Settings(round_, usage, jobs), wanted, Path(work, str(number)))
                plans.append(plan)
                # Before anything moves: a folder that is renamed is told file by file.
                diffs += as_diff(plan) if format_ == "diff" else ()
                problems = apply(plan) if write else []
            except MlsubError as error:
                problems = [error]
            except OSError as error:
                problems = [MlsubError(f"{path} cannot be looked at: {error.strerror or error}. Nothing more is done.")]
            for problem in problems:
                tell(f"{problem}", "fix")
            failed += len(problems)
        _print(plans, diffs, format_, written=write)
    _end(plans, failed, write)


def _end(plans: list[Plan], failed: int, write: bool) -> NoReturn:
    if failed:
        sys.exit(2)
    left = any(plan.untouched or (plan.changes and not write) for plan in plans)
    sys.exit(1 if left else 0)


def _print(plans: list[Plan], diffs: list[bytes], format_: str, *, written: bool) -> None:
    from mlsub.commands.fix.words import as_json, as_text
    from mlsub.present.report import console

    if format_ == "json":
        sys.stdout.write(as_json(plans, written=written))
        return
    if format_ == "diff":
        for part in diffs:
            _put(part)
        return
    out = console()
    for plan in plans:
        for line in as_text(plan, written=written):
            out.print(line, style="green" if line.startswith("    +") else "red" if line.startswith("    -") else None)


def _put(part: bytes) -> None:
    """Bytes as they are, for a program; safe to look at on a terminal."""
    from mlsub.io.plain import plain

    if sys.stdout.isatty():
        for line in part.split(b"\n")[:-1]:
            click.echo(plain(line.decode("utf-8", "backslashreplace")))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(part)
