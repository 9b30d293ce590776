"""What the rules that are only written say of published logs: a fixed sample, with every group that has a finding."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mlsub.io.data import load_yaml
from mlsub.review.run import audit_run
from mlsub.rounds import normalise_round
from tests.review.folding import read_run
from tools.support.corpus import CORPUS, SHARED

WRITTEN = {
    "run.eval-cadence",
    "run.eval-missing",
    "run.eval-samples",
    "run.progress-backwards",
    "run.progress-steps",
    "run.train-samples",
}
SAMPLE = load_yaml(Path(__file__).with_name("published.yaml"))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the published logs (folder shared, beside the repository)")
@pytest.mark.parametrize("entry", SAMPLE)
def test_published_entries_have_the_findings_that_were_studied(entry: str) -> None:
    round_ = normalise_round(entry.partition("/")[0])
    assert round_ is not None
    folder = CORPUS / entry
    files = sorted((folder if folder.is_dir() else SHARED / "cases" / entry).glob("result_*.txt"))
    assert files
    found = Counter(
        finding.rule
        for file in files
        for finding in audit_run(read_run(file), file.name, "training", round_)
        if finding.rule in WRITTEN
    )
    assert found == SAMPLE[entry]
