"""The reference pages of the documentation: all of them, as a mapping from path to text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlsub.commands.rules.markdown import code, link, page, prose, table
from mlsub.commands.rules.page_benchmark import benchmark_page
from mlsub.commands.rules.page_key import key_page, keys_with_pages
from mlsub.commands.rules.page_round import round_page
from mlsub.rounds import usages
from mlsub.rounds.names import all_rounds, rounds_with, spans
from mlsub.rules.catalogue import RuleInfo, catalogue
from mlsub.rules.explain import descriptions

#: The index, and the list of rules that are not about one key.
INDEX = "reference.md"
RULES = "rules.md"

_NOTE = "<!-- Written by `make docs` from mlsub/rules and mlsub/rounds; changes to it are lost. -->"

#: What the first part of a rule id stands for.
_GROUPS = {
    "log": "A log as a whole",
    "run": "A run",
    "seed": "Seeds of an entry",
    "entry": "An entry",
    "rcp": "The convergence of an entry",
    "official": "What the official tools crash on",
    "score": "The score of an entry",
    "power": "The power measurements of an entry",
    "params": "Flags of the package checker",
    "cross": "A log and the package around it",
    "system": "A system description",
    "tree": "The tree of an organisation",
    "layout": "The package as files",
    "package": "A manifest, and what is packed by it",
    "merge": "Packages that are joined",
    "seal": "Sealing a submission, and opening it",
    "file": "The text of a file",
    "borrow": "Hyperparameters that are borrowed during review",
    "resubmit": "Results that are submitted again in a later round",
    "inspect": "Runs side by side: mlsub inspect",
    "claim": "How results are quoted",
    "check": "Why nothing was checked",
    "rule": "Defects of mlsub",
    "review": "Defects of mlsub beside the official rules",
}


def generate() -> dict[str, str]:
    """Every generated page, by its path in the documentation."""
    pages = {INDEX: _index(), RULES: _rule_index()}
    for usage in usages():
        for round_ in all_rounds(usage):
            pages[f"rounds/{usage}-{round_.name}.md"] = round_page(round_)
        for name in _benchmarks(usage):
            pages[f"benchmarks/{name}.md"] = benchmark_page(usage, name)
    for info in catalogue().values():
        pages[f"rules/{info.id}.md"] = _rule_page(info)
    for key in keys_with_pages():
        pages[f"keys/{key}.md"] = key_page(key)
    return {path: page((_NOTE, "", *lines)) for path, lines in pages.items()}


def _index() -> Iterator[str]:
    yield from (
        "# Reference",
        "",
        "Every round, benchmark, key and rule that mlsub knows. The same is shown by these commands; the JSON that",
        "they give with `--format json` is described in [rules-json.md](rules-json.md).",
        "",
        "```console",
        "$ mlsub rules list",
        "$ mlsub rules list --round 6.1",
        "$ mlsub rules show resnet --round 2.1",
        "$ mlsub rules diff 6.0 6.1",
        "$ mlsub rules keys llama31_8b",
        "```",
        "",
        f"[Rounds](#rounds) · [Benchmarks](#benchmarks) · [Keys](#keys) · [Rules]({RULES})",
        "",
        "## Rounds",
        "",
    )
    for usage in usages():
        names = [link(round_.name, f"rounds/{usage}-{round_.name}.md") for round_ in all_rounds(usage)]
        yield f"- {usage}: {', '.join(names)}"
    yield from ("", "## Benchmarks", "")
    found = []
    for usage in usages():
        for name in _benchmarks(usage):
            rounds = rounds_with(usage, name)
            title = benchmark_title(usage, name)
            where = f"{usage} {spans(usage, [round_.name for round_ in rounds])}"
            found.append([link(code(name), f"benchmarks/{name}.md"), prose(title), where])
    yield from table(["benchmark", "", "rounds"], found)
    yield from ("", "## Keys", "", "What a record's key stands for; each page has every demand on it.", "")
    about = descriptions()
    yield from table(
        ["key", "meaning"], [[link(code(key), f"keys/{key}.md"), prose(about[key])] for key in keys_with_pages()]
    )


def _rule_index() -> Iterator[str]:
    yield from ("# Rules", "", "Rules that are not about one key; those of a key are on [its page](reference.md#keys).")
    yield from _rules(catalogue().values())


def _rules(infos: Iterable[RuleInfo]) -> Iterator[str]:
    groups: dict[str, list[RuleInfo]] = {}
    for info in infos:
        groups.setdefault(info.id.partition(".")[0], []).append(info)
    for group, some in groups.items():
        yield from ("", f"## {_GROUPS[group]}", "")
        yield from (f"- {link(code(info.id), f'rules/{info.id}.md')}: {prose(info.title)}" for info in some)


def _benchmarks(usage: str) -> list[str]:
    return sorted({name for round_ in all_rounds(usage) for name in round_.benchmarks})


def benchmark_title(usage: str, name: str) -> str:
    """A benchmark's title."""
    from mlsub.rules.load import benchmark

    return benchmark(usage, rounds_with(usage, name)[0].name, name).title


def _rule_page(info: RuleInfo) -> Iterator[str]:
    kind = f"{info.kind.value} {info.severity.value}"
    out = {"none": "It rules out no division", "closed": "It rules out the Closed division"}
    yield from (f"# {info.id}", "", f"{prose(info.title)}.", "")
    yield from (f"An {kind}. {out.get(info.blocks.value, 'It rules out both divisions')}.", "")
    yield f"- why: {prose(info.why)}"
    yield f"- source: {prose(info.source)}"
    yield f"- example: {prose(info.example)}"
    yield f"- fix: {prose(info.fix)}"
    yield from ("", f"[All rules](../{RULES})")
