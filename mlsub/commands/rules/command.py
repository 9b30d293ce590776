"""``mlsub rules``: which rules there are, what they demand, and what changes between rounds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands.lazy import LazyGroup
from mlsub.commands.options import Target, output_options
from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from mlsub.rounds import Round

F = TypeVar("F", bound=Callable[..., Any])


def _usage_and_rules(function: F) -> F:
    """--usage and --rules."""
    usage = click.option("--usage", metavar="USAGE", help="training, hpc or rehearsal.")
    rules = click.option("--rules", metavar="FILE", help="Rules of your own as well; see docs/overlay.md.")
    return usage(rules(function))


def _one_benchmark(function: F) -> F:
    """BENCHMARK with --round, --division, --usage and --rules."""
    benchmark = click.argument("benchmark")
    round_ = click.option("--round", "round_", metavar="ROUND", help="The newest round with this benchmark, as a rule.")
    division = click.option(
        "--division", metavar="DIVISION", default="closed", show_default=True, help="closed or open."
    )
    return benchmark(round_(division(_usage_and_rules(function))))


@click.group("rules", cls=LazyGroup, modules={"explain": "mlsub.commands.explain.command"})
def command() -> None:
    """Look the rules up: which there are, what they demand, what changes between rounds."""


@command.command("list", example="mlsub rules list --round 5.1")
@click.option("--round", "round_", metavar="ROUND", help="The benchmarks of one round.")
@click.option("--benchmark", metavar="BENCHMARK", help="The rounds of one benchmark; with --round: its rule ids.")
@click.option("--division", metavar="DIVISION", help="closed (as a rule) or open: whose targets or ids.")
@_usage_and_rules
@output_options("rules list")
def list_(
    round_: str | None,
    benchmark: str | None,
    division: str | None,
    usage: str | None,
    rules: str | None,
    target: Target,
) -> None:
    """List rounds and benchmarks; with --round and --benchmark together the rule ids.

    Exit status: 0, or 2 for an unknown name.
    """
    from mlsub.commands.asked import overlay_of
    from mlsub.commands.rules.document import ids_document, overview_document
    from mlsub.commands.rules.overview import Overview, round_line, round_lines, rule_ids_of
    from mlsub.rounds import names, usages

    overlay = overlay_of(rules)
    if division and not (round_ or benchmark):
        raise MlsubError("--division asks for --round or --benchmark as well")
    of = names.find_division(division or "closed")
    if benchmark and round_:
        found, name = names.find_benchmark(benchmark, round_, usage, overlay)
        ids = rule_ids_of(found, of, name)
        target.write(ids, lambda: ids_document(ids), "ids")
        return
    if benchmark:
        found, name = names.find_benchmark(benchmark, None, usage, overlay)
        answer = Overview(view="benchmark", division=of, rounds=round_lines((found.usage,), name, overlay))
    elif round_:
        asked = names.find_round(names.find_usage(usage or "training"), round_, overlay)
        answer = Overview(view="round", division=of, rounds=(round_line(asked),))
    else:
        among = (names.find_usage(usage),) if usage else usages()
        answer = Overview(view="rounds", division=of, rounds=round_lines(among, overlay=overlay))
    target.write(answer, lambda: overview_document(answer))


@command.command("show", example="mlsub rules show bert --round 5.1")
@_one_benchmark
@output_options("rules show")
def show(
    benchmark: str, round_: str | None, division: str, usage: str | None, rules: str | None, target: Target
) -> None:
    """Show what a round demands of the logs of BENCHMARK, key by key.

    Exit status: 0, or 2 for an unknown name.
    """
    from mlsub.commands.rules.document import table_document
    from mlsub.commands.rules.table import rule_table

    table = rule_table(*_found(benchmark, round_, division, usage, rules))
    target.write(table, lambda: table_document(table))


@command.command("keys", example="mlsub rules keys bert --round 5.1")
@_one_benchmark
@output_options("rules keys")
def keys(
    benchmark: str, round_: str | None, division: str, usage: str | None, rules: str | None, target: Target
) -> None:
    """Show what a training code of BENCHMARK must log and may log, in the order of a run.

    Exit status: 0, or 2 for an unknown name.
    """
    from mlsub.commands.rules.document import keys_document
    from mlsub.commands.rules.keys import key_list

    found = key_list(*_found(benchmark, round_, division, usage, rules))
    target.write(found, lambda: keys_document(found))


def _found(
    benchmark: str, round_: str | None, division: str, usage: str | None, rules: str | None
) -> tuple[Round, str, str]:
    """The round, the division and the benchmark that were asked for."""
    from mlsub.commands.asked import overlay_of
    from mlsub.rounds.names import find_benchmark, find_division

    found, name = find_benchmark(benchmark, round_, usage, overlay_of(rules))
    return found, find_division(division), name


@command.command("diff", example="mlsub rules diff 5.0 5.1")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--benchmark", metavar="BENCHMARK", help="Only this benchmark.")
@click.option("--division", metavar="DIVISION", help="Only this division.")
@click.option("--submission", type=click.Path(), metavar="PATH", help="Also judge the logs of PATH by both rounds.")
@_usage_and_rules
@output_options("rules diff")
def diff(
    old: str,
    new: str,
    benchmark: str | None,
    division: str | None,
    submission: str | None,
    usage: str | None,
    rules: str | None,
    target: Target,
) -> None:
    """Show what changes from round OLD to round NEW; with --submission, what a submission has to change.

    Exit status: 0; with --submission 1 if something must be changed before NEW accepts it; 2 for an unknown name, or a
    submission that could not be checked.
    """
    from mlsub.commands.asked import overlay_of
    from mlsub.commands.rules.diff import round_diff
    from mlsub.commands.rules.document_diff import round_document, submission_document
    from mlsub.commands.rules.submission import submission_diff

    asked = _compared(old, new, benchmark, division, usage, overlay_of(rules))
    if submission is None:
        answer = round_diff(*asked)
        target.write(answer, lambda: round_document(answer))
        return
    judged = submission_diff(submission, *asked)
    target.write(judged, lambda: submission_document(judged), "submission")
    sys.exit(1 if judged.must_change else 0)


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
