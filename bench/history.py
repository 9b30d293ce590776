"""Show the history of measurements: each case over the commits, as lines and as a picture.

    python bench/history.py [FILE] [--only TEXT ...] [-o PICTURE.svg]

FILE is what `make bench-history` appends to. A figure beside the floor script is the same on a faster machine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.cases import CASES, FLOOR
from bench.picture import Curve, Panel, write
from bench.results import Line, read, usual_history

#: The longest bar of a case.
BAR = 30


def main() -> int:
    """Print the cases, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=usual_history(), metavar="FILE")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="cases with TEXT in their name")
    parser.add_argument("-o", "--output", type=Path, metavar="PICTURE.svg", help="draw them, too")
    options = parser.parse_args()
    if not options.file.is_file():
        print(f"There is no {options.file}: make bench-history writes it", file=sys.stderr)
        return 2
    cases = by_case(read(options.file), options.only)
    print("\n".join(line for name, lines in cases.items() for line in shown(name, lines)))
    if options.output:
        panels = [
            Panel(
                name, "commit", "CPU beside the floor", [Curve("mlsub", [(one.commit, of(one)) for one in lines])], ""
            )
            for name, lines in cases.items()
        ]
        write(
            options.output,
            panels,
            "mlsub over its commits",
            "CPU time of each case, as a multiple of the floor script's",
        )
    return 0


def by_case(lines: Sequence[Line], only: Sequence[str]) -> dict[str, list[Line]]:
    """The lines of each case, in the order of the table; those of cases that are no more come last."""
    names = dict.fromkeys([*(case.name for case in CASES), *(line.case for line in lines)])
    wanted = [name for name in names if not only or any(text in name for text in only)]
    cases = {name: [line for line in lines if line.case == name] for name in wanted}
    return {name: some for name, some in cases.items() if some}


def of(line: Line) -> float:
    """CPU as a multiple of the floor's."""
    return next(other.cpu_ratio for name, other in line.beside.items() if name.startswith(FLOOR))


def shown(name: str, lines: Sequence[Line]) -> Iterator[str]:
    """A case in lines of text."""
    most = max(of(line) for line in lines)
    yield name
    for line in lines:
        bar = "#" * max(1, round(BAR * of(line) / most))
        memory = f"{line.together_mb:5.0f} MB"
        yield f"  {line.date}  {line.commit:<9} {of(line):7.2f} x floor  {line.wall_s:8.3f} s  {memory}  {bar}"


if __name__ == "__main__":
    sys.exit(main())
