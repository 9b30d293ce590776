"""Places that are reported one by one are read in one go, and each report is that of the place alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.workspace import Settings, check_apart, check_with_logs, find_places
from tests.make_tree import make_tree, spoil


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_place_has_the_report_it_has_alone(tmp_path: Path, jobs: int) -> None:
    trees = [make_tree(tmp_path, "v1.0", "ACME"), make_tree(tmp_path, "v1.0", "Bolt"), make_tree(tmp_path, "v1.1")]
    spoil(trees[1], 0)
    paths = [*(tree.folder for tree in trees), trees[0].folder / "results" / "rack1"]
    places = [one for path in paths for one in find_places([path], Settings())[0]]
    found = list(check_apart(places, Settings(jobs=jobs)))
    assert len(found) == 4
    for at, path in enumerate(paths):
        assert [found[at]] == check_with_logs([path], Settings(jobs=1)), path


def test_nothing_to_check_is_no_report() -> None:
    assert list(check_apart([], Settings())) == []
