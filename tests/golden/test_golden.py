"""Every command answers as it did: verdicts, findings, scores and figures, files written."""

from __future__ import annotations

import pytest

from tests.commands.tree import leaves
from tests.golden.ask import FACTS, Case, ask, cases, commands, file_of, kept
from tests.golden.figures import difference
from tools.support.corpus import CORPUS

LARGEST = 60_000
TOGETHER = 600_000


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


def test_every_command_has_a_case() -> None:
    used = {step for case in cases().values() for step in (case.ask, *(b.partition(": ")[0] for b in case.before))}
    asked = {commands()[name].words for name in used}
    missing = [path for path in leaves() if not any(f"{' '.join(words)} ".startswith(f"{path} ") for words in asked)]
    assert not missing, f"add a case to tests/golden/cases.yaml for: {', '.join(missing)}"
    assert used == commands().keys()


def test_facts_are_small_and_each_belongs_to_a_case() -> None:
    sizes = {file.name: file.stat().st_size for file in FACTS.iterdir()}
    assert sizes.keys() == {file_of(case).name for case in cases().values()}
    assert max(sizes.values()) < LARGEST
    assert sum(sizes.values()) < TOGETHER
