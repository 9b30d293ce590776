"""Build the document of a plan, its check, and what was done or keeps it from being done."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from mlsub.findings import Severity
from mlsub.io.folders import Piece
from mlsub.io.show import first_few, plural
from mlsub.packing.manifest import ManifestEntry
from mlsub.packing.pack import Packing, count_by_rule
from mlsub.packing.plan import PackPlan
from mlsub.present import document as doc
from mlsub.present.entries import package_blocks

#: Names shown of many; JSON has them all.
MAX_SHOWN = 10
#: Rules that the last line names.
_REASONS = 3
_COLUMNS = (doc.Column("to", when_narrow="shorten"), doc.Column("from", when_narrow="shorten"))


def document_of(plan: PackPlan, packed: Packing, *, wanted: bool) -> doc.Document:
    """Return what came of packing.

    Args:
        plan: what is packed.
        packed: the result.
        wanted: whether the package was to be written.
    """
    near = partial(_near, plan.manifest.folder)
    prepared = Counter(word for file in packed.files for word in file.prepared)
    return doc.document(
        f"Package of {packed.organisation}, {plan.manifest.round.title}",
        doc.Facts((("manifest", doc.Span(packed.manifest, "path")), ("into", doc.Span(packed.out, "path")))),
        *_plan_blocks(plan, near),
        _list_names("Prepared on the way", [f"{word}: {plural(count, 'file')}" for word, count in prepared.items()]),
        *(package_blocks(packed.report) if packed.report is not None else ()),
        doc.Findings(packed.findings),
        doc.Items(tuple(each.line for each in packed.waived)),
        _list_names("Gone from there" if packed.written else "Not in the plan, but there", packed.difference.extra)
        if packed.report is not None
        else None,
        _list_names(
            f"Templates {'made' if wanted else 'that --write makes'}, to be filled in",
            [near(Path(file)) for file in packed.templates],
        ),
        *(doc.Text(words) for words in _ending(packed, wanted=wanted)),
    )


def _plan_blocks(plan: PackPlan, near: Callable[[Path], str]) -> Iterator[doc.Block | None]:
    """Yield the plan: results run by run, everything else by folder, and what is left out."""
    for entry, chosen in zip(plan.manifest.entries, plan.runs, strict=True):
        yield _entry_section(entry, chosen.how, [Path(run) for run in chosen.runs], near)
    rest = [item for item in plan.pieces if not item.to.startswith("results/")]
    yield doc.Table(_COLUMNS, tuple(_folder_rows(rest, near)))
    yield _list_names("Left out", [f"{near(Path(left.path))}: {left.why}" for left in plan.left_out])


def _near(folder: Path, path: Path) -> str:
    """Return a path as a reader of the manifest writes it: relative to its folder where that is not longer."""
    return min((os.path.relpath(path, folder), str(path)), key=len)


def _entry_section(entry: ManifestEntry, how: str, runs: Sequence[Path], near: Callable[[Path], str]) -> doc.Section:
    facts = [entry.division or "", plural(len(runs), "run"), how]
    facts += [f"implementation {entry.implementation}"] if entry.implementation else []
    facts += ["with power measurements"] if entry.power else []
    notes = [doc.Text(" ".join(entry.notes.split()))] if entry.notes else []
    if links := [run.name for run in runs if run.is_symlink()]:
        notes.append(doc.Text(f"The package has the content of logs that are links: {first_few(links, 3, 'log')}"))
    rows = [(f"result_{n}.txt", near(run)) for n, run in enumerate(runs)]
    if len(runs) > 1 and runs == [runs[0].with_name(name) for name, _ in rows]:
        rows = [(f"result_0.txt to result_{len(runs) - 1}.txt", f"{near(runs[0].parent)}, names as they are")]
    title = f"results/{entry.name}: {', '.join(filter(None, facts))}"
    return doc.Section(title, (*notes, doc.Table(_COLUMNS, tuple(rows))))


def _folder_rows(items: Iterable[Piece], near: Callable[[Path], str]) -> Iterator[tuple[str, str]]:
    """Yield single files one by one, folders of code as a whole."""
    groups: Counter[tuple[str, str]] = Counter()
    for item in items:
        parts = item.to.split("/")
        depth = (4 if parts[2:3] == ["implementations"] else 3) if parts[0] == "benchmarks" else len(parts)
        below = len(parts) - depth
        if below <= 0:
            yield item.to, near(item.source) if item.source is not None else f"link to {item.link}"
        elif item.source is not None:
            groups["/".join(parts[:depth]), near(item.source.parents[below - 1])] += 1
    for (to, source), number in groups.items():
        yield f"{to}/", f"{source}, {plural(number, 'file')}"


def _list_names(title: str, names: Sequence[str]) -> doc.Section | None:
    more = (f"and {len(names) - MAX_SHOWN} more",) if len(names) > MAX_SHOWN else ()
    return doc.section(title, doc.Items((*names[:MAX_SHOWN], *more)))


def _ending(packed: Packing, *, wanted: bool) -> Iterator[doc.Words]:
    where, difference = packed.out, packed.difference
    if packed.refused:
        if packed.report is None:
            yield "Nothing was checked: fix what is wrong with the plan first."
        if packed.blocking:
            yield "Fix what is wrong, or waive it by name: --allow RULE --reason TEXT, or waivers: in the manifest."
        yield f"{'Not written' if wanted else 'It would not be written'}: {_reasons(packed)}"
    elif packed.written:
        yield f"Written to {where}: {_changes(packed)}."
    elif difference.none:
        yield f"{where} is as planned: nothing to write."
    else:
        yield f"Nothing is written yet. With --write, {where} has {_changes(packed)}."


def _changes(packed: Packing) -> str:
    difference = packed.difference
    counts = {"changed": difference.changed, "as before": difference.same, "removed": difference.extra}
    parts = [f"{len(difference.new)} new", *(f"{len(files)} {word}" for word, files in counts.items() if files)]
    return f"{len(packed.files)} files ({', '.join(parts)})"


def _reasons(packed: Packing) -> str:
    """Return why it is refused: what is wrong most often first."""
    wrong = [*packed.blocking, *(found for found in packed.findings if found.severity is Severity.ERROR)]
    counts = sorted(count_by_rule(wrong), key=lambda one: -one[1])
    said = []
    for first, count in counts[:_REASONS]:
        times = f", {count} times" if count > 1 else ""
        said.append(f"{first.message} [{first.rule}{times}]")
    more = len(counts) - _REASONS
    return "; ".join([*said, *([f"and {more} more, see above"] if more > 0 else [])])
