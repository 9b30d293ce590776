"""Commands whose help starts with an example, and groups of them that import only the one that is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

from mlsub.commands.settings import Setting, config_options


class Command(click.Command):
    """A command whose help starts with ``example``; ``shows_settings`` says that its answer names the settings file."""

    def __init__(self, *args: Any, example: str, shows_settings: bool = False, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.example = example
        self.shows_settings = shows_settings
        if any(isinstance(param, Setting) for param in self.params):
            self.params += config_options()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, and then the text."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write(f"{'':{formatter.current_indent}}$ {self.example}\n")
        super().format_help_text(ctx, formatter)


class LazyGroup(click.Group):
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
