"""The documentation is built whole: a page on all there is, each can be reached, and no link leads nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

from docs.reference import CLAUSES, COMMANDS, INDEX, RULES, START, build, documentation, generate
from mlsub.cli import main
from mlsub.rounds import all_rounds, usages
from mlsub.rules.explain import rule_ids
from tools.support.runner import REPOSITORY, call

#: The pages take two seconds to make.
pytestmark = pytest.mark.slow
BUILT = REPOSITORY / "build" / "pages"
#: How many characters a page may have that lists everything.
LONG = {INDEX: 40_000, RULES: 40_000, CLAUSES: 120_000}
#: Pages of the repository that are not in docs/.
BESIDE = {START, "changelog.md", "contributing.md", "examples.md"}
CONFIGURATION = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text())


@lru_cache(maxsize=1)
def pages() -> dict[str, str]:
    """One generation for all tests: every page of the documentation."""
    return documentation(main)


@lru_cache(maxsize=1)
def generated() -> dict[str, str]:
    """The pages that are made of the rules."""
    return generate()


def by_hand() -> set[str]:
    return BESIDE | {path.name for path in (REPOSITORY / "docs").glob("*.md")}


def test_the_pages_written_by_hand_are_all_there() -> None:
    assert by_hand() | {COMMANDS} | generated().keys() == {page for page in pages() if not page.startswith("source/")}
    assert not by_hand() & generated().keys()


def test_files_that_the_pages_link_to_are_pages_too() -> None:
    assert pages()["source/mlsub/rounds/rounds.yaml.md"].count("\n````") == 2
    assert "(source/mlsub/rounds/rounds.yaml.md)" in pages()["new-round.md"]
    assert "(contributing.md)" in pages()[START]


def entries(part: object) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(part, str):
        yield part
    for inner in part if isinstance(part, list) else part.values() if isinstance(part, dict) else ():
        yield from entries(inner)


def test_the_navigation_has_every_page_but_those_of_one_name() -> None:
    there = list(entries(CONFIGURATION["nav"]))
    assert len(there) == len(set(there))
    assert set(there) == by_hand() | {CLAUSES, COMMANDS, INDEX, RULES}
    parts = [next(iter(part)) for part in CONFIGURATION["nav"]]
    assert parts == ["Submit", "Review", "Analyse", "Reference"]


def test_there_is_a_page_for_each_round_benchmark_rule_and_key() -> None:
    for usage in usages():
        for round_ in all_rounds(usage):
            assert f"rounds/{usage}-{round_.name}.md" in pages()
            assert {f"benchmarks/{name}.md" for name in round_.benchmarks} <= pages().keys()
    for rule in rule_ids():
        if rule.startswith("key."):
            assert f'<a id="{rule}"></a>' in pages()[f"keys/{rule.split('.')[1]}.md"]
        else:
            assert f"rules/{rule}.md" in pages()


def test_no_benchmark_of_two_usages_shares_a_page() -> None:
    names = [name for usage in usages() for name in {n for round_ in all_rounds(usage) for n in round_.benchmarks}]
    assert len(names) == len(set(names))


def test_links_and_anchors_lead_somewhere() -> None:
    for path, text in pages().items():
        for target in re.findall(r"\]\(((?!https?:)[^)\s]+)\)", text):
            file, _, anchor = target.partition("#")
            place = ((BUILT / path).parent / file).resolve() if file else (BUILT / path).resolve()
            name = place.relative_to(BUILT).as_posix() if place.is_relative_to(BUILT) else ""
            if name.startswith("assets/"):
                assert (REPOSITORY / "docs" / name).is_file(), (path, target)
                continue
            assert name in pages(), (path, target)
            assert not anchor or anchor in anchors(pages()[name]), (path, target)


def test_a_page_written_by_hand_links_to_the_rules_and_built_pages_that_it_names() -> None:
    assert "[`power.gap`](rules/power.gap.md)" in pages()["energy.md"]
    assert "[rounds, benchmarks and keys](reference.md)" in pages()["look-up.md"]
    assert "$ mlsub explain" in pages()["check.md"]
    for name, text in pages().items():
        for block in re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL):
            assert "](rules/" not in block, name


def anchors(text: str) -> set[str]:
    """The anchors of a page: those it sets, and those GitHub gives its headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {
        *re.findall(r'<a id="([^"]+)"', text),
        *(re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings),
    }


def test_every_page_can_be_reached_from_the_first() -> None:
    reached, waiting = set(), [START]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in pages():
            continue
        reached.add(name)
        for target in re.findall(r"\]\(((?!https?:)[^)#]+)", pages()[name]):
            place = ((BUILT / name).parent / target).resolve()
            if place.is_relative_to(BUILT):
                waiting.append(place.relative_to(BUILT).as_posix())
    assert reached == pages().keys()


def test_the_commands_of_the_index_succeed() -> None:
    commands = re.findall(r"^\$ mlsub (.*)$", generated()[INDEX], re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        done = call(*command.split())
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


def test_pages_are_short_and_tables_whole() -> None:
    for path, text in generated().items():
        assert len(text) < LONG.get(path, 12_000), path
        assert text.endswith("\n") and not text.endswith("\n\n"), path
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(counts) == 1, (path, block[:80])


def test_every_command_has_its_help() -> None:
    text = pages()[COMMANDS]
    assert "## mlsub check\n\n```text\nUsage: mlsub check [OPTIONS] PATH..." in text
    assert "## mlsub rcp margin\n" in text
    assert "--rcp-bert-train-samples" in text


def test_they_are_written_as_they_are(tmp_path: Path) -> None:
    build(tmp_path / "docs")
    files = [path for path in (tmp_path / "docs").rglob("*.md") if path.is_file()]
    assert {path.relative_to(tmp_path / "docs").as_posix(): path.read_text("utf-8") for path in files} == pages()
    for script in CONFIGURATION["extra"]["polyfills"]:
        assert (tmp_path / "docs" / script).is_file()


def test_generating_again_gives_the_same() -> None:
    again = generate()
    assert again == generated() and again.items() <= pages().items()
