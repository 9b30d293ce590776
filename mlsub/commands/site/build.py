"""Build a site: make the pages of what was read and judged in a folder beside, and put it in place in one step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from mlsub.commands.output import tell_unchecked
from mlsub.commands.settings import apply_waivers
from mlsub.commands.site.compare_page import Comparisons, compare_page
from mlsub.commands.site.dataset import DATA, SEARCH_SCRIPT, describe_results, downloads, results_script, search_script
from mlsub.commands.site.groups import group_pages
from mlsub.commands.site.home import home_page, results_page, round_page
from mlsub.commands.site.page import RESULTS_SCRIPT, Frame, Page, count_text, write_page, write_static
from mlsub.commands.site.result_page import result_page
from mlsub.commands.site.results import Results, Site, build_rounds
from mlsub.io import MlsubError
from mlsub.io.folders import check_free, replace_folder
from mlsub.io.write import cannot_write, staging_beside
from mlsub.present.document import Document, Span, Text, document
from mlsub.present.entries import without_logs
from mlsub.present.envelope import Answer
from mlsub.present.terminal import progress_bar
from mlsub.submission.result import round_key
from mlsub.workspace import AS_FOUND, Checked, Context, check_with_logs
from mlsub.workspace.executors import run_here

#: By this file a folder is known as a site, which may be replaced.
MARKER = ".mlsub-site"
#: What the page of a result costs, in bytes of a log that take as long to read.
_WEIGHT = 384 << 10
#: Results whose pages are one task; more would be much to send.
_AT_ONCE = 8


class BuiltSite(Answer, frozen=True, kw_only=True):
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
        raise cannot_write(output, error) from error
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


def read_results(paths: Sequence[str], context: Context) -> list[Checked]:
    """Read and judge, each log once.

    Raises:
        MlsubError: there is no result to show.
    """
    with progress_bar() as progress:
        asked = replace(context.request, intervals=True)
        read = check_with_logs(paths, replace(context, request=asked, progress=progress))
    reports = apply_waivers([one.report for one in read], paths)
    checked = [replace(one, reports=(report,)) for one, report in zip(read, reports, strict=True)]
    tell_unchecked([one.report for one in checked])
    if not any(one.report.entries for one in checked):
        if any(one.report.logs for one in checked):
            raise MlsubError("a log alone is not a result. Name the folder of its benchmark.")
        raise MlsubError("there is no result to show, and no site was written.")
    return checked


def build_site(
    checked: Sequence[Checked],
    output: Path,
    context: Context = AS_FOUND,
    *,
    title: str | None = None,
    url: str = "",
    source: str = "",
) -> BuiltSite:
    """Write the site of some reports.

    Args:
        checked: reports and the logs they rest on.
        output: the folder; see :func:`check_place`.
        context: those that the reports were made with, and how many processes of this machine write pages, unless as
            many as pay; ``progress`` is called with how many pages are written.
        title: of the first page; None for the usual one.
        url: where the site will be, with a slash at its end; pages say their address by it.
        source: the pattern of addresses of folders of results; see :func:`.result_page.source_href`.

    Raises:
        MlsubError: it cannot be written. Then what was there before is there.
        MlsubError: see :func:`mlsub.commands.site.page.check_libraries`.
    """
    site = Site(build_rounds(checked))
    # Of "." the folder beside is not in it; links in the path keep the names people gave them.
    final = Path(os.path.abspath(output))  # noqa: PTH100
    with staging_beside(final) as staging:
        folder = staging / "site"
        try:
            pages = _write_site(folder, site, context, title, url, source)
        except OSError as error:
            raise cannot_write(output, error) from error
        replace_folder(folder, final)
    return BuiltSite(
        index=str(output / "index.html"),
        rounds=len(site.rounds),
        results=len(site.results),
        runs=sum(one.result.runs for one in site.results),
        pages=pages,
        without_logs=tuple(
            f"{round_key(one.rules.usage, one.rules.name)}/{empty.path}"
            for one in site.rounds
            for empty in one.report.without_logs
        ),
    )


def _write_site(folder: Path, site: Site, context: Context, title: str | None, url: str, source: str) -> int:
    """Write all files of a site, and return how many pages it has.

    Raises:
        OSError: they cannot be written.
    """
    own, files = context.request.convergence.reference, downloads(site.results)
    dataset, crate = describe_results(site.results, files, title, url)
    write_static(folder)
    (folder / MARKER).write_text("A site made by mlsub; it may be replaced as a whole.\n", "utf-8")
    (folder / DATA).mkdir()
    scripts = {RESULTS_SCRIPT: results_script(site.results), SEARCH_SCRIPT: search_script(site)}
    comparisons = Comparisons(site.results)
    own_files = crate | scripts | comparisons.scripts()
    for path, content in (files | own_files).items():
        (folder / path).write_bytes(content)
    groups = list(group_pages(site))
    listed = [*(page for page in groups if "/" not in page.path), replace(results_page(site, files), dataset=dataset)]
    listed.append(compare_page(site.results))
    rest = (page for page in groups if page not in listed)
    pages = [
        replace(home_page(site, title), dataset=dataset),
        *listed,
        *rest,
        *(round_page(site, one) for one in site.rounds),
    ]
    frame = Frame((("Overview", "index.html"), *((page.title, page.path) for page in listed)), url)
    for page in pages:
        write_page(folder, frame, page)
    done, count = len(pages), len(pages) + len(site.results)
    tasks = [[(one, *comparisons.beside(one)) for one in some] for some in _chunks(site.results)]
    write = partial(_write_results, folder, frame, partial(result_page, reference=own, source=source))
    for written in run_here(write, tasks, context, len(site.results) * _WEIGHT):
        done += written
        if context.progress is not None:
            context.progress(done, count)
    return count


def _chunks(results: Results) -> Iterator[Results]:
    """Yield results of one round and benchmark, which have references in common."""
    for some in results.by(lambda one: (one.result.round_key, one.result.benchmark)):
        yield from (Results(some[start : start + _AT_ONCE]) for start in range(0, len(some), _AT_ONCE))


def _write_results(folder: Path, frame: Frame, page_of: Callable[..., Page], results: Sequence[tuple[Any, ...]]) -> int:
    """Write the pages of results, which are made of what is known of each, and return how many.

    Raises:
        OSError: they cannot be written.
    """
    for found in results:
        write_page(folder, frame, page_of(*found))
    return len(results)


def document_of(built: BuiltSite) -> Document:
    """Return how much there is, and what to open."""
    what = f"{count_text(built.results, 'result')} of {count_text(built.rounds, 'round')}"
    title = f"A site of {what}, {count_text(built.runs, 'run')}, on {count_text(built.pages, 'page')}"
    missing = without_logs(built.without_logs)
    note = Text(Span(missing, "note")) if missing else None
    return document(title, note, Text(("Open ", Span(built.index, "path"))))
