"""The shared folder beside the repository: published logs, and the verdicts recorded in the round's day."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from mlsub.convergence import Options
from tools.support.corpus import CORPUS, SHARED

ORACLE = SHARED / "oracle"
#: Recorded answers, and those of the installed release, are by all reference points that the release carries.
INSTALLED_POINTS = Options(points="newest")
ABSENT = "needs the published logs and their recorded verdicts (folder shared, beside the repository)"


def present() -> bool:
    """Whether the folder is there; it is no part of the repository."""
    return CORPUS.is_dir() and ORACLE.is_dir()


def folder(round_name: str) -> Path:
    """The published packages of a round."""
    usage, dash, name = round_name.partition("-")
    return CORPUS / (f"{usage}-v{name}" if dash else f"v{round_name}")


def recorded_logs(round_name: str) -> dict[str, dict[str, Any]]:
    """The recorded verdict of each log, by its path below the round's folder."""
    return _load(_file("logs", round_name))


def recorded_entries(round_name: str) -> dict[str, dict[str, Any]]:
    """The recorded figures of each entry, by its path below the round's folder."""
    return _load(_file("entries", round_name))


def has_entries(round_name: str) -> bool:
    """Whether figures of entries were recorded; of HPC there are logs only."""
    return _file("entries", round_name).is_file()


def _file(what: str, round_name: str) -> Path:
    return ORACLE / f"{what}-{folder(round_name).name}.json"


@lru_cache(maxsize=16)
def _load(file: Path) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return content
