"""--show-settings: each setting, its value, and where the value comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar

import click
import msgspec
from click.core import ParameterSource

from mlsub.commands.settings import Given, Setting, current
from mlsub.config.load import Loaded
from mlsub.findings import Says
from mlsub.present.document import Column, Document, Items, Span, Table, Text, document
from mlsub.present.envelope import Answer

#: Variables of the environment that are not settings but choose them.
_CHOOSE = ("MLSUB_CONFIG", "MLSUB_ISOLATED")


class ShownSetting(msgspec.Struct, frozen=True):
    """A setting; a file may have several of one name, such as waivers. ``value`` is null where nothing sets it."""

    name: str
    value: str | int | bool | tuple[str, ...] | None
    source: Annotated[str, Says("A file and line, a variable, an option, or default.")]


class ShownSettings(Answer, frozen=True, kw_only=True):
    """The settings of a call, and the file that was found or named."""

    SCHEMA: ClassVar[int] = 1

    file: str | None
    settings: tuple[ShownSetting, ...]
    notes: Annotated[tuple[str, ...], Says("Variables that are probably misspelled.")]


def shown(ctx: click.Context) -> ShownSettings:
    """The settings of the command that runs."""
    given = current()
    options = [param for param in ctx.command.params if isinstance(param, Setting)]
    settings = [_option(ctx, option, given) for option in options]
    if given.loaded is not None:
        settings += _of_file_alone(given.loaded)
    file = str(given.loaded.file) if given.loaded else None
    return ShownSettings(file=file, settings=tuple(settings), notes=tuple(_misspelled(options)))


def _option(ctx: click.Context, option: Setting, given: Given) -> ShownSetting:
    value: Any = ctx.params[str(option.name)]
    source = ctx.get_parameter_source(str(option.name))
    places = {
        ParameterSource.COMMANDLINE: f"--{option.setting}",
        ParameterSource.ENVIRONMENT: option.variable,
        ParameterSource.DEFAULT_MAP: given.loaded.shown if given.loaded else "default",
    }
    said = "default" if source is None else places.get(source, "default")
    return ShownSetting(option.setting, None if value == () else value, said)


def _of_file_alone(loaded: Loaded) -> Iterator[ShownSetting]:
    """What has no option."""
    for pattern, rules in loaded.written.per_path_ignores.items():
        yield ShownSetting("per-path-ignores", (pattern, *rules), loaded.shown)
    for waiver in loaded.written.waivers:
        until = f" until {waiver.until}" if waiver.until else ""
        said = f"{waiver.rule} in {waiver.path}{until}: {waiver.reason or 'no reason'}"
        yield ShownSetting("waivers", said, loaded.shown)


def _misspelled(options: list[Setting]) -> Iterator[str]:
    known = [*(option.variable for option in options), *_CHOOSE]
    for name in sorted(os.environ):
        close = get_close_matches(name, known, n=1, cutoff=0.8) if name.startswith("MLSUB_") else []
        if close and name not in known:
            yield f"{name} is not a setting. Did you mean {close[0]}?"


def shown_document(found: ShownSettings) -> Document:
    """The settings as a table."""
    columns = (Column("setting", when_narrow="keep"), Column("value"), Column("from"))
    rows = tuple((one.name, _text(one.value), Span(one.source, "path")) for one in found.settings)
    file = f"Settings file: {found.file}" if found.file else "No settings file."
    return document("Settings of mlsub check", Text(file), Table(columns, rows), Items(found.notes))


def _text(value: str | int | bool | tuple[str, ...] | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, tuple) else str(value)
