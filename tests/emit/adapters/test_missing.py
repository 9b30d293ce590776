"""Where a framework is not there: what to install, in one line. Runs whether or not any is installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.emit.adapters.common import ROOT
from tools.support.effort import HUNG

MISSING = {
    "lightning": ("PyTorch Lightning", ["lightning", "lightning.pytorch", "pytorch_lightning"]),
    "transformers": ("Hugging Face Transformers", ["transformers"]),
    "keras": ("Keras 3", ["keras", "keras.callbacks"]),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_framework_that_is_not_there_is_told(name: str) -> None:
    title, modules = MISSING[name]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({modules}))
try:
    import mlsub.emit.{name}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HUNG)
    assert (done.stdout, done.stderr) == (
        f"{title} is not installed. Install it from a copy of the source: pip install '.[{name}]'\n",
        "",
    )
    # One line, with no second exception above it.
    bare = f"import sys; sys.modules.update(dict.fromkeys({modules})); import mlsub.emit.{name}"
    raised = subprocess.run([sys.executable, "-c", bare], cwd=ROOT, capture_output=True, text=True, timeout=HUNG)
    assert raised.stderr.count("Error") == 1
