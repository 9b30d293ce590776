"""Every command answers as it did: verdicts, findings, scores and figures, files written."""

from __future__ import annotations

import pytest

from tests.commands.calls import Case, calls, cases
from tests.commands.tree import leaves
from tests.golden.ask import FACTS, ask, file_of, kept
from tests.golden.figures import difference
from tools.support.corpus import CORPUS

#: So much can be reviewed.
LINES = 12_000


#: Cases that write large files, derive a key, or train.
SLOW = frozenset(("fix-size-written", "unseal-passphrase", "demo"))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow if case.name in SLOW else ()) for case in cases().values()],
    ids=lambda case: case.name,
)
def test_the_facts_are_the_same(case: Case, request: pytest.FixtureRequest) -> None:
    if case.name == "demo":
        request.getfixturevalue("scikit_learn")
    if case.needs_corpus and not CORPUS.is_dir():
        pytest.skip(f"published packages are not at {CORPUS}")
    assert file_of(case).exists(), f"no facts are kept of this case: python -m tests.golden {case.name}"
    changed = difference(kept(case), ask(case))
    if changed:
        head = f"{len(changed)} lines of facts changed; if they should: python -m tests.golden {case.name}"
        pytest.fail("\n".join([head, *changed[:60]]), pytrace=False)


def test_every_command_has_a_call_and_a_case() -> None:
    found = {call.name: call.cases for call in calls().values() if call.cases}
    missing = leaves().keys() - found.keys()
    told = "add an entry with a case to tests/commands/calls.yaml, whose first lines explain it"
    assert not missing, f"{told}: {', '.join(sorted(missing))}"
    assert found.keys() == leaves().keys()


def test_facts_can_be_reviewed_and_each_file_belongs_to_a_case() -> None:
    files = sorted(FACTS.iterdir())
    assert {file.name for file in files} == {file_of(case).name for case in cases().values()}
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) < LINES
