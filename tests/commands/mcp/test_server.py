"""``mlsub mcp``, asked by the client of the official SDK: answers of the commands, and only below the folders."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tools.support.effort import HUNG
from tools.support.make_tree import Tree, make_tree, snapshot
from tools.support.runner import REPOSITORY, run


def asked(folders: list[Path], question: Callable[[Any], Awaitable[Any]], *, process: bool = False) -> Any:
    """What a question to the server of some folders comes to, in this process or to one of its own."""
    mcp = pytest.importorskip("mcp", reason="the SDK is not installed: pip install '.[mcp]'")
    from mlsub.commands.mcp.server import build_server

    async def ask() -> Any:
        words = ["-m", "mlsub", "mcp", *map(str, folders)]
        paths = os.pathsep.join([str(REPOSITORY), *filter(None, sys.path)])
        call = mcp.StdioServerParameters(command=sys.executable, args=words, env={**os.environ, "PYTHONPATH": paths})
        async with mcp.Client(mcp.stdio_client(call) if process else build_server(list(map(str, folders)))) as client:
            return await question(client)

    return asyncio.run(asyncio.wait_for(ask(), HUNG))


def call(folder: Path, tool: str, **words: str) -> tuple[bool, Any]:
    """Whether a tool failed, and what it answers or says."""
    answer = asked([folder], lambda client: client.call_tool(tool, words))
    return answer.is_error, answer.content[0].text if answer.is_error else answer.structured_content


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_tree(tmp_path / "rounds")


def test_it_says_what_it_can_be_asked_and_that_it_only_reads(tree: Tree) -> None:
    tools = asked([tree.folder], lambda client: client.list_tools(), process=True).tools
    assert [tool.name for tool in tools] == ["check", "review", "score", "rules", "explain"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["check", "review", "score"])
def test_an_answer_is_the_json_of_the_command_and_nothing_is_written(tool: str, tree: Tree) -> None:
    tree.describe(status="fast")
    before = snapshot(tree.folder)
    expected = run(tool, tree.folder, "--format", "json").document
    failed, answer = call(tree.folder.parent, tool, path=tree.folder.name)
    assert (failed, answer) == (False, expected)
    assert snapshot(tree.folder) == before


def test_rules_are_looked_up_by_name() -> None:
    failed, shown = call(REPOSITORY, "rules", benchmark="llama31_8b", round="5.1")
    assert (failed, shown) == (False, run("rules", "show", "llama31_8b", "--round", "5.1", "--format", "json").document)
    failed, explained = call(REPOSITORY, "explain", rule="rcp.too-fast")
    assert (failed, explained) == (False, run("explain", "rcp.too-fast", "--format", "json").document)
    failed, told = call(REPOSITORY, "explain", rule="rcp.to-fast")
    assert failed
    assert "Did you mean rcp.too-fast" in told
    assert "Usage" not in told


def test_a_package_that_is_broken_is_an_answer_and_one_that_is_not_there_a_line(tree: Tree) -> None:
    tree.log(0).write_bytes(b":::MLLOG {")
    failed, answer = call(tree.folder, "check", path=".")
    assert (failed, answer["reports"][0]["official"]) == (False, "rejected")
    failed, answer = call(tree.folder, "check", path="nothing", round="5.1")
    assert (failed, answer["reports"][0]["official"]) == (False, "not-checked")
    failed, told = call(tree.folder, "review", path="nothing", round="5.1")
    assert failed
    assert "Traceback" not in told


@pytest.mark.parametrize("path", ["/etc", "..", "../outside", "link", "link/result_0.txt", "\0/../..", "--help"])
def test_no_path_outside_is_read(path: str, tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tree.folder / "link").symlink_to(tmp_path / "outside")
    with patch("subprocess.run", side_effect=AssertionError) as started:
        failed, told = call(tree.folder, "check", path=path)
    assert failed
    assert started.called == (path == "--help")  # A name as any other.
    assert path == "--help" or "does not lie below" in told


def test_what_keeps_it_from_starting_is_one_line(tree: Tree) -> None:
    outcome = run("mcp", tree.folder / "nothing")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.endswith("nothing is not a folder. Name the folders that the assistant may ask about.\n")
    with patch.dict(sys.modules, {"mcp.server.mcpserver": None}):
        outcome = run("mcp", tree.folder)
    needed = "mlsub mcp needs the package mcp. Install it from a copy of the source: pip install '.[mcp]'"
    assert (outcome.status, outcome.stderr) == (2, f"mlsub mcp: {needed}\n")
