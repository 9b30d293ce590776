"""Power files of a run, beside the official summarizer: the energy of both is the same."""

from __future__ import annotations

import contextlib
import io
import logging
import random
from functools import cache
from pathlib import Path

from mlsub.score.energy.model import Bad
from mlsub.score.energy.read import read_run
from mlsub.score.energy.score import NoEnergyError, run_joules
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.provider import one_in
from tests.campaigns.fuzz.scratch import scratch
from tests.campaigns.fuzz.surfaces.documents_shared import check_findings
from tests.score.energy.folders import SECONDS, judged, node_log, result_log, switch_log
from tests.score.energy.test_official import agree, odd_lines, official_joules, official_nodes

#: What an input has between the file of a node and that of a switch.
_BETWEEN = b"\n====\n"
_LENGTH_MS = 1000.0 * SECONDS


@cache
def _entry(process: Path) -> Path:
    """The folder of a benchmark with one result file, and a place for its power files."""
    folder = process / "power-entry" / "rack1" / "resnet"
    (folder / "power" / "result_0").mkdir(parents=True)
    (folder / "result_0.txt").write_text(result_log())
    return folder


def _power(data: bytes) -> None:
    folder = _entry(scratch("documents"))
    files = dict(zip(("node_0.txt", "sw_0.txt"), data.split(_BETWEEN, 1), strict=False))
    place = folder / "power" / "result_0"
    (place / "sw_0.txt").unlink(missing_ok=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
    run = read_run(folder / "power", "power", "result_0")
    if len(run.nodes) + len(run.switches) + len(run.unreadable) != len(files):
        raise BrokenError(f"{run}")
    try:
        ours = run_joules(run, _LENGTH_MS)
    except NoEnergyError as error:
        if not 0 < len(str(error)) < 500:
            raise BrokenError(str(error)) from error
        ours = None
    if one_in(3, data):
        _compare(ours, folder, [one.bad for one in (*run.nodes, *run.switches) if one.bad])
    if one_in(10, data) and (power := judged(folder)) is not None:
        check_findings(power.findings, b"\n" * data.count(b"\n") + data)


def _compare(ours: float | None, folder: Path, odd: list[Bad]) -> None:
    result = folder / "result_0.txt"
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            theirs = official_joules(folder, result, _LENGTH_MS)
            nodes = [] if theirs is None else official_nodes(folder / "power" / result.stem, _LENGTH_MS)
    finally:
        logging.disable(logging.NOTSET)
    endless = any("time is not finite" in bad.what or bad.count > 1 for bad in odd)
    if odd and (theirs is None or endless):
        # A record without one of its fields ends the official tool, and one at no finite time makes every energy 0;
        # here both are passed over, and a finding names the first line alone.
        return
    # A negative energy has no meaning, and the two differ on it by design; see docs/deviations.md.
    if not agree(None if ours is not None and min(nodes, default=0.0) < 0 else ours, theirs, nodes):
        raise BrokenError(f"{ours} here, {theirs} in the official summarizer, with the nodes {nodes}")


def _generate(rng: random.Random) -> bytes:
    """A node's log, and perhaps that of a switch, with records out of order and of other kinds."""
    watts = [rng.choice((0, 250, rng.uniform(100, 9000))) for _ in range(rng.choice((0, 1, 5, 12)))]
    more = {"conversion_eff": rng.uniform(0.5, 1)} if rng.random() < 0.3 else {}
    stop = rng.choice((SECONDS, 30, None))
    text = node_log(watts, start=rng.choice((0, -2.5, 7)), stop=stop, step=rng.choice((1, 2.3)), **more)
    if rng.random() < 0.6:
        lines = [*text.splitlines(keepends=True), *(odd_lines(rng) for _ in range(rng.randint(1, 3)))]
        text = "".join(rng.sample(lines, len(lines)))
    if rng.random() < 0.4:
        text += _BETWEEN.decode() + rng.choice((odd_lines(rng), "")) + switch_log(rng.uniform(10, 500), 0.9)
    return text.encode()


def _seeds() -> tuple[bytes, ...]:
    node = node_log([100, 200, 300]).encode()
    return node, node + _BETWEEN + switch_log(50, 0.9).encode()


_WORDS = (
    *(
        b":::MLLOG ",
        b'"power_reading"',
        b'"power_measurement_stop"',
        b'"conversion_eff"',
        b'"value": NaN',
        b"1e999",
        b"null",
    ),
    *(
        b"\r",
        b"\x00",
        b"\xff",
        b"\xc2\x85",
        b"9" * 400,
        b'"value": true',
        b'"time_ms": "1"',
        b"-1",
        b"1e400",
        b"\n====\n",
    ),
)

HARNESSES = (Harness("power", "power files of a run", _power, _seeds, _WORDS, _generate, longest=6_000),)
