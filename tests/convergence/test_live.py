"""The convergence test agrees with the installed official checker, in the rounds whose algorithm it has."""

from __future__ import annotations

import functools
import glob
import logging
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from mlperf_logging.rcp_checker import rcp_checker

from mlsub.convergence.algorithm import algorithm_of, is_tested, unit_of
from mlsub.convergence.reference import Point, points_of, reference_file
from mlsub.rounds import get_round
from mlsub.rules.load import benchmark as needs
from tests.convergence import odd_logs
from tools.support.effort import effort
from tools.support.entry_logs import judged, write_logs

#: From here on the installed code computes as that of the round's day.
ROUNDS = ("4.1", "5.0", "5.1", "6.0", "6.1")
PAIRS = [(name, b) for name in ROUNDS for b in get_round("training", name).benchmarks if is_tested(b)]
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
