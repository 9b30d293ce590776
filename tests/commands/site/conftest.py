"""What the tests of the site in a browser share: the browser, and sites to look into."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.build import build_site
from tests.commands.site.browser import chromium
from tests.commands.site.sites import checked, two_rounds
from tools.oracle.shared import ABSENT, present
from tools.support.corpus import CORPUS
from tools.support.make_tree import make_tree
from tools.support.runner import run


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of two rounds."""
    above = tmp_path_factory.mktemp("site in a folder, with 'odd' #1 name")
    build_site(checked(*two_rounds(above)), above / "site")
    return above / "site"


#: Round, organisation, system, accelerator, nodes of eight, minutes, division.
RESULTS = [
    ("v1.0", "ACME", "rack8", "NVIDIA A100", 1, 30.0, "closed"),
    ("v1.0", "ACME", "rack64", "NVIDIA A100", 8, 5.0, "closed"),
    ("v1.0", "ACME", "pod16", "Graphcore GC200", 2, 40.0, "closed"),
    ("v1.0", "ACME", "rack8-open", "NVIDIA A100", 1, 20.0, "open"),
    ("v1.1", "ACME", "rack8", "NVIDIA A100", 1, 25.0, "closed"),
    ("v1.1", "ZETA", "processors", "N/A", 0, 200.0, "closed"),
    ("v1.1", "ZETA", "rack512", "NVIDIA A100", 64, 1.5, "closed"),
]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of two rounds of one benchmark, with systems of several sizes."""
    above = tmp_path_factory.mktemp("history")
    for round_folder, organisation, system, model, nodes, minutes, division in RESULTS:
        tree = make_tree(above, round_folder, organisation, ())
        tree.description().unlink()
        tree.add_system(
            system, division, system_name=system, accelerator_model_name=model,
            number_of_nodes=max(nodes, 1), accelerators_per_node=8 if nodes else 0,
        )  # fmt: skip
        tree.add_entry("resnet", system, division)
        tree.edit(lambda log, minutes=minutes: log.last(minutes), *range(5), system=system)
    build_site(checked(above / "v1.0", above / "v1.1"), above / "site")
    return above / "site"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of all published rounds that are here."""
    if not present():
        pytest.skip(ABSENT)
    site = tmp_path_factory.mktemp("whole") / "site"
    rounds = sorted(str(folder) for folder in CORPUS.iterdir() if folder.is_dir())
    done = run("site", *rounds, "-o", str(site))
    assert done.status == 1, done.stderr  # some results are rejected
    return site
