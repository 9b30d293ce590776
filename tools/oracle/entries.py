"""Entries about the limit of the convergence test, drawn by a seed, and where mlsub and the official checker differ.

The official checker of their round runs in this process (official_rcp), on files in memory.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mlsub.convergence import Algorithm, Options, algorithm_of, traits_of, unit_of
from mlsub.convergence.curves import find_point, prune
from mlsub.convergence.reference import Point, read_points, reference_file
from mlsub.log.reading import LARGEST_COUNT
from mlsub.rounds import get_round
from mlsub.rules.load import entry_requirements as needs
from mlsub.submission.params import Flags
from mlsub.submission.report import RcpResult
from tools.oracle.generate import ROUNDS, usage_and_round
from tools.oracle.official_rcp import DAYS, HOW, LATEST, Said, official_test
from tools.oracle.shared import INSTALLED_POINTS
from tools.support.entry_logs import judged, log_of, write_logs

#: What a log states that is no batch size, or one of an odd type.
ODD_SIZES: tuple[Any, ...] = (
    *("4096", "", True, False, None, [4096], {}, -1, -1.0, 0, -0.0, 0.5, 1, 10**9, 1e9, 999_999_999.5, 10**9 + 1),
    *(1e14, 1e15, 10**400, float("inf"), float("-inf"), float("nan")),
)
ODD_POINTS: tuple[Any, ...] = (
    *(True, False, None, "12", [12], [12, 13], {}, -1, -5.5, 0, 0.0004, 0.0005, 1e14, 1e15, 1e20, 1e308, 10**30),
    *(10**400, float("inf"), float("-inf"), float("nan")),
)
ODD_STATUS: tuple[Any, ...] = ("aborted", None, "Success", "success ", "", 1, True, [], {}, "failed")
ODD_NAMES: tuple[Any, ...] = ("bert", "resnet", "x", "", 1, None, [], {}, "stable_diffusion", "llama31_8b", "gpt3")


class Place(NamedTuple):
    """A round and a benchmark that it tests."""

    usage: str
    round: str
    name: str


class Spread(NamedTuple):
    """What runs are drawn about: the limit and the reference's mean and stdev, their number, and whether by samples."""

    limit: float
    mean: float
    stdev: float
    runs: int
    whole: bool


class EntryCase(NamedTuple):
    """An entry: its logs, the flags it is tested with, its own reference data if any, and in words what it is."""

    place: Place
    logs: tuple[str, ...]
    bypass: bool
    samples: bool
    reference: str | None
    what: str


@cache
def places() -> tuple[Place, ...]:
    """All that is compared with a reference."""
    found = []
    for round_id in ROUNDS:
        usage, name = usage_and_round(round_id)
        if algorithm_of(usage, name) is not None:
            found += [Place(usage, name, b) for b in get_round(usage, name).benchmarks if traits_of(b).tested]
    return tuple(found)


def _exactly(at: Callable[[Spread], float]) -> Callable[[random.Random, Spread], list[float]]:
    return lambda chance, spread: [at(spread)] * spread.runs


def _balanced(chance: random.Random, spread: Spread) -> list[float]:
    """The mean at the limit, with runs on both sides of it."""
    off = [abs(chance.gauss(0, spread.limit / 50)) for _ in range(spread.runs // 2)]
    middle = [spread.limit] if spread.runs % 2 else []
    points = [*(spread.limit + o for o in off), *(spread.limit - o for o in off), *middle]
    return [round(point, 3) for point in points] if chance.random() < 0.5 else points


def _outlier(chance: random.Random, spread: Spread) -> list[float]:
    """All at the limit, but for one or two runs that fall out, or do not."""
    found = [spread.limit] * spread.runs
    for place in chance.sample(range(spread.runs), min(spread.runs, chance.choice((1, 1, 2)))):
        found[place] *= chance.choice((0.01, 0.99, 1.01, 100))
    return found


def _drawn(chance: random.Random, spread: Spread) -> list[float]:
    centre = chance.choice((spread.limit, spread.mean, (spread.limit + spread.mean) / 2))
    return [chance.gauss(centre, spread.stdev) for _ in range(spread.runs)]


#: How far apart runs lie that are a little apart.
NEAR = (0.0, 1e-9, -1e-9, 0.001, -0.001, 0.0005, -0.0005, 1.0, -1.0)
#: How the runs of an entry lie.
SHAPES: dict[str, Callable[[random.Random, Spread], list[float]]] = {
    "at the limit": _exactly(lambda s: s.limit),
    "a bit above": _exactly(lambda s: math.nextafter(s.limit, math.inf)),
    "a bit below": _exactly(lambda s: math.nextafter(s.limit, 0)),
    "1e-9 above": _exactly(lambda s: s.limit + 1e-9),
    "1e-9 below": _exactly(lambda s: s.limit - 1e-9),
    "the next three digits": _exactly(lambda s: math.ceil(s.limit * 1000) / 1000),
    "the last three digits": _exactly(lambda s: math.floor(s.limit * 1000) / 1000),
    "half of a third digit": _exactly(lambda s: math.floor(s.limit * 1000) / 1000 + 0.0005),
    "the next sample": _exactly(lambda s: math.ceil(s.limit)),
    "the last sample": _exactly(lambda s: math.floor(s.limit)),
    "one sample less": _exactly(lambda s: math.floor(s.limit) - 1),
    "at the mean": _exactly(lambda s: s.mean),
    "a bit below the mean": _exactly(lambda s: math.nextafter(s.mean, 0)),
    "far below": _exactly(lambda s: s.limit / 10),
    "far above": _exactly(lambda s: s.mean * 10),
    "balanced": _balanced,
    "an outlier": _outlier,
    "a little apart": lambda chance, s: [s.limit + chance.choice(NEAR) for _ in range(s.runs)],
    "drawn": _drawn,
}


def entry_case(seed: str, number: int, above: Path) -> EntryCase:
    """The entry of a number; ``above`` takes the file of reference data that it may have of its own."""
    chance = random.Random(f"{seed} {number}")
    place = places()[number % len(places())]
    algorithm = algorithm_of(place.usage, place.round)
    assert algorithm is not None
    asked = needs(place.usage, place.round, place.name).runs
    reference = _own_reference(chance, place.name, asked) if chance.random() < 0.2 else None
    points = _points(place, asked, algorithm, above, reference)
    size, sized = _size(chance, points)
    runs = chance.choice((*[asked] * 12, asked + 1, asked - 1, asked + chance.randint(2, 6), chance.randint(0, asked)))
    shape = chance.choice(list(SHAPES))
    found = SHAPES[shape](chance, _spread(chance, place, size, points, asked, algorithm)._replace(runs=runs))
    odd = _Odd(chance, place, algorithm)
    logs = tuple(odd.log(size, point) for point in found)
    bypass, samples = chance.random() < 0.25, chance.random() < (0.3 if place.name == "bert" else 0.03)
    what = f"{'-'.join(place)}: {runs} runs {shape}, batch size {sized} {size!r}{odd.said}"
    return EntryCase(place, logs, bypass, samples, reference, what)


def _points(place: Place, asked: int, algorithm: Algorithm, above: Path, reference: str | None) -> tuple[Point, ...]:
    file = reference_file(place.usage, get_round(place.usage, place.round).ruleset, place.name)
    if reference is not None:
        file = above / "reference.json"
        file.write_text(reference)
    assert file is not None
    return read_points(file, place.name, asked, algorithm)


def _spread(
    chance: random.Random, place: Place, size: Any, points: tuple[Point, ...], asked: int, algorithm: Algorithm
) -> Spread:
    """The limit at a batch size; where there is none, that of a reference point."""
    point, earlier = None, dict(algorithm.earlier).get(place.name, 0)
    if isinstance(size, (int, float)) and abs(size) < 1e15:
        point = find_point(size, prune(points, algorithm, asked), asked)[0]
    point = point or chance.choice(points)
    # One point of GPT-3 spreads so far that its limit is next to nothing.
    limit = max(0.01, point.accepted_from(chance.choice((0, earlier))))
    return Spread(limit, point.mean, point.stdev, asked, unit_of(place.name) == "samples_count")


def _size(chance: random.Random, points: tuple[Point, ...]) -> tuple[Any, str]:
    sizes = sorted(point.batch_size for point in points)
    low, high = sorted(chance.choices(sizes, k=2))
    kinds: dict[str, Any] = {
        "of a point": low,
        "of a point as a float": float(low),
        "in the middle": (low + high) // 2,
        "in the middle, a fraction": (low + high) / 2 + 0.25,
        "between": chance.randint(int(low), int(high)),
        "below all": max(1, int(sizes[0]) - chance.randint(1, max(1, int(sizes[0])))),
        "above all": sizes[-1] + chance.choice((1, 0.5, sizes[-1])),
        "odd": chance.choice(ODD_SIZES),
    }
    kind = chance.choices(list(kinds), (6, 2, 3, 1, 4, 2, 2, 2))[0]
    return kinds[kind], kind


class _Odd:
    """What some logs of an entry have that is out of the usual, and in words what that was."""

    def __init__(self, chance: random.Random, place: Place, algorithm: Algorithm) -> None:
        self.chance, self.place, self.said = chance, place, ""
        # The checkers to v2.1 read what is out of the usual in ways of their own; tests/convergence/test_live has it.
        self._plain = algorithm.named_by == "folder"
        wild = chance.random() < 0.3
        self._rate = chance.choice((0.05, 0.2, 1.0)) if wild else 0.0
        self._kind = chance.choice(("status", "status", "status", "size", "point", "name"))

    def log(self, size: Any, point: float) -> str:
        """One log, in some entries with something odd in it."""
        unit = "samples_count" if self.place.name == "stable_diffusion" else unit_of(self.place.name)
        name: Any = self.place.name
        value: Any = round(point) if isinstance(point, float) and point.is_integer() else point
        status: Any = "success"
        if self.chance.random() < self._rate:
            if self._kind == "status":
                status = self.chance.choice(("aborted", None, "aborted", None, *ODD_STATUS))
            elif self._kind == "size":
                size = self.chance.choice((*ODD_SIZES, self._like(size)))
            elif self._kind == "point" and not self._plain:
                value = self.chance.choice((None, *ODD_POINTS))
            elif self._kind == "name" and not self._plain:
                name = self.chance.choice(ODD_NAMES)
            self.said += f"; odd {self._kind}"[: 40 if len(self.said) < 200 else 0]
        samples = {"train_samples": value} if self.place.name == "bert" else {}
        text = log_of(self.place.name, size, value, status=status, unit=unit, **samples)
        stated = f'"value": {json.dumps(self.place.name)}'
        return text if name == self.place.name else text.replace(stated, f'"value": {json.dumps(name)}', 1)

    def _like(self, size: Any) -> Any:
        """The size as another type."""
        try:
            return self.chance.choice((float, str, int))(size)
        except (TypeError, ValueError, OverflowError):
            return size


def _own_reference(chance: random.Random, name: str, asked: int) -> str:
    """Reference data as people bring their own: few points or many, alike, without spread, twice the same size."""
    records = {}
    centre, slope = chance.choice((3.0, 40.0, 2e6)), chance.choice((0.0, 0.1, 1.0))
    for number in range(chance.choice((1, 2, 3, 5, 8))):
        size = chance.choice((64, 128, 256, 512, 1000, 1024, 2048, 4096, chance.randint(1, 5000)))
        mean = centre * (1 + slope * math.log2(size) / 10) * chance.choice((1, 1, chance.uniform(0.9, 1.1)))
        stdev = mean * chance.choice((0.0, 0.001, 0.02, 0.3))
        runs = chance.choice((2 * asked, 2 * asked, 2 * asked + 3, max(asked, 9)))
        values: list[float] = [max(mean / 100, chance.gauss(mean, stdev)) for _ in range(runs)]
        if chance.random() < 0.5:
            values = [max(1, round(value)) for value in values]
        records[f"{name}_{number}"] = {
            "Benchmark": name,
            "BS": size,
            "Hyperparams": {"opt_name": chance.choice(("sgd", "lars"))},
            traits_of(name).points: values,
        }
    return json.dumps(records)


#: Answers of mlsub that there is no verdict, which rejects.
NO_VERDICT = ("crash", "no-point", "no-batch-size", "no-reference", "no-runs")
_SIZE = re.compile(r'"key": "global_batch_size", "value": (\S+),')
_ENDLESS = re.compile(r"\d{309}")


class Both(NamedTuple):
    """An entry and what each side says of it."""

    case: EntryCase
    ours: RcpResult
    theirs: Said

    @property
    def how(self) -> str | None:
        """The word for the official message; None where the checker ended in a traceback."""
        return next((word for text, word in HOW.items() if self.theirs.message.startswith(text)), None)

    @property
    def passed(self) -> bool:
        """Whether mlsub lets the entry pass."""
        return self.ours.verdict in ("pass", "bypassed")

    @property
    def word(self) -> str:
        """How the try ended, for the figures."""
        if self.theirs.crash is not None:
            return "official crash, mlsub rejects"
        return f"{self.how}: {'passes' if self.theirs.passed else 'fails'}{' by a bypass' * self._bypassed}"

    @property
    def _bypassed(self) -> bool:
        return "bypass" in self.theirs.message

    @property
    def problem(self) -> str | None:
        """Where the sides differ without a reason that is named."""
        wrong = self._wrong()
        if wrong is None or any(known(self) for known in KNOWN.values()):
            return None
        return f"{wrong}\n  {self.case.what}\n  {self.theirs}\n  {self.ours}"

    def _wrong(self) -> str | None:
        if self.passed != self.theirs.passed:
            return f"mlsub {'passes' if self.passed else 'fails'} what the official checker does not"
        if self.theirs.crash is not None:
            return None
        if self.ours.how != self.how and self.case.logs and (self.passed or self.ours.how not in NO_VERDICT):
            return f"mlsub calls it {self.ours.how}"
        if self.passed and (self.ours.verdict == "bypassed") != self._bypassed:
            return "a bypass counts for one side only"
        expected = self.theirs.scaling if self.passed and not self._bypassed else 1.0
        if not math.isclose(self.ours.scaling, expected, rel_tol=1e-12):
            return f"the factor is {self.ours.scaling!r} for {expected!r}"
        return None


def _too_large(both: Both) -> bool:
    sizes = [_number(found) for text in both.case.logs for found in _SIZE.findall(text)]
    return both.ours.how == "no-batch-size" and any(abs(size) >= LARGEST_COUNT for size in sizes)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _too_few(both: Both) -> bool:
    cut = 4 if both.case.place.name == "unet3d" else 1
    place = both.case.place
    by_folder = DAYS.get((place.usage, place.round), LATEST).by_folder
    counted = sum('"run_stop"' in text or not by_folder for text in both.case.logs)
    return both.ours.how == "insufficient-convergence" and counted <= 2 * cut


#: Where the answers may differ, by id in docs/deviations.yaml; in all but the last of them mlsub rejects.
KNOWN: dict[str, Callable[[Both], bool]] = {
    "nan-count": lambda both: both.ours.how == "no-point" and any("NaN" in text for text in both.case.logs),
    "endless-size": _too_large,
    "endless-count": lambda both: both.ours.how == "crash" and any(map(_ENDLESS.search, both.case.logs)),
    "too-few-runs": _too_few,
    "other-benchmark": lambda both: both.ours.how == "no-reference",
    "mean-of-zero": lambda both: not both.ours.mean and math.isinf(both.theirs.scaling),
}


def tried(case: EntryCase, above: Path) -> Both:
    """Ask both sides about an entry, in a folder for its files."""
    place, folder = case.place, above / case.place.name
    write_logs(folder, case.logs)
    reference = above / "reference.json" if case.reference is not None else None
    flags = Flags(rcp_bypass="params" if case.bypass else None, train_samples="params" if case.samples else None)
    # The official tool counts BERT by epoch_num unless it is asked not to.
    by_epochs = None if case.samples else False
    options = msgspec.structs.replace(
        INSTALLED_POINTS if reference is None else Options(reference=str(reference)), train_samples=by_epochs
    )
    ours = judged(folder, place.round, usage=place.usage, flags=flags, options=options).result
    theirs = official_test(
        folder, place.usage, place.round, bypass=case.bypass, samples=case.samples, reference=reference
    )
    return Both(case, ours, theirs)
