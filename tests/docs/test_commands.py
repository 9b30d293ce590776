"""Every command in README and docs is run here, as a reader would run it."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from mlsub.rules.overlay import check_overlay
from tests.commands.runner import Outcome
from tests.commands.runner import run as run_mlsub
from tests.corpus import CORPUS

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
#: Make targets that run the tests or need minutes: here only what they would call is looked at.
MAKE_CALLS = {
    "test": "-m pytest",
    "test-fast": "tests/rules",
    "test-long": "MLSUB_TESTS=long",
    "lint": "mypy",
    "bench": "bench/run.py",
    "parity": "bench/parity.py",
}


#: Pages whose commands follow one from another: run in order, in a place of their own.
IN_ORDER = {"package.md"}
#: Pages with a test of their own.
APART = {"db.md", "records.md", "seal.md"}
#: What a page says behind a command that is to find something.
FINDS = "  # exit status 1"


def commands() -> list[tuple[str, str]]:
    """(page, command) for each line that starts with a prompt."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
            found += [(page.name, line[2:]) for line in block.splitlines() if line.startswith("$ ")]
    return found


@pytest.fixture(scope="module")
def workplace(rehearsed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as README has it: the rehearsal under demo/, published rounds beside it where there are any."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(REPOSITORY / "submissions", folder / "submissions")
    shutil.copytree(rehearsed, folder / "demo")
    make_parts(folder)
    overlay = (REPOSITORY / "docs" / "overlay.md").read_text()
    house, coming = re.findall(r"```yaml\n(.*?)```", overlay, re.DOTALL)
    [claims] = re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / "claims.md").read_text(), re.DOTALL)
    (folder / "per-dollar.yaml").write_text(claims)
    [quoted] = re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / "messaging.md").read_text(), re.DOTALL)
    (folder / "quoted.yaml").write_text(quoted)
    [hyperparameters] = re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / "emit.md").read_text(), re.DOTALL)
    (folder / "hyperparameters.yaml").write_text(hyperparameters)
    (folder / "passphrase.txt").write_text("correct horse battery staple\n")
    (folder / "passphrase.txt").chmod(0o600)
    (folder / "house.yaml").write_text(house)
    (folder / "next.yaml").write_text(coming)
    for published in CORPUS.glob("v*") if CORPUS.is_dir() else ():
        (folder / f"training_results_{published.name}").symlink_to(published)
    if CORPUS.is_dir():
        page = (REPOSITORY / "docs" / "convergence.md").read_text()
        (build,) = re.findall(r"^\$ (mlsub rcp build .*)$", page, re.MULTILINE)
        run([*shlex.split(build)[:-1], "rcps_llama2_70b_lora.json"], folder)
    return folder


def make_parts(folder: Path) -> None:
    """The rehearsal as two teams would have prepared it: one has its Closed entries, the other those of Open."""
    for team, division in (("team-a", "closed"), ("team-b", "open")):
        part = folder / team / "rehearsal-v1.0" / "Rehearsal"
        shutil.copytree(folder / "demo" / "rehearsal-v1.0" / "Rehearsal", part)
        for path in (*part.glob("systems/*"), *part.glob("results/*")):
            if division not in path.name:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def run(command: list[str], folder: Path, status: int = 0) -> Outcome:
    """Run a command in a folder: mlsub in this process, anything else in one of its own."""
    if command[0] == "mlsub":
        with contextlib.chdir(folder), patch.dict(os.environ, environment(), clear=True):
            done = run_mlsub(*command[1:])
    else:
        process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment())
        done = Outcome(process.returncode, process.stdout, process.stderr)
    assert done.status == status, f"{command}: exit {done.status}\n{done.stdout}\n{done.stderr}"
    return done


def environment() -> dict[str, str]:
    """The reader's environment, without what the test run itself sets for make."""
    kept = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return kept | {"CORPUS": str(CORPUS)}


def test_the_overlay_files_of_the_docs_hold_together(workplace: Path) -> None:
    for name in ("house.yaml", "next.yaml"):
        assert check_overlay(workplace / name) == str(workplace / name)


def test_there_are_commands_to_run() -> None:
    assert len(commands()) >= 15
    assert ("README.md", "make demo") in commands()
    assert ("README.md", "make test") in commands()


@pytest.mark.parametrize(
    ("page", "command"), [c for c in commands() if c[1].startswith("mlsub ") and c[0] not in IN_ORDER | APART]
)
def test_mlsub_commands_of_the_docs_succeed(page: str, command: str, workplace: Path) -> None:
    if ("training_results_" in command or "graphcore-v" in command or "--results ." in command) and not CORPUS.is_dir():
        pytest.skip("published results are not there")
    done = run(shlex.split(command, comments=True), workplace, 1 if command.endswith(FINDS) else 0)
    assert done.stdout.strip() or " -o " in command
    assert done.stderr == ""


@pytest.mark.parametrize("page", sorted(IN_ORDER))
def test_commands_that_follow_one_another_succeed(page: str, workplace: Path) -> None:
    if not CORPUS.is_dir():
        pytest.skip("published results are not there")
    in_order = [command for name, command in commands() if name == page]
    assert in_order
    for command in in_order:
        test_mlsub_commands_of_the_docs_succeed(page, command, workplace)


def test_the_demo_trains_checks_and_scores(tmp_path: Path) -> None:
    for name in ("Makefile", "setup.cfg", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    shutil.copytree(REPOSITORY / "submissions", tmp_path / "submissions")
    # The environment is there already: it is the one that runs this test.
    done = run(["make", "demo", "-o", "installed", "STAMP=installed", f"BIN={Path(sys.executable).parent}"], tmp_path)
    assert done.stdout.count("run 5 of 5: reached the target") == 4
    counts = "4 of 4 entries accepted, 20 of 20 logs compliant"
    assert (done.stdout.count(f"\naccepted: {counts}"), done.stdout.count(f"\n  {counts}")) == (2, 1)
    assert "Written to demo/package/rehearsal-v1.0/Rehearsal: 23 files (23 new)." in done.stdout
    assert "not an MLPerf result" in done.stdout


@pytest.mark.parametrize("command", sorted({c for _, c in commands() if c.startswith("make ") and c != "make demo"}))
def test_make_targets_of_the_docs_call_what_they_should(command: str) -> None:
    done = run([*shlex.split(command), "--dry-run"], REPOSITORY)
    assert MAKE_CALLS[command.split()[1]] in done.stdout


def test_what_remains_is_installation() -> None:
    rest = {c for _, c in commands() if not c.startswith(("mlsub ", "make "))}
    assert rest == {"pip install ."}


def test_python_of_the_readme_runs(workplace: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.DOTALL)
    done = run([sys.executable, "-c", code], workplace)
    assert done.stdout.startswith("accepted\n")
    assert "this-machine-open digits" in done.stdout


def test_the_recorded_run_of_the_docs_is_compliant(tmp_path: Path) -> None:
    code = "".join(re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs" / "emit.md").read_text(), re.DOTALL))
    run([sys.executable, "-c", code], tmp_path)
    done = run(["mlsub", "check", "result_0.txt", "--usage", "rehearsal", "--round", "1.0"], tmp_path)
    assert "accepted: 1 of 1 logs compliant" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
