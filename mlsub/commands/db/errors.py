"""What keeps a database from being built or asked."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from mlsub.io.errors import MlsubError


def check_library() -> None:
    """Find out whether the libraries are installed, without importing them.

    Raises:
        MlsubError: one is not.
    """
    missing = [name for name in ("duckdb", "pyarrow") if find_spec(name) is None]
    if missing:
        raise MlsubError(f"The database needs {' and '.join(missing)}. Install it with: pip install 'mlsub[db]'")


def check_name(file: Path) -> None:
    """Refuse a path that DuckDB cannot take.

    Raises:
        MlsubError: it is not UTF-8.
    """
    try:
        str(file).encode("utf-8")
    except UnicodeEncodeError as error:
        raise MlsubError(f"The name {file} is no UTF-8 text. Name another file.") from error
