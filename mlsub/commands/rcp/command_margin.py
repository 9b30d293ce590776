"""``mlsub rcp margin``: how near the limit of the convergence test the results at hand are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from mlsub.commands.options import convergence_options, path_and_round, run_check

if TYPE_CHECKING:
    from mlsub.convergence.chance import Bootstrap, Chance
    from mlsub.convergence.margin import Margin, Untested
    from mlsub.submission.report import Report

#: The report, how its entries stand, and those that are not tested.
Group = tuple["Report", list["Margin"], list["Untested"]]

#: Raised where a field is renamed or goes; a field that comes does not raise it.
SCHEMA = 2
_HOW = {
    "exact": "a reference point",
    "interpolated": "between two reference points",
    "smaller-batch": "below the smallest reference point, so that point counts",
}
_NO_FACTOR = "-"


@click.command("margin", short_help="How near the limit runs at hand are.")
@path_and_round
@convergence_options
@click.option("--runs", type=click.IntRange(1, 200), metavar="N", help="Of how many further runs the chance is.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    paths: tuple[str, ...],
    round_: str | None,
    usage: str | None,
    rules: str | None,
    jobs: int | None,
    rcp: str | None,
    rcp_points: str,
    train_samples: bool,
    runs: int | None,
    seed: int,
    format_: str,
) -> None:
    """Show how near the limit of the convergence test results at hand are.

    For each Closed entry: the distance of its mean to the least that is accepted, what the scaling costs, and the
    chance that N further runs (as many as an entry has, if not told) from the same distribution pass, with an interval
    for what so few runs can tell. A folder that holds only the first runs will do.

    Exit status: 0 all pass, 1 an entry fails or has no reference, 2 nothing could be held against a reference. An entry
    with fewer runs than it needs counts as it stands so far.
    """
    from mlsub.commands.output import overlay_of
    from mlsub.convergence.chance import Bootstrap

    overlay = overlay_of(rules)
    reports = run_check(paths, round_, usage, jobs, rules, rcp, train_samples=train_samples, points=rcp_points)
    bootstrap = Bootstrap(seed)
    groups = [_group(report, overlay, bootstrap, runs, rcp) for report in reports if report.entries]
    if format_ == "json":
        sys.stdout.write(_document(groups, bootstrap))
    else:
        _print(groups, bootstrap)
    unchecked = _tell_unchecked(reports)
    sys.exit(_status([margin for _, margins, _ in groups for margin in margins], unchecked))


def _group(report: Report, overlay: str | None, bootstrap: Bootstrap, runs: int | None, own: str | None) -> Group:
    from mlsub.convergence.margin import benchmark_held, margin_of, untested
    from mlsub.rounds import get_round

    of = get_round(str(report.usage), str(report.round), overlay)
    held = [entry for entry in report.entries if entry.rcp.verdict != "not-required"]
    margins = [
        margin_of(entry, benchmark_held(report, entry, of), of, bootstrap, further=runs, own=own) for entry in held
    ]
    return report, margins, [untested(entry, of) for entry in report.entries if entry not in held]


def _status(margins: Sequence[Margin], unchecked: bool) -> int:
    if not margins:
        return 2
    return 1 if unchecked or not all(margin.stands for margin in margins) else 0


def _tell_unchecked(reports: Sequence[Report]) -> bool:
    """Say on standard error what could not be looked at; whether there was any."""
    from mlsub.findings import Verdict
    from mlsub.workspace import in_one_line

    told = []
    for report in reports:
        if report.official is Verdict.NOT_CHECKED:
            for finding in report.findings:
                if finding.rejects:
                    told.append(in_one_line(finding))
        elif not report.entries:
            told.append("a log by itself is no entry; name the folder that holds it")
    for line in told:
        click.echo(_plain(f"mlsub rcp margin: {line}"), err=True)
    if not told and all(entry.rcp.verdict == "not-required" for report in reports for entry in report.entries):
        click.echo("mlsub rcp margin: no entry is held against a reference", err=True)
    return bool(told)


def _document(groups: Sequence[Group], bootstrap: Bootstrap) -> str:
    """The answer as JSON, plain ASCII."""
    import msgspec

    from mlsub.io.version import VERSION

    content = {
        "schema": SCHEMA,
        "mlsub": VERSION,
        "kind": "rcp-margin",
        "bootstrap": msgspec.to_builtins(bootstrap),
        "reports": [
            {
                "usage": report.usage,
                "round": report.round,
                "root": report.root,
                "entries": msgspec.to_builtins(margins),
                "untested": msgspec.to_builtins(untested),
            }
            for report, margins, untested in groups
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _print(groups: Sequence[Group], bootstrap: Bootstrap) -> None:
    import io

    if isinstance(sys.stdout, io.TextIOWrapper):
        # An output that knows few characters costs those characters, never the answer.
        sys.stdout.reconfigure(errors="backslashreplace")
    for number, group in enumerate(groups):
        if number:
            sys.stdout.write("\n")
        sys.stdout.write("\n".join(_plain(line) for line in _lines(*group, bootstrap)) + "\n")


def _lines(
    report: Report, margins: Sequence[Margin], untested: Sequence[Untested], bootstrap: Bootstrap
) -> Iterator[str]:
    read_off = f" (read off the folder {report.round_from})" if report.round_from is not None else ""
    yield f"{report.usage} v{report.round}{read_off}: {report.root}"
    if len(margins) > 1:
        yield ""
        yield from _overview(report, margins)
    for margin in margins:
        yield ""
        yield from _block(report, margin)
    if untested:
        yield ""
    for entry in untested:
        yield f"not tested: {_name(report, entry)}: {entry.why}"
    yield ""
    yield _summary(margins, untested)
    if any(margin.chance for margin in margins):
        yield (
            f"chance: studentised bootstrap of the runs at hand, {bootstrap.resamples} resamples under "
            f"{bootstrap.worlds} draws of mean and spread, seed {bootstrap.seed}"
        )


def _overview(report: Report, margins: Sequence[Margin]) -> list[str]:
    """One row an entry, those nearest to the limit first."""
    from mlsub.present.columns import columns

    heads = ("entry", "verdict", "to the limit", "scaling", "expected", "chance", "")
    order = sorted(margins, key=lambda margin: (margin.percent is not None, margin.percent or 0.0))
    rows = [
        (
            _plain(_name(report, margin)),
            margin.verdict,
            "-" if margin.percent is None else f"{margin.percent:+.2f} %",
            _factor(margin.scaling),
            _factor(margin.expected_scaling),
            "-" if margin.chance is None else _value(margin.chance),
            "" if margin.chance is None else _interval(margin.chance),
        )
        for margin in order
    ]
    return [line.rstrip() for line in columns(rows, heads, width=140, caps=(64,))]


def _block(report: Report, margin: Margin) -> Iterator[str]:
    from mlsub.convergence.words import number

    runs = f"{margin.runs} of {margin.needed} runs" if margin.runs < margin.needed else f"{margin.runs} runs"
    yield f"{_name(report, margin)}: {margin.verdict}, {runs}"
    if margin.batch_size is not None:
        how = f", {_HOW[margin.how]}" if margin.how in _HOW else ""
        yield f"  batch size:  {number(margin.batch_size)}{how}"
    if margin.mean is not None:
        kind = "olympic mean" if margin.olympic else "plain mean, too few runs for an olympic one"
        yield f"  mean:        {number(margin.mean)} {margin.unit} ({kind}; {margin.converged} converged)"
    if margin.limit is not None:
        yield (
            f"  reference:   a mean of {number(margin.reference_mean)} {margin.unit}, "
            f"stdev {number(margin.reference_stdev)}"
        )
        yield f"  limit:       {number(margin.limit)} {margin.unit}{_distance(margin)}"
    if margin.published is not None:
        yield f"  time:        {_time(margin)}"
    if margin.chance is not None:
        yield f"  chance:      {_chance(margin.chance)} that {_runs(margin.chance.runs)} pass"
    if margin.completion is not None:
        lacking = margin.needed - margin.runs
        yield f"  to complete: {_share(margin.completion)} that the entry passes with {_runs(lacking)}"
    for note in margin.notes:
        yield f"  note:        {note}"


def _distance(margin: Margin) -> str:
    from mlsub.convergence.words import number

    if margin.distance is None:
        return ""
    if margin.distance == 0:
        return "; the mean is the limit itself"
    side = "above" if margin.distance > 0 else "below"
    part = "" if margin.percent is None else f" ({abs(margin.percent):.2f} %)"
    return f"; the mean lies {number(abs(margin.distance))} {margin.unit}{part} {side}"


def _time(margin: Margin) -> str:
    so_far = " so far" if margin.verdict == "open" else ""
    text = f"{margin.published:.4f} minutes{so_far}"
    factor, expected = _factor(margin.scaling), _factor(margin.expected_scaling)
    text += (
        ", not scaled" if factor == _NO_FACTOR else f", {margin.unscaled:.4f} unscaled times {factor} (scaling.json)"
    )
    if expected != factor and margin.expected is not None:
        why = "no factor" if expected == _NO_FACTOR else f"a factor of {expected}"
        text += f"; expected {margin.expected:.4f}, for the convergence test gives {why}"
    return text


def _factor(factor: float) -> str:
    return _NO_FACTOR if factor == 1 else f"{factor:.6f}"


def _runs(count: int) -> str:
    return f"{count} further run{'s' * (count != 1)}"


def _chance(chance: Chance) -> str:
    return f"{_value(chance)} ({_interval(chance)})"


def _value(chance: Chance) -> str:
    return f"{100 * chance.value:.0f} %" if chance.certain else _share(chance.value)


def _interval(chance: Chance) -> str:
    if chance.low is None or chance.high is None:
        return "no interval"
    low, high = _share(chance.low), _share(chance.high)
    return f"90 % interval: {low} to {high}" if low != high else f"90 % interval: all {low}"


def _share(part: float) -> str:
    """A chance in per cent; never 0 or 100 % where the bootstrap merely did not see the other side."""
    if part > 0.995:
        return "over 99 %"
    return "under 1 %" if part < 0.005 else f"{100 * part:.0f} %"


def _summary(margins: Sequence[Margin], untested: Sequence[Untested]) -> str:
    counts: dict[str, int] = {}
    for margin in margins:
        counts[margin.verdict] = counts.get(margin.verdict, 0) + 1
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    held = f"{len(margins)} entr{'y' if len(margins) == 1 else 'ies'} held against a reference"
    rest = f"; {len(untested)} not tested" if untested else ""
    return f"{held}{': ' if told else ''}{told}{rest}"


def _name(report: Report, entry: Margin | Untested) -> str:
    return report.root.rpartition("/")[2] if entry.path == "." else entry.path


def _plain(text: str) -> str:
    from mlsub.io.plain import plain

    return plain(text)
