"""The pages on the database and on records: every command runs, and every answer is the real one."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from mlsub.commands.db.records import read_records
from tests.corpus import CORPUS
from tests.docs.test_commands import REPOSITORY, run

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


def parts(page: str) -> list[tuple[str, str]]:
    """(command, what the page says it prints) for each console block; a block without output says nothing."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", (REPOSITORY / "docs" / page).read_text(), re.DOTALL):
        command: list[str] = []
        output: list[str] = []
        for line in block.splitlines():
            if line.startswith("$ ") and command:
                found.append(("\n".join(command), "\n".join(output)))
                command, output = [], []
            (command if line.startswith(("$ ", "> ")) else output).append(line)
        found.append(("\n".join(line[2:] for line in command), "\n".join(output)))
    return [(command.removeprefix("$ "), output) for command, output in found]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the published rounds and the records, as the pages have it."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(REPOSITORY / "submissions", folder / "submissions")
    if CORPUS.is_dir():
        (folder / "rounds").symlink_to(CORPUS)
    return folder


def follow(page: str, folder: Path) -> int:
    """Run the commands of a page one after another; how many printed what the page says."""
    compared = 0
    for command, output in parts(page):
        done = run(shlex.split(command), folder)
        assert done.stderr == "", command
        if output:
            assert [line.rstrip() for line in done.stdout.splitlines()] == output.splitlines(), command
            compared += 1
    return compared


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_the_worked_questions_have_the_answers_of_the_page(reader: Path) -> None:
    assert follow("db.md", reader) == 11


def test_the_questions_about_records_have_the_answers_of_the_page(reader: Path) -> None:
    assert follow("records.md", reader) == 2


def test_the_records_of_the_page_are_read(tmp_path: Path) -> None:
    [text] = re.findall(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / "records.md").read_text(), re.DOTALL)
    (tmp_path / "records.yaml").write_text(text)
    assert [record.unit for record in read_records(tmp_path / "records.yaml").records] == ["images/s", "x"]
