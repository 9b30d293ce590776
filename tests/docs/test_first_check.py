"""The first five minutes: a rejected package is understood and repaired with what is printed, as the page has it."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.docs.conftest import Follow
from tests.docs.pages import REPOSITORY, Step, blocks, steps
from tests.docs.reader import Reader

PAGE = "docs/first-check.md"
DESCRIPTION = "try/v5.1/ACME/systems/rack1.json"


class FirstTimer(Reader):
    """Follows the page in a fresh clone, and edits the description before the check that is to accept it."""

    def answer(self, step: Step) -> list[str]:
        if step.command == "mlsub check try/v5.1/ACME":
            added, before = "".join(blocks(PAGE, "json")).splitlines(keepends=True)
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
    follow(PAGE, FirstTimer(tmp_path))
    checks = [step for step in steps((REPOSITORY / PAGE).read_text()) if step.command.startswith("mlsub check")]
    assert [verdict(step) for step in checks] == ["rejected", "rejected", "accepted"]


def test_the_readme_shows_the_same_rejected_package() -> None:
    [check] = [step for step in steps((REPOSITORY / "README.md").read_text()) if step.shown]
    assert (check.status, verdict(check)) == (1, "rejected")
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 150
