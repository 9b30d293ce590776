"""The text of each report on standard output as soon as it is ready, of which nothing is kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from mlsub.commands.asked import Asked
from mlsub.commands.check.document import blocks_of
from mlsub.commands.ending import COULD_NOT
from mlsub.commands.options import Target, write_text
from mlsub.present.document import Document
from mlsub.present.findings import View
from mlsub.submission.report import Report, choose


def write_each(asked: Asked, target: Target, view: View, settings: str) -> int:
    """Check the paths, print the text that the document of all reports would be, and return the exit status.

    Args:
        asked: what is checked; its settings have nothing that depends on all reports.
        target: standard output, as text.
        view: what is shown of the reports.
        settings: the file they are from, and what it sets.
    """
    statuses: list[int] = []

    def weighed(reports: Iterator[Report]) -> Iterator[Report]:
        for report in reports:
            statuses.append(choose(report, view.choice).exit_status(strict=view.strict))
            yield report

    with asked.checking() as (count, reports):
        blocks = blocks_of(weighed(reports), view, alone=count == 1, verdict_last=True, settings=settings)
        for number, block in enumerate(blocks):
            text = target.rendered(Document("Official verdict", (block,), bare=True))
            write_text(f"\n{text}" if number else text)
            sys.stdout.flush()
    return max(statuses, default=COULD_NOT)
