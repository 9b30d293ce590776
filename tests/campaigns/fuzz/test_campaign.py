"""A campaign goes on where it was stopped, shares its budget out, and ends with a status."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.campaigns.fuzz import __main__ as program
from tests.campaigns.fuzz import report, turn
from tests.campaigns.fuzz.campaign import Budget, Campaign, forked, own_turn
from tests.campaigns.fuzz.harness import Harness
from tests.campaigns.fuzz.planted import SEEDS, campaign, fine, harness, raising
from tests.campaigns.fuzz.state import Progress, State, StateError
from tests.effort import HUNG


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "MINIMISING", 0.0)


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path / "fuzz", "0")


def facts(progress: Progress) -> object:
    """What does not depend on how fast the machine is."""
    return progress.inputs, progress.kept, progress.reached, [found.data for found in progress.findings]


def formulas() -> Harness:
    from tests.campaigns.fuzz.surfaces.formulas import HARNESSES

    return HARNESSES[0]


def test_a_campaign_that_is_killed_goes_on_and_ends_as_one_that_was_not(tmp_path: Path, state: State) -> None:
    attacked = [formulas(), harness(raising)]
    whole = campaign(State(tmp_path / "whole", "0"), attacked, inputs=6_000).progress
    names = [one.name for one in attacked]
    for _ in range(4):
        counted = sum(state.load(name).total for name in names)
        process = forked(lambda: campaign(state, attacked, inputs=6_000) and None)
        until = time.monotonic() + HUNG
        while sum(state.load(name).total for name in names) <= min(counted, 5_000):
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        assert sum(state.load(name).total for name in names) > counted or counted > 5_000
    with state.locked(HUNG):
        pass
    # Each has as many inputs as in the campaign that was not killed, so all else is the same as well.
    for one in attacked:
        wanted = max(whole[one.name].inputs, state.load(one.name).inputs)
        ended = [campaign(each, [one], inputs=wanted) for each in (state, State(tmp_path / "whole", "0"))]
        assert facts(ended[0].progress[one.name]) == facts(ended[1].progress[one.name])


def test_the_same_seed_makes_the_same_inputs_and_another_one_others(tmp_path: Path) -> None:
    ended = [
        facts(campaign(State(tmp_path / str(number), seed), [formulas()], inputs=1_200).progress["formulas"])
        for number, seed in enumerate(("1", "1", "2"))
    ]
    assert ended[0] == ended[1] != ended[2]


def test_inputs_are_exactly_as_many_as_asked_for(state: State) -> None:
    chosen = [harness(fine, name) for name in ("one", "two", "three")]
    for inputs in (700, 701, 1_500):
        done = campaign(state, chosen, inputs=inputs, jobs=2)
        assert sum(progress.total for progress in done.progress.values()) == inputs


def test_a_slow_harness_has_as_much_time_as_a_fast_one(state: State) -> None:
    one, other = harness(fine, "fast"), harness(fine, "slow")
    running = Campaign([one, other], state, Budget(inputs=20_000), 1, own_turn)
    fast, slow = running.progress["fast"], running.progress["slow"]
    fast.inputs, fast.seconds, slow.inputs, slow.seconds = 5_000, 1.0, 400, 3.0
    assert running._next() is other  # It has run too few.
    slow.inputs = 600
    assert running._next() is one
    fast.seconds = 4.0
    assert running._next() is other


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_campaign_and_its_workers(number: signal.Signals, state: State) -> None:
    running = Campaign([harness(fine)], state, Budget(seconds=3_600), 1, own_turn)

    def stop() -> None:
        while not state.load("planted").total:
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    threading.Thread(target=stop, daemon=True).start()
    running.run()
    assert running.stopped
    with state.locked(0):
        assert running.progress["planted"].total == state.load("planted").total > 0


def main(state: State, *words: str) -> int:
    return program.main([*words, "--state", str(state.folder)])


@pytest.fixture
def surfaces(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts other harnesses in the place of those of the folder."""

    def put(*chosen: Harness) -> None:
        for module in (program, report):
            monkeypatch.setattr(module, "harnesses", lambda: {one.name: one for one in chosen})

    return put


def test_exit_statuses_and_a_finding_that_is_fixed(
    state: State, surfaces: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    surfaces(harness(raising))
    assert main(state, "run", "--engine", "own", "--inputs", "400", "--jobs", "1") == 1
    printed = capsys.readouterr().out
    assert "1 findings open" in printed
    [finding] = state.load("planted").findings
    file = state.file_of("planted", finding)
    assert main(state, "replay", "planted", str(file)) == 1
    assert f"again: python -m tests.campaigns.fuzz replay planted {file}" in capsys.readouterr().out
    assert main(state, "replay") == 1
    assert main(state, "table") == 0
    assert "| a planted surface | `planted` | 400 |" in capsys.readouterr().out

    surfaces(harness(fine))
    assert main(state, "replay", "planted", str(file)) == 0
    assert main(state, "replay") == 0
    assert not file.exists()
    assert state.load("planted").findings == []
    assert main(state, "run", "--engine", "own", "--inputs", "400") == 0


def test_what_cannot_be_run_is_status_2(
    state: State, surfaces: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    def nothing() -> tuple[bytes, ...]:
        raise LookupError("no seeds")

    surfaces(Harness("planted", "planted", fine, nothing))
    assert main(state, "run", "--engine", "own", "--inputs", "10") == 2
    assert "could not be run: planted" in capfd.readouterr().err

    surfaces(Harness("planted", "planted", fine, lambda: SEEDS, generate=lambda rng: rng.no_such_method()))
    assert main(state, "run", "--engine", "own", "--inputs", "10") == 2
    surfaces(harness(fine))
    assert main(state, "replay", "planted", "no-such-file") == 2
    assert main(state, "run", "--engine", "own", "--inputs", "10") == 0
    assert main(state, "run", "--engine", "own", "--inputs", "10", "--seed", "2") == 2
    assert "is of seed '0'" in capfd.readouterr().err
    (state.folder / "planted.json").write_bytes(b"{")
    assert main(state, "run", "--engine", "own", "--inputs", "10") == 2


def test_two_campaigns_do_not_share_a_state(state: State) -> None:
    with state.locked(), pytest.raises(StateError, match="another campaign"), state.locked(0):
        pass


def test_try_stops_at_the_first_finding(
    state: State, surfaces: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    surfaces(harness(raising), harness(fine, "fine"))
    assert main(state, "planted", "2000") == 1
    assert "found it" in capsys.readouterr().out
    assert main(state, "try", "fine", "50", "seed") == 0
