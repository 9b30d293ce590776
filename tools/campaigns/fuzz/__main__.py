"""Attack what reads foreign bytes; Hypothesis makes the input of a finding smaller and tries it again the next time."""

from __future__ import annotations

import argparse
import faulthandler
import os
import resource
import shutil
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tools.campaigns.fuzz.engine import Harness, attempt, harnesses, inputs, kept

BUILD = Path("build/fuzz")
#: No process of a harness takes more memory; one that is at an input for so many seconds ends with its stack.
_MOST_BYTES, _HUNG = 4 << 30, 120


def main() -> int:
    """Run all harnesses or some: the exit status is 1 where an input fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.campaigns.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long, with all cores (default: 600)")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other inputs")
    parser.add_argument("--only", action="append", choices=list(harnesses()), metavar="NAME", help="repeatable")
    parser.add_argument("--input", type=Path, metavar="FILE", help="run this input of the one harness")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    chosen: list[str] = asked.only or list(harnesses())
    if asked.input is not None:
        attempt(harnesses()[chosen[0]], asked.input.read_bytes())
        return 0
    if asked.here:
        return _attack(harnesses()[chosen[0]], asked.seconds, asked.seed)
    jobs = os.cpu_count() or 1
    each = asked.seconds * min(jobs, len(chosen)) / len(chosen)
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda name: _in_process(name, each, asked.seed), chosen))
    print(f"{sum(found)} of {len(chosen)} harnesses have a finding")
    return int(any(found))


def _in_process(name: str, seconds: float, number: int) -> bool:
    """Run a harness in a process of its own; an input that ends the process is a finding too."""
    words = ("--here", "--only", name, "--seconds", str(seconds), "--seed", str(number))
    done = subprocess.run([sys.executable, "-m", "tools.campaigns.fuzz", *words], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        done.stdout += f"{name}: {done.stderr}\nends with {done.returncode}: {_keep(name, _last(name).read_bytes())}\n"
    print(done.stdout, end="", flush=True)
    return done.returncode != 0


def _last(name: str) -> Path:
    return BUILD / "last" / f"{name}.bin"


def _keep(name: str, data: bytes) -> str:
    """Save the input of a finding; return the command that runs it again."""
    file = BUILD / "findings" / f"{name}-{sha256(data).hexdigest()[:8]}.bin"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return f"python -m tools.campaigns.fuzz --only {name} --input {file}"


def _attack(harness: Harness, seconds: float, number: int) -> int:
    """Draw inputs for a time, up to the first that fails."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    until, count, last = time.monotonic() + seconds, 0, _last(harness.name)
    last.parent.mkdir(parents=True, exist_ok=True)

    def run(data: bytes) -> None:
        nonlocal count
        if failed or time.monotonic() < until:
            count += 1
            last.write_bytes(data)
            faulthandler.dump_traceback_later(_HUNG, exit=True)
            try:
                attempt(harness, data)
            except BaseException:
                failed.append(data)
                raise
            finally:
                faulthandler.cancel_dump_traceback_later()

    failed: list[bytes] = []
    phases, database = (Phase.reuse, Phase.generate, Phase.shrink), DirectoryBasedExampleDatabase(BUILD / "examples")
    bounds = settings(max_examples=2_000, database=database, deadline=None, report_multiple_bugs=False, phases=phases)
    bounds = settings(bounds, suppress_health_check=list(HealthCheck))
    try:
        for file in kept(harness):
            run(file.read_bytes())
        while time.monotonic() < until:
            seed(number)(bounds(given(inputs(harness))(run)))()
            number += 1_000_003
    except Exception:
        print(f"{harness.name}: {failed[-1][:400]!r}\n{traceback.format_exc()}\n{_keep(harness.name, failed[-1])}")
        return 1
    print(f"{harness.name}: {count} inputs")
    return 0


if __name__ == "__main__":
    try:
        status = main()
    finally:
        shutil.rmtree(BUILD / "last", ignore_errors=True) if "--here" not in sys.argv else None
    sys.exit(status)
