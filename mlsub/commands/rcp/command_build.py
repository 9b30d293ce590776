"""``mlsub rcp build``: a file of reference points from runs of the reference implementation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mlsub.commands.asked import Asked, asks, progress_bar
from mlsub.commands.lazy import Command
from mlsub.commands.options import tell, write_output

if TYPE_CHECKING:
    from mlsub.commands.rcp.build import Built
    from mlsub.rounds import Round

_MAX_PROBLEMS = 20


@click.command(
    "build",
    cls=Command,
    example="mlsub rcp build reference/bert -o rcps_bert.json",
    short_help="A reference file from reference logs.",
)
@asks("RUNS...", rules=True)
@click.option("--output", "-o", metavar="FILE", required=True, type=click.Path(), help="rcps_<benchmark>.json")
@click.option("--name", metavar="NAME", help="Records are called NAME_<batch size>; else <benchmark>_ref_<batch size>.")
@click.option("--creator", metavar="TEXT", help="Who ran the reference; else submission_org of the logs.")
@click.option("--when", metavar="TEXT", help="When; else the day of the first run.")
@click.option("--platform", metavar="TEXT", help="On what; else submission_platform of the logs.")
@click.option(
    "--hyperparameter",
    "hyperparameters",
    metavar="KEY",
    multiple=True,
    help="Also write what the logs say of KEY; may be given again.",
)
@click.option("--append", metavar="FILE", type=click.Path(), help="Add to the records of this reference file.")
@click.option("--force", is_flag=True, help="Replace FILE; what it held is kept as FILE.~1~.")
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
) -> None:
    """Build a file of reference points from RUNS: logs of the reference implementation, or folders of them.

    Each batch size becomes a record and needs twice as many runs as an entry of the benchmark. The file is in the
    format of the official rcp_checker, and checked before it is written.

    Exit status: 0 written, 1 the runs are no reference yet, 2 could not be read or written.
    """
    from mlsub.commands.rcp.build import Choice, Provenance, build_records
    from mlsub.io.output import check_output
    from mlsub.workspace.runs import find_runs, one_benchmark, read_runs, round_of

    file = Path(output)
    with progress_bar() as progress:
        settings = asked.settings(progress)
        check_output(file, force=force)
        known = _known(append)
        files = find_runs(asked.paths)
        found = round_of(files, settings)
        logs = read_runs(files, found, settings)
    _end_if_mixed({str(log.benchmark) for log in logs if log.benchmark})
    benchmark = one_benchmark(logs, found)
    choice = Choice(name, hyperparameters)
    built = build_records(logs, benchmark, found, Provenance(creator, when, platform), choice)
    _write(file, built, known, benchmark, found, force=force)


def _end_if_mixed(benchmarks: set[str]) -> None:
    """End with status 1 where the runs, all of which could be read, are of several benchmarks."""
    if len(benchmarks) > 1:
        tell(f"the runs are of {len(benchmarks)} benchmarks ({', '.join(sorted(benchmarks)[:5])}); name those of one")
        tell("no file was written")
        sys.exit(1)


def _known(append: str | None) -> dict[str, Any]:
    """The records of the file to add to."""
    if append is None:
        return {}
    import json

    from mlsub.convergence.filecheck import check_reference_file
    from mlsub.io.errors import MlsubError

    problems = [problem for problem in check_reference_file(Path(append)) if problem.severity == "error"]
    if problems:
        where = f"{append}: {problems[0].record}" if problems[0].record else append
        raise MlsubError(f"{where}: {problems[0].message}. Only a whole reference file can be added to.")
    content = json.loads(Path(append).read_bytes())
    return dict(content)


def _write(file: Path, built: Built, known: dict[str, Any], name: str, round_: Round, *, force: bool) -> None:
    import json

    from mlsub.commands.rcp.build import against_schema
    from mlsub.commands.rcp.build_text import summary
    from mlsub.convergence.filecheck import check_records

    twice = [f"{record} is in the file already" for record in built.records if record in known]
    records = {**known, **built.records}
    problems = [*built.problems, *twice]
    if not problems:
        broken = [f"{p.record or 'the file'}: {p.message}" for p in check_records(records) if p.severity == "error"]
        problems = broken or against_schema(records)
    for problem in problems[:_MAX_PROBLEMS]:
        tell(problem)
    if problems:
        more = len(problems) - _MAX_PROBLEMS
        tell("no file was written" + (f"; {more} more problems" if more > 0 else ""))
        sys.exit(1)
    write_output(file, (json.dumps(records, indent=2) + "\n").encode("ascii"), force=force)
    sys.stdout.write(summary(file, built, name, round_))
