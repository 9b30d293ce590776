"""Published results by their names, and those that some names may mean. No log is read for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from mlsub.commands.audit.facts import product
from mlsub.commands.audit.messaging.words import squashed
from mlsub.commands.audit.places import RoundFolder
from mlsub.commands.audit.vocabulary import accelerators_in
from mlsub.divisions import division_name
from mlsub.io.spelling import flat, spaced
from mlsub.rounds import get_round
from mlsub.rounds.benchmarks import same_benchmark
from mlsub.submission.organisations import organisation
from mlsub.submission.tree import TreeReader
from mlsub.systems.description import read_description

#: Fields of a description that name accelerators, the most telling first.
_NAMING = ("accelerator_model_name", "system_name")
_IPUS = frozenset(("GC200", "Bow IPU"))


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A result set: its folders, and by what names people call it.

    ``chips`` are processors where there are no accelerators. ``called`` are the words of the system's name, and
    ``squashed`` is that name in letters and digits alone.
    """

    round: str
    submitter: str
    system: str
    benchmark: str
    division: str | None = None
    organisations: frozenset[str] = frozenset()
    accelerators: frozenset[str] = frozenset()
    chips: int | None = None
    nodes: int | None = None
    called: frozenset[str] = frozenset()
    squashed: str = ""

    @property
    def name(self) -> str:
        """A name for claims files, which several may have: ``graphcore_gc200_bert_64_open``."""
        [chip] = self.accelerators if len(self.accelerators) == 1 else [""]
        division = "open" if self.division == "open" else ""
        parts = (self.submitter, chip, self.benchmark, str(self.chips or self.system), division)
        name = re.sub(r"\W+", "_", "_".join(part for part in parts if part).lower(), flags=re.ASCII)[:48].strip("_")
        return name if name[:1].isalpha() else f"r_{name}"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The names that a result should have; None and empty for any.

    ``pod`` says that ``chips`` is the number in the name of a POD. ``own`` is the organisation whose results are meant
    where nothing else is said and it has any. ``text`` are the words around, which may name a system.
    """

    round: str
    benchmark: frozenset[str]
    organisations: frozenset[str] = frozenset()
    accelerators: frozenset[str] = frozenset()
    division: str | None = None
    chips: int | None = None
    pod: bool = False
    nodes: int | None = None
    own: str | None = None
    text: str = ""


def entries_of(rounds: Sequence[RoundFolder], wanted: Collection[str]) -> tuple[Entry, ...]:
    """The result sets of training in some rounds, ``1.0``."""
    return tuple(entry for one in rounds if one.usage == "training" and one.round in wanted for entry in _entries(one))


def _entries(of: RoundFolder) -> Iterator[Entry]:
    for submitter, folder in of.organisations.items():
        round_ = get_round("training", of.round)
        files = TreeReader(folder, folder.name, round_).organisation()
        for entry in files.entries:
            if not entry.results:
                continue
            description = read_description(folder / "systems" / f"{entry.system}.json", entry.system, round_)
            content = description.content or {}
            per_node = (
                "accelerators_per_node" if product(content, "accelerators_per_node") else "host_processors_per_node"
            )
            found = _accelerators([description.text(field) or "" for field in _NAMING])
            title = description.text("system_name") or ""
            yield Entry(
                round=of.round,
                submitter=submitter,
                system=entry.system,
                benchmark=str(round_.benchmark_in(entry.benchmark)),
                division=division_name(description.division),
                organisations=frozenset(organisation(submitter).split("+")),
                accelerators=found,
                chips=product(content, "number_of_nodes", per_node),
                nodes=product(content, "number_of_nodes"),
                called=frozenset(_telling(f"{title} {entry.system}")),
                squashed=squashed(f"{title[:200]} {entry.system[:200]}"),
            )


def _accelerators(texts: Iterable[str]) -> frozenset[str]:
    """What is named first; a family means each member."""
    for text in texts:
        values = [one.values for one in accelerators_in(spaced(text[:200]))]
        if values:
            single = [one for one in values if len(one) == 1]
            return frozenset().union(*(single or values))
    return frozenset()


def _telling(text: str) -> Iterator[str]:
    yield from (word for word in re.findall(r"[a-z]{3,}", flat(text[:300])))


def matching(entries: Sequence[Entry], wanted: Wanted) -> tuple[Entry, ...]:
    """The result sets that have all the names that are wanted."""
    found = [one for one in entries if _fits(one, wanted)]
    if wanted.organisations:
        found = [one for one in found if one.organisations & wanted.organisations]
    elif wanted.own is not None:
        of_own = [one for one in found if wanted.own in one.organisations]
        named = wanted.accelerators or wanted.chips
        # Who speaks and has results of the round speaks of these, unless a system is named that only others have.
        has_any = any(one.round == wanted.round and wanted.own in one.organisations for one in entries)
        found = of_own if of_own or (has_any and not named) else found
    return tuple(_closest(found, wanted.text))


def _fits(one: Entry, wanted: Wanted) -> bool:
    if one.round != wanted.round or wanted.division not in (None, one.division):
        return False
    if wanted.accelerators and not one.accelerators & wanted.accelerators:
        return False
    if wanted.chips is not None and (wanted.chips != one.chips or (wanted.pod and not one.accelerators & _IPUS)):
        return False
    if wanted.nodes not in (None, one.nodes):
        return False
    return any(same_benchmark("training", one.benchmark, name) for name in wanted.benchmark)


def _closest(found: Sequence[Entry], text: str) -> Sequence[Entry]:
    """Of several, those whose system the text names with more of its words: the red box, not the green one."""
    said = set(re.findall(r"[a-z]{3,}", flat(text)))
    common = frozenset.intersection(*(one.called for one in found)) if found else frozenset()
    parts = re.findall(r"[a-z0-9]+", flat(text))
    pairs = {one + other for one, other in pairwise(parts) if one.isalpha() and not other.isalpha()}
    scores = [len((one.called - common) & said) + sum(pair in one.squashed for pair in pairs) for one in found]
    best = max(scores, default=0)
    return [one for one, score in zip(found, scores, strict=True) if score == best]
