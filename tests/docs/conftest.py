"""What the tests of the pages share: a reader's folder, and answers that are the real ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ExpectedText
from tests.docs.pages import REPOSITORY, Reader, Step, blocks, renewed, steps
from tools.support.corpus import CORPUS
from tools.support.digits import rehearse_untrained
from tools.support.once import once

#: Compares the answers that a page shows with those that its reader gets: ``follow("docs/db.md", reader)``.
Follow = Callable[..., None]


@pytest.fixture
def follow(request: pytest.FixtureRequest, expected_text: ExpectedText) -> Follow:
    """Runs commands of a page one after another; ``--update-expected`` writes what they print into the page."""

    def check(page: str, reader: Reader, wanted: Callable[[Step], bool] = lambda step: True) -> None:
        file = REPOSITORY / page
        text = file.read_text(encoding="utf-8")
        now = renewed(text, lambda step: reader.answer(step) if wanted(step) else None)
        if request.config.getoption("--update-expected"):
            file.write_text(now, encoding="utf-8")
            text = now
        assert now.splitlines() == text.splitlines(), (
            f"{page}: pytest --update-expected writes what the commands print now"
        )

    return check


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``make demo`` leaves, but for the training; nobody may change it."""
    manifest = REPOSITORY / "submissions/rehearsal/training.yaml"
    return once(tmp_path_factory, "untrained", lambda folder: rehearse_untrained(manifest, folder))


@pytest.fixture(scope="module")
def workplace(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A folder as README has it: a clone, the rehearsal under demo/, published rounds beside it where there are any."""
    folder = tmp_path_factory.mktemp("reader")
    reader = Reader(folder)
    for name in ("examples", "submissions"):
        shutil.copytree(REPOSITORY / name, folder / name)
    shutil.copytree(demo, folder / "demo")
    _parts(folder)
    (folder / "house.yaml").write_text(blocks("docs/overlay.md", "yaml")[0])
    (folder / "next.yaml").write_text(blocks("docs/overlay.md", "yaml")[1])
    (folder / "post.yaml").write_text(blocks("docs/claims.md", "yaml")[0])
    (folder / "hyperparameters.yaml").write_text(blocks("docs/emit.md", "yaml")[0])
    (folder / "chosen.txt").write_text("a text from the end of redact's list\n")
    (folder / "passphrase.txt").write_text("correct horse battery staple\n")
    (folder / "passphrase.txt").chmod(0o600)
    if CORPUS.is_dir():
        for published in CORPUS.glob("v*"):
            (folder / f"training_results_{published.name}").symlink_to(published)
        page = (REPOSITORY / "docs" / "rcp.md").read_text()
        [build] = [step.command for step in steps(page) if step.command.startswith("mlsub rcp build ")]
        reader.type(build.replace("rcps_new.json", "rcps_llama2_70b_lora.json"))
    return reader


def _parts(folder: Path) -> None:
    """The rehearsal as two teams would have prepared it: one has its Closed entries, the other those of Open."""
    for team, division in (("team-a", "closed"), ("team-b", "open")):
        part = folder / team / "rehearsal-v1.0" / "Rehearsal"
        shutil.copytree(folder / "demo" / "rehearsal-v1.0" / "Rehearsal", part)
        for path in (*part.glob("systems/*"), *part.glob("results/*")):
            if division not in path.name:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
