"""The benchmark verses: its text, its network, and a real run of it through the recorder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlsub
from mlsub.commands.demo.model import Parameters, RehearsalEntry
from mlsub.commands.demo.train import train_run
from mlsub.commands.demo.verses.run import CONTEXT, TARGET, Network, Samples, VersesRun, verses
from mlsub.emit import DoomedRunError
from mlsub.rules.load import rules_for


def test_the_text_is_the_one_the_target_was_set_for() -> None:
    file = Path(mlsub.__file__).parent / "commands" / "demo" / "verses" / "text.txt"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == TEXT_SHA256
    text = verses()
    assert (len(text.train.following), len(text.held_out.following), len(text.alphabet)) == (9772, 1375, 36)


def test_what_is_held_out_is_not_trained_on() -> None:
    text = verses()
    both = len(text.train.following) + len(text.held_out.following)
    file = Path(mlsub.__file__).parent / "commands" / "demo" / "verses" / "text.txt"
    assert both == len(file.read_text()) - CONTEXT
    assert text.train.contexts.shape == (9772, CONTEXT)


def test_the_gradients_are_those_of_finite_differences() -> None:
    generator = np.random.default_rng(7)
    network = Network(9, 5, generator)
    batch = Samples(generator.integers(0, 9, (11, CONTEXT)), generator.integers(0, 9, 11))
    for weight, gradient in zip(network.weights, network.gradients(batch), strict=True):
        for place in [tuple(generator.integers(0, size) for size in weight.shape) for _ in range(12)]:
            step, kept = 1e-5, weight[place]
            weight[place] = kept + step
            above = network.loss(batch)
            weight[place] = kept - step
            below = network.loss(batch)
            weight[place] = kept
            assert gradient[place] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-8)


def curve(seed: int, parts: int = 12, **parameters: Any) -> list[float]:
    run = VersesRun(Parameters(**parameters), seed)
    qualities = []
    for part, _ in zip(run.parts(), range(parts), strict=False):
        run.train(part)
        qualities.append(run.evaluate())
    return qualities


def test_the_same_seed_is_the_same_run_and_another_seed_another() -> None:
    assert curve(3) == curve(3)
    assert curve(3) != curve(4)


@pytest.mark.parametrize("optimizer", [{}, {"opt_name": "adam", "opt_base_learning_rate": 0.003}])
def test_the_network_learns(optimizer: dict[str, Any]) -> None:
    qualities = curve(1, 30, **optimizer)
    assert qualities[0] > 2.6
    assert qualities[-1] < 2.35


@pytest.mark.parametrize(("seed", "size", "rate"), [(1, 32, 0.02), (2, 64, 0.04), (3, 128, 0.06)])
def test_a_run_reaches_the_target_and_is_accepted(seed: int, size: int, rate: float, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    parameters = Parameters(global_batch_size=size, opt_base_learning_rate=rate)
    result = train_run(log, "Org", "research", RehearsalEntry("here", "closed", parameters, "verses"), seed)
    assert result.success and result.quality <= TARGET
    assert 3 < result.epochs < 10
    report = mlsub.check(log, round="1.0", usage="rehearsal")
    assert (report.official, report.findings) == ("accepted", ())


def test_the_target_is_that_of_the_rules() -> None:
    rules = rules_for("rehearsal", "1.0", "closed", "verses")
    (rule,) = [rule for rule in rules.rules if rule.reaches]
    assert [c.operand for reach in rule.reaches for c in reach.constraints if c.operator == "at_most"] == [TARGET]


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ({"model_hidden_units": 128}, "key.model_hidden_units.value"),
        ({"opt_name": "adam"}, "key.opt_name.value"),
        ({"global_batch_size": 16}, "key.global_batch_size.value"),
    ],
)
def test_closed_refuses_what_open_may_do(parameters: dict[str, Any], rule: str, tmp_path: Path) -> None:
    entry = RehearsalEntry("here", "closed", Parameters(**parameters), "verses")
    with pytest.raises(DoomedRunError) as refused:
        train_run(tmp_path / "result_0.txt", "Org", "research", entry, seed=1)
    assert [finding.rule for finding in refused.value.findings] == [rule]


TEXT_SHA256 = "5c704d6bca5c2e7ace25cae1f2aa9ef0d174921fff797db0f3a1e38ad2b72374"
