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
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mlsub"):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_no_module_is_long_or_imports_a_private_name() -> None:
    for module in MODULES:
        text = (REPOSITORY / module).read_text("utf-8")
        assert text.count("\n") <= 400, module
        private = [name for name in imported(ast.parse(text)) if any(part.startswith("_") for part in name.split("."))]
        assert private == [], module


#: What measures time or memory.
MEASURES = re.compile(
    r"process_time|perf_counter|thread_time|getrusage|RUSAGE|maxrss|tracemalloc|timeit|VmHWM|VmRSS|os\.times|time\.time\(|deadline=\d"
)
#: A program that no test of `make test` decides by.
MEASURING = "tools/campaigns/limits/__main__.py"


def test_no_test_measures_time_or_memory() -> None:
    """Such a test fails by luck. Count instead (``tests/counted.py``), or measure in ``make campaigns``."""
    found = []
    for file in sorted((REPOSITORY / "tests").rglob("*.py")):
        shown, text = file.relative_to(REPOSITORY).as_posix(), file.read_text("utf-8")
        if shown == MEASURING or file.name.startswith("measured_") or file == Path(__file__):
            continue
        found += [f"{shown}: {match[0]}" for match in MEASURES.finditer(text)]
        if file.name.startswith("test_") and "monotonic()" in text and "HUNG" not in text:
            found.append(f"{shown}: waits for another time than HUNG")
    assert found == []
