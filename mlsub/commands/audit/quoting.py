"""What the rules on quoting results say of a claims file: findings, the editions that bind, and footnotes."""

from __future__ import annotations

from datetime import date

import msgspec

from mlsub.findings import Finding, Severity


class Text(msgspec.Struct, frozen=True, kw_only=True, rename={"since": "from"}):
    """A text of the rules on quoting results.

    ``from`` is the day from which it binds; ``symbols`` are the signs that may stand behind the name MLPerf; ``wants``
    is what it asks for and an older one does not, see guidelines.yaml.
    """

    name: str = ""
    title: str
    since: date
    source: str
    symbol: str
    symbols: tuple[str, ...]
    legend: str
    wants: tuple[str, ...] = ()
    note: str | None = None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule, by its id in the catalogue, ``claim.r05``.

    ``how`` says who can check it, see guidelines.yaml; ``sections`` maps a text to the place in it, and a text that is
    not there lacks the rule.
    """

    rule: str = ""
    title: str
    how: str
    sections: dict[str, str]
    levels: dict[str, Severity] = {}

    @property
    def number(self) -> str:
        """Its number, ``R05``."""
        return self.rule.removeprefix("claim.").upper()


class Remark(Finding, frozen=True, kw_only=True):
    """A finding on how results are quoted, with the claim (null for a document's own) and the document."""

    claim: str | None
    document: str


class Unchecked(msgspec.Struct, frozen=True):
    """What a rule could not check, and how that is fixed; ``claim`` is the claim's id, null for a document's."""

    rule: str
    reason: str
    claim: str | None = None


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The footnote that a claim needs. ``missing`` names what stands in brackets in it, to be filled in."""

    claim: str
    rules: str
    footnote: str
    missing: tuple[str, ...]


class Quoting(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules on quoting results found, in the order of claims, then of documents.

    ``rules`` is the text that binds each document, ``not_looked_at`` what could not be checked, ``by_hand`` what only a
    person can check; ``footnotes`` are those that claims need.
    """

    findings: tuple[Remark, ...] = ()
    rules: dict[str, Text] = {}
    not_looked_at: tuple[Unchecked, ...] = ()
    by_hand: tuple[Rule, ...] = ()
    footnotes: tuple[Written, ...] = ()

    @property
    def warns(self) -> bool:
        """Whether there is more than information."""
        return any(finding.severity is not Severity.INFO for finding in self.findings)
