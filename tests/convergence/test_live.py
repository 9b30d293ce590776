"""The convergence test agrees with the installed official checker, in the rounds whose algorithm it has."""

from __future__ import annotations

import functools
import glob
import logging
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mlperf_logging.rcp_checker import rcp_checker

from mlsub.convergence.algorithm import algorithm_of, is_tested, unit_of
from mlsub.convergence.curves import plan_of
from mlsub.convergence.reference import Point, points_of, reference_file
from mlsub.rounds import get_round
from mlsub.rules.load import benchmark as needs
from mlsub.submission.params import Flags
from tests.convergence import odd_logs
from tests.convergence.logs import judged, log_of, write_logs
from tests.effort import effort

#: From here on the installed code computes as that of the round's day.
ROUNDS = ("4.1", "5.0", "5.1", "6.0", "6.1")
PAIRS = [(name, b) for name in ROUNDS for b in get_round("training", name).benchmarks if is_tested(b)]
CASES = effort(15, 60)
HOW = {
    "RCP found": "exact",
    "RCP Interpolation": "interpolated",
    "RCP not found but slower": "smaller-batch",
    "Missing RCP": "missing",
    "Insufficient convergence": "insufficient-convergence",
    "Could not detect": "no-batch-size",
}


@pytest.fixture(autouse=True, scope="module")
def _statistics_once() -> Iterator[None]:
    """The official statistics of a benchmark take far longer than a test of runs, and are the same each time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rcp_checker, "RCP_Checker", functools.lru_cache(rcp_checker.RCP_Checker))
        yield


def reference(round_name: str, name: str) -> tuple[Point, ...]:
    algorithm = algorithm_of("training", round_name)
    file = reference_file("training", get_round("training", round_name).ruleset, name)
    assert algorithm is not None and file is not None
    return points_of(file, name, needs("training", round_name, name).runs, algorithm)


def entry(chance: random.Random, round_name: str, name: str) -> list[str]:
    """The logs of an entry near some reference point: its batch size, means about the limit, now and then a failure."""
    points = reference(round_name, name)
    needed = needs("training", round_name, name).runs
    # Two runs leave no mean, which the official tool takes for one that is too fast.
    runs = needed + chance.choice([0, 0, 0, 0, 1, -1 if needed > 3 else 0])
    point = chance.choice(points)
    size: Any = chance.choice(
        [point.batch_size, chance.choice(points).batch_size, chance.randint(1, 2 * int(points[-1].batch_size))]
    )
    centre = chance.choice([point.minimum, point.mean, (point.minimum + point.mean) / 2, 2 * point.mean])
    spread = chance.choice([0.0, point.stdev / 3, point.stdev])
    whole = unit_of(name) == "samples_count" or chance.random() < 0.5
    logs = []
    for _ in range(runs):
        value = max(1.0, chance.gauss(centre, spread))
        status: str | None = "success"
        if chance.random() < 0.04:
            status = chance.choice(["aborted", None])
        own = size if chance.random() > 0.005 else size + 1
        logs.append(log_of(name, own, round(value) if whole else value, status=status, unit=unit_of(name)))
    return logs


def official(folder: Path, round_name: str, *, bypass: bool) -> tuple[bool, str, float]:
    """The installed checker's answer; where runs disagree on batch size it ends with a KeyError before it says so."""
    ruleset = get_round("training", round_name).ruleset
    try:
        passed, message, scaling = rcp_checker.check_directory(
            str(folder), "training", ruleset, False, False, None, "pruned_rcps", bypass
        )
    except KeyError as error:
        assert error.args == (None,)
        return False, "Could not detect global_batch_size", 1.0
    return bool(passed), message, scaling


@pytest.mark.parametrize(("round_name", "name"), PAIRS)
def test_entries_are_judged_as_by_the_installed_checker(round_name: str, name: str, tmp_path: Path) -> None:
    logging.disable(logging.CRITICAL)
    try:
        seen = set()
        for number in range(CASES):
            chance = random.Random(f"{round_name}/{name}/{number}")
            folder = tmp_path / name
            write_logs(folder, entry(chance, round_name, name))
            bypass = chance.random() < 0.3
            ours = judged(folder, round_name, flags=Flags(rcp_bypass="params") if bypass else Flags()).result
            passed, message, scaling = official(folder, round_name, bypass=bypass)
            how = next(word for text, word in HOW.items() if message.startswith(text))
            told = f"case {number}: {message}, {ours}"
            assert (ours.verdict in ("pass", "bypassed"), ours.how) == (passed, how), told
            assert (ours.verdict == "bypassed") == ("bypass" in message), told
            if passed and not bypass:
                assert ours.scaling == scaling, told
            seen.add((passed, how))
        assert len(seen) >= 3
    finally:
        logging.disable(logging.NOTSET)


def at_the_limit(chance: random.Random, round_name: str, name: str) -> tuple[str, float, list[float]]:
    """How runs lie about the limit, their batch size, and their points: at it, next to it, balanced about it."""
    points, round_ = reference(round_name, name), get_round("training", round_name)
    low, high = sorted(chance.choices([point.batch_size for point in points], k=2))
    size = chance.choice([low, high, (low + high) // 2, chance.randint(int(low), int(high))])
    plan = plan_of(round_, name, size)
    runs = needs("training", round_name, name).runs
    # One point of GPT-3 spreads so far that its limit is next to nothing, and a mean of zero has no factor.
    limit = max(0.01, plan.minimum if plan.minimum is not None else points[-1].minimum)
    near = {
        "at": limit,
        "a unit above": math.nextafter(limit, math.inf),
        "a unit below": math.nextafter(limit, 0),
        "1e-9 above": limit + 1e-9,
        "1e-9 below": limit - 1e-9,
        "three digits above": math.ceil(limit * 1000) / 1000,
        "three digits below": math.floor(limit * 1000) / 1000,
        "at the mean": plan.mean if plan.mean is not None else limit,
    }
    how = chance.choice([*near, "balanced", "balanced"])
    if how in near:
        return how, size, [near[how]] * runs
    off = [abs(chance.gauss(0, limit / 50)) for _ in range(runs // 2)]
    balanced = [*(limit + o for o in off), *(limit - o for o in off), *([limit] if runs % 2 else [])]
    return how, size, [round(point, 3) for point in balanced] if chance.random() < 0.5 else balanced


@pytest.mark.parametrize(("round_name", "name"), PAIRS)
def test_at_the_limit_the_last_bit_decides_as_in_the_installed_checker(
    round_name: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "disabled", True)
    seen = set()
    for number in range(CASES):
        chance = random.Random(f"limit/{round_name}/{name}/{number}")
        how, size, found = at_the_limit(chance, round_name, name)
        folder = tmp_path / name
        write_logs(folder, [log_of(name, size, point, unit=unit_of(name)) for point in found])
        ours = judged(folder, round_name).result
        passed, message, scaling = official(folder, round_name, bypass=False)
        told = f"case {number}, {how}, {size}: {message}, {ours}"
        assert (ours.verdict == "pass") == passed, told
        assert ours.scaling == (scaling if passed else 1.0), told
        seen.add(passed)
    assert seen == {True, False}


#: Answers that there is no verdict: where the official tool ends with an exception.
NO_VERDICT = ("crash", "no-point", "no-batch-size", "no-reference")
ODD_CASES = effort(8, 15)


def odd_entry(chance: random.Random, round_name: str, name: str) -> list[str]:
    """The logs of an entry about some reference point, most of them changed in a few odd ways."""
    points = reference(round_name, name)
    point = chance.choice(points)
    unit = "samples_count" if name == "stable_diffusion" else unit_of(name)
    wild = chance.random() < 0.5
    # The same odd record in all runs leaves them comparable.
    shared, times = chance.random(), chance.choice([1, 1, 2])
    logs = []
    for _ in range(needs("training", round_name, name).runs):
        centre = chance.choice([point.mean, 1.2 * point.mean])
        passed = [max(1, round(centre * part)) for part in ([0.5, 1] if chance.random() < 0.9 else [1])]
        status = "success" if chance.random() > 0.05 else "aborted"
        lines = odd_logs.plain_log(name, point.batch_size, passed, unit, status)
        odd_logs.change(chance if wild and chance.random() < 0.3 else random.Random(shared), lines, times)
        logs.append(odd_logs.text_of(lines))
    return logs


def renamed(texts: list[str]) -> bool:
    """Whether some log names two benchmarks."""
    return any(text.count("submission_benchmark") > 1 or '"bert"' in text for text in texts)


@pytest.mark.parametrize(("round_name", "name"), PAIRS)
def test_odd_logs_are_read_as_by_the_installed_checker(
    round_name: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records repeated, missing, misplaced, naming what others are about, with odd values, and not to be decoded."""
    # The order in which a file system lists files decides of little, but of some things.
    listed = glob.glob
    monkeypatch.setattr(rcp_checker.glob, "glob", lambda *args, **more: sorted(listed(*args, **more)))
    logging.disable(logging.CRITICAL)
    ruleset = get_round("training", round_name).ruleset
    answers = set()
    try:
        for number in range(ODD_CASES):
            folder = tmp_path / name
            write_logs(folder, odd_entry(random.Random(f"{round_name}/{name}/odd/{number}"), round_name, name))
            ours = judged(folder, round_name).result
            try:
                passed, message, scaling = rcp_checker.check_directory(
                    str(folder), "training", ruleset, False, False, None, "pruned_rcps"
                )
            except Exception as error:
                told = f"case {number}: {type(error).__name__}: {error}, {ours}"
                assert ours.how in NO_VERDICT and ours.verdict in ("fail", "missing"), told
                answers.add(type(error).__name__)
                continue
            how = next((word for text, word in HOW.items() if message.startswith(text)), "no-batch-size")
            told = f"case {number}: {message}, {ours}"
            if passed and ours.how in ("no-point", "no-reference"):
                # NaN passes or fails by the order of the files; and the tool has reference points of benchmarks that
                # the round does not.
                texts = [file.read_text() for file in folder.iterdir()]
                assert any("NaN" in text for text in texts) if ours.how == "no-point" else renamed(texts), told
                continue
            assert (ours.verdict == "pass") == bool(passed), told
            assert ours.how == how or (not passed and ours.how in NO_VERDICT), told
            if passed:
                assert ours.scaling == pytest.approx(scaling, rel=1e-12), told
            answers.add(how)
        assert len(answers) >= 3
    finally:
        logging.disable(logging.NOTSET)
