"""``mlsub rcp build``: a file of reference points from runs of the reference implementation."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from mlsub.commands.asked import Asked, asks, progress_bar
from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, format_option, tell, write_output

_MAX_PROBLEMS = 20


@click.command(
    "build",
    cls=Command,
    example="mlsub rcp build reference/bert -o rcps_bert.json",
    short_help="Build a reference file from reference logs.",
)
@asks("RUNS...", rules=True)
@click.option(
    "--output", "-o", metavar="FILE", required=True, type=click.Path(), help="Write to FILE: rcps_<benchmark>.json."
)
@click.option("--name", metavar="NAME", help="Call records NAME_<batch size>; else <benchmark>_ref_<batch size>.")
@click.option("--creator", metavar="TEXT", help="Who ran the reference; else submission_org of the logs.")
@click.option("--when", metavar="TEXT", help="When; else the day of the first run.")
@click.option("--platform", metavar="TEXT", help="On what; else submission_platform of the logs.")
@click.option(
    "--hyperparameter",
    "hyperparameters",
    metavar="KEY",
    multiple=True,
    help="Also write the logged value of KEY; may be repeated.",
)
@click.option("--append", metavar="FILE", type=click.Path(), help="Add to the records of this reference file.")
@click.option("--force", is_flag=True, help="Replace FILE; what it held is kept as FILE.~1~.")
@format_option
def command(
    asked: Asked,
    output: str,
    name: str | None,
    creator: str | None,
    when: str | None,
    platform: str | None,
    hyperparameters: tuple[str, ...],
    append: str | None,
    force: bool,
    format_: str,
) -> None:
    """Build a file of reference points from RUNS: logs of the reference implementation, or folders of them.

    Each batch size becomes a record and needs twice as many runs as an entry of the benchmark. The file is in the
    format of the official rcp_checker, and checked before it is written.

    Exit status: 0 written, 1 the runs do not make a reference yet, 2 could not be read or written.
    """
    from mlsub.commands.rcp.build import Choice, build_records, compared, known_records, problems_of
    from mlsub.commands.rcp.document import built_document
    from mlsub.io.output import check_output
    from mlsub.workspace.runs import find_runs, one_benchmark, read_runs, round_of

    file = Path(output)
    with progress_bar() as progress:
        settings = asked.settings(progress)
        check_output(file, force=force)
        known = known_records(Path(append)) if append is not None else {}
        files = find_runs(asked.paths)
        found = round_of(files, settings)
        logs = read_runs(files, found, settings)
    names = sorted({str(log.benchmark) for log in logs if log.benchmark})
    if len(names) > 1:
        _refuse([f"the runs are of {len(names)} benchmarks ({', '.join(names[:5])}); name those of one"])
    benchmark = one_benchmark(logs, found)
    choice = Choice(name=name, hyperparameters=hyperparameters, creator=creator, when=when, platform=platform)
    built = build_records(logs, benchmark, found, choice)
    problems = problems_of(built, known)
    if problems:
        _refuse(problems)
    content = json.dumps({**known, **built.records}, indent=2) + "\n"
    write_output(file, content.encode("ascii"), force=force)
    answer = compared(file, built, benchmark, found)
    Target("rcp build", format_).write(answer, lambda: built_document(answer))


def _refuse(problems: Sequence[str]) -> NoReturn:
    """End with status 1, because the runs, all of which could be read, do not make a reference."""
    for problem in problems[:_MAX_PROBLEMS]:
        tell(problem)
    more = len(problems) - _MAX_PROBLEMS
    tell("no file was written" + (f"; {more} more problems" if more > 0 else ""))
    sys.exit(1)
