"""The pages under docs/ are those that the rules give, each can be reached, and no link leads nowhere."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

import mlsub
from mlsub.commands.rules.pages import FOLDERS, INDEX, RULES, committed, generate, write
from mlsub.rounds import usages
from mlsub.rounds.names import all_rounds
from mlsub.rules.explain import rule_ids

DOCS = Path(mlsub.__file__).parents[1] / "docs"


@lru_cache(maxsize=1)
def pages() -> dict[str, str]:
    """One generation for all tests."""
    return generate()


def test_the_pages_are_those_of_the_rules() -> None:
    wanted, there = pages(), committed(DOCS)
    missing = sorted(wanted.keys() - there.keys())
    superfluous = sorted(there.keys() - wanted.keys())
    stale = sorted(name for name in wanted.keys() & there.keys() if wanted[name] != there[name])
    assert not (missing or superfluous or stale), (
        f"run `make docs`: {len(missing)} pages missing {missing[:3]}, {len(superfluous)} superfluous"
        f" {superfluous[:3]}, {len(stale)} stale {stale[:3]}"
    )


def test_folders_of_pages_hold_nothing_else() -> None:
    found = {path.relative_to(DOCS).as_posix() for folder in FOLDERS for path in (DOCS / folder).rglob("*")}
    assert found <= pages().keys()


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
        for target in re.findall(r"\]\(([^)]+)\)", text):
            file, _, anchor = target.partition("#")
            place = ((DOCS / path).parent / file).resolve() if file else (DOCS / path).resolve()
            name = place.relative_to(DOCS).as_posix()
            assert name in pages() or place.is_file(), (path, target)
            assert not anchor or anchor in anchors(pages()[name]), (path, target)


def anchors(text: str) -> set[str]:
    """The anchors of a page: those it sets, and those GitHub gives its headings."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {
        *re.findall(r'<a id="([^"]+)"', text),
        *(re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings),
    }


def test_every_page_can_be_reached_from_the_index() -> None:
    reached, waiting = set(), [INDEX]
    while waiting:
        name = waiting.pop()
        if name in reached or name not in pages():
            continue
        reached.add(name)
        for target in re.findall(r"\]\(([^)#]+)", pages()[name]):
            waiting.append(((DOCS / name).parent / target).resolve().relative_to(DOCS).as_posix())
    assert reached == pages().keys()


def test_pages_are_short_and_tables_whole() -> None:
    for path, text in pages().items():
        assert len(text) < (40_000 if path in (INDEX, RULES) else 12_000), path
        assert text.endswith("\n") and not text.endswith("\n\n"), path
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(counts) == 1, (path, block[:80])


def test_writing_brings_a_folder_up_to_date(tmp_path: Path) -> None:
    assert write(tmp_path) == (len(pages()), 0)
    assert write(tmp_path) == (0, 0)
    (tmp_path / "rules" / "no.such-rule.md").write_text("old")
    (tmp_path / "keys" / "seed.md").write_text("by hand")
    (tmp_path / "json.md").write_text("a page of another hand")
    assert write(tmp_path) == (1, 1)
    assert committed(tmp_path) == pages()
    assert (tmp_path / "json.md").read_text() == "a page of another hand"


@pytest.mark.parametrize("name", ["benchmarks/resnet.md", "rounds/training-1.1.md", "keys/init_stop.md"])
def test_generating_again_gives_the_same(name: str) -> None:
    assert generate()[name] == pages()[name]
