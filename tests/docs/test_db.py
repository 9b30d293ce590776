"""The page on the database: every command runs, and every answer is the real one."""

from __future__ import annotations

import json
import re

import pytest

from tests.docs.answers import ANSWERS, entries
from tests.docs.conftest import Follow
from tests.docs.pages import REPOSITORY, steps
from tests.docs.reader import Reader
from tools.support.corpus import CORPUS

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """A folder with the published rounds, as the page has it."""
    folder = tmp_path_factory.mktemp("reader")
    if CORPUS.is_dir():
        (folder / "rounds").symlink_to(CORPUS)
    return Reader(folder)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_the_worked_questions_have_the_answers_of_the_page(reader: Reader, follow: Follow) -> None:
    follow("docs/db.md", reader)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
def test_answers_are_those_that_the_logs_give(reader: Reader) -> None:
    """The same figures, computed from the logs by a few lines that know nothing of mlsub."""
    page = (REPOSITORY / "docs" / "db.md").read_text()
    [build] = re.findall(r"^\$ (mlsub db build .*)$", page, re.MULTILINE)
    reader.type(build)
    questions = steps(page[page.index("## Questions of an analyst") :])
    found = entries(CORPUS)
    assert len(questions) == len(ANSWERS) == 3
    for question, answer in zip(questions, ANSWERS, strict=True):
        rows = json.loads(reader.type(f"{question.command} --format json").stdout)["rows"]
        wanted = [[list(cell) if isinstance(cell, list) else cell for cell in row] for row in answer(found)]
        assert len(rows) == len(wanted), answer.__name__
        for row, other in zip(rows, wanted, strict=True):
            for cell, figure in zip(row, other, strict=True):
                close = isinstance(figure, float) and cell == pytest.approx(figure, rel=1e-9)
                assert close or cell == figure, (answer.__name__, row, other)
