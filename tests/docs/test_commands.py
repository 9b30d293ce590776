"""Every command in README and docs is run here, as a reader would run it, and what the pages show is what it prints."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from pyrage import x25519

from mlsub.rules.overlay import check_overlay
from tests.docs.conftest import Follow
from tests.docs.pages import PAGES, REPOSITORY, Reader, Step, blocks, steps
from tests.workspace.dask_servers import Server
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_tree

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


def test_no_command_of_the_docs_writes_into_published_results() -> None:
    """They are links to what all tests share."""
    writing = [step.command for _, step in commands() if "--write" in step.command.split()]
    assert [command for command in writing if "training_results_" in command] == []


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
    check, results, recorder = (
        workplace.run([sys.executable, "-c", code]) for code in blocks("docs/python.md", "python")
    )
    assert check.stdout.startswith("accepted\n")
    assert "this-machine-open digits" in check.stdout
    assert results.stdout.count("1.0 Rehearsal ") == results.stdout.count("\naccepted ") == 2
    assert "global_batch_size" in recorder.stdout


@pytest.mark.slow
def test_the_recorded_run_of_the_docs_is_compliant(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    recorder, _, training = blocks("docs/emit.md", "python")
    reader.run([sys.executable, "-c", recorder + training])
    done = reader.type("mlsub check result_0.txt --usage rehearsal --round 1.0")
    assert "accepted: 1 of 1 logs compliant" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


NAMED = "dask://localhost:8786"


@pytest.mark.slow
def test_the_command_prints_what_it_prints_without_a_cluster(workplace: Reader, cluster: Server) -> None:
    install, check = steps((REPOSITORY / "docs" / "cluster.md").read_text())
    assert install.command == "pip install '.[dask]'"
    [scheduler, worker] = blocks("docs/cluster.md", "sh")[0].splitlines()
    assert scheduler.endswith(" --host localhost --port 8786") and " tcp://localhost:8786 " in worker
    far = workplace.type(check.command.replace(NAMED, cluster.address.replace("tcp:", "dask:")))
    assert far == workplace.type(check.command.replace(f" --executor {NAMED}", ""))


# The first five minutes: a rejected package is understood and repaired with what is printed.

FIRST_CHECK = "docs/first-check.md"
DESCRIPTION = "try/v5.1/ACME/systems/rack1.json"


class FirstTimer(Reader):
    """Follows the page in a fresh clone, and edits the description before the check that is to accept it."""

    def answer(self, step: Step) -> list[str]:
        if step.command == "mlsub check try/v5.1/ACME":
            added, before = "".join(blocks(FIRST_CHECK, "json")).splitlines(keepends=True)
            file = self.folder / DESCRIPTION
            text = file.read_text()
            assert text.count(before) == 1
            file.write_text(text.replace(before, added + before))
        return super().answer(step)


def verdict(step: Step) -> str:
    """The word that the answer of a check ends with."""
    [found] = [line.partition(":")[0] for line in step.shown if line.startswith(("accepted: ", "rejected: "))]
    return found


def test_a_rejected_package_is_accepted_at_the_end_of_the_page(tmp_path: Path, follow: Follow) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    follow(FIRST_CHECK, FirstTimer(tmp_path))
    checks = [step for step in steps((REPOSITORY / FIRST_CHECK).read_text()) if step.command.startswith("mlsub check")]
    assert [verdict(step) for step in checks] == ["rejected", "rejected", "accepted"]


def test_the_readme_shows_the_same_rejected_package() -> None:
    [check] = [step for step in steps((REPOSITORY / "README.md").read_text()) if step.shown]
    assert (check.status, verdict(check)) == (1, "rejected")
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 150


# The page on sealing, from the first command to the last, as a reader would follow it.

SEAL = "docs/seal.md"


@pytest.fixture
def sealing(tmp_path: Path) -> Reader:
    """A folder with a tree where the page has one, keys and a passphrase."""
    make_tree(tmp_path / "demo", "rehearsal-v1.0", "Rehearsal", ("digits",))
    identity = x25519.Identity.generate()
    (tmp_path / "committee.txt").write_text(f"# the committee\n{identity.to_public()}\n")
    for name, text in (("committee-key.txt", f"{identity}\n"), ("passphrase.txt", "correct horse battery staple\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    return Reader(tmp_path)


def test_the_commands_of_the_page_follow_one_another(sealing: Reader) -> None:
    said = [sealing.type(step.command).stdout for step in steps((REPOSITORY / SEAL).read_text())]
    assert len(said) == 9
    assert said[0].startswith("Dry run\n\nWould seal ")
    assert said[1].startswith("Receipt of the sealed submission of Rehearsal\n")
    assert said[2] == "Verification\n\nNothing differs: Rehearsal.tar.gz.age with Rehearsal.tar.gz.age.receipt.txt\n"
    assert said[3].startswith("Opened\n\nform:  age v1, for recipients\ntree:  opened/Rehearsal\n")
    assert all(one.startswith("Verification\n\nNothing differs: ") for one in said[4:6])
    assert json.loads(said[6])["findings"] == []
    assert said[8].startswith("Verification\n\nNothing differs: ") and "statement.json: 6 files listed" in said[8]


@pytest.mark.slow
def test_the_lines_of_python_of_the_page_run(sealing: Reader) -> None:
    [code] = blocks(SEAL, "python")
    files, opened = sealing.run([sys.executable, "-c", code]).stdout.split()
    assert files == opened != "0"
    assert (sealing.folder / "by-hand" / "Rehearsal" / "results").is_dir()
