"""Claims files written from data, what is found of them, and the tables of cases."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import JudgedClaim
from mlsub.io.problems import FileProblemsError
from mlsub.workspace import Context


def table(name: str) -> Any:
    """The content of a YAML file beside the tests."""
    return yaml.safe_load(Path(__file__).with_name(name).read_text())


CASES: dict[str, Any] = table("cases.yaml")


def flow(claim: Mapping[str, Any]) -> str:
    """A claim as the inside of a mapping on one line."""
    return yaml.safe_dump(claim, default_flow_style=True, width=10**6, sort_keys=False).strip()[1:-1]


def audited(folder: Path, at: Path | None = None, /, **content: Any) -> tuple[JudgedClaim, ...]:
    """The claims of a file with this content, judged by the results in the folder, or at another place."""
    file = folder / "claims.yaml"
    file.write_text(yaml.safe_dump({"claims_version": 1, "source": {"title": "A post"}, **content}))
    return audit(file, [str(at or folder)], context=Context(jobs=1)).claims


def problems(folder: Path, text: str) -> list[str]:
    """The line and the message of everything that is wrong with a file."""
    file = folder / "claims.yaml"
    file.write_text(text)
    try:
        read_claims(file)
    except FileProblemsError as error:
        return [f"{problem.line}: {problem.message}" for problem in error.problems]
    return []
