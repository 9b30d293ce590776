"""Reports as the machine answer of ``mlsub check`` and ``mlsub score``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from mlsub.findings import Says
from mlsub.present.envelope import Answer, answer
from mlsub.submission.report import A_VERDICT_HAS_LOGS, Report


class Reports(Answer, frozen=True, kw_only=True):
    """A report for each round, then one for each path that could not be checked. Fields may be added."""

    SCHEMA: ClassVar[int] = 1
    OPEN: ClassVar[bool] = True

    reports: Annotated[tuple[Annotated[Report, Says(**A_VERDICT_HAS_LOGS)], ...], Says(minItems=1)]


def render_json(command: str, reports: Sequence[Report]) -> bytes:
    """The answer of a command, plain ASCII, so that no name in a hostile tree can break the stream."""
    return answer(command, Reports(reports=tuple(reports)))
