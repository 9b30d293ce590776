"""PATH, the options that say how what lies there is judged, and those that say which findings are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mlsub.commands.settings import SOURCES, apply_waivers, on_command_line, option_group, path_arguments, setting, tell
from mlsub.io import MlsubError
from mlsub.present.terminal import progress_bar

if TYPE_CHECKING:
    from mlsub.present.terminal import Progress, ProgressBar
    from mlsub.submission.report import Report
    from mlsub.workspace.cache import Cache
    from mlsub.workspace.places import Context, Request

F = TypeVar("F", bound=Callable[..., Any])

#: What the options of :func:`asks` are called; a command gets their values as one request.
_ASKED = frozenset(
    (
        *("paths", "round", "usage", "rules", "rcp", "points", "train_samples"),
        *("jobs", "executor", "cache", "cache_dir", "cache_size"),
    )
)


def ready(asked: Request, progress: Progress | None = None) -> Context:
    """What this process has to answer a request, with its files checked and the cache open.

    Raises:
        MlsubError: a file of rules or of reference points cannot be used.
    """
    if found := [finding for report in _broken_points(asked) for finding in report.findings]:
        raise MlsubError(*(f"{finding.path}: {finding.message}" for finding in found))
    return _context(asked, progress, check_own_rules(asked.overlay))


def _context(asked: Request, progress: Progress | None, overlay: str | None) -> Context:
    """The context; of --jobs and --executor, where both are set, the one that was set closer to the command counts."""
    from msgspec.structs import replace

    from mlsub.workspace.places import Context

    ctx = click.get_current_context()
    jobs, executor = ctx.params.get("jobs"), ctx.params.get("executor")
    if jobs is not None and executor is not None:
        near = [SOURCES.index(ctx.get_parameter_source(name)) for name in ("jobs", "executor")]
        jobs, executor = (None if near[0] > near[1] else jobs), (None if near[0] < near[1] else executor)
    request = replace(asked, overlay=overlay)
    return Context(request, cache=open_user_cache(), jobs=jobs, executor=executor, progress=progress)


def open_user_cache() -> Cache | None:
    """The cache of the user; None where it is not asked for. What was reused is said when the command ends.

    Raises:
        MlsubError: its folder cannot be one.
    """
    ctx = click.get_current_context()
    if not ctx.params.get("cache", True):
        return None
    from mlsub.workspace.cache import open_cache

    size: int | None = ctx.params["cache_size"]
    limit = None if size is None else size << 20
    cache = open_cache(ctx.params["cache_dir"], limit, path_arguments(ctx, ctx.params))
    if cache is not None:
        ctx.call_on_close(lambda: _close_cache(cache, ctx))
    return cache


def check(asked: Request) -> list[Report]:
    """Check the paths, as :func:`checking` does; waivers and ignores by path of the settings are applied."""
    with checking(asked) as (_, reports):
        found = list(reports)
    return apply_waivers(found, asked.paths)


@contextmanager
def checking(asked: Request) -> Iterator[tuple[int, Iterator[Report]]]:
    """Check the paths, with progress on a terminal.

    Yields:
        How many reports there are, and these, each as soon as it is ready and those before it are. A file of rules
        or points that cannot be used is a report.
    """
    from mlsub.workspace import check_each

    try:
        overlay, problems = check_own_rules(asked.overlay), _broken_points(asked)
    except MlsubError as error:
        from mlsub.commands.broken import broken_rules

        problems = broken_rules(error)
    if problems:
        yield len(problems), iter(problems)
        return
    with progress_bar() as bar:
        count, reports = check_each(asked.paths, _context(asked, bar, overlay))
        with closing(reports):
            yield count, reports if bar is None else _hiding(bar, reports)


def _broken_points(asked: Request) -> list[Report]:
    """A report that says why the file of reference points cannot be used; nothing where it can."""
    if asked.convergence.reference is None:
        return []
    from mlsub.commands.broken import broken_points

    return broken_points(Path(asked.convergence.reference))


def _hiding(bar: ProgressBar, reports: Iterator[Report]) -> Iterator[Report]:
    """The reports; the bar is hidden before each, which is printed in its place."""
    for report in reports:
        bar.hide()
        yield report


def asks(
    paths: str | None = "PATH...",
    *,
    rounds: bool = True,
    jobs: bool = True,
    rules: bool = False,
    convergence: bool = False,
    required: bool = True,
    reads: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """PATH..., --round and --usage, and what else is asked for; the function gets them as ``asked``, a ``Request``.

    :func:`ready` makes the context of it, with the jobs, the executor and the cache.

    Args:
        paths: what the argument is called; None for a command that declares its own.
        rounds: with --round and --usage.
        jobs: with --jobs and --executor.
        rules: with --rules.
        convergence: with --rcp, --rcp-points and --rcp-bert-train-samples.
        required: the command does nothing without a path; else it calls :func:`require_paths` where it needs one.
        reads: with --cache and --no-cache; the other options of the cache every such command has.
    """
    argument = click.argument("paths", metavar=paths, nargs=-1, required=required, type=click.Path())
    options: list[Callable[[F], F]] = [
        *([argument] if paths is not None else []),
        *(_ROUND_OPTIONS if rounds else ()),
        *([setting("--rules", metavar="FILE", help="Add rules of your own; see docs/overlay.md.")] if rules else []),
        *(_JOBS_OPTIONS if jobs else ()),
        *(_CONVERGENCE_OPTIONS if convergence else ()),
        *_cache_options(reads=reads),
    ]

    return option_group(options, _as_request)


def _as_request(**values: Any) -> dict[str, Any]:
    """What is asked for with the values of options, and the other values."""
    from mlsub.convergence import Options
    from mlsub.workspace.places import Request

    asked = Request(
        round=values.get("round"),
        usage=values.get("usage"),
        overlay=values.get("rules"),
        convergence=Options(values.get("rcp"), values.get("train_samples"), values.get("points", "published")),
        paths=values.get("paths", ()),
    )
    return {"asked": asked} | {name: value for name, value in values.items() if name not in _ASKED}


def require_paths(paths: Sequence[str]) -> None:
    """Refuse to go on without a path, in the words of click.

    Raises:
        click.MissingParameter: there is none.
    """
    if not paths:
        ctx = click.get_current_context()
        raise click.MissingParameter(ctx=ctx, param=next(p for p in ctx.command.params if p.name == "paths"))


def benchmark_options(*options: Callable[[F], F]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """BENCHMARK, --round and further options, of which --usage, and --rules as ``overlay``.

    The function gets ``round_``, a ``Round``, and ``benchmark``, the name that the round has for it, and the others.
    """
    newest = "Set the round; otherwise the newest with this benchmark."
    named: list[Callable[[F], F]] = [
        click.argument("benchmark"),
        setting("--round", "round_", metavar="ROUND", help=newest),
    ]

    def find(
        benchmark: str, round_: str | None, usage: str | None, overlay: str | None = None, **others: Any
    ) -> dict[str, Any]:
        from mlsub.rounds import find_benchmark

        found, name = find_benchmark(benchmark, round_, usage, overlay)
        return {"round_": found, "benchmark": name, **others}

    return option_group([*named, *options], find)


def rcp_points(function: F) -> F:
    """--rcp-points."""
    return setting(
        "--rcp-points",
        "points",
        type=click.Choice(["published", "deadline", "newest"]),
        default="published",
        show_default=True,
        help="Use these reference points of the round; published: merged by the day of publication; deadline: merged "
        "by its deadline; newest: all.",
    )(function)


_ROUND_OPTIONS = (
    setting("--round", metavar="ROUND", help="Set the round, such as 1.0; otherwise taken from the folders."),
    setting("--usage", metavar="USAGE", help="Set training, hpc or rehearsal; otherwise taken from the folders."),
)
_JOBS_OPTIONS = (
    setting("--jobs", type=click.IntRange(1), metavar="N", help="Read logs with N processes."),
    setting("--executor", metavar="dask://HOST:PORT", help="Read logs on a Dask cluster."),
)
_CONVERGENCE_OPTIONS = (
    setting("--rcp", metavar="FILE", help="Use the reference points in FILE for the benchmark they name."),
    rcp_points,
    setting(
        "--rcp-bert-train-samples/--no-rcp-bert-train-samples",
        "train_samples",
        default=None,
        help="Count the convergence of BERT by train_samples, or by epoch_num; without either, train_samples count "
        "where epoch_num is rejected.",
    ),
)


def _cache_options(*, reads: bool) -> tuple[Callable[[F], F], ...]:
    switch = setting("--cache/--no-cache", default=True, help="Reuse what unchanged logs showed; see docs/cache.md.")
    return (
        *((switch,) if reads else ()),
        setting("--cache-dir", metavar="DIR", help="Keep what logs showed in DIR."),
        setting(
            "--cache-size",
            type=click.IntRange(1, 1 << 20),
            metavar="MB",
            hidden=reads,
            help="Set how much is kept; what was longest of no use goes first.",
        ),
    )


def _close_cache(cache: Cache, ctx: click.Context) -> None:
    """Let a cache end with the command; with ``-v``, say what was reused."""
    cache.close()
    if cache.asked and cache.folder.is_dir() and ctx.params.get("detail") == "full":
        reused = ", ".join(f"{cache.reused[kind]} of {count} {kind}" for kind, count in cache.asked.items() if count)
        tell(f"cache: reused {reused}", ctx.command.name)


def check_own_rules(rules: str | None) -> str | None:
    """The absolute path of the user's own rule file, which is checked first.

    Raises:
        FileProblemsError: it is not a rule file.
    """
    if rules is None:
        return None
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


_CHOICE_OPTIONS = (
    setting("--select", multiple=True, metavar="RULE", help="Show only this rule or prefix; repeatable."),
    setting("--ignore", multiple=True, metavar="RULE", help="Hide this rule or prefix; repeatable."),
    click.option(
        "--only",
        type=click.Choice(["official", "house", "review"]),
        help="Show only official findings, those of your own rules (house), or review findings.",
    ),
    click.option(
        "--severity",
        type=click.Choice(["error", "warning", "note"]),
        default="note",
        help="Show only findings that are at least so severe.",
    ),
    click.option("-q", "--quiet", "detail", flag_value="quiet", help="Show only the last line, the verdict."),
    click.option("--summary", "detail", flag_value="summary", help="Show tables and counts, no findings."),
    click.option("-v", "--verbose", "detail", flag_value="full", help="Show all findings in full."),
)


def _as_choice(
    select: tuple[str, ...], ignore: tuple[str, ...], only: str | None, severity: str, detail: str | None, **others: Any
) -> dict[str, Any]:
    from mlsub.findings import Kind, Severity
    from mlsub.submission.report import Choice

    kind = None if only is None else Kind(only)
    choice = Choice(select=select, ignore=ignore, only=kind, severity=Severity(severity))
    # What a settings file selects for every day is not what somebody wants to read now.
    return {"choice": choice, "detail": detail or ("full" if on_command_line("select") else None), **others}


#: --select, --ignore, --only, --severity, --quiet, --summary and --verbose.
#:
#: The function gets them as ``choice`` (:class:`mlsub.submission.report.Choice`) and ``detail``
#: (:data:`mlsub.submission.report.Detail`, None if nothing was asked for); it calls :func:`check_rule_names` itself.
choice_options = option_group(_CHOICE_OPTIONS, _as_choice)
