"""--format and -o of commands that check, which may be given several times: which format goes where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from mlsub.commands.lazy import Command
from mlsub.commands.options import Target, forced
from mlsub.commands.settings import setting
from mlsub.present import CI_FORMATS, FORMATS

F = TypeVar("F", bound=Callable[..., Any])

#: The formats that the ending of a file's name allows; the first is that of a file without a --format.
_ENDINGS = {
    ".json": ("json", "sarif", "gitlab"),
    ".md": ("markdown",),
    ".markdown": ("markdown",),
    ".html": ("html",),
    ".htm": ("html",),
    ".sarif": ("sarif",),
    ".xml": ("junit",),
}
_ORDER = "mlsub.order"


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

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def called(formats: tuple[str, ...], outputs: tuple[Path, ...], force: bool, **others: Any) -> None:
            values: dict[str, list[str | Path]] = {"formats": list(formats), "outputs": list(outputs)}
            order = click.get_current_context().meta.get(_ORDER, ())
            given = [values[name].pop(0) for name in order]
            # A format that is not on the command line is that of the settings, for standard output.
            usual = str(values["formats"][0]) if values["formats"] else "text"
            function(target=targets(command, given, force=force, usual=usual), **others)

        return _check_options(forced(called))

    return decorate


def _check_options(function: F) -> F:
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
    return format_(output(function))


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
        allowed = _ENDINGS.get(file.suffix.lower(), FORMATS + CI_FORMATS)
        if at not in owned and at + 1 in left and given[at + 1] in allowed:
            owned[at] = at + 1
            left.remove(at + 1)
        format_ = str(given[owned[at]]) if at in owned else allowed[0]
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
        from mlsub.io.write import check_output

        check_output(file, force=force)
        also.append(Target(command, format_, file, force))
    on_screen += [str(given[at]) for at in left]
    if len(on_screen) > 1:
        raise click.UsageError(
            f"Standard output has one format, and {' and '.join(on_screen)} would go there. Give one an -o FILE."
        )
    return Target(command, on_screen[0] if on_screen else usual, also=tuple(also))
