"""What is measured: commands, the trees they work on, what each is compared with, and its targets. The table is CASES.

In words, ``{tree}`` is the tree, ``{copy}`` a copy of it that may be written into, ``{out}`` a place for what nobody
keeps, ``{records}`` how many records to write, ``{scheduler}`` that of a Dask cluster of two workers, and ``{bench}``
this folder.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

#: Warm: all results of logs are in the cache; cold: none is, and those found are kept there; off: there is no cache.
Cache = Literal["warm", "cold", "off"]
#: Logs of the generated trees that show how the cost grows.
SIZES = (1, 10, 100, 1_000, 20_000)
#: Records that are written to time the recorder.
RECORDS = 50_000


class Tree(NamedTuple):
    """A folder below the published packages; where they are absent, one below a generated tree of so many logs.

    ``times`` says how often each organisation is there, under other names from the second time on.
    """

    published: str | None
    logs: int
    generated: str = ""
    times: int = 1


def of_size(logs: int) -> str:
    """The name of a generated tree."""
    return "1 log" if logs == 1 else f"{logs:,} logs"


NOTHING = "nothing"
TREES = {
    NOTHING: Tree(None, 0),
    "package": Tree("v1.0/Graphcore", 50, "v6.0/Organisation1"),
    "round": Tree("v1.0", 2_000, "v5.1"),
    "everything": Tree("", 2_000),
    "2,200 results": Tree("", 2_000, times=9),
    **{of_size(logs): Tree(None, logs) for logs in SIZES},
}

_RECORDER = "python {bench}/recorder.py"
#: Words of the commands of mlsub.
COMMANDS = {
    "--version": "mlsub --version",
    "check": "mlsub check {tree}",
    "check --jobs 1": "mlsub check {tree} --jobs 1",
    "check --executor dask": "mlsub check {tree} --executor {scheduler}",
    "score": "mlsub score {tree}",
    "review": "mlsub review {tree}",
    "db build": "mlsub db build {tree} -o {out}.duckdb",
    "site": "mlsub site {tree} -o {out} --force",
    **{f"recorder, {kind}": f"{_RECORDER} {kind} {{records}} {{out}}" for kind in ("event", "block", "eval")},
}
#: Words of what they are compared with.
FLOOR, LOCAL = "floor", "--jobs 2"
OTHERS = {
    FLOOR: "python {bench}/floor.py {tree}",
    LOCAL: f"mlsub check {{tree}} {LOCAL} --no-cache",
    "floor, writing": "python {bench}/floor.py --write {records} {out}",
    "package checker": "python {bench}/official.py package_checker {copy}",
    "result summarizer": "python {bench}/official.py result_summarizer {copy}",
    "official logger": f"{_RECORDER} official {{records}} {{out}}",
}
OFFICIAL = ("package checker", "result summarizer", "official logger")


class Target(NamedTuple):
    """A bound on a figure (a field or property of ``results.Line``): at most, or with ``least`` at least."""

    figure: str
    bound: float
    least: bool = False

    def met(self, value: float) -> bool:
        """Whether a figure keeps to it."""
        return value >= self.bound if self.least else value <= self.bound

    def shown(self, value: float) -> str:
        """A line that says whether a figure keeps to it."""
        bound = f"at {'least' if self.least else 'most'} {self.bound:g}"
        return f"{self.figure} {value:.3g}, {bound}: {'met' if self.met(value) else 'NOT MET'}"


class Case(NamedTuple):
    """A command on a tree."""

    command: str
    tree: str
    cache: Cache = "cold"
    against: tuple[str, ...] = (FLOOR,)
    targets: tuple[Target, ...] = ()

    @property
    def name(self) -> str:
        """What names it in what is printed."""
        tree = () if self.tree == NOTHING else (self.tree,)
        return ", ".join((self.command, *tree, *(("warm",) if self.cache == "warm" else ())))


_CHECKER, _SUMMARIZER = (FLOOR, "package checker"), (FLOOR, "result summarizer")
_WARM = (Target("wall_s", 0.3),)
_FAST = (
    Target("us_a_record", 2.6),
    Target("floor_wall", 2.2),
    Target("floor_cpu", 2.2),
    Target("busy", 0.85, least=True),
)

CASES = (
    Case("--version", NOTHING, targets=(Target("wall_s", 0.05),)),
    Case("check", "package", "cold", _CHECKER, (Target("wall_s", 0.14),)),
    Case("check", "package", "warm"),
    Case("score", "package", "cold", _SUMMARIZER),
    Case("check", "round", "cold", _CHECKER),
    Case("check", "round", "warm"),
    Case("score", "round", "cold", _SUMMARIZER),
    Case("check", "everything", "cold", _CHECKER, _FAST),
    Case("check --jobs 1", "everything", "off"),
    Case("check --executor dask", "everything", "off", (FLOOR, LOCAL), (Target("of_local", 0.85, least=True),)),
    Case("check", "everything", "warm", targets=_WARM),
    Case("score", "everything", "cold", _SUMMARIZER),
    Case("score", "everything", "warm", targets=_WARM),
    Case("review", "everything", "cold"),
    Case("review", "everything", "warm"),
    Case("db build", "everything", "cold"),
    Case("db build", "everything", "warm", targets=_WARM),
    Case("site", "everything", "cold"),
    Case("site", "everything", "warm"),
    Case("site", "2,200 results", targets=(Target("wall_s", 45), Target("out_mb", 40))),
    *(Case("check", of_size(logs), cache) for logs in SIZES[:-1] for cache in ("cold", "warm")),
    Case("check", of_size(SIZES[-1]), "cold", targets=(*_FAST, Target("together_mb", 150))),
    Case("check", of_size(SIZES[-1]), "warm", targets=(Target("us_a_log", 60),)),
    *(Case(name, NOTHING, "cold", ("floor, writing", "official logger")) for name in COMMANDS if "recorder" in name),
)
