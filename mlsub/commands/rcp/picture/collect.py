"""What a picture shows: the reference of one benchmark, and the entries of some reports beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from mlsub.convergence.curves import Reference, reference_of
from mlsub.convergence.in_force import Which
from mlsub.convergence.margin import benchmark_held, untested, verdict_of
from mlsub.convergence.runs import BEYOND
from mlsub.io.errors import MlsubError
from mlsub.rounds import Round, get_round
from mlsub.rules.load import benchmark
from mlsub.submission.report import EntryResult, Report


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An entry in a picture.

    ``number`` is that of its mark and in the key; ``points`` are the runs that converged, ``failed`` counts the others;
    ``mean`` is the olympic mean, None without one. All are in the unit of the picture's reference.
    """

    number: int
    organisation: str
    system: str
    path: str
    verdict: str
    batch_size: float
    points: tuple[float, ...]
    failed: int
    mean: float | None
    limit: float | None


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark of one round; ``left_out`` are entries of it that cannot be drawn, and why.

    ``title`` is that of the benchmark, ``unit`` that of all values.
    """

    round: Round
    title: str
    unit: str
    reference: Reference
    entries: tuple[Shown, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def organisations(self) -> tuple[str, ...]:
        """Those whose entries are shown."""
        return tuple(dict.fromkeys(entry.organisation for entry in self.entries))


def picture_of_reference(round_: Round, name: str, own: str | None = None, which: Which = "published") -> Picture:
    """The reference alone.

    Args:
        round_: whose reference.
        name: the benchmark.
        own: a file of reference points in place of the installed ones.
        which: of the installed points those at publication, at the deadline, or the newest.

    Raises:
        MlsubError: there is none.
        MlsubError: the file cannot be used.
    """
    reference = reference_of(round_, name, own, which)
    return Picture(
        round=round_,
        title=benchmark(round_.usage, round_.name, name, round_.overlay).title,
        unit=reference.unit,
        reference=reference,
    )


def pictures_of(
    reports: Iterable[Report],
    overlay: str | None,
    wanted: Sequence[str] = (),
    own: str | None = None,
    which: Which = "published",
) -> tuple[tuple[Picture, ...], tuple[str, ...]]:
    """A picture for each benchmark and round of which there are entries, in the order of the reports.

    Args:
        reports: what was checked.
        overlay: the user's own rule file.
        wanted: the benchmarks that are asked for; all where it is empty.
        own: a file of reference points in place of the installed ones.
        which: of the installed points those at publication, at the deadline, or the newest.

    Returns:
        The pictures, and a line for each benchmark that has none.
    """
    found: dict[tuple[str, str, str], list[tuple[Round, EntryResult]]] = {}
    for report in reports:
        round_ = get_round(str(report.usage), str(report.round), overlay)
        for entry in report.entries:
            name = benchmark_held(report, entry, round_)
            if not wanted or name in wanted:
                found.setdefault((round_.usage, round_.name, name), []).append((round_, entry))
    pictures, problems = [], []
    for (_, _, name), some in found.items():
        round_ = some[0][0]
        try:
            bare = picture_of_reference(round_, name, own, which)
        except MlsubError as error:
            problems.append(str(error))
        else:
            pictures.append(with_entries(bare, [entry for _, entry in some], round_))
    return tuple(pictures), tuple(dict.fromkeys(problems))


def with_entries(picture: Picture, entries: Iterable[EntryResult], round_: Round) -> Picture:
    """A picture with entries of its benchmark, by batch size and system."""
    drawn: list[EntryResult] = []
    left_out: list[tuple[str, str]] = []
    for entry in entries:
        why = _why_not(entry, round_)
        if why is None:
            drawn.append(entry)
        else:
            left_out.append((entry.path, why))
    drawn.sort(key=lambda entry: (entry.rcp.batch_size, entry.organisation, entry.system, entry.path))
    shown = tuple(_shown(number, entry, picture.reference) for number, entry in enumerate(drawn, 1))
    unit = next((entry.rcp.unit for entry in drawn if entry.rcp.unit), picture.unit)
    return msgspec.structs.replace(picture, entries=shown, left_out=tuple(left_out), unit=unit)


def _why_not(entry: EntryResult, round_: Round) -> str | None:
    rcp = entry.rcp
    if rcp.verdict == "not-required":
        return untested(entry, round_).why
    if rcp.logs_unit is not None:
        return rcp.incomparable
    if rcp.batch_size is None:
        return "its runs agree on no batch size"
    if not 0 < rcp.batch_size < BEYOND:
        return "its batch size is out of range"
    if any(not 0 <= point < BEYOND for point in rcp.points if point is not None):
        return "a convergence point is beyond any real one"
    return None


def _shown(number: int, entry: EntryResult, reference: Reference) -> Shown:
    rcp = entry.rcp
    batch_size = float(rcp.batch_size or 0)
    against, _ = reference.held_against(batch_size)
    return Shown(
        number=number,
        organisation=entry.organisation,
        system=entry.system,
        path=entry.path,
        verdict=verdict_of(entry, reference.benchmark, reference.runs),
        batch_size=batch_size,
        points=tuple(float(point) for point in rcp.points if point is not None),
        failed=rcp.points.count(None),
        mean=rcp.mean,
        limit=against.minimum if against else None,
    )
