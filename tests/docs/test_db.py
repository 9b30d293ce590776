"""The pages on the database and on records: every command runs, and every answer is the real one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mlsub.commands.db.records import read_records
from tests.corpus import CORPUS
from tests.docs.conftest import Follow
from tests.docs.pages import REPOSITORY, blocks
from tests.docs.reader import Reader

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A folder with the published rounds and the records, as the pages have it."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(REPOSITORY / "submissions", folder / "submissions")
    if CORPUS.is_dir():
        (folder / "rounds").symlink_to(CORPUS)
    return Reader(folder)


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_the_worked_questions_have_the_answers_of_the_page(reader: Reader, follow: Follow) -> None:
    follow("docs/db.md", reader)


def test_the_questions_about_records_have_the_answers_of_the_page(reader: Reader, follow: Follow) -> None:
    follow("docs/records.md", reader)


def test_the_records_of_the_page_are_read(tmp_path: Path) -> None:
    [text] = blocks("docs/records.md", "yaml")
    (tmp_path / "records.yaml").write_text(text)
    assert [record.unit for record in read_records(tmp_path / "records.yaml").records] == ["images/s", "x"]
