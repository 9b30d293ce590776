"""The engine finds what is planted, and goes on after it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from mlsub.rules.formula import parse
from tests.campaigns.fuzz import guard, turn
from tests.campaigns.fuzz.finding import of_exception
from tests.campaigns.fuzz.guard import Desk, Fork
from tests.campaigns.fuzz.harness import Harness
from tests.campaigns.fuzz.minimise import minimised
from tests.campaigns.fuzz.mutate import mutated
from tests.campaigns.fuzz.planted import (
    SEEDS,
    aborting,
    campaign,
    exiting,
    fine,
    greedy,
    hanging,
    harness,
    hungry,
    leaving,
    raising,
    recursive,
    waiting,
)
from tests.campaigns.fuzz.reach import Tracer, lines, shown
from tests.campaigns.fuzz.scratch import scratch
from tests.campaigns.fuzz.search import Search
from tests.campaigns.fuzz.state import State
from tests.effort import HUNG

KINDS: dict[str, Callable[[bytes], None]] = {
    "BrokenError": raising,
    "Timeout": hanging,
    "MemoryGrowth": hungry,
    "MemoryError": greedy,
    "SIGABRT": aborting,
    "exit status 3": leaving,
    "SystemExit": exiting,
    "RecursionError": recursive,
}


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "fuzz", "1")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_planted_is_found_and_minimised_and_the_campaign_goes_on(
    kind: str, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "MINIMISING", HUNG)
    attacked = harness(KINDS[kind], seconds=0.05 if kind == "Timeout" else HUNG)
    progress = campaign(state, [attacked], inputs=200).progress["planted"]
    assert progress.inputs == 200
    [finding] = progress.findings
    assert (finding.failure.kind, finding.data, finding.minimised) == (kind, b"needleneedle", True)
    assert state.file_of("planted", finding).read_bytes() == finding.data


def test_a_harness_that_waits_is_found(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE", 0.5)
    attacked = Harness("waits", "waits", waiting, lambda: (b"needle",), seconds=0.05)
    monkeypatch.setattr(turn, "TRACED", 5.0)
    monkeypatch.setattr(turn, "MINIMISING", 0.0)
    [finding] = campaign(state, [attacked], inputs=1).progress["waits"].findings
    assert finding.failure.kind == "Timeout"
    assert "waits" in finding.failure.text


def test_too_long_once_is_no_finding() -> None:
    attacked = harness(fine)
    fork = Fork(attacked, Desk(attacked.longest))
    found = Fork(harness(hanging), Desk(attacked.longest)).failure(b"needleneedle")
    assert found is not None and found.kind == "Timeout"
    assert "tests/campaigns/fuzz/planted.py (" in found.signature
    assert fork.confirmed(b"needleneedle", found) is None


def test_a_failure_has_the_innermost_place_in_mlsub() -> None:
    with pytest.raises(Exception, match="it ends where") as caught:
        parse("1 +")
    failure = of_exception(caught.value)
    assert failure.kind == "ExpressionError"
    assert failure.place.startswith("mlsub/rules/")


def test_the_folder_of_a_process_that_was_killed_is_removed() -> None:
    def work(data: bytes) -> None:
        (scratch("killed") / "file").write_bytes(data)
        kept.write_text(str(scratch("killed")))
        os.kill(os.getpid(), signal.SIGKILL)

    kept = scratch("kept") / "name"
    found = Fork(harness(work), Desk(10)).failure(b"data")
    assert found is not None and found.kind == "SIGKILL"
    left = Path(kept.read_text())
    assert (left / "file").exists()
    assert scratch("another") != kept.parent
    assert kept.exists() and not left.exists()


def test_inputs_become_small() -> None:
    data = bytes(range(256)) * 8 + b"<needle>" + bytes(range(256))
    assert minimised(data, lambda candidate: b"needle" in candidate, HUNG) == b"needle"
    assert minimised(b"9" * 50 + b"z", lambda candidate: len(candidate) >= 3, HUNG) == b"000"
    assert minimised(data, lambda candidate: b"needle" in candidate, 0) == data


def test_mutations_keep_within_the_bound_and_change_most_inputs() -> None:
    rng = random.Random("mutations")
    made = [mutated(SEEDS[0], (b"needle",), 40, rng, SEEDS[1]) for _ in range(2_000)]
    assert max(map(len, made)) == 40
    assert len(set(made)) > 1_000
    assert sum(b"needle" in data for data in made) > 200


def test_the_tracer_sees_lines_of_mlsub() -> None:
    tracer = Tracer()

    def run(data: bytes) -> None:
        parse.__wrapped__(data.decode())

    short, long = tracer.steps(run, b"a"), tracer.steps(run, b"min(a, b) if a < 2 else 'text'")
    assert short and long - short
    assert {shown(line).split(":")[0] for line in lines(short)} >= {
        "mlsub/rules/formula.py",
        "mlsub/rules/arithmetic.py",
    }
    assert tracer.steps(run, b"a") == short


def stairs(data: bytes) -> int:
    """How far an input comes: each step needs all those before, so none comes far by chance."""
    return next(step for step in range(9) if b"<%d>" % step not in data)


@pytest.mark.parametrize(("steered", "highest"), [(True, 8), (False, 5)])
def test_inputs_are_steered_to_what_was_not_reached(steered: bool, highest: int) -> None:
    words = tuple(b"<%d>" % step for step in range(8))
    search = Search(Harness("stairs", "stairs", fine, lambda: SEEDS, words), "1", SEEDS)
    reached = 0
    for number in range(20_000):
        data, measured = search.draw(number)
        reached = max(reached, stairs(data))
        if measured and steered:
            search.learn(data, number, range(stairs(data) + 1))
    assert (reached >= highest) == steered


@pytest.mark.long
@pytest.mark.skipif(find_spec("atheris") is None, reason="Atheris is not installed: pip install '.[fuzz]'")
@pytest.mark.parametrize("kind", KINDS)
def test_atheris_finds_the_same(kind: str, state: State) -> None:
    program = (
        "from tests.campaigns.fuzz import guided, planted, state, turn; from pathlib import Path; turn.MINIMISING = 20;"
        f"one = planted.harness(planted.{KINDS[kind].__name__});"
        f"guided.GuidedTurn(one, state.State(Path({str(state.folder)!r}), '1')).run(600, 3_000)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3])
    progress = state.load("planted")
    assert progress.guided == 3_000
    [finding] = progress.findings
    assert (finding.failure.kind, finding.data) == (kind, b"needleneedle")
