"""Build the pages of the documentation: those written by hand, and those made of the rules and of the commands.

``python -m docs.reference FOLDER`` writes them, and ``make docs`` makes a site of them (mkdocs.yml).
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from pathlib import Path, PurePath

import click
import msgspec

from docs.clauses import clauses_page
from mlsub.commands.rules.diff import keyed, round_diff
from mlsub.commands.rules.document import (
    CLAUSES_TITLE,
    alternatives,
    change_table,
    diff_blocks,
    listed,
    name,
    rows_table,
)
from mlsub.commands.rules.table import (
    BenchmarkLine,
    KeyRow,
    RuleTable,
    benchmark_line,
    package_facts,
    parts,
    row_of,
    rule_table,
)
from mlsub.divisions import DIVISIONS
from mlsub.findings import Blocks
from mlsub.io.data import load_yaml
from mlsub.log.event import event_type
from mlsub.present.document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Facts,
    Items,
    Lines,
    Section,
    Span,
    Table,
    Text,
    Words,
    document,
    section,
)
from mlsub.present.explanation import explanation, explanation_blocks, explanation_document
from mlsub.present.markdown import render
from mlsub.rounds import Round, all_rounds, rounds_with, spans, usages
from mlsub.rules.catalogue import catalogue
from mlsub.rules.explain import all_demands
from mlsub.rules.load import entry_requirements, key_descriptions, rules_for

REPOSITORY = Path(__file__).parents[1]
#: Pages that the repository keeps beside docs/, by what they become.
_BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
}
#: The page that README.md becomes.
START = _BESIDE["README.md"]
#: The page on all commands and their options.
COMMANDS = "commands.md"
#: The index, and the list of rules that are not about one key.
INDEX = "reference.md"
RULES = "rules.md"
#: Who checks each clause of the written rules.
CLAUSES = "clauses.md"
#: What the pages need beside their text.
_ASSETS = "assets"
#: Columns of a help text.
_COLUMNS = 96
_COMMANDS_TITLE = "# Commands\n\nEvery command with its options, as `mlsub COMMAND --help` prints them.\n"
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json"}
#: What a link to a page says that text names by where it is built.
_TITLES = {
    INDEX: "rounds, benchmarks and keys",
    RULES: "all other rules",
    CLAUSES: "who checks each clause",
    "commands.md": "all commands",
    "json.md": "the JSON document",
}
#: Changes of one benchmark that a round's page lists; more are on the benchmark's own page.
_LONGEST = 12
#: At the end of a page, which has to begin with its title.
_NOTE = "\n<!-- Written by `make docs` from mlsub/rules and mlsub/rounds; changes to it are lost. -->\n"
_CODE_BLOCK = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
#: A name set as code, outside of a link.
_NAME = re.compile(r"(?<!\[)`([\w. /-]+)`(?!\])")
#: A page that is not in the repository, as text names it: by where it is built.
_BUILT = re.compile(r"build/docs/([\w./-]+)\.html")
_RULE_HEADING = re.compile(r"^## (key\.\S+)$", re.MULTILINE)


def build(folder: Path) -> None:
    """Write the documentation of this repository into a folder."""
    from mlsub.cli import main

    for page, text in documentation(main).items():
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(text, "utf-8", newline="\n")
    shutil.copytree(REPOSITORY / "docs" / _ASSETS, folder / _ASSETS, dirs_exist_ok=True)


def documentation(root: click.Group) -> dict[str, str]:
    """Every page, by its path: written by hand, made of the rules, and the files of the repository that they link to.

    Args:
        root: ``mlsub`` as a command.

    Raises:
        OSError: the repository lacks a page, or a file that one links to.
    """
    written = {REPOSITORY / file: page for file, page in _BESIDE.items()}
    written |= {file: file.name for file in sorted((REPOSITORY / "docs").glob("*.md"))}
    sources: dict[str, str] = {}
    pages = {page: _adapted(file, written, sources) for file, page in written.items()}
    made = generate() | {COMMANDS: "".join((_COMMANDS_TITLE, *_helps(root, "mlsub")))}
    return made | {page: linked(text, page) for page, text in pages.items()} | sources


def generate() -> dict[str, str]:
    """Every generated page, by its path in the documentation."""
    documents = {INDEX: _index(), RULES: _rule_index(), CLAUSES: clauses_page()}
    for usage in usages():
        documents |= {_round_path(round_): _round_page(round_) for round_ in all_rounds(usage)}
        documents |= {f"benchmarks/{of}.md": _benchmark_page(usage, of) for of in _benchmarks(usage)}
    documents |= {f"rules/{rule}.md": explanation_document(explanation(rule, clauses=True)) for rule in catalogue()}
    documents |= {f"keys/{key}.md": _key_page(key, rules) for key, rules in keys_with_pages().items()}
    return {path: _below(linked(_anchored(render(page)), path), path) + _NOTE for path, page in documents.items()}


def linked(text: str, path: str) -> str:
    """The text of a page; what it names as code and has a page becomes a link, and so do paths below build/docs."""

    def link(match: re.Match[str]) -> str:
        built = _BUILT.fullmatch(match[1])
        page = f"{built[1]}.md" if built else _pages().get(match[1])
        if page is None or page.partition("#")[0] == path:
            return match[0]
        target = PurePath(os.path.relpath(page, PurePath(path).parent)).as_posix()
        return f"[{_TITLES.get(page, page) if built else match[0]}]({target})"

    return in_prose(text, lambda prose: _NAME.sub(link, prose))


def in_prose(text: str, change: Callable[[str], str]) -> str:
    """The text of a page, changed except in its blocks of code."""
    return "".join(part if at % 2 else change(part) for at, part in enumerate(_CODE_BLOCK.split(text)))


def _anchored(text: str) -> str:
    """The text of a page with an anchor for each rule of a key that it explains."""
    return _RULE_HEADING.sub(r'<a id="\1"></a>\n\n\g<0>', text)


def _below(text: str, path: str) -> str:
    """The text of a page; below the title of one that is not in the navigation, a way to the index that lists it."""
    if "/" not in path:
        return text
    index = RULES if path.startswith("rules/") else INDEX
    title, rest = text.split("\n", 1)
    return f"{title}\n\n[{_TITLES[index].capitalize()}](../{index})\n{rest}"


@lru_cache(maxsize=1)
def _pages() -> dict[str, str]:
    """The pages on what has a name."""
    pages = {f"{usage} {round_.name}": _round_path(round_) for usage in usages() for round_ in all_rounds(usage)}
    pages |= {of: f"benchmarks/{of}.md" for usage in usages() for of in _benchmarks(usage)}
    for key, rules in keys_with_pages().items():
        pages[key] = f"keys/{key}.md"
        pages |= {rule: f"keys/{key}.md#{rule}" for rule in rules}
    return pages | {rule: f"rules/{rule}.md" for rule in catalogue()}


@lru_cache(maxsize=1)
def keys_with_pages() -> dict[str, list[str]]:
    """Every key that some rule names, sorted, with the ids of its rules."""
    found: dict[str, list[str]] = {}
    for rule, demands in all_demands().items():
        found.setdefault(demands.key, []).append(rule)
    return dict(sorted(found.items()))


def _benchmarks(usage: str) -> list[str]:
    return sorted({of for round_ in all_rounds(usage) for of in round_.benchmarks})


def _round_path(round_: Round) -> str:
    return f"rounds/{round_.usage}-{round_.name}.md"


def _named(round_: Round) -> Span:
    return name(f"{round_.usage} {round_.name}")


def _built(page: str) -> Span:
    """A page by where it is built, which :func:`linked` makes a link."""
    return Span(f"build/docs/{page.removesuffix('.md')}.html", "code")


def _index() -> Document:
    commands = ("list", "list --round 6.1", "show resnet --round 2.1", "diff 6.0 6.1", "keys llama31_8b")
    benchmarks: list[tuple[Words, ...]] = []
    for usage in usages():
        for of in _benchmarks(usage):
            rounds = rounds_with(usage, of)
            title = entry_requirements(usage, rounds[0].name, of).title
            benchmarks.append((name(of), title, f"{usage} {spans(usage, [round_.name for round_ in rounds])}"))
    about = key_descriptions()
    return document(
        "Reference",
        Text("Every round, benchmark, key and rule that mlsub knows. These commands show the same:"),
        Code("\n".join(f"$ mlsub rules {words}" for words in commands)),
        Items(
            (
                ("The JSON that they write with --format json: ", _built("json.md")),
                ("Rules that are not about one key: ", _built(RULES)),
                ("Who checks each clause of the written rules: ", _built(CLAUSES)),
            )
        ),
        section("Rounds", Items(tuple(listed(map(_named, all_rounds(usage))) for usage in usages()))),
        section("Benchmarks", Table(tuple(map(Column, ("benchmark", "", "rounds"))), tuple(benchmarks))),
        section(
            "Keys",
            Text("What a record's key stands for; each page has every demand on it."),
            Table((Column("key"), Column("meaning")), tuple((name(key), about[key]) for key in keys_with_pages())),
        ),
    )


def _rule_index() -> Document:
    found: dict[str, list[Words]] = {}
    for info in catalogue().values():
        found.setdefault(info.id.partition(".")[0], []).append((name(info.id), f": {info.title}"))
    titles = load_yaml(Path(__file__).with_name("groups.yaml"))
    return document(
        "Rules",
        Text("Rules that are not about one key."),
        Text(("Those of a key are on its page: ", _built(INDEX))),
        *(section(title, Items(tuple(found[group]))) for group, title in titles.items()),
    )


#: The fact whose names fill a page.
_REQUIRED = "required in system descriptions"


def _round_page(round_: Round) -> Document:
    """Benchmarks, whole packages, what changed, and what every log must hold."""
    rounds = list(all_rounds(round_.usage))
    at = [other.name for other in rounds].index(round_.name)
    before, after = rounds[:at][-1:], rounds[at + 1 :][:1]
    beside = [(word, _named(other)) for word, some in (("before", before), ("next", after)) for other in some]
    needs = ((name(of), benchmark_line(round_, of)) for of in round_.benchmarks)
    rules = rules_for(round_.usage, round_.name, "closed", None, round_.overlay)
    facts = package_facts(round_)
    if required := facts[_REQUIRED].count(","):
        facts[_REQUIRED] = f"{required + 1} fields, which mlsub rules list --format json names"
    return document(
        round_.title,
        Facts((("official rules", Span(round_.checker, "code")), *beside, *facts.items())),
        section("Benchmarks", _needs_table("benchmark", needs)),
        *(section(f"What changed since {old.name}", *_change_blocks(old, round_)) for old in before),
        section("Every log", _common_table(round_), alternatives(rules.alternatives)),
    )


def _change_blocks(old: Round, new: Round) -> Iterator[Block | None]:
    """Yield what changed from one round to another; of a benchmark with many changes, which its page has, how many."""
    diff = round_diff(old, new)
    counts = {of.name: len(of.facts) + len(of.keys) for of in diff.benchmarks}
    for block in diff_blocks(diff):
        of = block.title if isinstance(block, Section) and isinstance(block.title, str) else ""
        if of == CLAUSES_TITLE:
            continue  # The page of clauses says of each when it changed.
        if counts.get(of, 0) > _LONGEST:
            yield section(of, Text((f"{counts[of]} demands change; see ", name(of), ".")))
        else:
            yield block


def _needs_table(head: str, needs: Iterable[tuple[Cell, BenchmarkLine]]) -> Table:
    """What entries need, with the quality targets of both divisions."""
    targets = Column("quality target, Closed"), Column("quality target, Open")
    columns = (Column(head), Column("runs", number=True), Column("may fail", number=True), *targets)
    rows = (
        (cell, str(of.runs), str(of.forgiven), *(Lines(words or ("none",)) for words in of.targets.values()))
        for cell, of in needs
    )
    return Table(columns, tuple(rows))


def _rows_table(rows: Sequence[KeyRow], head: str, more: Callable[[KeyRow], Cell]) -> Table:
    """Rows of rules with a further column, which ``more`` fills."""
    table = rows_table(rows)
    filled = ((*cells, more(row)) for cells, row in zip(table.rows, rows, strict=True))
    return Table((*table.columns, Column(head)), tuple(filled))


def _common_table(round_: Round) -> Table:
    """The common rows, those of both divisions once."""
    found: dict[KeyRow, list[str]] = {}
    for division in DIVISIONS:
        for rule in rules_for(round_.usage, round_.name, division, None, round_.overlay).rules:
            bare = msgspec.structs.replace(row_of(rule, division), source="", blocks=Blocks.NONE, rules=())
            found.setdefault(bare, []).append(division)
    order = list(dict.fromkeys(row.key for row in found))
    rows = sorted(found, key=lambda row: order.index(row.key))
    return _rows_table(rows, "division", lambda row: "both" if len(found[row]) == len(DIVISIONS) else found[row][0])


def _benchmark_page(usage: str, of: str) -> Document:
    """Its rounds, what it demands in the newest, and what each round changed."""
    rounds = rounds_with(usage, of)
    periods = [(list(some), needs) for needs, some in groupby(rounds, key=lambda round_: benchmark_line(round_, of))]
    tables = [rule_table(rounds[-1], division, of) for division in DIVISIONS]
    steps = ((after, round_diff(before, after, of)) for before, after in pairwise(rounds))
    return document(
        of,
        Text(f"{tables[0].title}."),
        Text(("Rounds: ", *listed(map(_named, rounds)))),
        _needs_table("rounds", ((spans(usage, [round_.name for round_ in some]), needs) for some, needs in periods)),
        *(section(f"{table.division.capitalize()}, {table.round}", *_demands(rounds, table)) for table in tables),
        Text(("Beside this, every log must hold what ", _named(rounds[-1]), " demands of it.")),
        section(
            "What changed",
            *(
                section(after.name, change_table(one.facts, one.keys, diff.divisions))
                for after, diff in steps
                for one in diff.benchmarks
            ),
        ),
    )


def _demands(rounds: list[Round], table: RuleTable) -> Iterator[Block]:
    """What the benchmark demands beyond what every log must hold, and since when."""
    rows = [row for row in table.rows if not row.of_every_benchmark]
    if not rows:
        yield Text("Nothing beyond what every log must hold.")
    for where, some in groupby(rows, key=lambda row: row.where):
        if where is not None:
            yield Text(("Where ", name(where.key), " is ", Span(where.value, "code"), ":"))
        yield _rows_table(list(some), "since", lambda row: _since(rounds, table, row))


def _since(rounds: list[Round], table: RuleTable, row: KeyRow) -> str:
    """The first round since which the demands on a key have not changed."""
    first, wanted = rounds[-1].name, None
    for round_ in reversed(rounds):
        rule = keyed(round_, table.division, table.benchmark).get((row.key, row.where))
        found = None if rule is None else (set(parts(rule, table.division)), rule.warn_only)
        wanted = found if wanted is None else wanted
        if found != wanted:
            break
        first = round_.name
    return first


def _key_page(key: str, rules: list[str]) -> Document:
    """What a key means, and every demand on it with the rounds and benchmarks that it binds."""
    about = key_descriptions().get(key, "a key of the benchmark")
    virtual = any(demand.rule.gathers for rule in rules for demand in all_demands()[rule].demands)
    return document(
        key,
        Text(f"{about[0].upper()}{about[1:]}."),
        None if virtual else Text(("Event: ", Span(event_type(key), "code"))),
        *(section(rule, *explanation_blocks(explanation(rule), on_page_of_key=True)) for rule in rules),
    )


def _adapted(file: Path, written: Mapping[Path, str], sources: dict[str, str]) -> str:
    """A page written by hand, its links as they lead from its new place; ``sources`` gets the files it links to."""

    def target(match: re.Match[str]) -> str:
        place = Path(os.path.normpath(file.parent / match[1]))
        if place in written:
            return written[place]
        name = place.relative_to(REPOSITORY).as_posix()
        if place.parent == REPOSITORY / "docs" / _ASSETS:
            return f"{_ASSETS}/{place.name}"
        page = f"source/{name}.md"
        sources[page] = _source(name, place)
        return page

    return in_prose(file.read_text("utf-8"), lambda prose: _LINK.sub(target, prose))


def _source(name: str, file: Path) -> str:
    """A page that shows a file of the repository, and that a search does not find."""
    language = _LANGUAGES.get(file.suffix, "text")
    return (
        f"---\nsearch:\n  exclude: true\n---\n\n# {name}\n\n````{language}\n{file.read_text('utf-8').rstrip()}\n````\n"
    )


def _helps(command: click.Command, name: str, above: click.Context | None = None) -> Iterator[str]:
    """The help of a command and of those in it, as they print it."""
    settings = {**command.context_settings, "terminal_width": _COLUMNS, "max_content_width": _COLUMNS}
    context = click.Context(command, above, name, **settings)
    yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            if inner := command.get_command(context, word):
                yield from _helps(inner, word, context)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
