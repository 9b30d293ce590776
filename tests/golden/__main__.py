"""Writes the golden facts again and prints what changed: ``python -m tests.golden [CASE ...]``."""

from __future__ import annotations

import sys
import time

from tests.commands.calls import cases
from tests.golden.ask import FACTS, ask, file_of, kept
from tests.golden.figures import difference, dumps
from tools.support.corpus import CORPUS


def main(names: list[str]) -> int:
    """Ask the cases named, or all, and keep what they answer."""
    unknown = sorted(set(names) - cases().keys())
    if unknown:
        print("no such case:", *unknown, file=sys.stderr)
        return 2
    changed = skipped = 0
    for case in cases().values():
        if names and case.name not in names:
            continue
        if case.needs_corpus and not CORPUS.is_dir():
            skipped += 1
            continue
        began = time.monotonic()
        old, new = kept(case), ask(case)
        if time.monotonic() - began > 2:
            print(f"{case.name} took {time.monotonic() - began:.1f} s")
        if old != new:
            changed += 1
            print(case.name, *(difference(old, new) if old else [f"  {len(new)} new facts"]), sep="\n")
            FACTS.mkdir(exist_ok=True)
            file_of(case).write_text(dumps(new), encoding="utf-8")
    print(f"{changed} cases changed", *([f"{skipped} skipped: no published packages"] if skipped else []), sep=", ")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
