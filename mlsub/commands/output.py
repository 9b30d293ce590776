"""What an answer looks like and where it goes; what a command says beside it, and its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from mlsub.commands import Command
from mlsub.commands.ending import COULD_NOT
from mlsub.commands.settings import check_settings, option_group, setting
from mlsub.commands.settings import tell as tell
from mlsub.io import MlsubError
from mlsub.io.show import inert, tolerate
from mlsub.io.write import cannot_write, check_output, write_file
from mlsub.present import CI_FORMATS, FILE_ENDINGS, FORMATS, format_of_file
from mlsub.present.terminal import render

if TYPE_CHECKING:
    from mlsub.findings import Severity
    from mlsub.present.ci import CiReport
    from mlsub.present.document import Document
    from mlsub.present.envelope import Answer
    from mlsub.submission.report import Report

F = TypeVar("F", bound=Callable[..., Any])

_ORDER = "mlsub.order"
_BINARY = ("arrow", "parquet", "xlsx")  # No text, of which a runner would read lines.


class Target(NamedTuple):
    """What an answer is to look like, and where it goes: standard output, or a file; ``also`` are further targets."""

    command: str
    format: str
    file: Path | None = None
    force: bool = False
    also: tuple[Target, ...] = ()

    @property
    def each(self) -> tuple[Target, ...]:
        """The files, then standard output: whoever stops reading there still gets the files."""
        return (*self.also, self)

    @property
    def only_text(self) -> bool:
        """Whether it is text on standard output, which can be written in pieces, and nothing else."""
        return self.format == "text" and self.file is None and not self.also

    @property
    def for_ci(self) -> bool:
        """Whether any of it is in a format of CI."""
        return any(one.format in CI_FORMATS for one in self.each)

    @property
    def for_machines(self) -> bool:
        """Whether any of it is for a program, which wants a document whatever happens."""
        return self.for_ci or any(one.format == "json" for one in self.each)

    def write(
        self,
        model: Answer,
        document: Callable[[], Document],
        part: str = "",
        *,
        page: Callable[[Path | None], Document] | None = None,
        results: Callable[[], CiReport] | None = None,
    ) -> None:
        """Write an answer: the model as JSON, the results for CI, or the document that is made of it.

        Args:
            model: the answer.
            document: makes the document.
            part: which of its answers a command gives that has several.
            page: makes the document for Markdown and HTML, where that is another, of the folder where it goes, if any.
            results: makes the results, of an answer that has the formats of CI; another is text there.

        Raises:
            MlsubError: a file cannot be written.
        """
        for one in self.each:
            if one.format == "json":
                from mlsub.present.envelope import answer

                one.put(answer(f"{self.command} {part}".rstrip(), model).decode("ascii"))
            elif one.format in CI_FORMATS and results is not None:
                one.put_for_ci(results())
            elif one.format in ("text", *CI_FORMATS):
                text = one._replace(format="text")
                text.put(text.rendered(document()))
            else:
                made = page(one.file.parent if one.file else Path()) if page else document()
                if page and one.file and one.format == "markdown":
                    one.put_parts(made, one.file)
                else:
                    one.put(one.rendered(made))
        if results is not None and any(one.format == "github" for one in self.each):
            _write_step_summary(page(None) if page else document())

    @contextmanager
    def or_refused(self) -> Iterator[None]:
        """Do work whose failure is an answer too where CI reads it: a document that says why nothing was checked."""
        try:
            check_settings()
            yield
        except (MlsubError, click.UsageError) as error:
            if self.for_ci:
                from mlsub.present.ci import refused

                for one in self.each:
                    if one.format in CI_FORMATS:
                        one.put_for_ci(refused(self.command, error))
            raise

    def refuse_terminal(self) -> None:
        """Refuse to print what no terminal shows.

        Raises:
            MlsubError: standard output is a terminal, and no file is named.
        """
        if self.file is None and sys.stdout.isatty():
            raise MlsubError(f"{self.format} cannot be read on a terminal. Name a file with --output FILE.")

    def rendered(self, document: Document) -> str:
        """A document in the format, for the place where it goes."""
        return render(document, self.format, None if self.file else sys.stdout)

    def put_parts(self, document: Document, first: Path) -> None:
        """Write a document as Markdown, as several files where it is too long for an issue.

        Raises:
            MlsubError: a file cannot be written.
        """
        from mlsub.present.markdown import render_parts

        parts = {first.with_name(name): text for name, text in render_parts(document, first.name).items()}
        for file in parts:
            check_output(file, force=self.force)
        for file in reversed(parts):
            self._replace(file=file).put(parts[file])

    def put_for_ci(self, results: CiReport) -> None:
        """Write results in a format of CI."""
        from mlsub.present import ci_formats

        self.put(ci_formats.render(results, self.format))

    def put(self, content: str | bytes) -> None:
        """Write what is ready.

        Raises:
            MlsubError: the file cannot be written.
        """
        if self.file:
            data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
            write_output(self.file, data, force=self.force)
        else:
            write_answer(content, self.format)


def _write_step_summary(document: Document) -> None:
    """Add the document to the summary of the step of GitHub Actions that this is, if it is one.

    Raises:
        MlsubError: the summary cannot be written.
    """
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return
    from mlsub.present import ci_formats

    try:
        with Path(name).open("ab") as file:
            file.write(ci_formats.summary(render(document, "markdown"), ci_formats.MOST_OF_SUMMARY - file.tell()))
    except OSError as error:
        raise cannot_write(Path(name), error) from error


def write_answer(content: str | bytes, format_: str = "text") -> None:
    """Print an answer on standard output; bytes stay the same on every machine, but for what :func:`inert` changes."""
    if isinstance(content, str):
        tolerate(sys.stdout)
        sys.stdout.write(inert(content, format_))
        return
    if format_ not in _BINARY:
        content = inert(content.decode("utf-8", "surrogateescape"), format_).encode("utf-8", "surrogateescape")
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def format_options(*formats: str, by_name: bool = False) -> Callable[[F], F]:
    """--format, one of these; text if not given, or None where the name of a file may ask for another."""
    usual = {"default": "text", "show_default": True, "help": "Set the output format."}
    named = {"help": "Set the output format; otherwise taken from the ending of FILE, or text."}
    return setting("--format", "format_", type=click.Choice(formats), **(named if by_name else usual))


def _format_by_ending(file: Path, formats: Sequence[str]) -> str | None:
    """Return the format that the ending of a file asks for, None where it says nothing.

    Raises:
        click.UsageError: the ending is that of a format which the answer does not have.
    """
    found, other = format_of_file(file, formats), format_of_file(file, FILE_ENDINGS)
    if found is None and other not in (None, "text"):
        raise click.UsageError(f"This answer has no format {other}. Name another file than {file}.")
    return found


#: --format, for any document.
format_option = format_options(*FORMATS)
#: --force.
_FORCE = click.option("--force", is_flag=True, help="Replace FILE; the earlier file is kept as FILE.~1~.")


def output_options(
    command: str, formats: Sequence[str] = FORMATS
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--format, -o and --force; the function gets them as one :class:`Target`, ``target``.

    A file that cannot be written is found before the work, and ends the command with status 2.

    Args:
        command: its name.
        formats: those it has; the first is the usual one. Without --format the ending of the file's name asks for one.
    """
    file = click.Path(path_type=Path)
    output_ = click.option(
        "-o", "--output", metavar="FILE", type=file, help="Write to FILE instead of standard output."
    )

    def aim(format_: str | None, output: Path | None, force: bool, **others: Any) -> dict[str, Any]:
        output = None if output is not None and str(output) == "-" else output
        if output is not None:
            check_output(output, force=force)
            format_ = format_ or _format_by_ending(output, formats)
        return {"target": Target(command, format_ or formats[0], output, force), **others}

    return option_group((format_options(*formats, by_name=True), output_, _FORCE), aim)


class CheckCommand(Command):
    """A command with :func:`check_output_options`, which knows the order of its options.

    What its settings file gets wrong, :meth:`Target.or_refused` reports.
    """

    answers_refused = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's; the order of --format and -o says which belong together."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[_ORDER] = [param.name for param in order if param.name in ("formats", "outputs")]
        return super().parse_args(ctx, args)


def check_output_options(command: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--format and -o, both repeatable, and --force, of a :class:`CheckCommand`.

    The function gets them as one :class:`Target`, ``target``: that of standard output, which has the files in ``also``.
    """
    format_ = setting(
        "--format",
        "formats",
        multiple=True,
        type=click.Choice((*FORMATS, *CI_FORMATS)),
        help="Set the format of the -o that follows, or of standard output (text); repeatable.",
    )
    output = click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Write to FILE too, in the --format before it, or by its ending; repeatable.",
    )

    def aim(formats: tuple[str, ...], outputs: tuple[Path, ...], force: bool, **others: Any) -> dict[str, Any]:
        values: dict[str, list[str | Path]] = {"formats": list(formats), "outputs": list(outputs)}
        order = click.get_current_context().meta.get(_ORDER, ())
        given = [values[name].pop(0) for name in order]
        # A format that is not on the command line is that of the settings, for standard output.
        usual = str(values["formats"][0]) if values["formats"] else "text"
        return {"target": targets(command, given, force=force, usual=usual), **others}

    return option_group((format_, output, _FORCE), aim)


def targets(command: str, given: Sequence[str | Path], *, force: bool, usual: str = "text") -> Target:
    """Standard output with files beside it.

    Args:
        command: its name.
        given: formats (text) and files, in the order of the command line. A format is that of the file that follows it;
            a file without one takes the format that follows and fits its ending, else that of its ending, else text.
            What is left is for standard output, as is ``-`` in the place of a file.
        force: replace files.
        usual: the format of standard output, if nothing is left for it.

    Raises:
        click.UsageError: several formats are left, or a file has a format that its ending denies.
        MlsubError: a file cannot be written.
    """
    left = [at for at, one in enumerate(given) if isinstance(one, str)]
    also: list[Target] = []
    on_screen: list[str] = []
    owned = {at + 1: at for at in left if at + 1 < len(given) and not isinstance(given[at + 1], str)}
    left = [at for at in left if at not in owned.values()]
    for at, file in enumerate(given):
        if isinstance(file, str):
            continue
        # Text may have any name, and a name that says nothing any format.
        named = [name for name in (*FORMATS[1:], *CI_FORMATS) if file.suffix.lower() in FILE_ENDINGS[name]]
        allowed = named or (*FORMATS, *CI_FORMATS)
        if at not in owned and at + 1 in left and given[at + 1] in allowed:
            owned[at] = at + 1
            left.remove(at + 1)
        format_ = str(given[owned[at]]) if at in owned else allowed[0]
        if at not in owned:
            _format_by_ending(file, allowed)
        if format_ not in allowed:
            raise click.UsageError(
                f"--format {format_} goes with the -o that follows, and {file} is {allowed[0]} by its name. "
                f"Write --format {allowed[0]} -o {file}, and last --format {format_} for standard output."
            )
        if str(file) == "-":
            on_screen.append(format_)
            continue
        if any(one.file == file for one in also):
            raise click.UsageError(f"-o {file} is given twice.")
        check_output(file, force=force)
        also.append(Target(command, format_, file, force))
    on_screen += [str(given[at]) for at in left]
    if len(on_screen) > 1:
        raise click.UsageError(
            f"Standard output has one format, and {' and '.join(on_screen)} would go there. Give one an -o FILE."
        )
    return Target(command, on_screen[0] if on_screen else usual, also=tuple(also))


def tell_unchecked(reports: Sequence[Report]) -> None:
    """Say on standard error why something could not be checked."""
    from mlsub.findings import Verdict
    from mlsub.workspace import in_one_line

    for report in reports:
        for finding in report.findings if report.official is Verdict.NOT_CHECKED else ():
            if finding.rejects:
                tell(in_one_line(finding))


def write_output(file: Path, content: bytes, *, force: bool) -> None:
    """Write a file that -o names, and say where what it replaces is kept.

    Raises:
        MlsubError: see :func:`mlsub.io.write.write_file`.
    """
    kept = write_file(file, content, force=force)
    if kept is not None:
        tell(f"what {file} held before is kept as {kept.name}")


def exit_with(reports: Sequence[Report], *, fail_on: Severity | None = None) -> None:
    """End with the worst status of the reports: 2 where anything that was asked for could not be checked."""
    sys.exit(max((report.exit_status(fail_on=fail_on) for report in reports), default=COULD_NOT))
