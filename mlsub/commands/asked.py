"""PATH and the options that say how what lies there is judged, as one object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from mlsub.commands.settings import setting, weighed
from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from mlsub.convergence.deadline import Which
    from mlsub.io.yamlfile import FileProblemsError
    from mlsub.judge.log import NewFold
    from mlsub.present.terminal import Progress
    from mlsub.submission.report import Report
    from mlsub.workspace.places import Settings

F = TypeVar("F", bound=Callable[..., Any])

_CLOSE = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)


class Asked(NamedTuple):
    """What a command is asked to read, and how to judge it.

    Attributes:
        paths: logs, benchmark folders, systems, organisations, rounds or folders of rounds.
        round: None to read it off the folders.
        usage: None to read it off the folders.
        jobs: processes that read logs, None for the usual number.
        rules: the user's own rule file.
        rcp: the user's own file of reference points.
        points: which reference points of the round count: all, or those released by its deadline.
        train_samples: whether the convergence of BERT is counted by ``train_samples``.
        executor: where logs are read, None for processes of this machine.
    """

    paths: tuple[str, ...] = ()
    round: str | None = None
    usage: str | None = None
    jobs: int | None = None
    rules: str | None = None
    rcp: str | None = None
    points: Which = "final"
    train_samples: bool = False
    executor: str | None = None

    @property
    def overlay(self) -> str | None:
        """The path of the user's own rule file.

        Raises:
            FileProblemsError: it is not a rule file.
        """
        return overlay_of(self.rules)

    def settings(self, progress: Progress | None = None, folds: tuple[NewFold, ...] = ()) -> Settings:
        """The same for :mod:`mlsub.workspace`.

        Raises:
            MlsubError: a file of rules or of reference points cannot be used.
        """
        if self.rcp is not None:
            found = [finding for report in _problems_of(self.rcp) for finding in report.findings]
            if found:
                raise MlsubError(*(f"{finding.path}: {finding.message}" for finding in found))
        return self._settings(progress, self.overlay, folds)

    def _settings(self, progress: Progress | None, overlay: str | None, folds: tuple[NewFold, ...] = ()) -> Settings:
        from mlsub.convergence.entry import Options
        from mlsub.workspace.places import Settings

        options = Options(self.rcp, self.train_samples, self.points)
        return Settings(self.round, self.usage, self.jobs, progress, overlay, options, folds, self.executor)

    def check(self) -> list[Report]:
        """Check the paths, with progress on a terminal; waivers and ignores by path of the settings are applied.

        A file of rules or points that cannot be used is a report.
        """
        from mlsub.io.yamlfile import FileProblemsError
        from mlsub.present.terminal import progress_bar
        from mlsub.workspace import check_paths

        try:
            overlay = self.overlay
        except FileProblemsError as error:
            return _broken(error)
        problems = _problems_of(self.rcp) if self.rcp is not None else []
        if problems:
            return problems
        with progress_bar() as progress:
            reports = check_paths(self.paths, self._settings(progress, overlay))
        return weighed(reports, self.paths)


def asks(
    paths: str | None = "PATH...",
    *,
    jobs: bool = True,
    rules: bool = False,
    convergence: bool = False,
    required: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """PATH..., --round and --usage, and what else is asked for; the function gets them as one ``asked``.

    Args:
        paths: what the argument is called; None for a command that declares its own.
        jobs: with --jobs and --executor.
        rules: with --rules.
        convergence: with --rcp, --rcp-points and --rcp-bert-train-samples.
        required: the command does nothing without a path; else it calls :func:`named` where it needs one.
    """
    options: list[Callable[[F], F]] = [
        setting("--round", metavar="ROUND", help="Set the round, such as 1.0; otherwise taken from the folders."),
        setting("--usage", metavar="USAGE", help="Set training, hpc or rehearsal; otherwise taken from the folders."),
    ]
    if paths is not None:
        options.insert(0, click.argument("paths", metavar=paths, nargs=-1, required=required, type=click.Path()))
    if rules:
        options.append(setting("--rules", metavar="FILE", help="Add rules of your own; see docs/overlay.md."))
    if jobs:
        options += [
            setting("--jobs", type=click.IntRange(1), metavar="N", help="Read logs with N processes."),
            setting(
                "--executor",
                metavar="WHERE",
                shell_complete=_executors,
                help="Read logs with local:N, N processes, or on a Dask cluster, dask://HOST:PORT.",
            ),
        ]
    if convergence:
        options += _convergence_options()

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def called(**words: Any) -> None:
            asked = Asked(**{name: words.pop(name) for name in Asked._fields if name in words})
            function(asked=_either(asked), **words)

        for option in reversed(options):
            called = option(called)
        return called

    return decorate


def _either(asked: Asked) -> Asked:
    """With one of jobs and executor where both are set: the one that was set closer to the command wins."""
    if asked.jobs is None or asked.executor is None:
        return asked
    ctx = click.get_current_context()
    jobs, executor = (_CLOSE.index(ctx.get_parameter_source(name)) for name in ("jobs", "executor"))
    if jobs == executor:
        return asked
    return asked._replace(executor=None) if jobs < executor else asked._replace(jobs=None)


def _executors(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [words for words in ("local:", "dask://") if words.startswith(incomplete)]


def named(paths: Sequence[str]) -> None:
    """Refuse to go on without a path, in the words of click.

    Raises:
        click.MissingParameter: there is none.
    """
    if not paths:
        ctx = click.get_current_context()
        raise click.MissingParameter(ctx=ctx, param=next(p for p in ctx.command.params if p.name == "paths"))


def one_benchmark(function: F) -> F:
    """BENCHMARK and --round."""
    newest = "Set the round; otherwise the newest with this benchmark."
    return click.argument("benchmark")(setting("--round", "round_", metavar="ROUND", help=newest)(function))


def rcp_points(function: F) -> F:
    """--rcp-points."""
    return setting(
        "--rcp-points",
        "points",
        type=click.Choice(["final", "deadline"]),
        default="final",
        show_default=True,
        help="Use all reference points of the round, or those released by its deadline.",
    )(function)


def _convergence_options() -> tuple[Callable[[F], F], ...]:
    return (
        setting("--rcp", metavar="FILE", help="Use the reference points in FILE for the benchmark they name."),
        rcp_points,
        setting(
            "--rcp-bert-train-samples/--no-rcp-bert-train-samples",
            "train_samples",
            help="Count the convergence of BERT by train_samples instead of epoch_num.",
        ),
    )


def overlay_of(rules: str | None) -> str | None:
    """The path of the user's own rule file, which is checked first.

    Raises:
        FileProblemsError: it is not a rule file.
    """
    if rules is None:
        return None
    from pathlib import Path

    from mlsub.rules.overlay import check_overlay

    return check_overlay(Path(rules))


def check_rule_names(prefixes: Sequence[str]) -> None:
    """Refuse names of rules to select or ignore that no rule has.

    Raises:
        click.UsageError: there is no rule that starts so.
    """
    if not prefixes:
        return
    from mlsub.rules.explain import suggestion

    for hint in filter(None, map(suggestion, prefixes)):
        raise click.UsageError(hint)


def _problems_of(rcp: str) -> list[Report]:
    """A report that says why a file of reference points cannot be used; nothing where it can."""
    from pathlib import Path

    from mlsub.convergence.filecheck import check_reference_file
    from mlsub.rules.catalogue import finding
    from mlsub.workspace import not_checked

    file = Path(rcp)
    found = [
        finding(
            "check.broken-reference",
            file.name,
            f"{problem.record}: {problem.message}" if problem.record else problem.message,
            fix=problem.fix,
        )
        for problem in check_reference_file(file)
        if problem.severity == "error"
    ]
    return [not_checked(".", found)] if found else []


def _broken(error: FileProblemsError) -> list[Report]:
    """A report that says where a rule file is broken."""
    import msgspec

    from mlsub.rules.catalogue import finding
    from mlsub.workspace import not_checked

    found = [
        msgspec.structs.replace(finding("check.broken-rules", problem.path, problem.message), line=problem.line)
        for problem in error.problems
    ]
    return [not_checked(".", found)]
