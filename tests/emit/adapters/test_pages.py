"""The short examples of the pages are run as they stand, with the models of examples/."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("KERAS_BACKEND", "torch")
pytest.importorskip("torch", reason="PyTorch is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("sklearn", reason="scikit-learn is not installed: make test-all")

from tests.emit.adapters.common import ROOT, assert_reached, example

pytestmark = pytest.mark.filterwarnings("ignore")
ADAPTERS = ("lightning", "transformers", "keras")
README = ROOT / "examples" / "README.md"
PAGES = [page for page in (README, ROOT / "docs" / "emit.md") if page.exists()]


def blocks(page: Path, having: str) -> list[str]:
    every = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [block for block in every if having in block]


def names(adapter: str) -> dict[str, Any]:
    """What a page takes for granted."""
    script = example(f"{adapter}_digits")
    if adapter == "lightning":
        return {"make_model": script.Digits}
    if adapter == "keras":
        return {"make_model": script.network, "read_data": script.digits}
    # The falling learning rate that the Trainer has by itself takes longer than the constant one.
    batches = {"per_device_train_batch_size": 32, "lr_scheduler_type": "constant", "use_cpu": True}
    sets = {"train": script.Digits(training=True), "held_out": script.Digits(training=False)}
    return {
        "make_model": script.Network,
        "MyTrainer": script.DigitsTrainer,
        "accuracy": script.accuracy,
        "batches": batches,
        **sets,
    }


@pytest.mark.parametrize(
    ("page", "adapter", "code"),
    [
        pytest.param(page, adapter, code, id=f"{page.name}-{adapter}")
        for page in PAGES
        for adapter in ADAPTERS
        for code in blocks(page, f"mlsub.emit.{adapter} import")
    ],
)
def test_the_example_of_a_page_leaves_a_whole_log(
    page: Path, adapter: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(adapter, reason=f"{adapter} is not installed: make test-all", exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    given = names(adapter)
    # A test does not empty the cache of the machine it runs on.
    monkeypatch.setattr("mlsub.emit.recorder.drop_page_cache", lambda: None)
    for part in (*blocks(page, "entry = "), code):
        exec(compile(part, str(page), "exec"), given)  # noqa: S102
    assert_reached(tmp_path / "result_0.txt")


def test_the_readme_has_an_example_of_each() -> None:
    assert [len(blocks(README, f"mlsub.emit.{adapter} import")) for adapter in ADAPTERS] == [1, 1, 1]
