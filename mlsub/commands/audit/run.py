"""Audit a claims file: from the file and folders of results to verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from mlsub.commands.audit.claims import Claim, ClaimReading, ClaimsFile
from mlsub.commands.audit.evaluate import World, evaluate
from mlsub.commands.audit.expression import Band, Call, parse
from mlsub.commands.audit.functions import NoValueError
from mlsub.commands.audit.judge import judge_figure
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.results import FoundResult, find_results, round_folders
from mlsub.commands.audit.subject import differences, misquoted
from mlsub.commands.audit.verdict import HOLDING, Audit, ClaimVerdict, JudgedClaim, Near, Said, TextDifference
from mlsub.commands.audit.wording import accepted
from mlsub.commands.audit.words import compared_in, incomparable, undecided, unlike
from mlsub.io.problems import FileProblemsError, Problem
from mlsub.io.show import plural
from mlsub.log.changes import Change, changed_fields, changed_hyperparameters
from mlsub.workspace import AS_FOUND, Context


def audit(
    file: Path,
    folders: Sequence[str],
    *,
    bases: Collection[str] = (),
    context: Context = AS_FOUND,
) -> Audit:
    """Check the claims of a file against results.

    Args:
        file: the claims file.
        folders: where results lie, see results.py.
        bases: those that decide in the place of the usual; a claim's own go before.
        context: how logs are read; round and usage are those of each result.

    Raises:
        FileProblemsError: the file cannot be used, or an expression of it has no value.
        MlsubError: a folder holds no results.
    """
    return audit_world(read_world(read_claims(file), folders, context=context), bases=bases)


def read_world(claims: ClaimsFile, folders: Sequence[str], *, context: Context = AS_FOUND) -> World:
    """Return the results that claims name, as their files have them.

    Args:
        claims: what was said.
        folders: where results lie, see results.py.
        context: how logs are read; round and usage are those of each result.

    Raises:
        MlsubError: a folder holds no results.
    """
    rounds = round_folders(folders)
    expressions = [one.expr for claim in claims.claims for one in (*claim.readings, *claim.nearest)]
    used = {name for expression in expressions for name in claims.results_in(expression)}
    wanted = [result for result in claims.results.values() if result.name in used]
    return World(claims, find_results(wanted, rounds, context), rounds, context)


def audit_world(world: World, *, bases: Collection[str] = ()) -> Audit:
    """Return the verdicts on claims whose results have been read; arguments and errors are those of :func:`audit`."""
    judged: list[JudgedClaim] = []
    for claim in world.file.claims:
        try:
            judged.append(judge(claim, world, bases))
        except NoValueError as error:
            raise FileProblemsError((Problem(world.file.file, claim.line, f"{claim.id}: {error}"),)) from error
    return Audit(
        file=world.file.file,
        source=world.file.source,
        bases=tuple(bases),
        results=tuple(one.shown for one in world.facts.values()),
        inputs=tuple(world.file.inputs.values()),
        claims=tuple(judged),
    )


#: Verdicts on figures that the logs give.
_NUMBERS = frozenset((*HOLDING, ClaimVerdict.FAILS, ClaimVerdict.DEPENDS))


def judge(claim: Claim, world: World, asked: Collection[str] = ()) -> JudgedClaim:
    """Return the verdict on a claim.

    Args:
        claim: what is claimed.
        world: the facts it is checked against.
        asked: bases that decide in the place of the usual.

    Raises:
        NoValueError: an expression has no value, whatever the results are.
    """
    judged, *further = (judge_figure(one, world, claim.basis or asked) for one in claim.figures)
    worst = max((judged, *further), key=lambda one: list(ClaimVerdict).index(one.verdict))
    verdict, reason = worst.verdict, worst.reason
    compared = compared_in(claim, world)
    others: tuple[TextDifference, ...] = ()
    if verdict is not ClaimVerdict.NOT_CHECKED:
        others = (*differences(claim, world, compared), *misquoted(claim), *unlike(claim, compared))
    if others:
        verdict, reason = ClaimVerdict.FAILS, "the words describe something other than the results"
    elif verdict in _NUMBERS and (why := incomparable(claim, world)) is not None:
        verdict, reason = ClaimVerdict.NOT_COMPARABLE, why
    elif verdict in HOLDING and (open_ := undecided(claim, world, compared)):
        verdict, reason = ClaimVerdict.IN_PART, "; ".join(open_)
    statements = tuple(_statements(claim, world.file))
    if any(not one.accepted.meets(other.accepted) for one, other in combinations(statements, 2)):
        verdict, reason = ClaimVerdict.CONTRADICTION, "its statements have no value in common"
    noted = (claim.note,) if claim.note else ()
    return msgspec.structs.replace(
        judged,
        claim=claim,
        further=tuple(further),
        verdict=verdict,
        only_for=worst.only_for if verdict is worst.verdict else None,
        reason=reason,
        statements=statements,
        differences=others,
        notes=(*judged.notes, *_looked_at(claim, world), *_wordings(statements), *noted),
        nearest=tuple(_near(reading, world) for reading in claim.nearest),
        changed=_changes(claim, world),
    )


def _statements(claim: Claim, file: ClaimsFile) -> Iterator[Said]:
    """Yield all statements of a claim's quantity: its own, if it states one, and those beside it."""
    if not claim.same_quantity:
        return
    others = {other.id: other.figure for other in file.claims}
    beside = [(one.stated or others.get(one.claim or ""), one.place) for one in claim.same_quantity]
    for stated, where in ((claim.figure, claim.id), *beside):
        if stated is not None and (window := accepted(stated)) is not None:
            yield Said(where=where, written=stated.words, accepted=window)


def _wordings(statements: Sequence[Said]) -> Iterator[str]:
    """Yield a note where the same number is worded in two ways."""
    for one, other in combinations(statements, 2):
        same = one.written.split()[-1] == other.written.split()[-1]
        if same and one.written != other.written:
            yield f"worded in two ways: {one.written} ({one.where}), {other.written} ({other.where})"


def _looked_at(claim: Claim, world: World) -> Iterator[str]:
    """Yield of which of all results given the functions over them speak."""
    calls = {node.written: node for node in world.file.nodes_of(claim) if isinstance(node, Call)}
    for text, call in calls.items():
        try:
            among = world.among(call, whole=True)
        except NoValueError:
            continue
        if among is not None:
            of = plural(len({one.organisation for one in among}), "organisation")
            rounds = ", ".join(dict.fromkeys(f"v{one.round}" for one in among))
            given = f"{plural(len(among), 'result')} of {of} given"
            yield f"{text} is said of the {given}{f' ({rounds})' if rounds else ''}"


def _near(reading: ClaimReading, world: World) -> Near:
    try:
        answer = evaluate(parse(reading.expr), world, "published")
    except NoValueError as error:
        if error.verdict is None:
            raise
        return Near(expr=reading.expr, label=reading.label, value=None, reason=str(error))
    return Near(expr=reading.expr, label=reading.label, value=answer.low if isinstance(answer, Band) else answer)


def _changes(claim: Claim, world: World) -> tuple[Change, ...]:
    """Return what differs between the first two results of a claim, of the names that its context asks for."""
    expr = claim.figures[0].expr
    known = [one for one in (world.facts_in(expr)[:2] if expr else ()) if one.result]
    if not claim.context or len(known) < 2:
        return ()
    first, second = known
    found = [*changed_fields(first.description, second.description)]
    found += changed_hyperparameters(*([log.run for log in one.logs] for one in known))
    epochs = Change(name="epochs", old=_epochs(first), new=_epochs(second))
    named = {one.name: one for one in ([epochs] if epochs.old != epochs.new else []) + found}
    return tuple(named[name] for name in (named if claim.context == ("all",) else claim.context) if name in named)


def _epochs(of: FoundResult) -> str | None:
    """Return the least and the most epochs of the runs that converged; None where they do not state them."""
    values = sorted({run.timeline.epochs for run in of.converging})
    return "-".join(map(str, values)) if any(values) else None
