"""The catalogue, one description, and the verdict on descriptions as documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mlsub.commands.system.run import CheckedDescription, KnownSystems, report_of
from mlsub.present import document as doc
from mlsub.present.entries import read_off, verdict_line
from mlsub.present.findings import answer
from mlsub.submission.report import Choice, choose
from mlsub.systems.catalogue import Accelerator, KnownSystem
from mlsub.systems.draft import Draft

if TYPE_CHECKING:
    from mlsub.findings import Severity
    from mlsub.present.ci import CiPart, CiReport

_SYSTEMS = (
    doc.Column("system", when_narrow="keep"),
    doc.Column("accelerators", number=True),
    doc.Column("model"),
    doc.Column("hosts"),
    doc.Column("published"),
)
_ACCELERATORS = (
    doc.Column("accelerator", when_narrow="keep"),
    doc.Column("model"),
    doc.Column("memory"),
    doc.Column("published"),
)
_FIELDS = (doc.Column("field", when_narrow="keep"), doc.Column("value"))
_SOURCED = (doc.Column("source", when_narrow="keep"), *_FIELDS)


def systems_document(known: KnownSystems) -> doc.Document:
    """Return the systems and the accelerators that are known, a row each."""
    return doc.document(
        "Known systems",
        doc.Table(_SYSTEMS, tuple(map(_system_row, known.systems))),
        doc.section("Known accelerators", doc.Table(_ACCELERATORS, tuple(map(_accelerator_row, known.accelerators)))),
    )


def _accelerator_row(accelerator: Accelerator) -> tuple[str, ...]:
    memory = [accelerator.fields.get(f"accelerator_memory_{part}") for part in ("capacity", "configuration")]
    return (
        accelerator.name,
        accelerator.model,
        " ".join(str(value.value) for value in memory if value is not None),
        ", ".join(accelerator.published) or "none known",
    )


def _system_row(system: KnownSystem) -> tuple[str, ...]:
    hosts = sorted({software.hosts for software in system.software})
    used = ", ".join(f"{software.used} ({software.name})" for software in system.software)
    return (
        system.name,
        f"{system.accelerators} a host" if system.per_host else str(system.accelerators),
        str(system.fields["accelerator_model_name"].value),
        ", ".join(map(str, hosts)) or "-",
        used or "never submitted",
    )


def draft_document(title: str, draft: Draft, *, sources: bool) -> doc.Document:
    """Return a description field by field, with its sources if asked for, and what it leaves open."""
    shown = [(name, _value_text(value.value) or "-") for name, value in draft.values.items()]
    opened = doc.section("Before you submit it", *open_ends(draft))
    if not sources:
        return doc.document(title, doc.Table(_FIELDS, tuple(shown)), opened)
    marks = {source: f"[{n}]" for n, source in enumerate(dict.fromkeys(v.source for v in draft.values.values()), 1)}
    rows = tuple((marks[value.source], *row) for value, row in zip(draft.values.values(), shown, strict=True))
    legend = doc.Items(tuple(f"{mark} {source}" for source, mark in marks.items()))
    return doc.document(title, doc.Table(_SOURCED, rows, key=1), doc.section("Sources", legend), opened)


def open_ends(draft: Draft) -> Iterator[doc.Text]:
    """Yield what is still to be filled in or looked over; nothing where all is said."""
    for names, words in (
        (draft.to_fill_in(), "Still to be filled in"),
        (draft.not_published(), "Not published, so yours to fill in if you know"),
        (draft.taken_over(), "Taken over as published, so look over"),
    ):
        if names:
            yield doc.Text(f"{words}: {', '.join(names)}")
    yield from map(doc.Text, draft.remarks)


def _value_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_value_text(part)}" for name, part in value.items())
    return str(value)


def checks_document(systems: Iterable[CheckedDescription], choice: Choice) -> doc.Document:
    """For each round what to fix, then what else was found, then the verdict, where people look."""
    groups = groupby(sorted(systems, key=_rules_of), key=_rules_of)
    return doc.Document(
        "System descriptions", tuple(_round_section(list(group), choice) for _, group in groups), bare=True
    )


def results_of(checked: Iterable[CheckedDescription], *, fail_on: Severity | None) -> CiReport:
    """Return what CI reads."""
    from mlsub.present import ci

    def one_part(one: CheckedDescription) -> CiPart:
        name, outcome = f"{one.path} ({one.usage} v{one.round})", ci.judge_outcome(one.official, fail_on=fail_on)
        return ci.part(name, one.findings, outcome, verdict=one.official, checked=[one.path])

    return ci.CiReport("system check", tuple(map(one_part, checked)))


def _rules_of(checked: CheckedDescription) -> tuple[str, str]:
    """Return by which rules a description was checked, and how that is known."""
    how = {
        "given": "",
        "folder": read_off(checked.round_from or ""),
        "newest": " (the newest round, which asks most; --round names another)",
    }
    return f"{checked.usage} v{checked.round}", how[checked.how]


def _round_section(systems: Sequence[CheckedDescription], choice: Choice) -> doc.Section:
    rules, how = _rules_of(systems[0])
    report = report_of(systems)
    full, counts = answer(report, choice)
    verdict = verdict_line(report, counting=choose(report, choice), fail_on=choice.fail_on)
    blocks: tuple[doc.Block, ...] = (verdict,) if choice.detail == "quiet" else (*full, counts, verdict)
    return doc.Section((doc.Span(rules, "strong"), how), tuple(doc.said(blocks)))
