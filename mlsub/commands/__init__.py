"""The commands, one room each, named as the command; here is what they are made of.

The help of a command starts with an example; a group imports only the command that is called.

Every command and group takes --color, and completes names that mlsub knows: rounds, benchmarks, rules. A parameter is
known by its metavar (or, without one, by its name), so that ``--round ROUND`` completes in each command. Its value is
taken as it is: what it means is for the command to say, with a did-you-mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from mlsub.commands.settings import config_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_KNOWN = frozenset(("BENCHMARK", "DIVISION", "FRAMEWORK", "NEW", "OLD", "ROUND", "RULE", "STATUS", "SYSTEM", "USAGE"))
#: Files and folders that are read or written as a text by the command itself.
_FILES = {"DIR": "dir", "FILE": "file", "SYSTEM|FILE": "file"}
#: The help of a command with more options than this has headings.
_MOST_WITHOUTHEADINGS = 12
#: The heading of each option that several commands have; the others, a command's own, come first.
HEADINGS = {
    "Round and rules": ("round", "usage", "division", "rules", "rcp", "rcp-points", "rcp-bert-train-samples"),
    "What counts": ("fail-on", "strict", "baseline", "write-baseline", "even-rejected", "even-with-errors"),
    "What is shown": ("select", "ignore", "only", "severity", "quiet", "summary", "verbose", "show-settings"),
    "Output": ("format", "output", "force", "color"),
    "Speed": ("jobs", "executor", "cache", "cache-dir"),
    "Settings and help": ("config", "isolated", "help"),
}


class KnownNames(click.types.StringParamType):
    """A text, of which a shell completes what mlsub knows under a metavar."""

    def __init__(self, metavar: str) -> None:
        self._metavar = metavar

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that start so, and files where there may be some."""
        from mlsub.commands.names import complete

        return complete(self._metavar, _FILES.get(self._metavar), ctx.params, incomplete)


def _colour(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    """Remember the choice where click does: a command within a group may say otherwise than the group."""
    if value is not None:
        ctx.color = {"always": True, "never": False}.get(value)


#: Of every command, so that it may stand before and after the name of a command.
_COLOR = click.Option(
    ["--color"],
    type=click.Choice(["auto", "always", "never"]),
    expose_value=False,
    is_eager=True,
    callback=_colour,
    help="Colour the output: auto (on a terminal), always or never.",
)


class _Common(click.Command):
    """What commands and groups have in common."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        for param in self.params:
            metavar = param.metavar or (param.name or "").upper()
            if param.type is click.STRING and (metavar in _FILES or not _KNOWN.isdisjoint(metavar.split("|"))):
                param.type = KnownNames(metavar)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, --color and --help last."""
        params = super().get_params(ctx)
        at = len(params) - (self.get_help_option(ctx) in params)
        return [*params[:at], _COLOR, *params[at:]]


class Command(_Common):
    """A command whose help starts with ``example``; ``shows_settings`` says that its answer names the settings file."""

    def __init__(self, *args: Any, example: str, shows_settings: bool = False, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.example = example
        self.shows_settings = shows_settings
        if any(getattr(param, "setting", None) for param in self.params):
            self.params += config_options()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, and then the text."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write(f"{'':{formatter.current_indent}}$ {self.example}\n")
        super().format_help_text(ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options; many of them under headings."""
        shown = [one for one in self.get_params(ctx) if isinstance(one, click.Option) and not one.hidden]
        if len(shown) <= _MOST_WITHOUTHEADINGS:
            super().format_options(ctx, formatter)
            return
        headings = {f"--{name}": heading for heading, names in HEADINGS.items() for name in names}
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], **{heading: [] for heading in HEADINGS}}
        for option in shown:
            heading = next((headings[flag] for flag in option.opts if flag in headings), "Options")
            rows[heading] += filter(None, [option.get_help_record(ctx)])
        for heading, written in rows.items():
            if written:
                with formatter.section(heading):
                    formatter.write_dl(written)


class LazyGroup(_Common, click.Group):
    """Also knows the commands of other modules: ``modules`` are their modules by the commands' names."""

    command_class = Command

    def __init__(self, *args: Any, modules: Mapping[str, str] = MappingProxyType({}), **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, sorted."""
        return sorted([*super().list_commands(ctx), *self.modules])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now; None where there is none."""
        if cmd_name not in self.modules:
            return super().get_command(ctx, cmd_name)
        command = import_module(self.modules[cmd_name]).command
        assert isinstance(command, click.Command)  # noqa: S101  (our own modules)
        return command
