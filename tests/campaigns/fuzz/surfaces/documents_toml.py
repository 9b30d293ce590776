"""TOML that people write, beside the reader of Python, and the settings that are read from it."""

from __future__ import annotations

import random
import re
import tomllib
from datetime import date, datetime, time
from functools import cache
from typing import Any

import msgspec

from mlsub.config.find import covers, fixed
from mlsub.config.load import Loaded, load
from mlsub.config.model import FORM, names
from mlsub.config.waivers import apply_waivers
from mlsub.findings import Verdict
from mlsub.io.problems import FileProblemsError
from mlsub.io.read import read_toml
from mlsub.rules.catalogue import finding
from mlsub.submission.report import Report
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.scratch import scratch
from tests.campaigns.fuzz.surfaces.documents_grammar import Maker
from tests.campaigns.fuzz.surfaces.documents_shared import check_findings, check_problems, placed, same, taken

_TODAY = date(2026, 1, 1)
#: Why a document that Python's reader takes is refused.
_DOCUMENTED = re.compile(r"nested too deeply|too many digits|larger than|not UTF-8")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _toml(data: bytes) -> None:
    """What is taken has the values of Python's reader."""
    file = placed(data, "fuzz.toml")
    try:
        found = read_toml(file)
    except FileProblemsError as error:
        check_problems(error, data, file)
        if not _DOCUMENTED.search(str(error)) and _loaded(data) is not None:
            raise BrokenError(f"Python's reader takes it: {error}") from error
        return
    theirs = _loaded(data)
    if theirs is None or not same(found, _plain(theirs)):
        raise BrokenError(f"{found!r:.300} is not {theirs!r:.300}")


def _loaded(data: bytes) -> dict[str, Any] | None:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, date | time | datetime) else value


def _config(data: bytes) -> None:
    """Settings are read, or refused with the key of each flaw."""
    for name in ("mlsub.toml", "pyproject.toml"):
        file = placed(data, name)
        loaded = taken(lambda file=file: load(file), data, file)
        if loaded is None:
            continue
        for setting in names():
            loaded.value(setting)
        for waiver in loaded.written.waivers:
            below = fixed(waiver.path)
            if covers(waiver.path, "a/b/c") and below and not covers(below, "a/b/c"):
                raise BrokenError(f"{waiver.path!r} covers a/b/c, and {below!r} does not")
        for pattern in loaded.written.per_path_ignores:
            covers(pattern, "a/b/c")
        _weigh(loaded)
        if load(file) != loaded:
            raise BrokenError("it is another one when it is read again")


@cache
def _report() -> Report:
    """A rejection and a remark, of which waivers and ignores by path may be about either."""
    found = (
        finding("system.field-missing", "systems/rack1.json", "The required field cooling is missing"),
        finding("system.placeholder", "a/b/c", "A placeholder"),
    )
    return Report(
        usage="training", round="5.1", root=str(scratch("documents")), official=Verdict.REJECTED, findings=found
    )


def _weigh(loaded: Loaded) -> None:
    """Waivers and ignores mark and hide findings, and add some on themselves; a verdict they never change."""
    (weighed,) = apply_waivers([_report()], loaded, ["."], _TODAY)
    check_findings((msgspec.structs.replace(one, line=None) for one in weighed.findings), b"")
    marked = {(one.rule, one.message) for one in weighed.findings if one.path in ("systems/rack1.json", "a/b/c")}
    if weighed.official is not Verdict.REJECTED or not marked <= {
        (one.rule, one.message) for one in _report().findings
    }:
        raise BrokenError(f"{weighed}")


_SETTINGS = b"""round = "5.1"
strict = true
ignore = ["seed.", "system.placeholder"]
[per-path-ignores]
"a/**" = ["system."]
[[waivers]]
rule = "system.placeholder"
path = "systems/rack1.json"
reason = "known"
until = 2030-01-31
"""
_SEEDS = (
    b'a = 1\nb.c = "x"\n[t]\nd = [1, 2.5, [3]]\n[[l]]\ne = {f = true, g.h = 1979-05-27}\n[[l]]\n',
    b"a = '''\nx\n''' # c\n\"q.r\" = \"\"\"\n\\\ny\"\"\"\nm = [\n 1,\n { n = 'o' },\n]\n",
    b"[a.b]\nc = 07:32:00\n[a]\nd = 1979-05-27 07:32:00Z\n[[a.e]]\n[[a.e.f]]\ng = -inf\n[a.e.h]\n",
)
_WORDS = (
    *(b"'''", b'"""', b"\\\n", b"[[", b"]]", b"= {", b"= [", b"a.b.c = ", b"'a.b' = ", b'"\\u0061" = ', b"\r\n", b"\r"),
    *(
        b"# c\n",
        b"nan",
        b"-inf",
        b"0xff",
        b"1_0",
        b"1e3",
        b"2030-01-31",
        b"07:32:00",
        b"9" * 5000,
        b"\xef\xbb\xbf",
        b"\t",
    ),
    *(
        b"a." * 120,
        b"[" * 120,
        b"{a=" * 120,
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\\uD800",
        b"\n[tool.mlsub]\n",
        b"\n[[waivers]]\n",
    ),
    *(f"\n{name} = ".encode() for name in names()),
)
_HINTS = {
    "rule": ("system.placeholder", "seed.shared", "sed.shared", "check.x", "house.x"),
    "path": ("systems/*.json", "a/**/b", "../x", "/etc", "a\\b", "[!a]*/**", "**"),
    "per-path-ignores:": ("a/**", "*", "../x", "**/b"),
    "until": ("2030-01-31", "2021-02-31"),
    "round": ("5.1", "9.9"),
}


@cache
def _maker() -> Maker:
    return Maker(FORM.schema(), _HINTS)


def _generate(rng: random.Random) -> bytes:
    """Settings drawn from their schema, sometimes as the table of pyproject.toml."""
    content = _maker().make(rng)
    above = "tool.mlsub" if rng.random() < 0.4 else ""
    lines = [f"[{above}]"] if above else []
    if isinstance(content, dict):
        plain = {key: value for key, value in content.items() if not _tables(value)}
        lines += [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
        for key, value in content.items():
            place = f"{above}.{_key(key)}" if above else _key(key)
            for table in value if _tables(value) else ():
                lines += [f"[[{place}]]", *(f"{_key(name)} = {_value(one)}" for name, one in table.items())]
    return "\n".join((*lines, "")).encode("utf-8", "surrogatepass")


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(bool(value)).lower()
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_value(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return value
    if isinstance(value, str):
        return (
            '"'
            + "".join(one if one.isprintable() and one not in '"\\' else f"\\U{ord(one):08x}" for one in value)
            + '"'
        )
    return str(value)


HARNESSES = (
    Harness("toml", "TOML that people write", _toml, lambda: (*_SEEDS, _SETTINGS), _WORDS, longest=5_000),
    Harness(
        "config",
        "settings: mlsub.toml and pyproject.toml",
        _config,
        lambda: (_SETTINGS, b"[tool.mlsub]\n" + _SETTINGS.split(b"[per")[0]),
        _WORDS,
        _generate,
        longest=5_000,
    ),
)
