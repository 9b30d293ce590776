"""Read one system description and judge it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from mlsub.findings import Finding
from mlsub.io.show import show
from mlsub.rounds import Round, Statuses
from mlsub.rules.catalogue import finding
from mlsub.rules.isolate import reviewed
from mlsub.systems.audit import audit, audit_status
from mlsub.systems.fields import fields
from mlsub.systems.lines import Lines

#: Larger files are no system descriptions; real ones are below 20 KiB.
MAX_BYTES = 1 << 22


class SystemDescription(msgspec.Struct, frozen=True, kw_only=True):
    """One ``systems/<name>.json``: its content (None where it is no object), and what is wrong with it."""

    name: str
    path: str
    content: dict[str, Any] | None
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        """Whether the official system description checker takes it."""
        return not any(f.rejects for f in self.findings)

    @property
    def division(self) -> str | None:
        """The division as written, which may be a misspelling."""
        value = (self.content or {}).get("division")
        return value if isinstance(value, str) else None

    def text(self, field: str) -> str:
        """A field as text; empty where it is missing or something else."""
        value = (self.content or {}).get(field)
        return value if isinstance(value, str) else ""


def read_description(file: Path, path: str, round_: Round | None = None) -> SystemDescription:
    """Read and judge a system description; bad input never raises.

    Args:
        file: where it is.
        path: what findings call it, relative to the report's root.
        round_: the round whose rules hold; None for the fields alone.
    """
    name = file.name.removesuffix(".json")
    try:
        text = _read(file)
    except OSError as error:
        problem = finding(
            "system.unreadable", path, f"The system description cannot be read: {error.strerror or error}"
        )
        return SystemDescription(name=name, path=path, content=None, findings=(problem,))
    content, duplicates, problems = _parse(text, path)
    if content is not None:
        lines = Lines(text)
        problems = list(reviewed("system", path, lambda: audit(content, path, lines, duplicates)))
        if round_ is None or round_.descriptions_checked:
            problems = [*_official(content, path, lines), *problems]
        if round_ is None or round_.statuses is None:
            problems += reviewed("system.unknown-status", path, lambda: audit_status(content, path, lines))
        else:
            problems = [*_status(content, path, lines, round_.statuses), *problems]
    return SystemDescription(name=name, path=path, content=content, findings=tuple(problems))


def _read(file: Path) -> bytes:
    if not file.is_file():
        raise OSError("not a regular file" if file.exists() else "a link that leads nowhere")
    with file.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError("larger than 4 MiB")
    return content


def _parse(raw: bytes, path: str) -> tuple[dict[str, Any] | None, list[str], list[Finding]]:
    duplicates: list[str] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                duplicates.append(key)
            seen[key] = value
        return seen

    try:
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=collect)
    except json.JSONDecodeError as error:
        return (
            None,
            [],
            [finding("system.not-json", path, "The file is not JSON", line=error.lineno, actual=error.msg)],
        )
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:80]
        return None, [], [finding("system.not-json", path, "The file is not JSON", actual=reason)]
    if not isinstance(content, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(type(content), "a number")
        message = "The system description is not an object with fields"
        return (
            None,
            [],
            [finding("system.not-object", path, message, line=1, expected="an object", actual=kind)],
        )
    return content, duplicates, []


def _official(content: dict[str, Any], path: str, lines: Lines) -> Iterator[Finding]:
    required = fields().required
    others = [key for key in content if key not in required and len(key) < 64][:100]
    for name in required:
        if name not in content:
            close = get_close_matches(name, others, n=1, cutoff=0.8)
            yield finding(
                "system.field-missing",
                path,
                f"The required field {name} is missing",
                line=lines.of(close[0]) if close else None,
                expected=name,
                actual=f"a field named {show(close[0])}" if close else "no such field",
                fix=f"Rename {close[0]} to {name}." if close else None,
            )
    for name in fields().text:
        if name in content and not isinstance(content[name], str):
            yield finding(
                "system.field-not-text",
                path,
                f"The field {name} is not text",
                line=lines.of(name),
                expected="text",
                actual=show(content[name]),
            )


def _status(content: dict[str, Any], path: str, lines: Lines, statuses: Statuses) -> Iterator[Finding]:
    if "status" not in content or statuses.allow(content["status"]):
        return
    value = content["status"]
    plain = {name.lower(): name for name in statuses.one_of}
    close = get_close_matches(value[:80].strip().lower(), plain, n=1, cutoff=0.5) if isinstance(value, str) else []
    yield finding(
        "system.status",
        path,
        "The status is none of those the round knows",
        line=lines.of("status"),
        expected=f"one of {', '.join(statuses.one_of)}",
        actual=show(value),
        fix=f"Write {plain[close[0]]} if that is what you mean." if close else None,
    )
