"""The baseline of a call: looked at before logs are read, written if that is asked for, and marked in reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from mlsub.commands.output import tell, write_output
from mlsub.config.baseline import Baseline, make_baseline, read_baseline, suppress
from mlsub.findings import Verdict
from mlsub.io import MlsubError
from mlsub.submission.report import Report


def with_baseline(reports: Sequence[Report], file: Path, paths: Sequence[str], *, write: bool) -> list[Report]:
    """Reports with the findings marked that the baseline has, which is written first if that is asked for.

    Raises:
        MlsubError: the baseline cannot be read or written.
    """
    if write:
        _write(reports, file, paths)
    marked, gone = suppress(reports, read_baseline(file), file, paths)
    if gone:
        many = f"{gone} findings in {file} are gone; --write-baseline removes them"
        tell(many if gone > 1 else f"1 finding in {file} is gone; --write-baseline removes it", "check")
    return marked


def check_baseline(baseline: str | None, *, write: bool) -> None:
    """Find out before gigabytes are read what would keep the baseline from being read or replaced.

    Raises:
        click.UsageError: the call does not name the file to write.
        MlsubError: it cannot be.
    """
    source = click.get_current_context().get_parameter_source("baseline")
    if write and source not in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT):
        raise click.UsageError("--write-baseline needs --baseline FILE, or MLSUB_BASELINE.")
    if baseline is not None and (not write or Path(baseline).exists()):
        _known(Path(baseline), write=write)


def _known(file: Path, *, write: bool) -> Baseline | None:
    """The baseline that is there; None where there is none to keep anything of."""
    try:
        return read_baseline(file)
    except MlsubError as error:
        if not write or (file.exists() and not _force()):
            more = " Name another file, or add --force to replace it." if write else ""
            raise MlsubError(f"{error}{more}") from error
        return None


def _write(reports: Sequence[Report], file: Path, paths: Sequence[str]) -> None:
    if any(report.official is Verdict.NOT_CHECKED for report in reports):
        raise MlsubError(f"Not everything could be checked, so {file} was not written. Fix that first.")
    old = _known(file, write=True)
    made = make_baseline(reports, file, paths, old)
    write_output(file, made.content(), force=old is not None or _force())


def _force() -> bool:
    """Whether the call has --force, which is for all files that it writes."""
    return bool(click.get_current_context().params["force"])
