"""Renew the figures and the picture of docs/performance.md.

python bench/page.py HISTORY    from the newest line of each case in a history
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.cases import CASES, FLOOR, OFFICIAL, SIZES, of_size
from bench.picture import Curve, Panel, write
from bench.results import REPOSITORY, Line, read

PAGE = REPOSITORY / "docs" / "performance.md"
PICTURE = REPOSITORY / "docs" / "assets" / "performance.svg"
_FIGURES = re.compile(r"(?<=<!-- figures -->\n).*(?=<!-- end of figures -->)", re.DOTALL)
#: How a target reads, and how its figure is written: words, unit, digits.
TARGETS = {
    "wall_s": ("time", " s", 3),
    "us_a_record": ("CPU a record", " µs", 2),
    "us_a_log": ("time a log", " µs", 0),
    "floor_wall": ("time, as a multiple of the floor's", "", 2),
    "floor_cpu": ("CPU, as a multiple of the floor's", "", 2),
    "of_local": ("speed, as a share of local:2", "", 2),
    "busy": ("cores busy, as a share of all", "", 2),
    "together_mb": ("memory of all processes", " MB", 0),
}


def renew(lines: Iterable[Line]) -> None:
    """Write both, of the lines of all cases."""
    by_case = {line.case: line for line in lines}
    write(PICTURE, _panels(by_case), "What mlsub check costs, by the number of logs", alternative(by_case))
    text = PAGE.read_text("utf-8")
    PAGE.write_text(_FIGURES.sub(lambda _: figures(by_case), text), "utf-8")


def figures(lines: dict[str, Line]) -> str:
    """What stands between the marks of the page."""
    newest = max(lines.values(), key=lambda line: line.date)
    parts = (
        f"Measured on {newest.date[:10]} at commit `{newest.commit.rstrip('+')}`: {newest.machine}. Medians of "
        f"{newest.pairs} pairs.",
        "### Targets",
        _table(("case", "figure", "target", "measured", "met"), _targets(lines)),
        "### All cases",
        _table(_COLUMNS, (_row(lines[case.name]) for case in CASES if case.name in lines)),
        "### Growth",
        _table(
            ("logs", "records", "cold", "µs a log", "warm", "µs a log", "memory, cold", "memory, warm"), _grown(lines)
        ),
        f"![{alternative(lines)}](assets/{PICTURE.name})",
    )
    return "\n" + "\n\n".join(parts) + "\n\n"


def alternative(lines: dict[str, Line]) -> str:
    """The picture in words."""
    cold, warm = ([lines[f"check, {of_size(logs)}{state}"] for logs in SIZES] for state in ("", ", warm"))
    return (
        f"Two charts over the number of logs, from {cold[0].logs:,} to {cold[-1].logs:,}. Time of mlsub check: "
        f"cold from {cold[0].wall_s:.2f} s to {cold[-1].wall_s:.1f} s, warm from {warm[0].wall_s:.2f} s to "
        f"{warm[-1].wall_s:.2f} s, beside the floor script, which ends at {cold[-1].beside[FLOOR].wall_s:.1f} s. "
        f"Memory of all processes: cold from {cold[0].together_mb:.0f} MB to {cold[-1].together_mb:.0f} MB, "
        f"warm from {warm[0].together_mb:.0f} MB to {warm[-1].together_mb:.0f} MB."
    )


def _panels(lines: dict[str, Line]) -> tuple[Panel, Panel]:
    cold, warm = ([lines[f"check, {of_size(logs)}{state}"] for logs in SIZES] for state in ("", ", warm"))
    times = [
        Curve(name, [(line.logs, line.wall_s) for line in some]) for name, some in (("cold", cold), ("warm", warm))
    ]
    floor = Curve("floor script, one process", [(line.logs, line.beside[FLOOR].wall_s) for line in cold])
    memory = [
        Curve(f"{name}, all processes", [(line.logs, line.together_mb) for line in some])
        for name, some in (("cold", cold), ("warm", warm))
    ]
    return (
        Panel("Time of mlsub check", "logs", "seconds", [*times, floor]),
        Panel("Memory of mlsub check", "logs", "MB", memory, log="x"),
    )


_COLUMNS = (
    "case",
    "time",
    "CPU",
    "CPU a record",
    "cores busy",
    "largest process",
    "all processes",
    "× floor",
    "× official",
)


def _row(line: Line) -> tuple[str, ...]:
    """A case: its CPU beside the floor's, its time beside that of the official tool."""
    floor = next((other for name, other in line.beside.items() if name.startswith(FLOOR)), None)
    official = next((other for name, other in line.beside.items() if name in OFFICIAL), None)
    return (
        line.case,
        f"{line.wall_s:.3f} s",
        f"{line.cpu_s:.3f} s",
        f"{line.us_a_record:.2f} µs" if line.records else "",
        f"{line.busy:.0%}",
        f"{line.largest_mb:.0f} MB",
        f"{line.together_mb:.0f} MB",
        f"{floor.cpu_ratio:.2f}" if floor else "",
        f"{official.wall_ratio:.3f}" if official else "",
    )


def _targets(lines: dict[str, Line]) -> Iterator[tuple[str, ...]]:
    for case in CASES:
        for target in case.targets if case.name in lines else ():
            value = getattr(lines[case.name], target.figure)
            words, unit, digits = TARGETS[target.figure]
            limit = f"at {'least' if target.least else 'most'} {target.bound:g}{unit}"
            yield case.name, words, limit, f"{value:,.{digits}f}{unit}", "yes" if target.met(value) else "**no**"


def _grown(lines: dict[str, Line]) -> Iterator[tuple[str, ...]]:
    for logs in SIZES:
        cold, warm = lines[f"check, {of_size(logs)}"], lines[f"check, {of_size(logs)}, warm"]
        times = (text for line in (cold, warm) for text in (f"{line.wall_s:.3f} s", f"{line.us_a_log:,.0f}"))
        yield f"{logs:,}", f"{cold.records:,}", *times, *(f"{line.together_mb:.0f} MB" for line in (cold, warm))


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; all columns but the first hold figures."""
    lines = [columns, ["---", *("---:" for _ in columns[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    renew(read(Path(sys.argv[1])))
