"""Audit a claims file: from the file and folders of results to verdicts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from mlsub.commands.audit.claims import ClaimsFile
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.facts import find_results, show_result
from mlsub.commands.audit.given import NoValueError
from mlsub.commands.audit.judge import judge
from mlsub.commands.audit.places import round_folders
from mlsub.commands.audit.read import read_claims
from mlsub.commands.audit.verdict import Audit, JudgedClaim
from mlsub.io.problems import FileProblemsError, Problem
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
        folders: where results lie, see places.py.
        bases: those that decide in the place of the usual; a claim's own go before.
        context: how logs are read; round and usage are those of each result.

    Raises:
        FileProblemsError: the file cannot be used, or an expression of it has no value.
        MlsubError: a folder holds no results.
    """
    return audit_of(read_world(read_claims(file), folders, context=context), bases=bases)


def read_world(claims: ClaimsFile, folders: Sequence[str], *, context: Context = AS_FOUND) -> World:
    """Return the results that claims name, as their files have them.

    Args:
        claims: what was said.
        folders: where results lie, see places.py.
        context: how logs are read; round and usage are those of each result.

    Raises:
        MlsubError: a folder holds no results.
    """
    rounds = round_folders(folders)
    expressions = [one.expr for claim in claims.claims for one in (*claim.readings, *claim.nearest)]
    used = {name for expression in expressions for name in claims.results_in(expression)}
    wanted = [result for result in claims.results.values() if result.name in used]
    return World(claims, find_results(wanted, rounds, context), rounds, context)


def audit_of(world: World, *, bases: Collection[str] = ()) -> Audit:
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
        results=tuple(show_result(one) for one in world.facts.values()),
        inputs=tuple(world.file.inputs.values()),
        claims=tuple(judged),
    )
