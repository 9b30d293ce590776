"""What all tests share: expected texts, long runs, and a line at the end that counts what was compared."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from tools.support.effort import FAST, LONG, effort
from tools.support.once import once

# Networks as small as the rehearsal's cost twice as much on several threads, which wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests share no cache, and leave the user's alone: there can be no folder there. Those of the cache name one.
os.environ["XDG_CACHE_HOME"] = os.devnull

# How long an example takes, or drawing it, says how busy the machine is, and nothing about the program. The examples
# are the same in each run; a long one has a seed for others.
settings.register_profile(
    "mlsub",
    deadline=None,
    derandomize=not LONG,
    max_examples=10 if FAST else effort(25, 400),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("mlsub")

#: What tests record by record_property, in the order of the line. Workers of pytest-xdist send it along.
COUNTED = ("mutants", "published mutants", "demands", "demands hit")

#: Compares a text with the expected one: ``expected_text("score.txt", text)``.
ExpectedText = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option for all expected texts."""
    parser.addoption(
        "--update-expected",
        action="store_true",
        help="run only the tests of expected texts, and write what mlsub prints into their files: then read the diff",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long tests to long runs; with ``--update-expected``, keep the tests that have an expected text."""
    wanted = _has_expected_text if config.getoption("--update-expected") else _is_of_this_run
    out = [item for item in items if not wanted(item)]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = filter(wanted, items)


def pytest_collection_finish() -> None:
    """Spare the collector eleven thousand tests, which stay until the end, each time it looks for garbage."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let the libraries find their objects collected at the end."""
    gc.unfreeze()


def _has_expected_text(item: pytest.Item) -> bool:
    return "expected_text" in getattr(item, "fixturenames", ())


def _is_of_this_run(item: pytest.Item) -> bool:
    if FAST and "differential" in item.path.parts and crc32(item.nodeid.encode()) % 10:
        return False
    return LONG or item.get_closest_marker("long") is None


@pytest.fixture
def expected_text(request: pytest.FixtureRequest) -> ExpectedText:
    """A text is, to the letter, that of a file in the folder ``expected`` beside the test."""
    folder = request.path.with_name("expected")

    def check(name: str, text: str) -> None:
        file = folder / name
        if request.config.getoption("--update-expected"):
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), f"{file}: pytest --update-expected writes it anew"

    return check


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now are taken for old: a cache or a database of them is up to date."""
    monkeypatch.setattr("mlsub.workspace.cache.SETTLED_NS", -(10**18))


def _rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tools.support.runner import run

    def train(folder: Path) -> None:
        manifest = Path(__file__).parents[1] / "submissions" / "rehearsal" / "training.yaml"
        done = run("demo", manifest, "-o", folder / "demo", "--force")
        (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")

    return once(tmp_path_factory, "rehearsed", train)


@pytest.fixture(scope="session")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rehearsal of ``submissions/rehearsal``, trained once in a test run: copy what is to be changed."""
    return _rehearsal(tmp_path_factory) / "demo"


@pytest.fixture(scope="session")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What ``mlsub demo`` printed while it trained ``rehearsed``."""
    return (_rehearsal(tmp_path_factory) / "printed.txt").read_text(encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what the tests recorded."""
    counts: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if report.when == "call":
                counts.update({name: int(value) for name, value in report.user_properties if name in COUNTED})
    if counts:
        figures = ", ".join(f"{counts[name]} {name}" for name in COUNTED if name in counts)
        terminalreporter.write_line(f"differential: {figures}")
