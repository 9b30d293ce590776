"""Which usages, rounds and benchmarks exist, and what a round changed for whole packages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from mlsub.divisions import DIVISIONS
from mlsub.io import MlsubError
from mlsub.io.data import convert, shipped

#: So many names are listed in full beside what was probably meant.
_FEW = 16
_ROUND = re.compile(r"v?(\d+\.\d+)(?:\.0)?")


class Statuses(msgspec.Struct, frozen=True):
    """What a system description may state as its status."""

    one_of: tuple[str, ...]
    case_counts: bool

    def allow(self, status: object) -> bool:
        """Return whether a status is one of them."""
        if not isinstance(status, str):
            return False
        return (status if self.case_counts else status.lower()) in self.one_of


class Summarizer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the result summarizer of a round does with fields of a system description; see rounds.yaml."""

    #: The system whose chips are counted in its name.
    TPU: ClassVar[str] = "tpu-v3"

    counted: tuple[str, ...] = ()
    counted_of_tpu: tuple[str, ...] = ()
    bits: int | None = None
    joined: tuple[str, ...] = ()
    sorted: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    printed: tuple[str, ...] = ()


class Round(msgspec.Struct, frozen=True):
    """One round of one usage.

    ``common_file`` is the file of the rules that bind every log, ``common`` the (usage, round) it is read for;
    ``checker`` the place in the official checker that findings cite; ``package_checker`` says whether entries had one,
    beside that of single logs; ``other_folders`` are further names of benchmarks' folders, each with its benchmark;
    ``log_format`` is ``mllog``, or ``mll`` for the format of v0.6; ``seeds`` is ``unchecked``, ``optional`` or
    ``required`` (see rounds.yaml); ``statuses`` are those a system description may state, None where no tool checks;
    ``run_count_demanded`` says that another number of results rejects; ``power_checked`` that files of power
    measurements count; ``script_options`` are the options of the package checker that ``package_checker_params`` in the
    organisation's folder can ask for, ``folder_flags`` those that it understands in a system's or a benchmark's, both
    empty where no file is read; ``summarizer`` is what the result summarizer does with a system description, None where
    no script runs it, and ``summarizer_ends_on`` what else ends it: ``name``, ``private-id`` or ``folder`` (see
    rounds.yaml); ``scaling_folders`` says that results lie one folder deeper, under
    ``strong`` or ``weak``. ``overlay`` is the file of the user's own rules that applies as well, None without one.
    """

    usage: str
    name: str
    ruleset: str
    checker: str
    package_checker: bool
    benchmarks: tuple[str, ...]
    other_folders: tuple[tuple[str, str], ...]
    common: tuple[str, str]
    common_file: str
    empty_folder_ignored: bool
    log_format: str
    seeds: str
    descriptions_checked: bool
    statuses: Statuses | None
    run_count_demanded: bool
    power_checked: bool
    script_options: tuple[str, ...]
    folder_flags: tuple[str, ...]
    summarizer: Summarizer | None
    scaling_folders: bool
    title: str
    summarizer_ends_on: tuple[str, ...] = ()
    overlay: str | None = None

    def benchmark_in(self, folder: str) -> str | None:
        """Return the benchmark whose results a folder of this name has; None where it is none of the round's."""
        return folder if folder in self.benchmarks else dict(self.other_folders).get(folder)


@lru_cache(maxsize=1)
def _rounds_table() -> dict[str, Any]:
    return shipped(__file__, "rounds.yaml", dict[str, Any])


def usages() -> tuple[str, ...]:
    """Return the usages, in the order of the table."""
    return tuple(_rounds_table())


@lru_cache(maxsize=8)
def overlay_content(overlay: str | None) -> dict[str, Any]:
    """Return what an overlay file holds (see docs/overlay.md), checked before by :mod:`mlsub.rules.overlay`."""
    if not overlay:
        return {}
    from mlsub.io.read import read_tree

    content: dict[str, Any] = read_tree(Path(overlay), kind="rule files", top="a title and rounds").content()
    return content


def overlay_rounds(usage: str, overlay: str | None) -> dict[str, Any]:
    """Return the rounds that an overlay file adds to a usage, and what each changes."""
    content = overlay_content(overlay)
    return (content.get("rounds") or {}) if content.get("usage", "training") == usage else {}


def known_rounds(usage: str, overlay: str | None = None) -> tuple[str, ...]:
    """Return the rounds of a usage, oldest first, those of an overlay file last; empty for an unknown usage."""
    entry = _rounds_table().get(usage)
    return (*entry["rounds"], *overlay_rounds(usage, overlay)) if entry else ()


def normalise_round(text: str) -> str | None:
    """Return the name of a round: of ``1.0``, ``1.0.0`` and ``v1.0`` it is ``1.0``; None for anything else."""
    match = _ROUND.fullmatch(text.strip())
    return match[1] if match else None


def round_age(name: str) -> tuple[int, ...]:
    """Return a round as numbers that sort by time; empty for a name without any."""
    return tuple(map(int, re.findall(r"\d{1,6}", name)))


@lru_cache(maxsize=64)
def get_round(usage: str, name: str, overlay: str | None = None) -> Round:
    """Return the round, with everything it inherits; ``overlay`` is a file of the user's own that may add rounds.

    Raises:
        MlsubError: no such usage, or no such round of it.
    """
    names = known_rounds(known_name("usage", usage, usages()), overlay)
    known_name(f"{usage} round", name, names)
    entry = _rounds_table()[usage]
    rounds = {**entry["rounds"], **overlay_rounds(usage, overlay)}
    merged: dict[str, Any] = {}
    for earlier in names[: names.index(name) + 1]:
        merged.update(rounds[earlier] or {})
    common = merged.get("common", entry.get("common", "common"))
    lent = common if isinstance(common, dict) else {"usage": usage, "round": name}
    computed = {
        "usage": usage,
        "name": name,
        "title": f"{entry['title']} v{name}",
        "overlay": overlay,
        "other_folders": list(merged.get("other_folders", {}).items()),
        "common": (lent["usage"], lent["round"]),
        "common_file": common if isinstance(common, str) else "common",
        "empty_folder_ignored": merged["empty_benchmark_folder"] == "ignored",
        "descriptions_checked": merged["system_descriptions"] == "checked",
        "statuses": merged.get("system_status"),
        "run_count_demanded": merged["run_count"] == "demanded",
        "power_checked": merged["power"] == "checked",
        "scaling_folders": merged.get("scaling") == "folders",
    }
    return convert({"summarizer": None, **merged, **computed}, Round)


def find_usage(text: str) -> str:
    """Return the usage of a name that a person types.

    Raises:
        MlsubError: there is no such name; says what was probably meant.
    """
    return known_name("usage", text, usages())


def find_round(usage: str, text: str, overlay: str | None = None) -> Round:
    """Return the round; ``1.0``, ``1.0.0`` and ``v1.0`` are the same. ``overlay`` is a rule file of the user's own.

    Raises:
        MlsubError: the usage has no such round.
    """
    return get_round(usage, normalise_round(text) or text, overlay)


def find_benchmark(
    benchmark: str, round_text: str | None, usage: str | None, overlay: str | None = None
) -> tuple[Round, str]:
    """Return the round and the benchmark that are meant: without a round the newest one that has it.

    Raises:
        MlsubError: no usage, round or benchmark of this name, or the round does not have it.
    """
    among = (find_usage(usage),) if usage else usages()
    name = benchmark.lower().replace("-", "_")
    having = [rounds for of in among if (rounds := rounds_with(of, name, overlay))]
    if not having:
        names = {known for of in among for round_ in all_rounds(of, overlay) for known in round_.benchmarks}
        where = f"benchmark of {usage}" if usage else "benchmark"
        raise MlsubError(unknown_name(where, benchmark, sorted(names)))
    if round_text is None:
        return having[0][-1], name
    asked = normalise_round(round_text) or round_text
    for round_ in (each for rounds in having for each in rounds):
        if round_.name == asked:
            return round_, name
    round_ = find_round(having[0][0].usage, round_text, overlay)
    # A longer name is the next version of a benchmark; one that is merely similar is another benchmark.
    later = next((other for other in round_.benchmarks if other.startswith(name)), None)
    hint = f". Did you mean {later}?" if later else ""
    known = span([each.name for each in having[0]])
    raise MlsubError(f"{round_.usage} {round_.name} has no {name}; it was in {known}{hint}")


def all_rounds(usage: str, overlay: str | None = None) -> tuple[Round, ...]:
    """Return every round of a usage, oldest first."""
    return tuple(get_round(usage, name, overlay) for name in known_rounds(usage, overlay))


def rounds_with(usage: str, benchmark: str, overlay: str | None = None) -> list[Round]:
    """Return the rounds of a usage that have a benchmark, oldest first."""
    return [round_ for round_ in all_rounds(usage, overlay) if benchmark in round_.benchmarks]


def history_of(benchmark: str) -> str:
    """Return the rounds that have a benchmark, such as ``MLPerf Training v4.0 to v5.1``; empty where none has it."""
    found = (rounds for usage in usages() if (rounds := rounds_with(usage, benchmark)))
    return ", and of ".join(one[0].title + (f" to v{one[-1].name}" if len(one) > 1 else "") for one in found)


def wrong_round(round_: Round, benchmark: str) -> str | None:
    """Return what to ask where a round lacks a benchmark that another has; None where none, or this one, has it."""
    if not benchmark or benchmark in round_.benchmarks:
        return None
    known, names = known_rounds(round_.usage), [each.name for each in rounds_with(round_.usage, benchmark)]
    if not names:
        others = history_of(benchmark)
        return (
            f"{benchmark} is a benchmark of {others}: wrong usage? Check with --usage and --round." if others else None
        )
    if round_.name in known and known.index(names[-1]) < known.index(round_.name):
        words, name, more = "was last in", names[-1], " or earlier"
    else:
        words, name, more = "came in", names[0], " or later"
    return f"{benchmark} {words} v{name}: wrong round? Check with --round {name}{more if len(names) > 1 else ''}."


def every_benchmark(usage: str) -> tuple[str, ...]:
    """Return the benchmarks of all rounds of a usage."""
    return tuple(dict.fromkeys(name for round_ in all_rounds(usage) for name in round_.benchmarks))


def known_name(what: str, text: str, known: tuple[str, ...]) -> str:
    """Return the text, where it is one of the known names.

    Raises:
        MlsubError: it is not; says what was probably meant.
    """
    if text not in known:
        raise MlsubError(unknown_name(what, text, known))
    return text


def known_division(text: str) -> str:
    """Return the name of a division, which may be written with capitals.

    Raises:
        MlsubError: it is not one; says what was probably meant.
    """
    return known_name("division", text.lower(), tuple(DIVISIONS))


def unknown_name(what: str, text: str, known: Iterable[str]) -> str:
    """Return that a name is not one of the known ones, and what was probably meant."""
    known = list(known)
    shown = text if len(text) <= 40 else text[:39] + "…"
    wanted = text.lower().replace("-", "_")
    close = get_close_matches(wanted, known, n=3) or [name for name in known if wanted and wanted in name][:3]
    if not close:
        return f"no {what} {shown!r}; there are {', '.join(known)}"
    listed = f"; there are {', '.join(known)}" if len(known) <= _FEW else ""
    return f"no {what} {shown!r}{listed}. Did you mean {' or '.join(close)}?"


def span(names: Sequence[str]) -> str:
    """Return names of rounds that follow each other, in short: ``1.0 to 2.1``."""
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def spans(usage: str, names: Iterable[str]) -> str:
    """Return names of rounds in short, those in a row together: ``1.0 to 2.1, 4.0``."""
    known = known_rounds(usage)
    groups: list[list[str]] = []
    for name in sorted(names, key=known.index):
        if groups and known.index(name) == known.index(groups[-1][-1]) + 1:
            groups[-1].append(name)
        else:
            groups.append([name])
    return ", ".join(map(span, groups))
