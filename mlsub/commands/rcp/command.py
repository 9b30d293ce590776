"""``mlsub rcp``: the reference convergence points, and what they mean for runs to come."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from mlsub.commands import LazyGroup
from mlsub.commands.options import asks, benchmark_options, check, check_own_rules, rcp_points, ready
from mlsub.commands.output import Target, format_option, output_options, tell, write_output
from mlsub.commands.settings import setting
from mlsub.io.look import content_digest
from mlsub.io.write import check_output
from mlsub.present import CHART_FORMATS
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.convergence import Cutoff
    from mlsub.rounds import Round
    from mlsub.workspace.places import Request

#: Why runs do not make a reference: so many reasons are listed.
_MAX_PROBLEMS = 20
_USAGE = setting("--usage", metavar="USAGE", help="Set training or hpc.")


@click.group("rcp", cls=LazyGroup)
def command() -> None:
    """Show and build reference convergence points (RCP), which mlsub check compares Closed results with."""


@command.command(
    "show",
    example="mlsub rcp show llama31_8b --round 5.1",
    short_help="Show the reference points of a benchmark.",
)
@benchmark_options(_USAGE, rcp_points)
@output_options("rcp show", CHART_FORMATS)
def show(benchmark: str, round_: Round, points: Cutoff, target: Target) -> None:
    """Show the reference points of BENCHMARK: by batch size the mean of the reference and the least that is accepted.

    Exit status: 0, or 2 where there are none.
    """
    from mlsub.commands.rcp import document, run
    from mlsub.convergence.curves import reference_table

    table = reference_table(round_, benchmark, points)
    target.write(run.Points(reference=table), lambda: document.points_document(table))


@command.command(
    "plan",
    example="mlsub rcp plan llama31_8b --batch-size 64",
    short_help="Say what a batch size needs, before any run.",
)
@benchmark_options(_USAGE, rcp_points)
@click.option(
    "--batch-size", type=click.FloatRange(min=1), required=True, help="Set the global batch size of the runs."
)
@output_options("rcp plan", CHART_FORMATS)
def plan(benchmark: str, round_: Round, points: Cutoff, batch_size: float, target: Target) -> None:
    """Say what runs of BENCHMARK at a batch size need, before any of them has run.

    Exit status: 0, 1 where no reference covers the batch size, 2 where there is no reference at all.
    """
    from mlsub.commands.rcp import document, run

    needed = run.plan(round_, benchmark, batch_size, points)
    target.write(needed, lambda: document.plan_document(needed))
    sys.exit(1 if needed.plan.minimum is None else 0)


@command.command(
    "margin",
    example="mlsub rcp margin v5.1/ACME",
    short_help="Show how near the limit existing runs are.",
)
@asks(rules=True, convergence=True)
@output_options("rcp margin", CHART_FORMATS)
def margin(asked: Request, target: Target) -> None:
    """Show how near the limit of the convergence test existing results are.

    For each Closed entry: the distance of its mean to the least that is accepted, what the scaling costs, and the
    chance that as many further runs as an entry has, from the same distribution, pass, with an interval that shows how
    little so few runs can say. A folder of only the first runs is enough.

    Exit status: 0 all pass, 1 an entry fails or has no reference, 2 no entry could be compared with a reference. An
    entry with fewer runs than it needs counts as it stands so far.
    """
    from mlsub.commands.rcp import document, run

    reports = check(asked)
    margins = run.find_margins(reports, check_own_rules(asked.overlay), asked.convergence.reference)
    if margins.reports or target.format == "json":
        target.write(margins, lambda: document.margins_document(margins))
    problems = list(run.unchecked(reports))
    for line in problems or ["no entry can be compared with a reference"] * (not margins.entries):
        tell(line, "rcp margin")
    if not margins.entries:
        sys.exit(2)
    sys.exit(1 if problems or not all(margin.stands for margin in margins.entries) else 0)


@command.command(
    "build",
    example="mlsub rcp build reference/retinanet --round 5.1 -o rcps_retinanet.json",
    short_help="Build a reference file from reference logs.",
)
@asks("RUNS...", rules=True)
@click.option(
    "--output", "-o", metavar="FILE", required=True, type=click.Path(), help="Write to FILE: rcps_<benchmark>.json."
)
@click.option("--name", metavar="NAME", help="Name records NAME_<batch size>; otherwise <benchmark>_ref_<batch size>.")
@click.option(
    "--hyperparameter",
    "hyperparameters",
    metavar="KEY",
    multiple=True,
    help="Also write the logged value of KEY; repeatable.",
)
@click.option("--reference", is_flag=True, help="Take runs of any file name that are no submissions, and say why.")
@click.option("--append", metavar="FILE", type=click.Path(), help="Add to the records of this reference file.")
@click.option("--force", is_flag=True, help="Replace FILE; the earlier file is kept as FILE.~1~.")
@format_option
def build_command(
    asked: Request,
    output: str,
    name: str | None,
    hyperparameters: tuple[str, ...],
    reference: bool,
    append: str | None,
    force: bool,
    format_: str,
) -> None:
    """Build a file of reference points from RUNS: logs of the reference implementation, or folders of them.

    Each batch size becomes a record and needs twice as many runs as an entry of the benchmark. The file is in the
    format of the official rcp_checker, and checked before it is written.

    --reference takes runs as the reference implementation writes them: files of any name, also in folders below,
    records without time_ms, and other names of the benchmark. A run converges at its first evaluation that reaches the
    target. What makes a run no submission, and a batch size with too few runs, are listed; the file has the SHA-256 of
    each log.

    Exit status: 0 written, 1 the runs do not make a reference yet, 2 could not be read or written.
    """
    from mlsub.commands.rcp import build, document
    from mlsub.workspace import runs

    file = Path(output)
    with progress_bar() as progress:
        context = ready(asked, progress)
        check_output(file, force=force)
        known = build.known_records(Path(append)) if append is not None else {}
        files = runs.find_runs(asked.paths, any_name=reference)
        round_ = runs.round_of(files, context.request)
        logs = runs.read_runs(files, round_, context)
        digests = None
        if reference:
            logs = tuple(build.reference_run(file, log, round_) for file, log in zip(files, logs, strict=True))
            digests = {log.path: (content_digest(file) or b"").hex() for file, log in zip(files, logs, strict=True)}
    names = sorted({str(log.benchmark) for log in logs if log.benchmark})
    if len(names) > 1:
        _refuse([f"the runs are of {len(names)} benchmarks ({', '.join(names[:5])}); name those of one"])
    benchmark = runs.one_benchmark(logs, round_)
    built = build.build_records(logs, benchmark, round_, prefix=name, hyperparameters=hyperparameters, digests=digests)
    problems = build.problems_of(built, known)
    if problems:
        _refuse(problems)
    content = json.dumps({**known, **built.records}, indent=2) + "\n"
    write_output(file, content.encode("ascii"), force=force)
    answer = build.compare_with_installed(file, built, benchmark, round_)
    Target("rcp build", format_).write(answer, lambda: document.built_document(answer))


def _refuse(problems: Sequence[str]) -> NoReturn:
    """End with status 1, because the runs, all of which could be read, do not make a reference."""
    for problem in problems[:_MAX_PROBLEMS]:
        tell(problem)
    more = len(problems) - _MAX_PROBLEMS
    tell("no file was written" + (f"; {more} more problems" if more > 0 else ""))
    sys.exit(1)
