"""mlsub: check, score and audit MLPerf-style training submissions.

The two things most callers want are :func:`check` and the :class:`~mlsub.submission.report.Report` it returns.
"""

from __future__ import annotations

from os import PathLike

from mlsub.io import VERSION

#: As in typing, which takes longer to import than the rest of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from mlsub.submission.report import Report

__all__ = ["__version__", "check"]

__version__ = VERSION


def check(
    path: str | PathLike[str],
    round: str | None = None,
    usage: str | None = None,
    *,
    jobs: int | None = None,
) -> Report:
    """Check a log, a benchmark folder, an organisation's tree or a folder of organisations.

    Everything is read: the cache of the command line is neither used nor written.

    Args:
        path: what to check; it is read, never written.
        round: ``"1.0"``, ``"1.0.0"`` or ``"v1.0"``; inferred from the folders above the organisation if omitted.
        usage: ``"training"`` or ``"rehearsal"``; inferred like the round if omitted.
        jobs: how many processes may read logs; all cores by default, one for small inputs.

    Returns:
        The report. Where nothing could be checked its ``official`` is ``"not-checked"`` and a finding says why;
        bad input never raises.
    """
    from mlsub.workspace import check_path

    return check_path(path, round=round, usage=usage, jobs=jobs)
