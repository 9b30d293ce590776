"""Compare mlsub/rules/clauses.yaml with a text of the rules: which demands are new, changed or gone.

``python -m tools.clauses DIR`` reads ``training_rules.adoc`` and ``submission_rules.adoc`` of a folder; ``make clauses
RULES=DIR`` calls it. Each line ends with the digest that the file wants. With ``--history``, DIR is a clone of the
repository of one of the two, and each of its commits since a day is compared with the text before it. Exit status: 0
nothing differs, 1 something does, 2 there is no such text.

A demand is a sentence with a word such as "must", or a row of a table. It is known by the digest of its words, and
where those are others by its section and first words, or by the cells that name the row.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from mlsub.rules.clauses import DOCUMENTS, clauses

#: What a sentence says that demands something.
_DEMANDS = re.compile(
    r"\b(must|shall|should|cannot|only|requir(?:e|es|ed|ing|ements?)|mandatory|needs?|has to|have to|(?:is|are) to be"
    r"|(?:may|can|will) not|may no|do not|no other|not (?:allowed|permitted|expected)|prohibited|disallowed|discouraged"
    r"|expect(?:ed)?|(?:is|are) (?:also )?(?:allowed|permitted)|to allow|allowed .* (?:is increased|as follows)|waived"
    r"|may .* (?:if|when|after|in accordance)|unless|provided (?:that|they)|as long as|subject to|eligible|qualify|meet"
    r"|excluded|excludes|invalid|rejected|rejection|disregarded|discarded|enforced|corrective|authority"
    r"|against the spirit|due|at least|at most|at the latest|maximum|minimum|up to|limited to|constrained|fixed|every"
    r"|always|approv(?:al|ed)|as soon as|once per|matched|create an?|treat|classified|dropp(?:ed|ing)|timed|untimed"
    r"|rounded|normali[sz]ed|prune|compared|mathematically|confidential|vot(?:e|es|ing)|review each other|be reviewed"
    r"|be assigned|the option to)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s?(?P<level>={1,6}|#{1,6})\s+(?P<title>.*?)(?:\s*\[\[.*?\]\])?\s*$")
_ITEM = re.compile(r"\s*(?P<mark>\*{1,9}|\.{1,5}|-|\d+\.)\s+(?P<text>\S.*)$")
_FENCE = re.compile(r"-{4,}|```|\.{4,}")
_ATTRIBUTES = re.compile(r"\s*(?:\[[^\]]*\]|:\w+:.*)\s*$")
_TABLE = "|==="
_LINK = re.compile(r"(?:link:\s*|xref:)\S*?\[([^\]|]*)\]|https?://[^\s\[\])|]*(?:\[([^\]|]*)\])?|<<[^>]*>>")
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)(?<!etc\.)[”\"’)*_]*\s+(?=[A-Z“\"_*(`<])")
_LEADS_ON = re.compile(r":[*_\s]*$|\bfollow\w*[.\s]*$")
_MARKUP = re.compile(r"(?<!\w)[_*`]+|[*`]+|_+(?!\w)")
_WORD = re.compile(r"[\w<>=≥≤%/+()^&-][\w<>=≥≤%/+()^.,&:;\[\]'’-]*")
#: Columns that demand nothing, by how their heads begin, and those besides the first that name a row.
_BESIDE = (
    "definition",
    "reference code",
    "latest version",
    "cloud example",
    "on-premise",
    "dk_example",
    "area",
    "example",
)
_NAMES = ("problem", "model", "optimizer", "name", "algorithm", "framework")
#: By how many words a row is named at most and a changed sentence found, and how many digits the digest of either has.
_MOST, _FIRST, _SHORT, LONG = 10, 5, 4, 6


class Unit(NamedTuple):
    """A sentence or row of a text: the titles of its sections, its words, and the cells that name the row."""

    section: tuple[str, ...]
    words: str
    row: str = ""
    demands: bool = True

    @property
    def mark(self) -> str:
        """The digest of the words."""
        return digest(self.words)[: _SHORT if self.row else LONG]

    @property
    def anchor(self) -> str:
        """The name of the row, or the first words."""
        return self.row or " ".join(self.words.split()[:_FIRST])


class Known(NamedTuple):
    """A demand that is known: the end of its path of titles, its first words or the name of a row, and its digest."""

    section: tuple[str, ...]
    words: str
    mark: str
    kind: str

    def is_in(self, section: tuple[str, ...]) -> bool:
        """Whether a section has this path."""
        return section[-len(self.section) :] == self.section


class Change(NamedTuple):
    """A demand that is new, changed, moved to another section or gone."""

    change: str
    section: str
    words: str
    mark: str = ""


def digest(words: str) -> str:
    """Return a digest of words that upper and lower case do not change."""
    return hashlib.sha256(words.casefold().encode()).hexdigest()


def plain(text: str) -> str:
    """Return the words of a text without markup, addresses and punctuation between words."""
    bare = _MARKUP.sub(" ", _LINK.sub(lambda link: link[1] or link[2] or "", text))
    words = (
        word.strip(".,;:'’-") if word.startswith("(") and ")" in word else word.strip("().,;:'’-")
        for word in _WORD.findall(bare)
    )
    return " ".join(filter(None, words))


def units(text: str) -> Iterator[Unit]:
    """Yield the sentences and rows of a text in AsciiDoc, in their order; blocks of code have none."""
    titles: list[tuple[int, str]] = []
    block: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        section = tuple(title for _, title in titles)
        if _FENCE.match(line):
            next((inner for inner in lines if _FENCE.match(inner)), None)
        elif heading := _HEADING.match(line):
            yield from _sentences(section, block)
            block, level = [], len(heading["level"])
            titles = [*((of, title) for of, title in titles if of < level), (level, plain(heading["title"]))]
        elif line.strip().startswith(_TABLE):
            yield from _sentences(section, block)
            block = []
            yield from _rows(section, iter(lambda: next(lines, _TABLE).strip(), _TABLE))
        elif not _ATTRIBUTES.match(line):
            block.append(line)
    yield from _sentences(tuple(title for _, title in titles), block)


def _sentences(section: tuple[str, ...], lines: Iterable[str]) -> Iterator[Unit]:
    """Yield the sentences of a section.

    One that leads on to a list takes the items that demand nothing of their own; of a list that no sentence stands
    above, such as of folders, each outermost item is one demand with those below it.
    """
    blocks = _blocks(lines)
    found: list[Unit] = []
    above: dict[int, int] = {}
    for at, (level, text) in enumerate(blocks):
        above = {of: where for of, where in above.items() if of < level and (of or level > blocks[0][0])}
        for words in filter(None, map(plain, _SENTENCE.split(text))):
            demands = _DEMANDS.search(words) is not None
            bare = bool(level) and not demands
            if bare and above:
                where = above[max(above)]
                found[where] = found[where]._replace(words=f"{found[where].words} {words}", demands=True)
            elif bare and not text.rstrip().endswith(".") and all(of for of, _ in blocks[:at]):
                above[0] = len(found)
                titles_others = at + 1 < len(blocks) and blocks[at + 1][0] > level
                found.append(Unit(section, words, demands=not titles_others))
            else:
                found.append(Unit(section, words, "", demands))
        if found and found[-1].demands and _LEADS_ON.search(text):
            above[level] = len(found) - 1
    yield from found


def _blocks(lines: Iterable[str]) -> list[tuple[int, str]]:
    """Return paragraphs and items of lists with their levels; that of a paragraph is 0."""
    blocks: list[tuple[int, str]] = []
    fresh = True
    for line in lines:
        if item := _ITEM.match(line):
            blocks.append((len(item["mark"]) if item["mark"][0] in "*." else 1, item["text"]))
            fresh = False
        elif not line.strip():
            fresh = True
        elif fresh or not blocks:
            blocks.append((0, line.strip()))
            fresh = False
        else:
            level, before = blocks[-1]
            blocks[-1] = (level, f"{before} {line.strip()}")
    return blocks


def _rows(section: tuple[str, ...], lines: Iterable[str]) -> Iterator[Unit]:
    """Yield the rows of a table with the cells that demand something; a short line goes on with the row before."""
    table: list[list[str]] = []
    for line in filter(None, lines):
        cells = [plain(cell) for cell in line.lstrip("|").split("|")]
        if table and (not line.startswith("|") or len(cells) * 2 < len(table[0])):
            table[-1] += cells
        else:
            table.append(cells)
    head = [cell.casefold() for cell in table[0]] if table else []
    kept = [at for at, name in enumerate(head) if not name.startswith(_BESIDE)]
    names = [at for at in kept if at == kept[0] or head[at].startswith(_NAMES)]
    seen = Counter[str]()
    for cells in table[1:]:
        cells += [""] * (len(head) - len(cells))
        words = " | ".join(cells[at] for at in kept)
        if words.strip(" |"):
            name = " ".join(" ".join(cells[at] for at in names).split()[:_MOST])
            seen[name] += 1
            yield Unit(section, words, name if seen[name] == 1 else f"{name} ({seen[name]})")


def known_demands(document: str) -> list[Known]:
    """Return what the file has of a document."""
    found = []
    for section, of in getattr(clauses(), document).items():
        path = tuple(section.split(" / "))
        for clause in of:
            if clause.whole:
                found.append(Known(path, "", clause.whole, "section"))
            elif clause.rows:
                found += [
                    Known(path, f"{clause.words} {row}".strip(), of.split()[0], "row")
                    for row, of in clause.rows.items()
                ]
            else:
                found.append(Known(path, " ".join(clause.words.split()[:_FIRST]), clause.mark, "sentence"))
    return found


def demands_of(text: Iterable[Unit]) -> list[Known]:
    """Return the demands of a text as what is known, to compare a later one with."""
    return [Known(of.section, of.anchor, of.mark, "row" if of.row else "sentence") for of in text if of.demands]


def compare(known: Sequence[Known], text: Sequence[Unit]) -> Iterator[Change]:
    """Yield what differs between what is known and a text, in the order of what is known; what is new comes last."""
    whole = [one for one in known if one.kind == "section"]
    for one in whole:
        words = [unit.words for unit in text if one.is_in(unit.section)]
        mark = digest(" ".join(words))[:LONG]
        if mark != one.mark:
            yield Change("changed" if words else "gone", one.section[-1], "(the section)", mark)
    left = [unit for unit in text if not any(one.is_in(unit.section) for one in whole)]
    pairs, left = pair(known, left)
    for at, one in enumerate(known):
        unit = pairs.get(at)
        if unit is None and one.kind != "section":
            yield Change("gone", one.section[-1], one.words)
        elif unit is not None and (unit.mark != one.mark or not one.is_in(unit.section)):
            what = "changed" if unit.mark != one.mark else "moved"
            yield Change(what, unit.section[-1], one.words, unit.mark)
    for unit in left:
        if unit.demands:
            yield Change("new", " / ".join(unit.section[-2:]), unit.anchor, unit.mark)


def pair(known: Sequence[Known], text: Sequence[Unit]) -> tuple[dict[int, Unit], list[Unit]]:
    """Return the units of a text that are what is known, by its number, and those that are left.

    The digest tells more than the first words, the whole path of titles more than the last of them.
    """
    left, pairs = list(text), dict[int, Unit]()
    for by_mark, titles in product((True, False), (len, lambda _: 1, lambda _: 0)):
        for at, one in enumerate(known):
            if one.kind == "section" or at in pairs:
                continue
            end = one.section[len(one.section) - titles(one.section) :]
            fits = (u for u in left if _fits(one, u, by_mark=by_mark) and u.section[len(u.section) - len(end) :] == end)
            if (unit := next(fits, None)) is not None:
                pairs[at] = unit
                left = [u for u in left if u is not unit]
    return pairs, left


def _fits(one: Known, unit: Unit, *, by_mark: bool) -> bool:
    """Whether a unit is a known demand, by its digest or by its first words."""
    if (one.kind == "row") != bool(unit.row):
        return False
    if by_mark:
        # Four digits of a row may be those of another by chance.
        return unit.mark == one.mark and (
            not unit.row or unit.row.split()[0].casefold() == one.words.split()[0].casefold()
        )
    if unit.row:
        return bare(unit.row) == bare(one.words)
    return f"{unit.words} ".casefold().startswith(f"{one.words} ".casefold())


def bare(name: str) -> str:
    """Return a name without what is now and then written in another way, as in R-GAT."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def replay(repository: Path, since: str) -> Iterator[tuple[str, list[Change]]]:
    """Yield each commit of a repository since a day that touched a document, the oldest first, with what it changed."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True).stdout

    for name in (f"{document}.adoc" for document in DOCUMENTS if (repository / f"{document}.adoc").exists()):
        log = git("log", "--no-merges", "--reverse", "--format=%h %ad %s", "--date=short", "--", name)
        for line in log.splitlines():
            commit, day, _ = line.split(" ", 2)
            if day >= since:
                old, new = (list(units(git("show", f"{of}:{name}"))) for of in (f"{commit}^", commit))
                yield line, list(compare(demands_of(old), new))


def main(words: Sequence[str] | None = None) -> int:
    """Print what differs; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.clauses")
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--history", metavar="DAY", help="compare each commit of DIR since this day")
    asked = parser.parse_args(words)
    files = {document: asked.folder / f"{document}.adoc" for document in DOCUMENTS}
    there = {document: file for document, file in files.items() if file.exists()}
    if not there:
        print(f"{asked.folder}: neither {' nor '.join(file.name for file in files.values())} is there", file=sys.stderr)
        return 2
    if asked.history:
        found = list(replay(asked.folder, asked.history))
    else:
        texts = {document: list(units(file.read_text("utf-8"))) for document, file in there.items()}
        found = [(there[of].name, list(compare(known_demands(of), text))) for of, text in texts.items()]
    for title, changes in found:
        counts = Counter(change.change for change in changes)
        print(f"{title}: {', '.join(f'{count} {what}' for what, count in counts.items()) or 'nothing differs'}")
        for change in changes:
            print(f"  {change.change}: {change.section}: {change.words} {change.mark}".rstrip())
    return int(any(changes for _, changes in found))


if __name__ == "__main__":
    sys.exit(main())
