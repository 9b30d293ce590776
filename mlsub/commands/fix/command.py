"""``mlsub fix``: mechanical repairs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from mlsub.commands import Command
from mlsub.commands.options import asks, check_rule_names, ready
from mlsub.commands.output import Target, format_options, tell, write_answer
from mlsub.commands.settings import on_command_line
from mlsub.io.show import plain
from mlsub.present import FORMATS
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.io import MlsubError
    from mlsub.workspace.places import Request


@click.command("fix", cls=Command, example="mlsub fix v5.1/ACME --write")
@asks()
@click.option("--write", is_flag=True, help="Make the repairs; otherwise only show them.")
@click.option("--select", "wanted", multiple=True, metavar="RULE", help="Repair only by this rule or prefix.")
@click.option("--truncate", is_flag=True, help="Shorten logs above --limit instead; every record stays.")
@click.option(
    "--limit",
    type=click.IntRange(100),
    default=100,
    show_default=True,
    metavar="MIB",
    help="Set the size above which --truncate shortens a log.",
)
@format_options(*FORMATS, "diff")
def command(asked: Request, write: bool, wanted: tuple[str, ...], truncate: bool, limit: int, format_: str) -> None:
    """Propose repairs that need no knowledge of the run; make them with --write.

    Repairs duplicate keys of equal value, spellings of the status, names of results, benchmark folders and
    descriptions, logs one folder too deep, byte order marks, CR LF, trailing blanks, and records that only repeat one
    of a key that must appear once. Changes no number, and nothing that would make the official verdict worse. Lists
    what it cannot repair, with what to do. --format diff is for git apply.

    --truncate removes framework output from the middle of logs above 100 MiB; the rules allow it only for those.
    Head, tail and every line with a record stay; one line says what was left out.

    Exit status: 0 nothing to repair, or all repaired; 1 repairs are proposed, or something is left to you; 2 could not.
    """
    from mlsub.commands.fix import document, run

    if truncate:
        if wanted or on_command_line("round", "usage") or format_ == "diff":
            raise click.UsageError("--truncate looks at sizes alone: leave out --select, --round, --usage and diff.")
        _truncate(asked.paths, limit, format_, write=write)
    check_rule_names(wanted)
    diff = format_ == "diff"
    with progress_bar() as progress:
        plans, diffs, problems = run.fix(asked.paths, ready(asked, progress), wanted, write=write, diff=diff)
    _tell(problems)
    if diff:
        for part in diffs:
            _put(part)
    answer = run.Fix(written=write, plans=tuple(plan.answer() for plan in plans))
    if not diff and (plans or format_ == "json"):
        Target("fix", format_).write(answer, lambda: document.fix_document(answer, [plan.hunks() for plan in plans]))
    left = any(plan.not_repaired or (plan.changes and not write) for plan in answer.plans)
    sys.exit(2 if problems else int(left))


def _truncate(paths: tuple[str, ...], limit: int, format_: str, *, write: bool) -> NoReturn:
    from mlsub.commands.fix import document
    from mlsub.packing.truncate import truncate_logs

    with progress_bar() as progress:
        truncation, problems = truncate_logs(paths, limit << 20, write=write, progress=progress)
    _tell(problems)
    if truncation is None:
        sys.exit(2)
    Target("fix", format_).write(truncation, lambda: document.truncation_document(truncation), "truncate")
    sys.exit(2 if problems else int(bool(truncation.logs) and not write))


def _tell(problems: list[MlsubError]) -> None:
    for problem in problems:
        tell(f"{problem}", "fix")


def _put(part: bytes) -> None:
    """Bytes as they are, for a program; safe to look at on a terminal."""
    if sys.stdout.isatty():
        for line in part.split(b"\n")[:-1]:
            click.echo(plain(line.decode("utf-8", "backslashreplace")))
    else:
        write_answer(part, "diff")
