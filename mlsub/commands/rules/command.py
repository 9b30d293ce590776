"""``mlsub rules``: which rules there are, what they demand, and what changes between rounds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands.lazy import LazyGroup
from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from mlsub.commands.rules.document import Answer
    from mlsub.commands.rules.submission import SubmissionDiff
    from mlsub.rounds import Round

F = TypeVar("F", bound=Callable[..., Any])


def _usage_and_format(function: F) -> F:
    """--usage, --rules and --format."""
    usage = click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal.")
    form = click.option("--format", "format_", type=click.Choice(["text", "json", "markdown"]), default="text")
    rules = click.option("--rules", metavar="FILE", help="Rules of your own as well; see docs/overlay.md.")
    return usage(rules(form(function)))


_MODULES = {"explain": "mlsub.commands.explain.command", "keys": "mlsub.commands.rules.command_keys"}


@click.group("rules", cls=LazyGroup, modules=_MODULES)
def command() -> None:
    """Look the rules up: which there are, what they demand, what changes between rounds."""


@command.command("list")
@click.option("--round", "round_", metavar="ROUND", help="The benchmarks of one round.")
@click.option("--benchmark", metavar="BENCHMARK", help="The rounds of one benchmark; with --round: its rule ids.")
@click.option("--division", metavar="DIVISION", help="closed (as a rule) or open: whose targets or ids.")
@_usage_and_format
def list_(
    round_: str | None,
    benchmark: str | None,
    division: str | None,
    usage: str | None,
    rules: str | None,
    format_: str,
) -> None:
    """List rounds and benchmarks; with --round and --benchmark together the rule ids.

    Exit status: 0, or 2 for a name that there is not.
    """
    from mlsub.commands.output import overlay_of
    from mlsub.commands.rules.output import write

    overlay = overlay_of(rules)
    answer = _listed(round_, benchmark, division, usage, overlay)
    write(answer, format_)


def _listed(
    round_: str | None, benchmark: str | None, division: str | None, usage: str | None, overlay: str | None
) -> Answer:
    from mlsub.commands.rules.overview import Overview, round_line, round_lines, rule_ids_of
    from mlsub.rounds import names, usages

    if division and not (round_ or benchmark):
        raise MlsubError("--division asks for --round or --benchmark as well")
    of = names.find_division(division or "closed")
    if benchmark and round_:
        found, name = names.find_benchmark(benchmark, round_, usage, overlay)
        return rule_ids_of(found, of, name)
    if benchmark:
        found, name = names.find_benchmark(benchmark, None, usage, overlay)
        return Overview("benchmark", of, round_lines((found.usage,), name, overlay))
    if round_:
        asked = names.find_round(names.find_usage(usage or "training"), round_, overlay)
        return Overview("round", of, (round_line(asked),))
    among = (names.find_usage(usage),) if usage else usages()
    return Overview("rounds", of, round_lines(among, overlay=overlay))


@command.command("show")
@click.argument("benchmark")
@click.option("--round", "round_", metavar="ROUND", help="The newest round with this benchmark, as a rule.")
@click.option("--division", metavar="DIVISION", default="closed", show_default=True, help="closed or open.")
@_usage_and_format
def show(benchmark: str, round_: str | None, division: str, usage: str | None, rules: str | None, format_: str) -> None:
    """Show what a round demands of the logs of BENCHMARK, key by key.

    Exit status: 0, or 2 for a name that there is not.
    """
    from mlsub.commands.output import overlay_of
    from mlsub.commands.rules.output import write
    from mlsub.commands.rules.table import rule_table
    from mlsub.rounds.names import find_benchmark, find_division

    overlay = overlay_of(rules)
    found, name = find_benchmark(benchmark, round_, usage, overlay)
    division = find_division(division)
    write(rule_table(found, division, name), format_)


@command.command("diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--benchmark", metavar="BENCHMARK", help="Only this benchmark.")
@click.option("--division", metavar="DIVISION", help="Only this division.")
@click.option("--submission", type=click.Path(), metavar="PATH", help="Also judge the logs of PATH by both rounds.")
@_usage_and_format
def diff(
    old: str,
    new: str,
    benchmark: str | None,
    division: str | None,
    submission: str | None,
    usage: str | None,
    rules: str | None,
    format_: str,
) -> None:
    """Show what changes from round OLD to round NEW; with --submission, what a submission has to change.

    Exit status: 0; with --submission 1 if something must be changed before NEW accepts it; 2 for a name that there is
    not, or a submission that could not be checked.
    """
    from mlsub.commands.output import overlay_of
    from mlsub.commands.rules.diff import round_diff
    from mlsub.commands.rules.output import write

    overlay = overlay_of(rules)
    before, after, benchmarks, divisions = _compared(old, new, benchmark, division, usage, overlay)
    if submission is None:
        answer: Answer = round_diff(before, after, benchmarks, divisions)
    else:
        answer = _judged(submission, before, after, benchmarks, divisions)
    write(answer, format_)
    sys.exit(1 if getattr(answer, "must_change", False) else 0)


def _compared(
    old: str, new: str, benchmark: str | None, division: str | None, usage: str | None, overlay: str | None
) -> tuple[Round, Round, tuple[str, ...] | None, tuple[str, ...]]:
    from mlsub.divisions import DIVISIONS
    from mlsub.rounds import names

    benchmarks = None
    if benchmark is not None:
        newest, name = names.find_benchmark(benchmark, None, usage, overlay)
        usage, benchmarks = newest.usage, (name,)
    of = names.find_usage(usage or "training")
    before, after = names.find_round(of, old, overlay), names.find_round(of, new, overlay)
    if benchmarks and not any(name in (*before.benchmarks, *after.benchmarks) for name in benchmarks):
        raise MlsubError(f"neither {of} {before.name} nor {after.name} has {benchmarks[0]}")
    return before, after, benchmarks, (names.find_division(division),) if division else tuple(DIVISIONS)


def _judged(
    path: str, before: Round, after: Round, benchmarks: tuple[str, ...] | None, divisions: tuple[str, ...]
) -> SubmissionDiff:
    from mlsub.commands.rules.submission import submission_diff

    return submission_diff(path, before, after, benchmarks, divisions)
