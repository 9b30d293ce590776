"""The page for those who come from the official tools has every flag that the installed ones know."""

from __future__ import annotations

import argparse
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import click
import mlperf_logging
import pytest

from tests.docs.pages import REPOSITORY

PAGE = (REPOSITORY / "docs" / "official-tools.md").read_text()
#: The official tools: whatever can be run by ``python -m``.
TOOLS = sorted(
    ".".join(file.parent.relative_to(Path(mlperf_logging.__file__).parent).parts)
    for file in Path(mlperf_logging.__file__).parent.rglob("__main__.py")
)


class _ParsedError(Exception):
    """Where a tool would read its command line."""


def flags(tool: str) -> Iterator[str]:
    """The arguments and options of a tool, from its own parser."""
    seen: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *_: object) -> None:
        seen.append(parser)
        raise _ParsedError

    module = f"mlperf_logging.{tool}.__main__"
    sys.modules.pop(module, None)
    with patch.object(argparse.ArgumentParser, "parse_args", stop), pytest.raises(_ParsedError):
        runpy.run_module(module)
    for action in seen[0]._actions:
        if action.dest != "help":
            yield from action.option_strings or [action.dest]


def section(tool: str) -> str:
    """What the page says under the tool's name."""
    found = re.search(rf"^##+ {tool.rpartition('.')[2]}\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"{tool} has no section"
    return found[1]


# Python 3.14 announces the end of argparse.FileType, which an official tool uses.
@pytest.mark.filterwarnings("ignore:FileType is deprecated:PendingDeprecationWarning")
@pytest.mark.parametrize("tool", TOOLS)
def test_every_flag_of_an_official_tool_is_on_the_page(tool: str) -> None:
    cells = [line.split(" | ")[0] for line in section(tool).splitlines() if line.startswith("| `")]
    on_page = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    assert on_page == set(flags(tool)), "the page has each flag of the installed tool, and no other"


def test_the_tools_are_those_of_the_issue() -> None:
    named = {"compliance_checker", "package_checker", "rcp_checker", "result_summarizer"}
    assert named | {"repo_checker", "result_summarizer.compute_score", "system_desc_checker"} == set(TOOLS)


def test_the_options_that_the_page_offers_instead_exist() -> None:
    from mlsub.cli import main

    context = click.Context(main)
    named = set(re.findall(r"`mlsub ([a-z]+(?: [a-z]+)?)[^`]*? (--[a-z-]+)", PAGE))
    assert named
    for words, option in named:
        command: click.Command | None = main
        for word in words.split():
            command = command.get_command(context, word) if isinstance(command, click.Group) else command
        assert command is not None, words
        assert option in {name for parameter in command.params for name in parameter.opts}, (words, option)
