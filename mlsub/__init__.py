"""mlsub: check, score and audit MLPerf-style training submissions.

:func:`check` returns one :class:`~mlsub.submission.report.Report` on a path, :func:`results` yields a
:class:`~mlsub.submission.result.Result` for each entry; :mod:`mlsub.emit` records the run of a training.
"""

from __future__ import annotations

from os import PathLike

from mlsub.io import VERSION

#: As in typing, which takes longer to import than the rest of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlsub.submission.report import Report
    from mlsub.submission.result import Result

__all__ = ["__version__", "check", "results"]

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
    from mlsub.workspace import Context, Request, check_paths

    return check_paths([path], Context(Request(round, usage), jobs=jobs))[0]


def results(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    round: str | None = None,
    usage: str | None = None,
    *,
    jobs: int | None = None,
) -> Iterator[Result]:
    """Yield the result of each entry below some paths: its verdict, score, convergence and system.

    A log that lies in no entry has no result: :func:`check` judges it.

    Rounds come in the order in which the paths first name them, the entries of a round in that of its report. Entries
    are yielded as soon as their round is read. The cache of the command line is neither used nor written.

    Args:
        paths: one path, or several, as of :func:`check`.
        round: as of :func:`check`; for all paths.
        usage: as of :func:`check`; for all paths.
        jobs: as of :func:`check`.

    Raises:
        mlsub.io.MlsubError: a path holds nothing that can be checked; it is raised when its turn comes.
    """
    from mlsub.workspace import each_result

    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    return each_result(given, round=round, usage=usage, jobs=jobs)
