"""Options whose values may come from a settings file or the environment, and the settings of a call.

An option is made one with ``cls=Setting``; its name is that of the setting. A command with such options also has
``--config`` and ``--isolated``. The command line wins, then ``MLSUB_*``, then the file, then what the option says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from mlsub.io import MlsubError
from mlsub.io.show import message_line

if TYPE_CHECKING:
    from mlsub.config.load import Loaded
    from mlsub.findings import Finding
    from mlsub.submission.report import Report

F = TypeVar("F", bound=Callable[..., Any])

_KEY, _HIDDEN, _ERROR = "mlsub.settings", "mlsub.hidden", "mlsub.settings.error"
#: Settings on which a verdict may depend.
_DECISIVE = ("round", "usage", "rules", "rcp", "rcp-points")
#: Where a setting may come from, what counts most first.
SOURCES = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)
_TRUE = ("1", "true", "yes", "on")


class Given(NamedTuple):
    """The settings of a call: those of a file if there is one, and whether the environment is listened to.

    ``inside`` is a settings file that was passed over because it lies in a package; ``summary`` names the file that was
    read and what it sets.
    """

    loaded: Loaded | None = None
    environment: bool = True
    inside: Path | None = None
    summary: str = ""

    @property
    def has_waivers(self) -> bool:
        """Whether there are waivers or ignores by path, which are about all reports together."""
        return self.loaded is not None and bool(self.loaded.written.waivers or self.loaded.written.per_path_ignores)


class Setting(click.Option):
    """An option with a setting of the same name."""

    @property
    def setting(self) -> str:
        """The name of the setting."""
        return next(flag for flag in self.opts if flag.startswith("--"))[2:]

    @property
    def variable(self) -> str:
        """The variable of the environment."""
        return _variable(self.setting)

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """The value, from the command line or the first place behind it that has one this command can use."""
        value, source = super().consume_value(ctx, opts)
        if self.setting == "format" and not self.multiple and opts.get("output"):
            return value, source  # The name of a file says more of its format.
        if ctx.resilient_parsing:
            return value, source
        given = given_of(ctx, opts)
        if source in (ParameterSource.COMMANDLINE, ParameterSource.PROMPT):
            return value, source
        if given.environment and (text := os.environ.get(self.variable)):
            set_ = self._of_environment(ctx, text)
            if set_ is not None:
                return set_, ParameterSource.ENVIRONMENT
        of_file = given.loaded.value(self.setting) if given.loaded else None
        if of_file is None or not self._takes(of_file):
            return value, source
        alone = self.multiple and not isinstance(of_file, tuple)
        return (of_file,) if alone else of_file, ParameterSource.DEFAULT_MAP

    def _of_environment(self, ctx: click.Context, text: str) -> Any:
        """The value of the variable; None where it is one of other commands.

        Raises:
            click.UsageError: the value cannot be used.
        """
        value: Any = tuple(filter(None, re.split(r"[,\s]+", text))) if self.multiple else text
        if self.setting == "format" and not self._takes(text):
            from mlsub.config.model import formats

            if text in formats():
                return None
        try:
            self.type_cast_value(ctx, value)
        except click.BadParameter as error:
            raise click.UsageError(f"{self.variable}: {error.message}", ctx) from error
        return value

    def _takes(self, value: Any) -> bool:
        """Whether a format is one of this command; all else is the same for all."""
        return not isinstance(self.type, click.Choice) or value in self.type.choices


def _variable(setting: str) -> str:
    return f"MLSUB_{setting.upper().replace('-', '_')}"


def setting(*names: str, **words: Any) -> Callable[[F], F]:
    """An option with a setting of the same name."""
    return click.option(*names, cls=Setting, **words)


def option_group(
    options: Iterable[Callable[[F], F]], make: Callable[..., dict[str, Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds options, in the order of the help, and gives a function what is made of the values.

    Args:
        options: what they are.
        make: gets the values of all options of the command by name, and returns what the function gets in their place.
    """
    in_order = list(options)

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def called(**values: Any) -> None:
            function(**make(**values))

        for option in reversed(in_order):
            called = option(called)
        return called

    return decorate


def fail_on_options(function: Callable[..., None]) -> Callable[..., None]:
    """--fail-on and --strict; the function gets ``fail_on``, the least severity of review findings that count."""

    @wraps(function)
    def called(fail_on: str, strict: bool, **others: Any) -> None:
        from mlsub.findings import Severity

        ctx = click.get_current_context()
        sources = [ctx.get_parameter_source(name) for name in ("strict", "fail_on")]
        near = [SOURCES.index(source) if source in SOURCES else len(SOURCES) for source in sources]
        if near[0] < near[1]:
            fail_on = "warning" if strict else "official"
        function(fail_on=None if fail_on == "official" else Severity(fail_on), **others)

    levels = click.Choice(["official", "error", "warning", "note"])
    words = "Exit with 1 from review findings of this severity on; official: only where something is rejected."
    fail = setting("--fail-on", type=levels, default="official", show_default=True, help=words)
    return fail(setting("--strict/--no-strict", help="The same as --fail-on warning.")(called))


def config_options() -> list[click.Option]:
    """--config and --isolated."""
    return [
        click.Option(
            ["--config"],
            metavar="FILE",
            type=click.Path(),
            expose_value=False,
            help="Use the settings in FILE instead of looking for one; see docs/configuration.md.",
        ),
        click.Option(
            ["--isolated"],
            is_flag=True,
            expose_value=False,
            help="Use no settings file and no MLSUB_ variable.",
        ),
    ]


def check_settings() -> None:
    """Go on only with settings that can be used; a command of ``answers_refused`` calls it where it can answer for CI.

    Raises:
        MlsubError: a settings file cannot be used.
    """
    ctx = click.get_current_context(silent=True)
    if ctx is not None and (error := ctx.meta.get(_ERROR)):
        raise error


def current() -> Given:
    """The settings of the command that runs."""
    ctx = click.get_current_context(silent=True)
    given = ctx.meta.get(_KEY) if ctx is not None else None
    return given if isinstance(given, Given) else Given(environment=False)


def on_command_line(*names: str) -> bool:
    """Whether the command that runs was called with any of these parameters, whatever the settings say."""
    ctx = click.get_current_context()
    return any(ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in names)


def apply_waivers(reports: list[Report], paths: Sequence[str]) -> list[Report]:
    """Reports with the waivers and the ignores by path of the settings applied, if there are any."""
    own = current()
    if own.loaded is None or not own.has_waivers:
        return reports
    from mlsub.config.waivers import apply_waivers

    return apply_waivers(reports, own.loaded, paths)


def apply_waivers_to_findings(findings: Sequence[Finding], root: str | Path) -> tuple[Finding, ...]:
    """Findings of an answer that is not made of reports, with waivers and ignores by path; what is hidden is counted.

    Args:
        findings: the findings.
        root: the folder that their paths are relative to.
    """
    loaded = current().loaded
    if loaded is None or not findings:
        return tuple(findings)
    from mlsub.config.waivers import apply_waivers_to_findings

    kept = apply_waivers_to_findings(findings, str(root), loaded)
    if hidden := len(findings) - len(kept):
        ctx = click.get_current_context()
        if _HIDDEN not in ctx.meta:
            ctx.call_on_close(lambda: tell(f"hidden: {ctx.meta[_HIDDEN]} by per-path-ignores", ctx.command.name))
        ctx.meta[_HIDDEN] = ctx.meta.get(_HIDDEN, 0) + hidden
    return kept


def given_of(ctx: click.Context, opts: Mapping[str, Any]) -> Given:
    """The settings of a call, read when first asked for.

    Args:
        ctx: of the call.
        opts: what the parser found on the command line.

    Raises:
        click.UsageError: --config and --isolated.
        MlsubError: a settings file cannot be used, and the command does not call :func:`check_settings` itself.
    """
    if _KEY not in ctx.meta:
        try:
            given = _read(ctx, opts)
        except MlsubError as error:
            if not getattr(ctx.command, "answers_refused", False):
                raise
            ctx.meta[_ERROR], given = error, Given(environment=False)
        ctx.meta[_KEY] = given
        _tell_settings(ctx, given)
    found: Given = ctx.meta[_KEY]
    return found


def _read(ctx: click.Context, opts: Mapping[str, Any]) -> Given:
    named = opts.get("config")
    if opts.get("isolated") is True:
        if isinstance(named, str):
            raise click.UsageError("--config and --isolated exclude each other.", ctx)
        return Given(environment=False)
    if not isinstance(named, str):
        if os.environ.get("MLSUB_ISOLATED", "").lower() in _TRUE:
            return Given(environment=False)
        named = os.environ.get("MLSUB_CONFIG")
    inside = None
    file = Path(named) if named else None
    if file is None:
        from mlsub.config import find_settings

        file, inside = find_settings(path_arguments(ctx, opts))
    if file is None:
        return Given(inside=inside)
    from mlsub.config.load import load

    loaded = load(file)
    return Given(loaded, inside=inside, summary=_summary(ctx, opts, loaded))


def path_arguments(ctx: click.Context, values: Mapping[str, Any]) -> list[str]:
    """The paths among the arguments of a call; ``values`` are those of its parameters."""
    words: list[Any] = []
    for param in ctx.command.params:
        if isinstance(param, click.Argument) and isinstance(param.type, click.Path) and param.name:
            value = values.get(param.name)
            words += value if isinstance(value, list | tuple) else [value]
    return [os.fspath(word) for word in words if isinstance(word, str | os.PathLike) and word != "-"]


def tell(message: str, command: str | None = None) -> None:
    """Say something beside the answer of a command, on standard error."""
    click.echo(message_line(f"{' '.join(filter(None, ('mlsub', command)))}: {message}"), err=True)


def _tell_settings(ctx: click.Context, given: Given) -> None:
    """Say which settings are in force, unless the answer does, and which were passed over."""
    name = ctx.command.name
    if given.inside is not None:
        tell(f"{given.inside} lies in a package and is not used; --config FILE uses it", name)
    if given.loaded is not None and (names := given.loaded.passed_over):
        where, variables = given.loaded.shown, ", ".join(map(_variable, names))
        tell(f"{where}: passed over: {', '.join(names)}; set them with options, or {variables}", name)
    if given.summary and not getattr(ctx.command, "shows_settings", False):
        tell(f"settings: {given.summary}", name)


def _summary(ctx: click.Context, opts: Mapping[str, Any], loaded: Loaded) -> str:
    """The file and what it decides of this call, with the values of what a verdict may depend on; empty for nothing."""
    said = []
    for option in ctx.command.params:
        if isinstance(option, Setting) and option.name not in opts and not os.environ.get(option.variable):
            value = loaded.value(option.setting)
            if value is not None:
                said.append(f"{option.setting} {value}" if option.setting in _DECISIVE else option.setting)
    if getattr(ctx.command, "shows_settings", False):
        said += loaded.without_options
    return f"{loaded.shown} ({', '.join(said)})" if said else ""
