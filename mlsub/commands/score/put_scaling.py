"""Write ``scaling.json`` where the convergence test comes to a factor; only ever on demand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mlsub.io.errors import MlsubError
from mlsub.io.output import write_file
from mlsub.score.scaled import FILE
from mlsub.submission.report import Report


def put_scaling(reports: Sequence[Report]) -> Iterator[str]:
    """Write the expected factors into the folders of their entries, each file whole or not at all.

    A ``scaling.json`` that is there is the review committee's word and stays; an entry that needs none gets none.

    Yields:
        Each file written, with its factor, in words.

    Raises:
        MlsubError: a file cannot be written; those before it are there.
    """
    for report in reports:
        for entry in report.entries:
            if not entry.score.scaling_file and not entry.score.as_expected:
                file = Path(report.root) / entry.path / FILE
                if os.path.lexists(file):
                    raise MlsubError(f"{file} is there and is never replaced. Move it away to have it written.")
                write_file(file, json.dumps({"scaling_factor": entry.score.expected_scaling}).encode(), force=False)
                yield f"{file}: {entry.score.expected_scaling!r}"
