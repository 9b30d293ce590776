"""Write guesses as a claims file: each claim marked as proposed, with what the logs give in a comment above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import yaml

from mlsub.commands.audit.draft.candidates import Entry
from mlsub.commands.audit.draft.model import Proposal, counted
from mlsub.commands.audit.draft.names import About
from mlsub.commands.audit.draft.propose import MOST, Call, Guess, Price
from mlsub.io.show import plain

#: What a claims file holds at most, see written.py.
_MOST_RESULTS, _MOST_INPUTS = 200, 200
_WIDTH = 118


class Plan(msgspec.Struct, frozen=True):
    """A claims file to be: its proposals, each with its guess, and the results and prices that they use by name."""

    proposals: tuple[tuple[Proposal, Guess], ...]
    results: dict[str, Entry]
    prices: dict[str, Price]


def plan_of(guesses: Sequence[Guess], *, given: bool) -> Plan:
    """The claims that guesses make; ``given`` says that there are results to choose from."""
    names = _Names()
    prices: dict[str, Price] = {}
    made: list[tuple[Proposal, Guess]] = []
    seen: dict[int, int] = {}
    for guess in guesses[:MOST]:
        line, reason = guess.sentence.line, guess.reason
        seen[line] = seen.get(line, 0) + 1
        needed = {**prices, **{one.name: one for one in guess.prices}}
        if not names.room(guess.calls) or len(needed) > _MOST_INPUTS:
            reason = f"a claims file has {_MOST_RESULTS} results at most; draft the document in parts"
        calls = guess.calls if reason is None else ()
        if calls and given:
            prices = needed
        exprs = [names.filled(call) for call in calls if call.results or "{" not in call.form]
        proposal = Proposal(
            id=f"L{line}" + (f"-{seen[line]}" if seen[line] > 1 else ""),
            line=line,
            text=guess.text or guess.sentence.text,
            stated=_stated_words(guess),
            kind=guess.kind,
            expr=exprs[0] if exprs else None,
            also=tuple(exprs[1:]),
            reason=reason,
            selectors=guess.selectors if reason is None else {},
            results=tuple(dict.fromkeys(names.of(one) for call in calls for one in call.results)),
        )
        made.append((proposal, guess))
    return Plan(tuple(made), names.entries, prices)


class _Names:
    """Names of results, each given once."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._known: dict[Entry, str] = {}

    def room(self, calls: Iterable[Call]) -> bool:
        new = {entry for call in calls for entry in call.results} - self._known.keys()
        return len(self.entries) + len(new) <= _MOST_RESULTS

    def of(self, entry: Entry) -> str:
        if entry not in self._known:
            tries = (f"{entry.name}_{number}" if number > 1 else entry.name for number in range(1, _MOST_RESULTS + 2))
            name = next(one for one in tries if one not in self.entries)
            self._known[entry] = name
            self.entries[name] = entry
        return self._known[entry]

    def filled(self, call: Call) -> str:
        return call.form.format(*map(self.of, call.results)) if call.results else call.form


def text_of(plan: Plan, about: About, document: str, notes: Mapping[str, Sequence[str]]) -> str:
    """The claims file.

    Args:
        plan: what is in it.
        about: what the document says of itself.
        document: its name.
        notes: what the logs give for a claim, by its id.
    """
    matched = sum(proposal.matched for proposal, _ in plan.proposals)
    sentences = len({id(guess.sentence) for _, guess in plan.proposals})
    head = [
        f"Proposed by mlsub audit draft from {document}. Every claim is a guess: compare it with its line,",
        "correct it, and remove its proposed: true to confirm it. Title, publisher, date and prices are guesses too.",
        f"{counted(sentences, matched, len(plan.proposals) - matched)}.",
        *([f"Only its first {MOST} figures are here; draft the rest in parts."] if len(plan.proposals) == MOST else []),
    ]
    source = {"title": about.title, "publisher": about.publisher, "date": about.date, "file": document}
    top: dict[str, Any] = {"claims_version": 1, "source": {key: text for key, text in source.items() if text}}
    if plan.results:
        top["results"] = {name: _result(entry) for name, entry in plan.results.items()}
    if plan.prices:
        top["inputs"] = {name: _input(price) for name, price in plan.prices.items()}
    parts = [_comment(head), _yaml(top), "claims:\n"]
    for proposal, guess in plan.proposals:
        parts += [_comment(notes.get(proposal.id, ()), "  "), _item(_claim(proposal, guess))]
    return "".join(parts)


def _result(entry: Entry) -> dict[str, str]:
    found = {"round": f"v{entry.round}", "submitter": entry.submitter, "system": entry.system}
    division = {"division": entry.division} if entry.division in ("closed", "open") else {}
    return {**found, "benchmark": entry.benchmark, **division}


def _input(price: Price) -> dict[str, Any]:
    figure = price.figure
    around = {"plus_minus": "5%"} if figure.wording == "about" else {}
    source = f"the document, line {price.line}"
    return {"value": figure.value.replace(",", ""), "unit": figure.unit, "kind": "price", "source": source, **around}


def _claim(proposal: Proposal, guess: Guess) -> dict[str, Any]:
    claim: dict[str, Any] = {"id": proposal.id, "proposed": True, "where": f"line {proposal.line}"}
    claim |= {"kind": proposal.kind, "text": proposal.text}
    if proposal.expr is not None:
        claim["expr"] = proposal.expr
        if proposal.also:
            claim["also"] = list(proposal.also)
    else:
        claim["unverifiable"] = proposal.reason or _to_choose(proposal, guess)
    figure = guess.figure
    stated = {"value": figure.value, "unit": figure.unit, "wording": figure.wording}
    claim["stated"] = {key: text for key, text in stated.items() if text is not None}
    says = {**guess.own, **({"ids": list(figure.ids)} if figure.ids else {})} if proposal.reason is None else {}
    return {**claim, **({"says": says} if says else {})}


def _to_choose(proposal: Proposal, guess: Guess) -> str:
    """What is proposed where no results are given: the form of the expression, and the names to choose results by."""
    form = guess.calls[0].form.format("RESULT", "OTHER") if guess.calls else "an expression"
    names = ", ".join(f"{name} {text}" for name, text in proposal.selectors.items())
    return f"no results were given; {form} with {names}"


def _stated_words(guess: Guess) -> str:
    figure = guess.figure
    unit = figure.unit or ""
    return f"{f'{figure.wording} ' if figure.wording else ''}{figure.value}{unit if unit in 'x%' else f' {unit}'}"


def _comment(lines: Iterable[str], indent: str = "") -> str:
    return "".join(f"{indent}# {plain(' '.join(line.split()))}\n" for line in lines)


def _item(content: dict[str, Any]) -> str:
    first, *rest = _yaml(content).splitlines()
    return "".join((f"  - {first}\n", *(f"    {line}\n" for line in rest)))


class _Dumper(yaml.SafeDumper):
    """Lists and short mappings in one line, as people write them."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _mapping(dumper: _Dumper, content: dict[str, Any]) -> yaml.Node:
    flow = all(isinstance(value, str | bool) for value in content.values()) and "text" not in content
    return dumper.represent_mapping("tag:yaml.org,2002:map", content.items(), flow_style=flow)


_Dumper.add_representer(dict, _mapping)


def _yaml(content: dict[str, Any]) -> str:
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)
