"""The page on clusters: its command runs on a real one."""

from __future__ import annotations

import pytest

from tests.docs.pages import REPOSITORY, blocks, steps
from tests.docs.reader import Reader
from tests.workspace.dask_servers import Server

NAMED = "dask://localhost:8786"


@pytest.mark.slow
def test_the_command_prints_what_it_prints_without_a_cluster(workplace: Reader, cluster: Server) -> None:
    install, check = steps((REPOSITORY / "docs" / "cluster.md").read_text())
    assert install.command == "pip install '.[dask]'"
    [scheduler, worker] = blocks("docs/cluster.md", "sh")[0].splitlines()
    assert scheduler.endswith(" --host localhost --port 8786") and " tcp://localhost:8786 " in worker
    far = workplace.type(check.command.replace(NAMED, cluster.address.replace("tcp:", "dask:")))
    assert far == workplace.type(check.command.replace(f" --executor {NAMED}", ""))
