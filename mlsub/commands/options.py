"""Options that several commands share, and the way they run a check."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from mlsub.commands.ending import COULD_NOT
from mlsub.io.errors import MlsubError
from mlsub.present import FORMATS
from mlsub.present.terminal import progress_bar as progress_bar

if TYPE_CHECKING:
    from pathlib import Path

    from mlsub.convergence.entry import Options
    from mlsub.io.yamlfile import FileProblemsError
    from mlsub.present.document import Document
    from mlsub.present.envelope import Answer
    from mlsub.submission.report import Report

F = TypeVar("F", bound=Callable[..., Any])


class Target(NamedTuple):
    """What an answer is to look like, and where it goes: standard output, or a file."""

    command: str
    format: str
    file: Path | None = None
    force: bool = False

    def write(self, model: Answer, document: Callable[[], Document], part: str = "") -> None:
        """Write an answer: the model as JSON, or the document that is made of it.

        Args:
            model: the answer.
            document: makes the document.
            part: which of its answers a command gives that has several.

        Raises:
            MlsubError: the file cannot be written.
        """
        if self.format == "json":
            from mlsub.present.envelope import answer

            text = answer(f"{self.command} {part}".rstrip(), model).decode("ascii")
        else:
            text = self.rendered(document())
        self.put(text)

    def rendered(self, document: Document) -> str:
        """A document in the format, for the place where it goes."""
        from mlsub.present.output import render

        return render(document, self.format, None if self.file else sys.stdout)

    def put(self, content: str | bytes) -> None:
        """Write what is ready.

        Raises:
            MlsubError: the file cannot be written.
        """
        if self.file:
            data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
            write_output(self.file, data, force=self.force)
        elif isinstance(content, str):
            from mlsub.commands.output import write_text

            write_text(content)
        else:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()


def format_option(function: F) -> F:
    """--format, for any document."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="What the answer looks like.",
    )(function)


def output_options(
    command: str, formats: Sequence[str] = FORMATS, format_of_file: Callable[[Path], str | None] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--format, -o and --force; the function gets them as one :class:`Target`, ``target``.

    A file that cannot be written is found before the work, and ends the command with status 2.

    Args:
        command: its name.
        formats: those it has; the first is the usual one.
        format_of_file: which format the name of a file asks for where there is no --format.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def called(format_: str | None, output: Path | None, force: bool, **others: Any) -> None:
            from mlsub.io.output import check_output

            output = None if output is not None and str(output) == "-" else output
            if output is not None:
                check_output(output, force=force)
                format_ = format_ or (format_of_file(output) if format_of_file else None)
            function(target=Target(command, format_ or formats[0], output, force), **others)

        if format_of_file is None:
            return format_option(_output_file(called))
        by_name = "What the answer looks like; else what the ending of FILE says, else text."
        return click.option("--format", "format_", type=click.Choice(formats), help=by_name)(_output_file(called))

    return decorate


def _output_file(function: F) -> F:
    from pathlib import Path

    file = click.Path(path_type=Path)
    with_force = click.option("--force", is_flag=True, help="Replace FILE if it exists; it is kept under another name.")
    return click.option("-o", "--output", metavar="FILE", type=file, help="Write to FILE, not to the screen.")(
        with_force(function)
    )


def path_and_round(function: F) -> F:
    """PATH... with --round, --usage, --rules and --jobs."""
    decorators = (
        click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path()),
        click.option("--round", "round_", metavar="ROUND", help="1.0, 1.0.0 or v1.0; else read off the folders."),
        click.option("--usage", metavar="USAGE", help="training or rehearsal; else read off the folders."),
        click.option("--rules", metavar="FILE", help="Rules of your own that bind as well; see docs/overlay.md."),
        click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that read logs."),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def rcp_points(function: F) -> F:
    """--rcp-points."""
    return click.option(
        "--rcp-points",
        type=click.Choice(["final", "deadline"]),
        default="final",
        show_default=True,
        help="Reference points of the round: all, or those released by its deadline.",
    )(function)


def convergence_options(function: F) -> F:
    """--rcp, --rcp-points and --rcp-bert-train-samples."""
    decorators = (
        click.option("--rcp", metavar="FILE", help="Reference points of your own for the benchmark they name."),
        rcp_points,
        click.option(
            "--rcp-bert-train-samples",
            "train_samples",
            is_flag=True,
            help="Count the convergence of BERT by train_samples, not by epoch_num.",
        ),
    )
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def run_check(
    paths: Sequence[str],
    round_: str | None,
    usage: str | None,
    jobs: int | None,
    rules: str | None = None,
    rcp: str | None = None,
    *,
    train_samples: bool = False,
    points: str = "final",
) -> list[Report]:
    """Check the paths, with progress on a terminal.

    Args:
        paths: what to check.
        round_: None to read it off the folders.
        usage: None to read it off the folders.
        jobs: processes that read logs, None for the usual number.
        rules: an overlay file.
        rcp: a file of reference points.
        train_samples: whether BERT's convergence is counted by ``train_samples``.
        points: ``final`` or ``deadline``: which reference points of the round count.
    """
    from mlsub.workspace import Settings, check_paths

    if rules is not None:
        from pathlib import Path

        from mlsub.io.yamlfile import FileProblemsError
        from mlsub.rules.overlay import check_overlay

        try:
            rules = check_overlay(Path(rules))
        except FileProblemsError as error:
            return _broken(error)
    if rcp is not None:
        problems = _problems_of(rcp)
        if problems:
            return problems
    convergence = _options(rcp, train_samples, points)
    with progress_bar() as progress:
        return check_paths(paths, Settings(round_, usage, jobs, progress, rules, convergence))


def _problems_of(rcp: str) -> list[Report]:
    """A report that says why a file of reference points cannot be used; nothing where it can."""
    from pathlib import Path

    from mlsub.convergence.filecheck import check_reference_file
    from mlsub.rules.catalogue import finding
    from mlsub.workspace import not_checked

    file = Path(rcp)
    found = [
        finding(
            "check.broken-reference",
            file.name,
            f"{problem.record}: {problem.message}" if problem.record else problem.message,
            fix=problem.fix,
        )
        for problem in check_reference_file(file)
        if problem.severity == "error"
    ]
    return [not_checked(".", found)] if found else []


def options_of(rcp: str | None, *, points: str, train_samples: bool) -> Options:
    """What the options of the convergence test ask for; the end of the command where the file cannot be used."""
    problems = _problems_of(rcp) if rcp is not None else []
    if problems:
        raise MlsubError(*(f"{found.path}: {found.message}" for report in problems for found in report.findings))
    return _options(rcp, train_samples, points)


def _options(rcp: str | None, train_samples: bool, points: str) -> Options:
    from mlsub.convergence.entry import Options

    return Options(rcp, train_samples, "deadline" if points == "deadline" else "final")


def _broken(error: FileProblemsError) -> list[Report]:
    """A report that says where a rule file is broken."""
    import msgspec

    from mlsub.rules.catalogue import finding
    from mlsub.workspace import not_checked

    found = [
        msgspec.structs.replace(finding("check.broken-rules", problem.path, problem.message), line=problem.line)
        for problem in error.problems
    ]
    return [not_checked(".", found)]


def tell_unchecked(reports: Sequence[Report]) -> None:
    """Say on standard error why something could not be checked."""
    from mlsub.findings import Verdict
    from mlsub.workspace import in_one_line

    for report in reports:
        if report.official is Verdict.NOT_CHECKED:
            for finding in report.findings:
                if finding.rejects:
                    tell(in_one_line(finding))


def tell(message: str, command: str = "") -> None:
    """Say something beside the answer, on standard error."""
    from mlsub.io.plain import plain

    click.echo(plain(f"{f'mlsub {command}'.rstrip()}: {message}"), err=True)


def write_output(file: Path, content: bytes, *, force: bool) -> None:
    """Write a file that -o names, and say where what it replaces is kept.

    Raises:
        MlsubError: see :func:`mlsub.io.output.write_file`.
    """
    from mlsub.io.output import write_file

    tell_kept(file, write_file(file, content, force=force))


def tell_kept(file: Path, kept: Path | None) -> None:
    """Say under which name a file is kept that was replaced."""
    if kept is not None:
        tell(f"what {file} held before is kept as {kept.name}")


def exit_with(reports: Sequence[Report], *, strict: bool = False) -> None:
    """End with the worst status of the reports: 2 where anything that was asked for could not be checked."""
    sys.exit(max((report.exit_status(strict=strict) for report in reports), default=COULD_NOT))
