"""``mlsub rules``: which rules there are, what they demand, and what changes between rounds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands import LazyGroup
from mlsub.commands.options import benchmark_options, check_own_rules
from mlsub.commands.output import CheckCommand, Target, check_output_options, output_options
from mlsub.commands.settings import setting
from mlsub.io import MlsubError

if TYPE_CHECKING:
    from mlsub.rounds import Round

F = TypeVar("F", bound=Callable[..., Any])


def _usage_and_rules(function: F) -> F:
    """--usage and --rules; the function gets the path of the rules as ``overlay``."""
    usage = setting("--usage", metavar="USAGE", help="Set training, hpc or rehearsal.")
    own = "Add rules of your own; see docs/overlay.md."
    rules = setting("--rules", "overlay", metavar="FILE", callback=lambda *of: check_own_rules(of[-1]), help=own)
    return usage(rules(function))


def _division(**words: Any) -> Callable[[F], F]:
    """--division, as its name is written."""

    def found(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
        from mlsub.rounds import known_division

        return None if text is None else known_division(text)

    return click.option("--division", metavar="DIVISION", callback=found, **words)


#: BENCHMARK, --round, --division, --usage and --rules.
_benchmark_options = benchmark_options(
    _division(default="closed", show_default=True, help="Choose closed or open."), _usage_and_rules
)


@click.group("rules", cls=LazyGroup)
def command() -> None:
    """Look the rules up: which there are, what they demand, what changes between rounds."""


@command.command("list", example="mlsub rules list --round 5.1")
@click.option("--round", "round_", metavar="ROUND", help="List the benchmarks of this round.")
@click.option("--benchmark", metavar="BENCHMARK", help="List the rounds of this benchmark.")
@click.option("--ids", is_flag=True, help="List every rule with its kind, severity, rounds and folder of mlsub/.")
@_division(help="Show the targets of closed (the default) or open.")
@_usage_and_rules
@output_options("rules list")
def list_(
    round_: str | None,
    benchmark: str | None,
    ids: bool,
    division: str | None,
    usage: str | None,
    overlay: str | None,
    target: Target,
) -> None:
    """List rounds and benchmarks; with --ids every rule.

    Exit status: 0, or 2 for an unknown name.
    """
    from mlsub.commands.rules import document, table

    if division and not (round_ or benchmark):
        raise MlsubError("--division needs --round or --benchmark")
    if round_ and benchmark:
        raise MlsubError("--round and --benchmark exclude each other; use mlsub rules show BENCHMARK --round ROUND")
    if ids and (round_ or benchmark or usage or overlay):
        raise MlsubError("--ids lists the rules of every round: leave out --round, --benchmark, --usage and --rules")
    if ids:
        every = table.every_rule()
        target.write(every, lambda: document.every_document(every), "every")
        return
    answer = table.overview(division or "closed", round_, benchmark, usage, overlay)
    target.write(answer, lambda: document.overview_document(answer))


@command.command("show", example="mlsub rules show llama31_8b --round 5.1")
@_benchmark_options
@output_options("rules show")
def show(benchmark: str, round_: Round, division: str, target: Target) -> None:
    """Show what a round demands of the logs of BENCHMARK, key by key.

    Exit status: 0, or 2 for an unknown name.
    """
    from mlsub.commands.rules import document, table

    answer = table.rule_table(round_, division, benchmark)
    target.write(answer, lambda: document.table_document(answer))


@command.command("keys", cls=CheckCommand, example="mlsub rules keys llama31_8b --check hyperparameters.yaml")
@_benchmark_options
@click.option("--check", "file", metavar="FILE", help="Check the hyperparameters in FILE, YAML or JSON, instead.")
@click.option("--template", is_flag=True, help="Write a file of hyperparameters to fill in, YAML, instead.")
@check_output_options("rules keys")
def keys_command(
    benchmark: str, round_: Round, division: str, file: str | None, template: bool, target: Target
) -> None:
    """Show what a training code of BENCHMARK must log and may log, in the order of a run.

    With --check, show everything that the rules have against the hyperparameters of a run before it is trained: what is
    missing, misspelled or not allowed, and a batch size that needs a new reference point. With --template, write the
    file that --check reads, with what the rules demand and the values of the reference as comments.

    Exit status: 0; with --check 1 if the rules would reject the run; 2 for an unknown name or an unreadable FILE.
    """
    if template and (file is not None or any(one.format != "text" for one in target.each)):
        raise MlsubError("--template writes YAML: leave out --check and --format, and name FILE of -o .yaml")
    from mlsub.commands.rules import document, keys

    if file is not None:
        with target.or_refused():
            checked = keys.key_check(round_, division, benchmark, Path(file))
        target.write(
            checked, lambda: document.check_document(checked), "check", results=lambda: keys.results_of(checked)
        )
        sys.exit(1 if checked.errors else 0)
    if template:
        for one in target.each:
            one.put(keys.template_of(round_, division, benchmark))
        return
    found = keys.key_list(round_, division, benchmark)
    target.write(found, lambda: document.keys_document(found))


@command.command("diff", example="mlsub rules diff 5.0 5.1")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--benchmark", metavar="BENCHMARK", help="Compare only this benchmark.")
@_division(help="Compare only this division.")
@_usage_and_rules
@output_options("rules diff")
def diff_command(
    old: str,
    new: str,
    benchmark: str | None,
    division: str | None,
    usage: str | None,
    overlay: str | None,
    target: Target,
) -> None:
    """Show what changes from round OLD to round NEW; mlsub check --round NEW says what a submission has to change.

    Exit status: 0, or 2 for an unknown name.
    """
    from mlsub.commands.rules import diff, document

    before, after, name = diff.find_rounds(old, new, benchmark, usage, overlay)
    answer = diff.round_diff(before, after, name, division)
    target.write(answer, lambda: document.round_document(answer))
