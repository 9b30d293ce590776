"""Which regular expressions are proved to take linear time: their digests are kept in ``proved.txt``.

A proof counts the steps for hundreds of texts, so it is made anew only for an expression that changed, or for all when
the prover did. ``python -m tools.campaigns.limits.proved`` proves those that are new, and writes the file.
"""

from __future__ import annotations

import sys
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from tools.campaigns.limits import attacks, steps
from tools.campaigns.limits.expressions import Expression, all_expressions

FILE = Path(__file__).with_name("proved.txt")
HOW = "python -m tools.campaigns.limits.proved"


@cache
def _prover() -> bytes:
    return b"".join(Path(module.__file__ or "").read_bytes() for module in (attacks, steps))


def digest(expression: Expression) -> str:
    """Names a proof: by the expression, how it is used, and the prover."""
    pattern = expression.pattern
    said = (pattern.pattern, pattern.flags, expression.searched)
    return sha256(_prover() + repr(said).encode()).hexdigest()[:20]


def proved() -> frozenset[str]:
    """The digests that are kept."""
    return frozenset(FILE.read_text(encoding="ascii").split())


def flaws(expression: Expression) -> list[str]:
    """Why an expression has no proof: it takes more than linear time, or the prover reads it as the engine does not."""
    growth = [
        f"more and more steps for each of many {body!r} between {lead!r} and {end!r}"
        for lead, body, end in islice(steps.growing(expression.pattern, expression.searched), 1)
    ]
    return [f"{expression.place}: {flaw}" for flaw in (*growth, *_misread(expression))]


def _misread(expression: Expression) -> list[str]:
    machine = steps.Machine(expression.pattern, searched=True, low_bounds=False)
    for lead, body, end in attacks.attacks(expression.pattern)[::5]:
        text = lead + body * 3 + end
        read: Any = text.encode("latin-1", "replace") if isinstance(expression.pattern.pattern, bytes) else text
        found = [match.span() for match in expression.pattern.finditer(read)]
        if machine.spans(read.decode("latin-1") if isinstance(read, bytes) else read) != found:
            return [f"it does not find {found} in {text!r} by steps"]
    return []


def main() -> int:
    """Prove what is new, and write the digests of all if there is no flaw."""
    kept, expressions = proved(), all_expressions()
    problems = [flaw for one in expressions if digest(one) not in kept for flaw in flaws(one)]
    print(*problems, sep="\n", end="\n" if problems else "")
    if not problems:
        FILE.write_text("".join(f"{name}\n" for name in sorted({*map(digest, expressions)})), encoding="ascii")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
