"""The ``mlsub`` command: one module a subcommand, imported only when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from mlsub.commands import LazyGroup
from mlsub.commands.ending import closed_pipe_passed_on, end
from mlsub.io import VERSION

_STAGES = {
    "Prepare": {
        "init": "Write the manifest of a submission.",
        "status": "Show where a submission stands, and what to do next.",
        "system": "List, show, write, capture and check system descriptions.",
        "rules": "Look up rules: list, show, diff, keys.",
        "rcp": "Show, plan and build reference convergence points.",
    },
    "Run": {
        "watch": "Follow the logs of running trainings.",
        "demo": "Train and lay out a demo submission on this machine.",
    },
    "Check": {
        "check": "Check logs, benchmark folders, organisations and rounds.",
        "score": "Print the scores: time to train of each entry.",
        "review": "Write the peer review of a submission: what to ask, and why.",
        "fix": "Propose mechanical repairs as a diff, and apply them.",
        "redact": "Remove private names, paths and secrets from logs.",
    },
    "Submit": {
        "pack": "Assemble a submission from its manifest, and check it.",
        "merge": "Join packages that teams have prepared separately.",
        "seal": "Seal a submission: encrypted archive, manifest and receipt.",
        "unseal": "Open a sealed submission safely, and verify it.",
        "verify": "Compare a sealed submission or a tree with its manifest.",
    },
    "Analyse": {
        "compare": "Compare two packages, or two trainings: why one is faster.",
        "audit": "Check claims about published results against the logs.",
        "db": "Build and query a database of results.",
        "site": "Write a site of results: tables, curves, findings.",
    },
    "Help": {
        "schema": "Print the JSON Schema of an answer or a document.",
        "explain": "Explain a rule: reason, source, example and fix.",
        "cache": "Show or clear the kept results of logs.",
        "mcp": "Serve the checks to an assistant, by the Model Context Protocol.",
        "completion": "Print the script that completes commands in a shell.",
    },
}
_COMMANDS = {name: text for stage in _STAGES.values() for name, text in stage.items()}
_MODULES = {name: f"mlsub.commands.{name}.command" for name in _COMMANDS}
#: Commands that have commands of their own.
_GROUPS = ("db", "rcp", "rules", "system")


class _Commands(LazyGroup):
    """Knows its commands by name, and loads the one that is called."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """As click's, but every call ends in :mod:`mlsub.commands.ending`."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        words = sys.argv[1:] if args is None else args
        return end(
            lambda: super(_Commands, self).main(args, prog_name, complete_var, False, **extra), _command_of(words)
        )

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with closed_pipe_passed_on():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with closed_pipe_passed_on():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for stage, commands in _STAGES.items():
            with formatter.section(stage):
                formatter.write_dl(list(commands.items()), col_max=12)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            close = get_close_matches(args[0], _COMMANDS, n=1)
            ctx.fail(f"no command {args[0]!r}." + (f" Did you mean {close[0]}?" if close else ""))
        return super().resolve_command(ctx, args)


def _command_of(words: Sequence[str]) -> str:
    """The command that the words call, for messages: ``check``, ``rcp show``."""
    at = next((at for at, word in enumerate(words) if word in _COMMANDS), len(words))
    inner = words[at + 1 : at + 2] if at < len(words) and words[at] in _GROUPS else ()
    return " ".join([*words[at : at + 1], *(word for word in inner if not word.startswith("-"))])


@click.group(cls=_Commands, modules=_MODULES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="mlsub")
def main() -> None:
    """Check, score and audit MLPerf-style training submissions.

    Exit status of every command: 0 clean, 1 findings, 2 could not check or write; 130 after Ctrl-C, 141 where the
    reader closed stdout.
    """
