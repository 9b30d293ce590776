"""The submitted code: what it lacks of what logs and scripts say of it, and what it says that is private."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from mlsub.findings import Finding, Severity
from mlsub.io.show import first_few, plural, readable
from mlsub.review.run import tell_private
from mlsub.rules.catalogue import finding
from mlsub.submission.code import MAX_HEAD, CodeKind, SubmittedCode, kind_of, select_code
from mlsub.submission.file_tree import named
from mlsub.submission.model import Entry

#: What lies in one of these folders is installed, not submitted: libraries, frameworks, cells of notebooks.
_INSTALLED = re.compile(
    r"(?i)(?:^|/)(?:(?:site|dist)-packages|usr/(?:local/)?lib|(?:ana|mini)?conda3?|mlperf_(?:logging|common)|ipykernel_\d+"
    r"|nemo|megatron(?:-lm)?|lingvo|maxtext|maxdiffusion|composer|primus|tinygrad|transformers|torchrec)/"
)
#: A script that is sourced from the folder of the one that does it; a name made of variables may be any.
_SOURCED = re.compile(
    rb"""[ \t]*(?:source|\.)[ \t]+["']?(\./|\$\(dirname[ ]["']?\$\{?(?:BASH_SOURCE(?:\[0\])?|0)\}?["']?\)["']?/"""
    rb"""|\$\{BASH_SOURCE(?:\[0\])?%/\*\}["']?/)?([\w.-]{1,100}\.sh)["']?[ \t]*(?:#.*|;.*|&&.*)?"""
)
_LONGEST = 80
#: Any of these has to be in a text for it to be searched; most code says that something is distributed.
_CONFIDENTIAL_WORDS = (
    *(b"confidential", b"internal use", b"trade secret", b"not distribut", b"not redistribut", b"no distribut"),
    *(b"no redistribut", b"not for distribut", b"not for redistribut"),
)
_CONFIDENTIAL = re.compile(
    rb"(?<![\w-])(?:confidential(?![\w-]| computing| vms?\b)|(?:do not|not for|no) (?:re)?distribut(?:e|ion)\b"
    rb"|(?:for )?internal use only|trade secrets? of)"
)
#: Whoever wrote a file may be named in it.
_AUTHOR = re.compile(rb"(?:copyright|author|maintain|contribut|\(c\)|licen[cs]e)[^\n]*", re.IGNORECASE)


def audit_sources(entries: Sequence[Entry], code: SubmittedCode, prefix: str) -> Iterator[Finding]:
    """Yield what the code lacks of the programs that logged the records, and of the scripts that others source.

    Args:
        entries: those of an organisation; without traces of their logs nothing is known of what logged them.
        code: that of the organisation.
        prefix: what stands before the paths of its files in those of findings.
    """
    if not code.is_whole or not code.files:
        return
    # What lies behind a link is listed elsewhere, or not at all.
    linked = code.links.difference(code.of_kind(CodeKind.SCRIPT))
    yield from _audit_sourced(code, prefix)
    for benchmark in dict.fromkeys(entry.benchmark for entry in entries if entry.logs):
        own = select_code(benchmark, {entry.benchmark for entry in entries}, code.files)
        if not own or any(map(_is_program, own)) or not linked.isdisjoint(own):
            for entry in (entry for entry in entries if entry.benchmark == benchmark):
                yield from _audit_entry(entry, frozenset(own), code)
        else:
            where = prefix + "/".join(own[0].split("/")[:2])
            names, fetched = sorted({path.rpartition("/")[2] for path in own}), _find_fetched(code, own)
            severity = Severity.WARNING if fetched else None
            yield finding("code.no-program", where, actual=named(names) + fetched, severity=severity)


def _is_program(path: str) -> bool:
    return kind_of(path.rpartition("/")[2]) is CodeKind.PROGRAM


def _find_fetched(code: SubmittedCode, own: Iterable[str]) -> str:
    """Return words on where a README says to clone a repository but those of MLCommons; empty where none does."""
    for path in (path for path in own if path.rpartition("/")[2].lower().startswith("readme")):
        for number, line in enumerate(code.read(path).splitlines(), 1):
            if b"git clone" in line and b"/mlcommons/" not in line:
                return f"; code is fetched by {path.rpartition('/')[2]}:{number}"
    return ""


def _audit_sourced(code: SubmittedCode, prefix: str) -> Iterator[Finding]:
    """Yield the scripts that others source and that are nowhere in the code, each once."""
    missing: dict[str, list[tuple[str, int]]] = {}
    for path in code.of_kind(CodeKind.SCRIPT):
        lines = code.read(path).splitlines()
        named_in = [(number, line) for number, line in enumerate(lines, 1) if b".sh" in line]
        # One that is looked for may be missing.
        tested = b" ".join(line for _, line in named_in if b" -f " in line or b" -e " in line)
        for number, line in named_in:
            if (match := _SOURCED.fullmatch(line)) and match[2] not in tested:
                name, here = match[2].decode(), match[1] or "config" in path.rpartition("/")[2]
                if name not in code.by_name and (here or "config" in name):
                    missing.setdefault(name, []).append((path, number))
    for name, places in missing.items():
        path, number = places[0]
        others = f", and by {len(places) - 1} more" if len(places) > 1 else ""
        yield finding("code.sourced-missing", prefix + path, line=number, actual=f"{name}, sourced here{others}")


def _audit_entry(entry: Entry, own: Collection[str], code: SubmittedCode) -> Iterator[Finding]:
    """Yield the programs that logged the records of an entry and are not in the code, or have fewer lines there."""
    stated: dict[str, tuple[int, str]] = {}
    for log in entry.logs:
        for file, by_key in log.trace.sources.items():
            name, line = file.rpartition("/")[2], max(map(max, by_key.values()))
            if _is_program(name) and not _INSTALLED.search(file) and line > stated.get(name, (0, ""))[0]:
                stated[name] = line, log.path
    of_system, missing, partly = _select_implementation(entry.system, own), [], False
    for name, (line, log_path) in sorted(stated.items()):
        words, everywhere = readable(f"{name[-_LONGEST:]}:{line}"), code.by_name.get(name, [])
        near = [path for path in everywhere if path in of_system] or [path for path in everywhere if path in own]
        if not everywhere:
            missing.append((words, log_path))
        elif of_system and near and near[0] not in of_system:
            missing.append((f"{words}, which is only in {near[0].rpartition('/')[0]}", log_path))
            partly = True
        elif (count := code.count_lines(longest := max(near or everywhere, key=code.count_lines))) < line:
            partly = True
            actual = f"{words}; {longest} has {plural(int(count), 'line')}"
            yield finding("code.source-shorter", log_path, actual=actual)
    if missing and own:  # A benchmark without a folder of code has a finding already.
        fetched = _find_fetched(code, own)
        severity = Severity.WARNING if partly or fetched or len(missing) < len(stated) else None
        actual = first_few((words for words, _ in missing), 3) + fetched
        yield finding("code.source-missing", missing[0][1], actual=actual, severity=severity)


def _select_implementation(system: str, own: Iterable[str]) -> frozenset[str]:
    """Return the files of a system's own implementation; none where it may use another, or nobody knows which.

    A folder of scripts and few programs is not one: the system uses the implementation that has the programs.
    """
    folders: dict[str, list[str]] = {}
    for path in own:
        _, _, *inside = path.split("/")[:-1]
        if inside := inside[1:] if inside[:1] == ["implementations"] else inside:
            folders.setdefault(inside[0], []).append(path)
    names = [system] if system in folders else [name for name in folders if name.startswith(f"{system}_")]
    if len(names) != 1:
        return frozenset()
    programs = {name: sum(map(_is_program, paths)) for name, paths in folders.items()}
    enough = 0 < max(programs.values()) <= 2 * programs[names[0]]
    return frozenset(folders[names[0]]) if enough else frozenset()


def audit_code_text(code: SubmittedCode, prefix: str) -> Iterator[Finding]:
    """Yield what the code of an organisation says that is private or confidential.

    Args:
        code: that of an organisation.
        prefix: what stands before the paths of its files in those of findings.
    """
    from mlsub.log.free_text import FreeText
    from mlsub.log.private.places import PrivateReader, find_asked

    asked = code.of_kind(CodeKind.PROGRAM, CodeKind.SCRIPT, CodeKind.SETTINGS, CodeKind.OTHER)
    texts = {path: text for path in asked if (text := code.read(path))}
    for path, text in texts.items():
        head = text[:MAX_HEAD].lower()
        match = _CONFIDENTIAL.search(head) if any(word in head for word in _CONFIDENTIAL_WORDS) else None
        if match:
            yield finding("code.confidential", prefix + path, line=head.count(b"\n", 0, match.start()) + 1)
    # Most files have nothing to ask about, which takes one look at all that they say.
    ends = list(accumulate(text.count(b"\n") + text.count(b"\r") + 1 for text in texts.values()))
    lines = {number for number, *_ in find_asked(FreeText(b"\n".join(texts.values())))}
    places = {bisect(ends, number) for number in lines}
    for place, (path, text) in enumerate(texts.items()):
        if place in places:
            reader = PrivateReader()
            reader.free(FreeText(_AUTHOR.sub(b"", text)))
            yield from tell_private(prefix + path, reader.finish(), {})
