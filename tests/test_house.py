"""The house is laid out as CONTRIBUTING.md says; who may import whom is checked by import-linter in ``make lint``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click

from mlsub.cli import main

REPOSITORY = Path(__file__).parents[1]
MLSUB = REPOSITORY / "mlsub"
MODULES = sorted(file.relative_to(REPOSITORY).as_posix() for file in MLSUB.rglob("*.py"))


def entries() -> list[str]:
    """What lies directly under mlsub/, without what Python itself asks for."""
    return sorted({Path(module).parts[1] for module in MODULES if not Path(module).parts[1].startswith("__")})


def test_few_packages_each_described_in_one_line() -> None:
    described = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    missing = [name for name in entries() if f"\n- `{name}{'' if name.endswith('.py') else '/'}`: " not in described]
    assert missing == []
    assert len(entries()) <= 19


def test_each_command_has_a_room_of_its_name() -> None:
    rooms = {file.parent.name for file in (MLSUB / "commands").glob("*/command.py")}
    packages = {file.parent.name for file in (MLSUB / "commands").glob("*/__init__.py")}
    assert rooms == packages == set(main.list_commands(click.Context(main)))


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules and names of mlsub that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("mlsub"))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mlsub"):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_no_module_is_long_or_imports_a_private_name() -> None:
    for module in MODULES:
        text = (REPOSITORY / module).read_text("utf-8")
        assert text.count("\n") <= 400, module
        private = [name for name in imported(ast.parse(text)) if any(part.startswith("_") for part in name.split("."))]
        assert private == [], module


#: Where an id of a rule or a message is compared, with the reason. What findings do is asked by ``has_effect``.
COMPARED = {
    ("mlsub/commands/fix/document.py", "_diff_blocks"): "repairs of a file as a whole have words of their own",
    ("mlsub/commands/fix/document.py", "_whole_file_items"): "repairs of a file as a whole have words of their own",
    ("mlsub/commands/fix/document.py", "_plan_blocks"): "repairs of a file as a whole have words of their own",
    ("mlsub/commands/fix/run.py", "_leave_the_rest"): "--select",
    ("mlsub/commands/fix/run.py", "_find_repairs"): "--select",
    ("mlsub/commands/review/run.py", "rates_of"): "counts findings by rule",
    ("mlsub/config/load.py", "_waiver_flaws"): "the rule that a waiver names",
    ("mlsub/config/waivers.py", "_unused_notes"): "the rule that a waiver names",
    ("mlsub/config/waivers.py", "by"): "the rules that a path ignores",
    ("mlsub/config/waivers.py", "marked"): "the rule that a waiver names",
    ("mlsub/packing/pack.py", "waiver_of"): "the rule that a waiver names",
    ("mlsub/present/findings.py", "_section"): "the families of what a finding explains",
    ("mlsub/rules/catalogue.py", "find_causes"): "what a rule explains",
    ("mlsub/submission/report.py", "hidden_by"): "--select and --ignore",
}
_IDS = ("rule", "message")
_LOOKS = ("startswith", "endswith", "partition", "rpartition", "split", "rsplit", "removeprefix", "removesuffix")


def _is_id(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _IDS


def _looks_at_id(node: ast.AST) -> bool:
    """Whether code compares an id of a rule, or a message, with a value, or looks into it as a text."""
    if isinstance(node, ast.Compare):
        by_value = any(not isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops)
        return by_value and any(map(_is_id, (node.left, *node.comparators)))
    if isinstance(node, ast.Match):
        return _is_id(node.subject)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _LOOKS and _is_id(called.value)


def looking_at_ids(tree: ast.AST, function: str = "") -> Iterator[str]:
    """The functions that compare or look into ids and messages."""
    for node in ast.iter_child_nodes(tree):
        if _looks_at_id(node):
            yield function
        yield from looking_at_ids(node, node.name if isinstance(node, ast.FunctionDef) else function)


def test_what_findings_do_is_no_matter_of_ids_and_messages() -> None:
    found = {
        (module, function)
        for module in MODULES
        for function in looking_at_ids(ast.parse((REPOSITORY / module).read_text("utf-8")))
    }
    assert sorted(found) == sorted(COMPARED)


#: What measures time or memory, or gives up after another time than HUNG.
MEASURES = re.compile(
    r"process_time|perf_counter|thread_time|getrusage|RUSAGE|maxrss|tracemalloc|timeit|VmHWM|VmRSS|os\.times"
    r"|time\.time(?:_ns)?\(|(?:deadline|timeout)=\d|(?:alarm|set_default_timeout)\([1-9]"
)


def test_no_test_measures_time_or_memory() -> None:
    """Such a test fails by luck. Count instead (``tests/counted.py``), or measure in ``make campaigns``.

    What waits gives up after HUNG; a test that reads a clock for that names it.
    """
    found = []
    for folder in ("tests", "tools/support"):
        for file in sorted((REPOSITORY / folder).rglob("*.py")):
            shown, text = file.relative_to(REPOSITORY).as_posix(), file.read_text("utf-8")
            if file != Path(__file__):
                found += [f"{shown}: {match[0]}" for match in MEASURES.finditer(text)]
                if file.name.startswith("test_") and "monotonic()" in text and "HUNG" not in text:
                    found.append(f"{shown}: waits for another time than HUNG")
    assert found == []


#: Public class names that several modules have, with the reason.
SHARED_NAMES = {"RecorderCallback": "the callback of each framework is imported from that framework's module"}


def test_a_public_class_name_means_one_thing() -> None:
    found: dict[str, set[str]] = {}
    for module in MODULES:
        for node in ast.walk(ast.parse((REPOSITORY / module).read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, set()).add(module)
    assert {name for name, modules in found.items() if len(modules) > 1} == set(SHARED_NAMES)
    assert len(SHARED_NAMES) <= 10
