"""Commands whose help starts with an example, and groups of them that import only the one that is called.

Every command and group takes --color, and completes names that mlsub knows: rounds, benchmarks, rules. A parameter is
known by its metavar (or, without one, by its name), so that ``--round ROUND`` completes in each command. Its value is
taken as it is: what it means is for the command to say, with a did-you-mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_KNOWN = frozenset(("BENCHMARK", "DIVISION", "FRAMEWORK", "NEW", "OLD", "ROUND", "RULE", "STATUS", "SYSTEM", "USAGE"))
#: Files and folders that are read or written as a text by the command itself.
_FILES = {"DIR": "dir", "FILE": "file", "SYSTEM|FILE": "file"}


class KnownNames(click.types.StringParamType):
    """A text, of which a shell completes what mlsub knows under a metavar."""

    def __init__(self, metavar: str) -> None:
        self._metavar = metavar

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that start so; first, for bash to keep both, files where there may be some."""
        from click.shell_completion import CompletionItem

        place = _FILES.get(self._metavar)
        names = [name for part in self._metavar.split("|") for name in _names(part, ctx.params)]
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [*([CompletionItem(incomplete, type=place)] if place else ()), *found]


def _names(metavar: str, params: Mapping[str, Any]) -> Iterable[str]:
    """The names that a metavar stands for; of rounds and benchmarks those that the rest of the command line allows."""
    from mlsub.divisions import DIVISIONS
    from mlsub.rounds import known_rounds, usages
    from mlsub.rules.explain import rule_ids
    from mlsub.systems import catalogue
    from mlsub.systems.names import registry

    given = params.get("usage")
    among = (given,) if given in usages() else usages()
    match metavar:
        case "BENCHMARK":
            return _benchmarks(among, params.get("round_") or params.get("round"))
        case "DIVISION":
            return DIVISIONS
        case "FRAMEWORK":
            return registry().frameworks.names
        case "ROUND" | "OLD" | "NEW":
            # The newest first: it is the one that is wanted most often.
            return dict.fromkeys(name for usage in among for name in reversed(known_rounds(usage)))
        case "RULE":
            return rule_ids()
        case "STATUS":
            return ("onprem", "cloud", "preview", "rdi")
        case "SYSTEM":
            return (*catalogue.system_names(), *(each.name for each in catalogue.accelerators()))
        case "USAGE":
            return usages()
    return ()


def _benchmarks(among: Iterable[str], round_: object) -> Iterable[str]:
    """Those of the round that the command line names already, else all."""
    from mlsub.rounds import all_rounds, normalise_round

    name = normalise_round(round_) if isinstance(round_, str) else None
    rounds = [each for usage in among for each in all_rounds(usage)]
    chosen = [each for each in rounds if each.name == name] or rounds
    return sorted({benchmark for each in chosen for benchmark in each.benchmarks})


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
            from mlsub.commands.settings import config_options

            self.params += config_options()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, and then the text."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write(f"{'':{formatter.current_indent}}$ {self.example}\n")
        super().format_help_text(ctx, formatter)


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
