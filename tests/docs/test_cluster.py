"""The page on clusters: its command runs on a real one, and what it gives to SLURM and Kubernetes holds together."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from mlsub.workspace.executors import executor_of
from mlsub.workspace.executors.dask import DaskExecutor, Patience
from tests.docs.pages import REPOSITORY, blocks, steps
from tests.docs.reader import Reader
from tests.effort import HUNG
from tests.workspace.dask_servers import servers

needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra dask is not installed"
)
NAMED = "dask://localhost:8786"


@needs_dask
def test_the_command_prints_what_it_prints_without_a_cluster(
    workplace: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = Patience(scheduler=HUNG, worker=HUNG, gone=HUNG)
    monkeypatch.setattr("mlsub.workspace.executors.dask.Patience", lambda: patience)
    install, check = steps((REPOSITORY / "docs" / "cluster.md").read_text())
    assert install.command == "pip install '.[dask]'"
    [scheduler, worker] = blocks("docs/cluster.md", "sh")[0].splitlines()
    assert scheduler.endswith(" --host localhost --port 8786") and " tcp://localhost:8786 " in worker
    with servers(tmp_path) as started, started.cluster("worker", "worker") as (real, *_):
        far = workplace.type(check.command.replace(NAMED, real.address.replace("tcp:", "dask:")))
    assert far == workplace.type(check.command.replace(f" --executor {NAMED}", ""))


@needs_dask
def test_the_script_for_slurm_prints_an_executor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Cluster:
        scheduler_address = "tcp://10.1.0.1:40123"

        def __init__(self, **asked: Any) -> None:
            assert asked["cores"] == asked["processes"]

        def scale(self, jobs: int) -> None: ...

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    module = ModuleType("dask_jobqueue")
    vars(module)["SLURMCluster"] = Cluster
    monkeypatch.setitem(sys.modules, "dask_jobqueue", module)
    monkeypatch.setattr(time, "sleep", interrupt)
    [script] = blocks("docs/cluster.md", "python")
    with pytest.raises(KeyboardInterrupt):
        exec(script, {})  # noqa: S102
    executor = executor_of(capsys.readouterr().out.strip(), None)
    assert isinstance(executor, DaskExecutor) and executor.address == Cluster.scheduler_address


def test_what_kubernetes_gets_holds_together() -> None:
    [text] = blocks("docs/cluster.md", "yaml")
    cluster, job = yaml.safe_load_all(text)
    scheduler, worker = (cluster["spec"][part]["spec"] for part in ("scheduler", "worker"))
    check = job["spec"]["template"]["spec"]
    assert worker["volumes"] == check["volumes"]
    [(serves, works, checks)] = zip(*(part["containers"] for part in (scheduler, worker, check)), strict=True)
    assert works["volumeMounts"] == checks["volumeMounts"]
    assert serves["image"] == works["image"] == checks["image"]
    port = next(port["port"] for port in cluster["spec"]["scheduler"]["service"]["ports"] if port["name"] == "tcp-comm")
    assert checks["command"][-1] == f"dask://{cluster['metadata']['name']}-scheduler:{port}"
    assert checks["command"][2].startswith(works["volumeMounts"][0]["mountPath"])
