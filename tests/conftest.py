"""What all tests share: which of them run, expected texts, and lines at the end that say what was compared."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.workspace.dask_servers import NO_DASK, Server, Servers, servers
from tools.support.effort import ALL, LONG, effort
from tools.support.once import once
from tools.support.sample import PARTS, VARIABLE, in_part, part

# Networks as small as the rehearsal's cost twice as much on several threads, which wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests share no cache, and leave the user's alone: there can be no folder there. Those of the cache name one.
os.environ["XDG_CACHE_HOME"] = os.devnull
# xdist sets it, and answers would be as wide.
os.environ.pop("COLUMNS", None)

# How long an example takes, or drawing it, says how busy the machine is, and nothing about the program. The examples
# are the same in each run; a long one has a seed for others.
settings.register_profile(
    "mlsub",
    deadline=None,
    derandomize=not LONG,
    max_examples=effort(25, 400, 10),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("mlsub")

#: Why tests that train a network are skipped.
NO_SCIKIT_LEARN = "scikit-learn is not installed: the extra rehearsal, make test-all"

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


def pytest_configure() -> None:
    """Fix the part of the tables for all workers of pytest-xdist, which inherit the variable."""
    try:
        os.environ[VARIABLE] = str(part())
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests of this run: with ``--update-expected`` those that have an expected text; all that are named.

    Dear modules come first, so that no worker is left alone with one of them at the end. Tests of clusters come before
    all, so that one worker has them, and starts one cluster.
    """
    wanted = _has_expected_text if config.getoption("--update-expected") else _is_of_this_run
    chosen = items if any("::" in argument for argument in config.args) else [*filter(wanted, items)]
    if len(chosen) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if not wanted(item)])
    dear = {item.path for item in chosen if item.get_closest_marker("slow")}
    items[:] = sorted(chosen, key=lambda item: ("dask" not in getattr(item, "fixturenames", ()), item.path not in dear))


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
    if ALL:
        return LONG or item.get_closest_marker("long") is None
    if item.get_closest_marker("slow") or item.get_closest_marker("long"):
        return False
    return item.get_closest_marker("product") is None or in_part(item.nodeid, part())


@pytest.fixture
def expected_text(request: pytest.FixtureRequest) -> ExpectedText:
    """A text is, to the letter, that of a file in the folder ``expected`` beside the test."""
    folder = request.path.with_name("expected")

    def check(name: str, text: str) -> None:
        file = folder / name
        if request.config.getoption("--update-expected"):
            folder.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), f"{file}: pytest --update-expected writes it anew"

    return check


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that were written just now are taken for old: a cache or a database of them is up to date."""
    monkeypatch.setattr("mlsub.workspace.cache.SETTLED_NS", -(10**18))


@pytest.fixture(scope="session")
def scikit_learn() -> None:
    """What trains a network for real needs it."""
    pytest.importorskip("sklearn", reason=NO_SCIKIT_LEARN)


def _rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tools.support.runner import run

    def train(folder: Path) -> None:
        manifest = Path(__file__).parents[1] / "submissions" / "rehearsal" / "training.yaml"
        done = run("demo", manifest, "-o", folder / "demo", "--force")
        (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")

    return once(tmp_path_factory, "rehearsed", train)


@pytest.fixture(scope="session")
def rehearsed(scikit_learn: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rehearsal of ``submissions/rehearsal``, trained once in a test run: copy what is to be changed."""
    return _rehearsal(tmp_path_factory) / "demo"


@pytest.fixture(scope="session")
def rehearsal(scikit_learn: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What ``mlsub demo`` printed while it trained ``rehearsed``."""
    return (_rehearsal(tmp_path_factory) / "printed.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """What starts schedulers and workers of Dask."""
    pytest.importorskip("distributed", reason=NO_DASK)
    with servers(tmp_path_factory.mktemp("dask")) as started:
        yield started


@pytest.fixture(scope="session")
def cluster(dask: Servers) -> Iterator[Server]:
    """The scheduler of two workers, which nobody may kill."""
    with dask.cluster("worker", "worker") as (scheduler, *_):
        yield scheduler


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which part of the tables was tried; add up what the tests recorded."""
    if not ALL:
        how = f"{VARIABLE}={part()} make test tries it again, make test-all tries all"
        terminalreporter.write_line(f"sample {part()} of 0 to {PARTS - 1}: {how}")
    counts: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if report.when == "call":
                counts.update({name: int(value) for name, value in report.user_properties if name in COUNTED})
    if counts:
        figures = ", ".join(f"{counts[name]} {name}" for name in COUNTED if name in counts)
        terminalreporter.write_line(f"differential: {figures}")
