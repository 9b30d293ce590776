"""Where mlsub and the official summarizer differ on a score or an energy."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlperf_logging.result_summarizer import result_summarizer as summarizer

from tests.differential.test_scores import RESNET, asked
from tools.oracle.generate import Combination
from tools.oracle.packages import Package, accepted, build, official, ours, rejecting
from tools.support.power_folders import SECONDS, judged, make_entry, node_log, record

RETINANET = Combination("5.1", "retinanet", "open", None)


def test_the_official_checker_replaces_a_scaling_file(tmp_path: Path) -> None:
    package = build(tmp_path, RETINANET._replace(division="closed"))
    file = package.entry / "scaling.json"
    file.write_text('{"scaling_factor": 1.5}')
    assert accepted(ours(package))
    assert file.read_text() == '{"scaling_factor": 1.5}'
    assert official(package).accepted
    assert not file.exists()


@pytest.mark.parametrize(
    ("factor", "theirs"),
    [
        (b"", None),
        (b"{}", None),
        (b"[]", None),
        (b'{"scaling_factor": "1.5"}', None),
        (b'\xef\xbb\xbf{"scaling_factor": 2}', None),
        (b'{"scaling_factor": -1}', -12.0),
        (b'{"scaling_factor": 0}', 0.0),
        (b'{"scaling_factor": 1e300}', 1.2e301),
        (b'{"scaling_factor": NaN}', float("nan")),
        (b'{"scaling_factor": 2000}', 24_000.0),
        (b'{"scaling_factor": Infinity}', float("inf")),
        (b'{"scaling_factor": true}', 12.0),
    ],
)
def test_a_factor_that_cannot_be_used_is_not_used(factor: bytes, theirs: float | None, tmp_path: Path) -> None:
    both = asked(RESNET, tmp_path, factor)
    assert both.theirs.minutes == pytest.approx(theirs, nan_ok=True)
    assert (both.theirs.crash is None, both.problem) == (theirs is not None, None)
    assert (both.ours.score.published, "score.scaling-file" in both.rules) == (12.0, True)


def _energies(node: str, above: Path) -> tuple[float | str, float | None]:
    """What the official summarizer makes of a run's node, or the name of its exception; and mlsub's energy."""
    folder = above / "retinanet"
    make_entry(folder, [{"node_0.txt": node}] * 5)
    power = judged(folder)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            theirs: float | str = summarizer._compute_total_power(
                str(folder), str(folder / "result_0.txt"), 1000 * SECONDS, "5.1.0"
            )
        except Exception as error:
            theirs = type(error).__name__
    return theirs, power.joules[0]


READINGS = [500.0] * 60
NO_ENERGY: dict[str, tuple[str, float | str]] = {
    "no start": (node_log(READINGS, start=None), "ValueError"),
    "no length": (node_log(READINGS, stop=0), "ZeroDivisionError"),
    "text for watts": (node_log(["500 W"] * 60), "TypeError"),
    "no readings": (node_log([]), 0.0),
}


@pytest.mark.parametrize("name", NO_ENERGY)
def test_power_that_gives_no_energy(name: str, tmp_path: Path) -> None:
    node, expected = NO_ENERGY[name]
    assert _energies(node, tmp_path) == (expected, None)


def test_power_that_stops_before_its_last_start_gives_none(tmp_path: Path) -> None:
    again = record(1_700_000_000_000 + 1000 * SECONDS, "power_measurement_start", None)
    theirs, energy = _energies(node_log(READINGS[:20], stop=30) + again, tmp_path)
    assert (isinstance(theirs, float) and theirs < 0, energy) == (True, None)


def test_a_power_record_without_a_value_is_skipped(tmp_path: Path) -> None:
    broken = record(1_700_000_000_500, "power_reading", 0).replace('"value": 0, ', "")
    whole, skipped = node_log(READINGS), broken + node_log(READINGS)
    theirs, energy = _energies(skipped, tmp_path / "skipped")
    assert theirs == "KeyError"
    assert energy == _energies(whole, tmp_path / "whole")[0]


SHAPES: dict[str, Callable[[Path], Any]] = {
    "a file": Path.touch,
    "without a run": Path.mkdir,
    "names without a number": lambda power: [_named(power / f"result_{n}", "node_x.txt") for n in range(5)],
}


def _named(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / name).touch()


def _with_power(above: Path, round_name: str, shape: Callable[[Path], Any]) -> Package:
    benchmark = "retinanet" if round_name == "5.1" else "ssd"
    package = build(above, RETINANET._replace(round=round_name, benchmark=benchmark))
    shape(package.entry / "power")
    return package


@pytest.mark.parametrize("shape", SHAPES)
def test_power_that_cannot_be_counted_rejects(shape: str, tmp_path: Path) -> None:
    package = _with_power(tmp_path, "5.1", SHAPES[shape])
    assert official(package).crash is not None
    assert "official.crash" in rejecting(ours(package))
    assert accepted(ours(_with_power(tmp_path, "4.1", SHAPES[shape])))
