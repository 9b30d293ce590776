"""Every command in README and docs is run here, as a reader would run it, and what the pages show is what it prints."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from mlsub.rules.overlay import check_overlay
from tests.docs.conftest import Follow
from tests.docs.pages import PAGES, REPOSITORY, Step, blocks, steps
from tests.docs.reader import Reader
from tools.support.corpus import CORPUS

#: Make targets that run the tests or need minutes: here only what they would call is looked at.
MAKE_CALLS = {
    "test": "-m pytest",
    "test-all": "tests/emit/adapters",
    "mutants": "-m tools.mutation",
    "lint": "mypy",
    "bench": "-m tools.bench.run",
    "parity": "tests/differential/test_corpus.py",
    "campaigns": "-m tools.campaigns.fuzz",
    "supply": "tools.supply.licences",
    "docs": "mkdocs build --strict",
}
#: Pages whose commands follow one from another: run in order, in a place of their own.
IN_ORDER = {"docs/configuration.md", "docs/merge.md", "docs/package.md"}
#: Pages with a test of their own.
APART = {"docs/cluster.md", "docs/db.md", "docs/first-check.md", "docs/records.md", "docs/seal.md"}
#: What says that a command needs published results.
PUBLISHED = ("training_results_", "graphcore-v", "--results .")


def commands() -> list[tuple[str, Step]]:
    """Each command, with the page that has it."""
    return [(page.relative_to(REPOSITORY).as_posix(), step) for page in PAGES for step in steps(page.read_text())]


def lacks(*steps: Step) -> bool:
    """Whether published results are needed and not there."""
    return not CORPUS.is_dir() and any(word in step.command for step in steps for word in PUBLISHED)


def test_the_overlay_files_of_the_docs_hold_together(workplace: Reader) -> None:
    for name in ("house.yaml", "next.yaml"):
        assert check_overlay(workplace.folder / name) == str(workplace.folder / name)


def test_there_are_commands_to_run() -> None:
    assert len(commands()) >= 100
    assert {("README.md", Step(command, ())) for command in ("make demo", "make test")} <= set(commands())


@pytest.mark.product
@pytest.mark.parametrize(
    ("page", "step"),
    [
        pytest.param(page, step, id=f"{page}-{step.command}")
        for page, step in commands()
        if step.command.startswith("mlsub ") and not step.shown and page not in IN_ORDER | APART
    ],
)
def test_mlsub_commands_of_the_docs_succeed(page: str, step: Step, workplace: Reader) -> None:
    if lacks(step):
        pytest.skip("published results are not there")
    assert any(workplace.answer(step)) or " -o " in step.command


@pytest.mark.parametrize("page", sorted({page for page, step in commands() if step.shown} - IN_ORDER - APART))
def test_what_a_page_shows_is_what_its_commands_print(page: str, workplace: Reader, follow: Follow) -> None:
    if lacks(*(step for name, step in commands() if name == page and step.shown)):
        pytest.skip("published results are not there")
    follow(page, workplace, lambda step: bool(step.shown))


@pytest.mark.parametrize("page", sorted(IN_ORDER))
def test_commands_that_follow_one_another_succeed(page: str, workplace: Reader, follow: Follow) -> None:
    if lacks(*(step for name, step in commands() if name == page)):
        pytest.skip("published results are not there")
    assert any(name == page for name, _ in commands())
    follow(page, workplace)


def made(target: str) -> list[str]:
    """The lines of shell that a target runs, the environment being there already."""
    words = ["make", target, "--dry-run", "-o", "installed", "STAMP=installed", "DOCS=installed", "BIN=bin"]
    lines = Reader(REPOSITORY).run(words).stdout.replace("\\\n", "").splitlines()
    return [line.removeprefix("bin/") for line in lines]


@pytest.mark.slow
def test_the_demo_trains_checks_and_scores(rehearsal: str, rehearsed: Path, tmp_path: Path) -> None:
    """The first line of make demo is what ``rehearsed`` ran; the others run on what it left."""
    installs, first, *others = made("demo")
    assert installs.endswith("pip install --quiet --disable-pip-version-check -e '.[rehearsal]'")
    assert first == "mlsub demo submissions/rehearsal/training.yaml -o demo --force"
    assert len(others) == 7
    reader = Reader(tmp_path)
    shutil.copytree(REPOSITORY / "submissions", tmp_path / "submissions")
    shutil.copytree(rehearsed, tmp_path / "demo")
    printed = rehearsal + "".join(
        (reader.type(line) if line.startswith("mlsub ") else reader.run(["sh", "-c", line])).stdout for line in others
    )
    check_demo(printed)


@pytest.mark.long
def test_make_demo_does_the_same(tmp_path: Path) -> None:
    for name in ("Makefile", "setup.cfg", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    shutil.copytree(REPOSITORY / "submissions", tmp_path / "submissions")
    words = ["make", "demo", "-o", "installed", "STAMP=installed", f"BIN={Path(sys.executable).parent}"]
    check_demo(Reader(tmp_path).run(words).stdout)


def check_demo(printed: str) -> None:
    """The demo prints what README promises."""
    assert printed.count("run 5 of 5: reached the target") == 2
    counts = "2 of 2 entries accepted, 10 of 10 logs compliant"
    assert (printed.count(f"\naccepted: {counts}"), printed.count(f"\n  {counts}")) == (2, 1)
    assert "Written to demo/package/rehearsal-v1.0/Rehearsal: 13 files (13 new)." in printed
    assert "not an MLPerf result" in printed
    assert "Nothing differs: Rehearsal.tar.gz.age" in printed


@pytest.mark.parametrize(
    "command", sorted({step.command for _, step in commands() if step.command.startswith("make ")} - {"make demo"})
)
def test_make_targets_of_the_docs_call_what_they_should(command: str) -> None:
    assert MAKE_CALLS[command.split()[1]] in "\n".join(made(command.split()[1]))


def test_what_remains_is_installation() -> None:
    rest = {step.command for page, step in commands() if page not in APART and step.command.split()[0] not in TOOLS}
    assert all(re.fullmatch(r"pip install (\.|'\.\[\w+(,\w+)*\]')", command) for command in rest), rest


#: What is run above.
TOOLS = ("mlsub", "make")


def test_python_of_the_docs_runs(workplace: Reader) -> None:
    [code] = blocks("docs/python.md", "python")
    done = workplace.run([sys.executable, "-c", code])
    assert done.stdout.startswith("accepted\n")
    assert "this-machine-open digits" in done.stdout


@pytest.mark.slow
def test_the_recorded_run_of_the_docs_is_compliant(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.run([sys.executable, "-c", "".join(blocks("docs/emit.md", "python"))])
    done = reader.type("mlsub check result_0.txt --usage rehearsal --round 1.0")
    assert "accepted: 1 of 1 logs compliant" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
