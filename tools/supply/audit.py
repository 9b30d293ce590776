"""Known vulnerabilities of the locked packages: ``python -m tools.supply.audit``, or ``make supply``.

pip-audit takes a package that its source of advisories does not have for one that it may skip, and ends with status 0.
An index that serves packages but no advisories has none of them: nothing would be audited, and all would look well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parents[2] / "requirements" / "ci.txt"
CLEAN, FOUND, NOT_CHECKED = 0, 1, 2

#: Words of a command to what it printed on standard output, and on standard error.
Runs = Callable[[Iterable[str]], tuple[str, str]]


def judged(answer: str, errors: str) -> tuple[int, list[str]]:
    """The exit status for an answer of pip-audit in JSON, and what to print.

    Args:
        answer: its standard output.
        errors: its standard error, whose last line is the reason where there is no answer.
    """
    try:
        packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (KeyError, TypeError, ValueError):
        last = (errors.strip().splitlines() or ["no answer"])[-1]
        return NOT_CHECKED, [f"not audited: pip-audit failed: {last[:300]}"]
    skipped = [f"{one['name']}: {one['skip_reason']}" for one in packages if "skip_reason" in one]
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, fixed in {', '.join(flaw['fix_versions']) or 'no version'}"
        for one in packages
        for flaw in one.get("vulns", ())
    ]
    audited = len(packages) - len(skipped)
    lines = [*found, f"{audited} of {len(packages)} packages audited, {len(found)} vulnerabilities"]
    if skipped or not packages:
        lines.append(f"not audited: {len(skipped)} packages, first {skipped[0] if skipped else 'none is locked'}")
    if found:
        return FOUND, lines
    return (NOT_CHECKED if skipped or not packages else CLEAN), lines


def _run(words: Iterable[str]) -> tuple[str, str]:
    done = subprocess.run([*words], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def audit(lock: Path = LOCK, run: Runs = _run) -> tuple[int, list[str]]:
    """Audit each package of a lock file, with the versions and hashes that it has."""
    words = (
        "--requirement",
        str(lock),
        "--require-hashes",
        "--disable-pip",
        "--format",
        "json",
        "--progress-spinner=off",
    )
    return judged(*run((sys.executable, "-m", "pip_audit", *words)))


if __name__ == "__main__":
    status, printed = audit()
    print("\n".join(printed))
    sys.exit(status)
