"""Known vulnerabilities of the locked packages: ``python -m tools.supply.audit``, or ``make supply``.

pip-audit takes a package that its source of advisories does not have for one that it may skip, and ends with status 0.
An index that serves packages but no advisories has none of them: nothing would be audited, and all would look well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parents[2] / ".ci" / "requirements.txt"
CLEAN, FOUND, NOT_CHECKED = 0, 1, 2
WORDS = ["--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner=off"]


def _run(words: list[str]) -> tuple[str, str]:
    """What a command printed on standard output, and on standard error."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def audit(run: Callable[[list[str]], tuple[str, str]] = _run) -> tuple[int, list[str]]:
    """Audit each locked package, with the versions and hashes that it has: the exit status, and what to print."""
    answer, errors = run([sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), *WORDS])
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
        lines.append(f"not audited: {len(skipped)} packages, first {[*skipped, 'none is locked'][0]}")
    return FOUND if found else NOT_CHECKED if skipped or not packages else CLEAN, lines


if __name__ == "__main__":
    status, printed = audit()
    print("\n".join(printed))
    sys.exit(status)
