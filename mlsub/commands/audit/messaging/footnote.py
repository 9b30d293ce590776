"""The footnote of a text: where it is, and what stands in it."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from mlsub.commands.audit.messaging.words import flat

#: The form that the guidelines give the ID of a result: major.minor-entry[.benchmark].
ID = re.compile(r"\d+\.\d+-\d+(\.\w+)?")
_IDS = re.compile(rf"(?<![\w.-]){ID.pattern}(?![\w-])")
_AFTER_ID = re.compile(
    r"\b(?:mlperf\W{0,4}(?:result\W{1,3})?ids?|entry|entries)\s*[:#]?\s*((?:[^\s,;|]+[,;]\s*)*[^\s,;|]+)", re.I
)
_LOOKS_LIKE_ID = re.compile(r"\d+\.\d+\S*[-.]\S+")
_LINE = re.compile(
    r"mlperf\W{0,4}(result\s+)?ids?\s*[:#]|\bentr(?:y|ies)\s*[:#]?\s*\d|(?<![\w.-])\d+\.\d+-\d{3,5}\b|\bretrieved\b|"
    r"name and logo are|unauthorized use|not verified by|\bverified by (the )?mlcommons|"
    r"^\s*\[\d+\]\s*(\S+\s+)?mlperf|^\s*\[?footnotes?\b",
    re.I,
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)?\.?\s+{_MONTH},?\s+\d{{4}}|{_MONTH}\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?\d{{4}}|"
    r"\d{1,2}[./]\d{1,2}[./]\d{2,4}",
    re.I,
)
_RETRIEVED = re.compile(r"\b(?:retrieved|accessed|downloaded|obtained|as of)\b", re.I)
_SOURCE = re.compile(r"https?://\S+|\b[\w-]+\.(?:org|com|net|io|ai)\b|\bgithub\b|\bfrom mlcommons\b", re.I)
_SUITE = re.compile(r"\b(?:training|inference|hpc|tiny|mobile|storage|client)\b", re.I)
_VERSION = re.compile(
    r"\bv\s?(\d+\.\d+)|\bversion\s+(\d+\.\d+)|\b(?:training|inference|hpc|mlperf)[\s™®]{1,3}(\d+\.\d+)(?![\d-])", re.I
)
_DIVISION = re.compile(r"\b(open|closed)\b", re.I)
#: So much behind "retrieved" belongs to it.
_REACH = 200


class Parts(msgspec.Struct, frozen=True):
    """What a footnote says. ``ids`` are of the right form, ``malformed`` stand where an ID should."""

    suite: bool
    versions: frozenset[str]
    divisions: frozenset[str]
    date: bool
    source: bool
    ids: tuple[str, ...]
    malformed: tuple[str, ...]
    flat: str


@lru_cache(maxsize=8)
def find_footnote(text: str) -> str | None:
    """The lines of a document that are footnotes of results, as one text; None where there are none."""
    lines = [line.strip() for line in text.splitlines() if _LINE.search(line) and "mlperf" in line.lower()]
    lines += [
        line.strip() for line in text.splitlines() if "unauthorized use" in line.lower() and line.strip() not in lines
    ]
    return "\n".join(lines) or None


def cites_results(text: str) -> bool:
    """Whether a document gives IDs of results, and so is about results."""
    return any("mlperf" in line.lower() and _LINE.search(line) and _IDS.search(line) for line in text.splitlines())


def parts(footnote: str) -> Parts:
    """What a footnote says."""
    window = ""
    if match := _RETRIEVED.search(footnote):
        window = footnote[match.start() : match.end() + _REACH]
        window = re.split(r"name and logo", window, maxsplit=1, flags=re.I)[0]
    listed = " ".join(match[1] for match in _AFTER_ID.finditer(footnote))
    candidates = [token.strip("()[].,;") for token in re.split(r"[\s,;|]+", listed)]
    return Parts(
        suite=bool(_SUITE.search(footnote)),
        versions=frozenset(one or two or three for one, two, three in _VERSION.findall(footnote)),
        divisions=frozenset(found.lower() for found in _DIVISION.findall(footnote)),
        date=bool(_DATE.search(window)),
        source=bool(_SOURCE.search(window)),
        ids=tuple(dict.fromkeys(match[0] for match in _IDS.finditer(footnote))),
        malformed=tuple(t for t in candidates if _LOOKS_LIKE_ID.fullmatch(t) and not ID.fullmatch(t)),
        flat=flat(footnote),
    )


def ids_of(line: str) -> tuple[str, ...]:
    """The IDs on a line."""
    return tuple(match[0] for match in _IDS.finditer(line))


def round_of(result_id: str) -> str:
    """The round that an ID names: ``1.0`` of ``1.0-1025``."""
    return result_id.split("-")[0]
