"""Build a site: read and judge what is named, make the pages in a folder beside, and put it in place in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from mlsub.commands.db.records import Records
from mlsub.commands.site.chartdata import SHARED
from mlsub.commands.site.dataset import DATA, RESULTS, downloads, results_script
from mlsub.commands.site.further import further_pages
from mlsub.commands.site.home import overview
from mlsub.commands.site.model import counted
from mlsub.commands.site.pages import Page, all_results
from mlsub.commands.site.performance import performance
from mlsub.commands.site.render import STATIC, write_page
from mlsub.commands.site.result_page import of_result
from mlsub.commands.site.results import Result, RoundResults, rounds_of
from mlsub.commands.site.round_page import of_round
from mlsub.commands.site.whole import Whole
from mlsub.io.errors import MlsubError
from mlsub.io.write import staging_beside
from mlsub.io.written import check_free, replace_folder
from mlsub.present.document import Document, Span, Text, document
from mlsub.present.entries import without_logs
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress
from mlsub.rounds import get_round
from mlsub.score.named import round_key
from mlsub.submission.ids import Ids, shipped_ids
from mlsub.workspace import AS_FOUND, Checked, Settings
from mlsub.workspace.shares import executor_here

#: By this file a folder is known as a site, which may be replaced.
MARKER = ".mlsub-site"
#: What the page of a result costs, in bytes of a log that take as long to read.
_WEIGHT = 384 << 10
#: Results whose pages are one task; more would be much to send.
_AT_ONCE = 8


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a site is to show beside the results: its title (None for the usual one), and files of the caller's own.

    ``overlay`` is a checked overlay file; ``reference`` a file of reference points that the results were tested by;
    ``ids`` are the identifiers that results have in the official tables; ``records`` are figures of other
    sources, ``more`` further pages.
    """

    title: str | None = None
    overlay: str | None = None
    reference: str | None = None
    ids: Ids = msgspec.field(default_factory=shipped_ids)
    records: tuple[Records, ...] = ()
    more: tuple[Page, ...] = ()


class Built(Answer, frozen=True, kw_only=True):
    """How much is in a site, and its first page; ``without_logs`` are folders of benchmarks, by round and path."""

    SCHEMA: ClassVar[int] = 2

    index: str
    rounds: int
    results: int
    runs: int
    pages: int
    without_logs: tuple[str, ...] = ()


def check_place(output: Path, paths: Sequence[str], *, force: bool) -> None:
    """Find out before reading anything whether the site may be put there.

    Raises:
        MlsubError: something is there that is not to be replaced, or the site and what is read lie in one another;
            or the site contains what somebody wrote or changed.
    """
    try:
        if os.path.lexists(output):
            _check_replaceable(output, force=force)
        above = next(folder for folder in output.absolute().parents if folder.exists())
        if not above.is_dir():
            raise MlsubError(f"{output} cannot be written: {above} is not a folder. Name another.")
        final = output.resolve()
        for name in paths:
            read = Path(name).resolve()
            if final == read or final in read.parents:
                raise MlsubError(f"{output} contains {name}, which is to be read. Name another folder.")
            if read in final.parents and read.is_dir():
                raise MlsubError(f"{output} lies in {name}, which is only read. Name a folder outside of it.")
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MlsubError(f"{output} cannot be written: {reason}") from error
    check_free(output)


def _check_replaceable(output: Path, *, force: bool) -> None:
    if output.is_symlink() or not output.is_dir():
        raise MlsubError(f"{output} is not a folder of its own. Name another, or move it away.")
    if not any(output.iterdir()):
        return
    if not (output / MARKER).is_file():
        raise MlsubError(f"{output} contains something other than a site. Name another folder.")
    if not force:
        raise MlsubError(f"{output} exists. Add --force to replace it.")


class _Task(msgspec.Struct, frozen=True):
    """Results of one round and benchmark, whose pages one process writes: they have references in common."""

    site: Path
    navigation: tuple[tuple[str, str], ...]
    parent: RoundResults
    results: tuple[Result, ...]
    reference: str | None


def build_site(
    checked: Sequence[Checked],
    output: Path,
    wanted: Wanted,
    progress: Progress | None = None,
    settings: Settings = AS_FOUND,
) -> Built:
    """Write the site of some reports.

    Args:
        checked: reports and the logs they rest on.
        output: the folder; see :func:`check_place`.
        wanted: what it is to show.
        progress: called with how many pages are written.
        settings: how many processes of this machine write pages, unless as many as pay.

    Raises:
        MlsubError: it cannot be written. Then what was there before is there.
        MlsubError: see :func:`mlsub.commands.site.render.check_jinja`.
    """
    rounds = rounds_of(
        checked, lambda report: get_round(str(report.usage), str(report.round), wanted.overlay), wanted.ids
    )
    results = [result for one in rounds for result in one.results]
    whole = Whole(rounds)
    stated = performance(rounds, wanted.records)
    files = downloads(results)
    pages = (
        overview(whole, wanted.title),
        all_results(rounds, files),
        *stated[:1],
        *wanted.more,
    )
    further = tuple(further_pages(whole))
    named = (*(page for page in further if "/" not in page.path), *pages[1:])
    navigation = (("Overview", "index.html"), *((page.title, page.path) for page in named))
    pages += further
    pages += (*(of_round(one, whole.keys("family", one.results)) for one in rounds), *stated[1:])
    # Of "." the folder beside is not in it; links in the path keep the names people gave them.
    final = Path(os.path.abspath(output))  # noqa: PTH100
    with staging_beside(final) as staging:
        site = staging / "site"
        try:
            _lay_out(site)
            for path, content in (files | {RESULTS: results_script(results)}).items():
                (site / path).write_bytes(content)
            for page in pages:
                write_page(site, navigation, page)
        except OSError as error:
            raise _unwritable(output, error.strerror or str(error)) from error
        tasks = list(_tasks(site, navigation, rounds, wanted.reference))
        done, count = len(pages), len(pages) + len(results)
        for at, problem in executor_here(settings, len(results) * _WEIGHT).run(_write, tasks):
            if problem is not None:
                raise _unwritable(output, problem)
            done += len(tasks[at].results)
            if progress is not None:
                progress(done, count)
        replace_folder(site, final)
    runs = sum(result.entry.runs for result in results)
    return Built(
        index=str(output / "index.html"),
        rounds=len(rounds),
        results=len(results),
        runs=runs,
        pages=count,
        without_logs=tuple(
            f"{round_key(one.round.usage, one.round.name)}/{folder.path}"
            for one in rounds
            for folder in one.report.without_logs
        ),
    )


def _lay_out(site: Path) -> None:
    site.mkdir()
    shutil.copytree(STATIC, site / "static", copy_function=shutil.copyfile)
    (site / MARKER).write_text("A site made by mlsub; it may be replaced as a whole.\n", "utf-8")
    for folder in (SHARED, DATA):
        (site / folder).mkdir()


def _tasks(
    site: Path, navigation: tuple[tuple[str, str], ...], rounds: Sequence[RoundResults], reference: str | None
) -> Iterator[_Task]:
    for one in rounds:
        parent = replace(one, report=replace(one.report, logs=(), entries=(), findings=()), results=(), rest=())
        by_benchmark: dict[str, list[Result]] = {}
        for result in one.results:
            by_benchmark.setdefault(result.entry.benchmark, []).append(result)
        for some in by_benchmark.values():
            for start in range(0, len(some), _AT_ONCE):
                chunk = tuple(map(_alone, some[start : start + _AT_ONCE]))
                yield _Task(site, navigation, parent, chunk, reference)


def _alone(result: Result) -> Result:
    """A result with no more of its report than its page shows, fit to be sent to another process."""
    report, path = result.report, result.entry.path
    own = tuple(log for log in report.logs if (log.path.rpartition("/")[0] or ".") == path)
    report = replace(report, logs=own, entries=(result.entry,), systems=(), findings=())
    return replace(result, report=report)


def _write(task: _Task) -> str | None:
    """Write the pages of results; why they cannot be written, if they cannot."""
    try:
        for result in task.results:
            write_page(task.site, task.navigation, of_result(result, task.parent, task.reference))
    except OSError as error:
        return error.strerror or str(error)
    return None


def _unwritable(output: Path, reason: str) -> MlsubError:
    return MlsubError(f"{output} cannot be written: {reason}")


def document_of(built: Built) -> Document:
    """How much there is, and what to open."""
    results = f"{counted(built.results, 'result')} of {counted(built.rounds, 'round')}, {counted(built.runs, 'run')}"
    title = f"A site of {results}, on {counted(built.pages, 'page')}"
    missing = without_logs(built.without_logs)
    note = Text(Span(missing, "note")) if missing else None
    return document(title, note, Text(("Open ", Span(built.index, "path"))))
