"""Which names of a sentence belong to a figure, and which to what it is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mlsub.commands.audit.draft.figures import contains
from mlsub.commands.audit.draft.model import Figure
from mlsub.commands.audit.draft.names import Placed
from mlsub.commands.audit.draft.words import words
from mlsub.io.spelling import flat
from mlsub.systems.chips import all_chips

#: Names that say whose result is meant; benchmark and division are the same on both sides.
_WHOSE = ("organisation", "accelerator", "pod", "chips", "nodes", "round")
#: A clause ends here, and the other side of a comparison with it.
_STOPS = re.compile(r"[,;:]| while | whereas | but ")
#: Between two figures a sentence is cut at the last of these.
_CUTS = re.compile(
    r", (?:and |while |whereas |but |where )?|; | and | while | whereas | but | or | \| | than | versus "
)
#: A name beyond one of these is not that of a time: "23.8 minutes is faster than NVIDIA's result".
COMPARED = re.compile(r" (?:than|versus|vs\.?|compared (?:to|with)|against|outperforms|beats) (?![\d$~])")
#: So far behind a figure stands its system at most.
_NEAR = 28


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What a sentence says of one result, None and empty for what it leaves open; ``pod``: chips are those of a POD."""

    organisations: frozenset[str] = frozenset()
    accelerators: frozenset[str] = frozenset()
    benchmark: frozenset[str] | None = None
    round: str | None = None
    division: str | None = None
    chips: int | None = None
    pod: bool = False
    nodes: int | None = None
    written: dict[str, str] = {}

    @property
    def whose(self) -> bool:
        """Whether it says anything of whose result it is."""
        return bool(self.organisations or self.accelerators or self.chips or self.nodes)


class Sides(msgspec.Struct, frozen=True):
    """A figure's own side, and the other one where it compares; ``before`` says that this is the round before."""

    own: Side
    other: Side | None = None
    before: bool = False


def clause_of(text: str, figure: Figure, figures: Sequence[Figure]) -> tuple[int, int]:
    """The part of a sentence that is about one of its figures."""
    at = figures.index(figure)
    start = _cut(text, figures[at - 1], figure) if at else 0
    end = _cut(text, figure, figures[at + 1]) if at + 1 < len(figures) else len(text)
    return start, end


def _cut(text: str, one: Figure, other: Figure) -> int:
    between = [match.start() for match in _CUTS.finditer(text, one.end, other.start)]
    if text[: other.start].endswith(" to "):
        between.append(other.start - len(" to "))
    return between[-1] if between else one.end


def sides_of(text: str, figure: Figure, figures: Sequence[Figure], names: Iterable[Placed]) -> Sides:
    """Who is compared with whom.

    Args:
        text: the sentence, spaced.
        figure: one of its figures.
        figures: all of them, in order.
        names: all of its names; those of a host's maker are left out.
    """
    known = [one for one in names if not one.name.of_host]
    here = clause_of(text, figure, figures)
    start, end = _other_side(text, figure, known, here) if figure.kind in ("ratio", "percent") else (0, 0)
    theirs = [one for one in known if one.what in _WHOSE and start <= one.start < end]
    taken = [
        one
        for other in figures
        if other is not figure
        for one in _behind(text, other, known, clause_of(text, other, figures))
    ]
    own = [one for one in known if one not in theirs]
    # What stands behind another figure belongs to that, unless it is the only one: "9 minutes and 14 on a POD64".
    own = [one for one in own if one not in taken or all(two in taken for two in own if two.what == one.what)]
    if figure.kind not in ("ratio", "percent"):
        own = [one for one in own if one.what == "benchmark" or not _beyond(text, figure, one)]
    before = contains(flat(text), words().previous_round)
    return Sides(_side(text, figure, own, here), _side(text, figure, theirs, here) if theirs else None, before)


def _beyond(text: str, figure: Figure, name: Placed) -> bool:
    """Whether a word of comparison stands between a figure and a name."""
    first, last = (figure.end, name.start) if figure.end <= name.start else (name.end, figure.start)
    return COMPARED.search(text, max(0, first - 1), max(first, last) + 1) is not None


def _other_side(text: str, figure: Figure, names: Sequence[Placed], here: tuple[int, int]) -> tuple[int, int]:
    """Where the other side of a comparison is named: behind a word of comparison, after the figure or else before."""
    said = flat(text)
    phrases = "|".join(map(re.escape, sorted(words().against, key=len, reverse=True)))
    found = [match.end() for match in re.finditer(rf"(?<!\w)(?:{phrases})(?!\w)", said)]
    after = [at for at in found if figure.end <= at <= here[1] + len(" than ")]
    for at in (*after, *(at for at in found if here[0] <= at < figure.start)):
        if re.match(rf" ?(?:the |our |its |their )?(?:{'|'.join(words().previous_round)})", said[at:]):
            return 0, 0
        stop = _STOPS.search(said, at)
        end = stop.start() if stop else len(said)
        if any(one.what in _WHOSE and at <= one.start < end for one in names):
            return at, end
    # "Comparing A and B", "between A and B": the second is the other side.
    of_both = [one for one in names if one.what == "accelerator" and here[0] <= one.start < here[1]]
    if len({one.name.values for one in of_both}) == 2 and contains(said, words().between):
        return of_both[-1].start, of_both[-1].end
    return 0, 0


def _behind(text: str, figure: Figure, names: Sequence[Placed], here: tuple[int, int]) -> Iterator[Placed]:
    """Names that stand right behind a figure in its clause, as in "28 minutes on MI300X"."""
    rest = flat(text[figure.end :])
    leads = [word for word in words().behind if rest.startswith(f"{word} ")]
    if leads:
        near = [one for one in names if figure.end <= one.start <= min(figure.end + _NEAR, here[1] - 1)]
        first = min((one.start for one in near), default=0)
        yield from (one for one in near if one.start <= first + _NEAR)


def _side(text: str, figure: Figure, names: Sequence[Placed], here: tuple[int, int]) -> Side:
    behind = list(_behind(text, figure, names, here))
    chosen: dict[str, Placed] = {}
    for what in ("organisation", "accelerator", "benchmark", "division", "round", "pod", "chips", "nodes"):
        of_kind = [one for one in names if one.what == what and not (what == "organisation" and one.name.of_product)]
        inside = [one for one in of_kind if here[0] <= one.start < here[1]]
        for some in ([one for one in behind if one.what == what], inside, of_kind):
            if some:
                chosen[what] = _nearest(figure, some)
                break
    count = chosen.get("pod") or chosen.get("chips")
    rounds = chosen["round"].name.values if "round" in chosen else frozenset()
    divisions = {value for one in names if one.what == "division" for value in one.name.values}
    return Side(
        organisations=_consistent(_values(chosen, "organisation"), _values(chosen, "accelerator")),
        accelerators=_values(chosen, "accelerator"),
        benchmark=_values(chosen, "benchmark") or None,
        round=next(iter(rounds), None),
        division=next(iter(_values(chosen, "division"))) if len(divisions) == 1 else None,
        chips=int(next(iter(count.name.values))) if count else None,
        pod="pod" in chosen,
        nodes=int(next(iter(chosen["nodes"].name.values))) if "nodes" in chosen else None,
        written={what: one.name.written for what, one in chosen.items()},
    )


def _consistent(organisations: frozenset[str], accelerators: frozenset[str]) -> frozenset[str]:
    """Organisations, but for a maker of accelerators beside those of another: NVIDIA beside an IPU is someone else."""
    makers = {vendor for one in all_chips().values() for vendor in one.vendor}
    own = {vendor for name in accelerators & all_chips().keys() for vendor in all_chips()[name].vendor}
    return frozenset(one for one in organisations if not own or one not in makers or one in own)


def _values(chosen: dict[str, Placed], what: str) -> frozenset[str]:
    return chosen[what].name.values if what in chosen else frozenset()


def _nearest(figure: Figure, names: Sequence[Placed]) -> Placed:
    """The name nearest before a figure, else the first behind it."""
    before = [one for one in names if one.end <= figure.start]
    return max(before, key=lambda one: one.start) if before else min(names, key=lambda one: one.start)
