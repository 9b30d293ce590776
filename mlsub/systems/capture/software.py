"""Software: the operating system, and frameworks and libraries of this Python environment."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from mlsub.systems.capture.accelerators import find_poplar
from mlsub.systems.capture.tools import Found, output_of, read_text, unknown
from mlsub.systems.catalogue import Value
from mlsub.systems.names import registry

#: Frameworks that often lie beside the one that trains.
_BESIDE = ("Keras", "scikit-learn")
#: Libraries that matter, by their Python distributions; the first of a name that is there counts.
_LIBRARIES = (
    ("CUDA", ("nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime-cu11", "nvidia-cuda-runtime")),
    ("cuDNN", ("nvidia-cudnn-cu12", "nvidia-cudnn-cu11", "nvidia-cudnn-cu13")),
    ("NCCL", ("nvidia-nccl-cu12", "nvidia-nccl-cu11", "nvidia-nccl-cu13")),
    ("libtpu", ("libtpu", "libtpu-nightly")),
    ("Transformer Engine", ("transformer-engine",)),
    ("Horovod", ("horovod",)),
    ("poptorch", ("poptorch",)),
)


def find_software(root: Path, driver: Value | None) -> Found:
    """What runs here; ``driver`` is the accelerators', as their tool has it."""
    return {
        "operating_system": _operating_system(root),
        "framework": _framework(),
        "other_software_stack": _stack(driver),
    }


def _operating_system(root: Path) -> Value:
    for place in ("etc/os-release", "usr/lib/os-release"):
        match = re.search(r'^PRETTY_NAME="?([^"\n]{1,120})"?$', read_text(root / place) or "", re.MULTILINE)
        if match is not None:
            return Value(match[1].strip(), f"/{place}: PRETTY_NAME; that of the container, if this is one")
    return Value(f"{platform.system()} {platform.release()}", "the kernel")


def _framework() -> Value:
    found = {name: number for name, info in registry().frameworks.names.items() if (number := _version(info.package))}
    main = [name for name in found if name not in _BESIDE] or list(found)
    if not main:
        return unknown("no framework in this Python environment; run mlsub where the training runs")
    if len(main) > 1:
        names = ", ".join(f"{name} {found[name]}" for name in main)
        return unknown(f"several in this Python environment ({names}); name the one that trains")
    return Value(f"{main[0]} {found[main[0]]}", "the Python environment that mlsub runs in")


def _stack(driver: Value | None) -> Value:
    parts = [Value(f"Python {platform.python_version()}", "the Python that mlsub runs in")]
    for name, distributions in _LIBRARIES:
        number = next((number for one in distributions if (number := _version(one))), None)
        if number is not None:
            parts.append(Value(f"{name} {number}", "its Python environment"))
    match = re.search(r"release ([0-9.]+)", output_of(["nvcc", "--version"]))
    if match is not None and not any(part.value.startswith("CUDA ") for part in parts):
        parts.append(Value(f"CUDA {match[1]}", "nvcc --version"))
    parts += find_poplar()
    if driver is not None and " driver " in str(driver.value):
        parts.append(driver)
    sources = dict.fromkeys(part.source for part in parts)
    return Value(", ".join(part.value for part in parts), "; ".join(sources))


def _version(package: str | None) -> str | None:
    """The version of a Python distribution, without importing it; None where it is not installed."""
    try:
        return version(package) if package else None
    except (PackageNotFoundError, ValueError, OSError):
        return None
