"""Two submissions, and a database of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from mlsub.commands.db.build import BuiltDatabase, build  # noqa: E402
from mlsub.commands.db.schema import stored  # noqa: E402
from mlsub.workspace import Context, Request  # noqa: E402
from tools.support.make_tree import Tree, make_tree  # noqa: E402

REPOSITORY = Path(__file__).resolve().parents[3]


class Place:
    """``rounds/v1.0/ACME`` and ``rounds/v1.1/Bolt``, and where the database goes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rounds = folder / "rounds"
        self.database = folder / "results.duckdb"
        self.acme: Tree = make_tree(self.rounds)
        self.bolt: Tree = make_tree(self.rounds, "v1.1", "Bolt")

    def build(self, *folders: Path, **more: Any) -> BuiltDatabase:
        """Build the database of the folders, of all rounds unless told."""
        wanted = {name: more.pop(name) for name in ("round", "usage", "convergence") if name in more}
        asked: dict[str, Any] = {"folders": folders or (self.rounds,), "output": self.database} | more
        return build(context=Context(Request(**wanted), jobs=1), **asked)

    def select(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a question."""
        with duckdb.connect(self.database, read_only=True) as connection:
            return [tuple(row) for row in connection.execute(statement).fetchall()]

    def content(self) -> dict[str, list[str]]:
        """Every row of every table, sorted."""
        return content_of(self.database)


def content_of(database: Path) -> dict[str, list[str]]:
    """Every row of every table, sorted."""
    with duckdb.connect(database, read_only=True) as connection:
        return {t.name: sorted(map(repr, connection.execute(f'FROM "{t.name}"').fetchall())) for t in stored()}
