"""What reads foreign input, asked with just so much of it: what each says about an input of a size."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.commands.audit.expression import parse as parse_claim
from mlsub.commands.audit.wording import number
from mlsub.commands.fix.run import RepairPlan as FixPlan
from mlsub.commands.review.table import read_table
from mlsub.commands.review.workbook import read_cells
from mlsub.config.baseline import read_baseline
from mlsub.convergence.filecheck import check_records, check_reference_file
from mlsub.convergence.reference import runs_of
from mlsub.findings import Finding
from mlsub.io.read import read_toml, read_tree
from mlsub.log.event import Event
from mlsub.log.rewrite import find_logs
from mlsub.packing.age import VERSION, check_header
from mlsub.packing.archive import check_amount, read_members
from mlsub.packing.forms import read_identities, read_passphrase
from mlsub.packing.names import name_problem, target_problem
from mlsub.packing.redactor import Redactor
from mlsub.packing.runs import _matches
from mlsub.packing.tree import make_member, read_checksums, scan
from mlsub.rounds import get_round
from mlsub.rules.engine import Gatherer
from mlsub.rules.formula import parse
from mlsub.rules.model import Gathers, expand
from mlsub.rules.overlay import check_overlay
from mlsub.score import read_scaling
from mlsub.submission.audit import audit_layout, audit_links
from mlsub.submission.file_tree import FileTree, Item, ItemKind, read_file_tree
from mlsub.submission.params import read_flags
from mlsub.systems.capture import read_capture
from mlsub.systems.description import read_description
from mlsub.workspace import Context
from mlsub.workspace.runs import find_runs
from tools.support.make_tree import make_tree
from tools.support.make_workbook import pack

#: Reads an input of a size; says what is wrong, or raises it.
Ask = Callable[[Path, int], object]


class Case(NamedTuple):
    """A bound, and who keeps it: what is said beyond it, and a smaller bound where an input of its size is dear."""

    name: str
    ask: Ask
    said: str
    instead: int | None = None

    @property
    def where(self) -> str:
        return f"mlsub.{self.name}"


def _file(name: str, content: bytes, read: Callable[[Path], object], fill: bytes = b" ") -> Ask:
    """Give a file of so many bytes to a reader."""

    def ask(folder: Path, size: int) -> object:
        (file := folder / name).write_bytes(content + fill * (size - len(content)))
        file.chmod(0o600)
        return read(file)

    return ask


def _of(findings: Iterable[Finding], word: str = "") -> list[str]:
    """What findings say, as far as it has a word."""
    return [said for one in findings if word in (said := f"{one.message}: {one.actual}")]


def _logs(read: Callable[[list[str]], object]) -> Ask:
    def ask(folder: Path, count: int) -> object:
        for run in range(count):
            (folder / f"result_{run}.txt").touch()
        return read([str(folder)])

    return ask


def _deep_yaml(folder: Path, levels: int) -> object:
    (folder / "x.yaml").write_text("a: " + "[" * (levels - 1) + "1" + "]" * (levels - 1))
    return _yaml(folder / "x.yaml")


def _tree_of(folder: Path, count: int) -> object:
    for n in range(count - 1):
        (folder / str(n)).touch()
    return len(scan(folder).members) - count + 1


def _deep_tree(folder: Path, levels: int) -> object:
    (folder / "/".join("d" * levels)).mkdir(parents=True)
    return read_file_tree(folder).cut


def _linked(targets: list[str]) -> list[str]:
    links = (Item(f"l{n:03}", ItemKind.LINK, target=target) for n, target in enumerate(targets))
    items = (*links, Item("d", ItemKind.FOLDER), Item("d/z"), Item("z"))
    return [f"{one.message}: {one.path}" for one in audit_links(FileTree(items=items))]


def _records(_: Path, size: int) -> object:
    """A name whose PAX record has so many bytes."""
    name = "x" * (size - len(f"{size} path=\n"))
    member = next(read_members(BytesIO(tarfile.TarInfo(name).tobuf(tarfile.PAX_FORMAT))))
    assert member.name == name
    return member


def _amount(size: int, count: int = 0, packed: int = 1 << 30) -> None:
    check_amount(make_member("T/a", size=size), size, count, packed, None)


def _reference_records(_: Path, count: int) -> object:
    return [one.message for one in check_records({str(n): {} for n in range(count)}) if "records" in one.message]


def _yaml(file: Path) -> object:
    return read_tree(file, kind="files", top="a")


def _reference(file: Path) -> object:
    return [problem.message for problem in check_reference_file(file) if "larger" in problem.message]


def _scaling(file: Path) -> object:
    return _of(read_scaling(file.parent, "x").findings)


def _scaled(folder: Path, factor: int) -> object:
    return _file("scaling.json", b'{"scaling_factor": %d}' % factor, _scaling)(folder, 0)


def _flags(file: Path) -> object:
    return _of(read_flags(file.parent, "x", get_round("training", "4.0")).findings, "larger")


def _description(file: Path) -> object:
    return _of(read_description(file, "x").findings, "larger")


def _bracketed(_: Path, levels: int) -> object:
    return parse("(" * (levels - 1) + "1" + ")" * (levels - 1))


def _chained(_: Path, hops: int) -> object:
    return _linked([f"l{n + 1:03}" for n in range(hops - 1)] + ["z"])


def _straight(_: Path, parts: int) -> object:
    return _linked(["d/../" * ((parts - 1) // 2) + ("z" if parts % 2 else "d/z")])


def _long_name(_: Path, size: int) -> object:
    return name_problem(("n" * 200 + "/") * 5 + "n" * (size - 1005))


def _long_target(_: Path, size: int) -> object:
    return target_problem("./" * (size // 2 - 1) + "d" * (2 + size % 2))


def _replaced(folder: Path, things: int) -> object:
    log = folder / "result_0.txt"
    log.write_text("".join(f"mail user{n}@example{n}.com\n" for n in range(things)))
    redactor = Redactor()
    for error in redactor.survey([log]).values():
        raise error
    return redactor.items


def _repaired(folder: Path, size: int) -> object:
    """A log of so many bytes in a package; what keeps it from being repaired."""
    tree = make_tree(folder)
    log = tree.log(0)
    log.write_bytes(log.read_bytes() + b"x" * (size - log.stat().st_size))
    plan = FixPlan(str(tree.folder), Context(jobs=1), ("",), folder)
    return _of(plan.answer().not_repaired, "larger")


def _gathered(_: Path, steps: int) -> object:
    gatherer = Gatherer(Gathers(key="x", by="step", field="measure"))
    for step in range(steps):
        gatherer.see(Event(line=step, time_ms=0, key="x", value=1, metadata={"step": step, "measure": "FID"}))
    return str(gatherer.broken or "")


def _rules(folder: Path, text: str) -> object:
    (file := folder / "x.yaml").write_text(f"title: x\n{text}")
    return bool(check_overlay(file))


def _many_rules(folder: Path, count: int) -> object:
    return _rules(folder, "common: {'1.0': {both: {" + ", ".join(f"k{n}: any" for n in range(count)) + "}}}")


def _many_rounds(folder: Path, count: int) -> object:
    return _rules(folder, "rounds: {" + ", ".join(f"'{n}.0': {{}}" for n in range(9, 9 + count)) + "}")


def _many_benchmarks(folder: Path, count: int) -> object:
    """The newest round's benchmarks, for they have rules."""
    names = get_round("training", "6.1").benchmarks[:count]
    return _rules(folder, f"rounds: {{'9.0': {{benchmarks: [{', '.join(names)}]}}}}")


def _long_header(_: Path, size: int) -> None:
    check_header(BytesIO((VERSION + b"-> a ").ljust(size - 5, b"a") + b"\n--- " + bytes(9)))


def _many_stanzas(_: Path, count: int) -> None:
    check_header(BytesIO(VERSION + b"-> a\n\n" * count + b"--- "))


def _table(file: Path) -> object:
    return read_table(file, [("resnet", "resnet")])


def _many_rows(folder: Path, count: int) -> object:
    return _file("t.csv", _TABLE, _table, b"\n")(folder, len(_TABLE) + count - 2)


def _book(cells: str = "", **others: Any) -> object:
    return list(read_cells(pack(cells, **others), "t.xlsx"))


def _unpacked(count: Callable[[bytes], int], fill: bytes) -> Ask:
    """A workbook with so much of something in all parts, of which the last has what the others lack."""
    with zipfile.ZipFile(BytesIO(pack())) as parts:
        before = sum(count(parts.read(name)) for name in parts.namelist())

    def ask(_: Path, size: int) -> object:
        return _book(parts={"xl/a.xml": b"<a>" + fill * (size - before - count(b"<a></a>")) + b"</a>"})

    return ask


def _count_tags(part: bytes) -> int:
    return part.count(b"<") + part.count(b"=")


def _many_parts(_: Path, count: int) -> object:
    return _book(parts={f"xl/{n}.bin": b"" for n in range(count - 7)})


def _far_cell(_: Path, cells: int) -> object:
    return _book(f'<row r="{cells}"><c r="A{cells}"><v>1</v></c></row>') and []


def _text(_: Path, size: int) -> object:
    return _book('<row><c r="A1" t="s"><v>0</v></c></row>', texts=f"<si></si><si><t>{'x' * (size - 11)}</t></si>")


def _long_path(_: Path, size: int) -> object:
    return _of(audit_layout(FileTree(items=(Item("a" * 100 + "/" + "b" * (size - 101)),)), {}, "training"), "longer")


_TABLE = b"submitter,system_name,division,availability,resnet\nACME,rack1,closed,onprem,1\n"
_BASELINE = _file("b.json", b'{"findings": []}', read_baseline)
_MANIFEST = _file("MANIFEST.sha256", b"0" * 64 + b"  T/a\n", read_checksums, b"#")
_MATCHED = _logs(lambda names: list(_matches(Path(names[0], "*.txt"))))
_CAPTURE = b'{"mlsub": "1", "host": "x", "values": {}}'
CASES = (
    Case("io.problems:MAX_BYTES", _file("x.yaml", b"a: 1\n", _yaml), "larger than 4 MiB"),
    Case("io.problems:MAX_DEPTH", _deep_yaml, "nested too deeply"),
    Case("io.read:MAX_TOML_BYTES", _file("x.toml", b"a = 1\n", read_toml, b"\n"), "larger than 256 KiB"),
    Case("config.baseline:_MAX_BYTES", _BASELINE, "not a baseline: larger than", 1 << 10),
    Case("convergence.reference:MAX_BYTES", _file("rcps_resnet.json", b"{}", runs_of), "larger than 16 MiB"),
    Case("convergence.filecheck:MAX_BYTES", _file("rcps_resnet.json", b"{}", _reference), "larger than 16 MiB"),
    Case("convergence.filecheck:_MAX_RECORDS", _reference_records, "more than 1000 are not read"),
    Case("systems.description:MAX_BYTES", _file("rack1.json", b"{}", _description), "larger than 4 MiB"),
    Case("systems.capture:MAX_BYTES", _file("node1.json", _CAPTURE, read_capture), "larger than 1 MiB"),
    Case("score:MAX_BYTES", _file("scaling.json", b'{"scaling_factor": 2}', _scaling), "more than 64 KiB"),
    Case("score:MAX_FACTOR", _scaled, "1001"),
    Case("submission.params:MAX_BYTES", _file("package_checker_params", b"", _flags), "larger than 64 KiB"),
    Case("workspace.runs:MAX_RUNS", _logs(lambda names: find_runs(names)), "4 logs are more than the 3", 3),
    Case("log.rewrite:MAX_LOGS", _logs(lambda names: find_logs(names)), "more than 3 logs", 3),
    Case("packing.runs:MAX_MATCHES", _MATCHED, "matches more than 3 files", 3),
    Case("rules.model:MAX_NAMES", lambda _, count: expand([f"{{1..{count}}}"]), "more than 100000 names"),
    Case("rules.model:_MAX_GROUPS", lambda _, count: expand(["{a}" * count]), "more than 20 groups"),
    Case("rules.formula:FORMULAS.max_length", lambda _, size: parse("1" + " " * (size - 1)), "1000 are the limit"),
    Case("rules.formula:FORMULAS.max_depth", _bracketed, "60 levels are the limit"),
    Case("rules.formula:MAX_EXPONENT", lambda _, exponent: parse(f"2 ** {exponent}").compute({}), "out of bounds"),
    Case("rules.formula:MAX_BITS", lambda _, bits: parse("a + 0").compute({"a": 1 << (bits - 1)}), "out of bounds"),
    Case("rules.engine:MAX_STEPS", _gathered, "{'step': 200000"),
    Case("rules.problems:MAX_RULES", _many_rules, "more than 9 rules", 9),
    Case("rules.overlay:MAX_ROUNDS", _many_rounds, "expected at most 3 keys", 3),
    Case("rules.overlay:MAX_BENCHMARKS", _many_benchmarks, "expected at most 3 items", 3),
    Case("commands.audit.expression:MAX_LENGTH", lambda _, size: parse_claim("1".ljust(size)), "2000 are the limit"),
    Case("commands.audit.wording:MAX_DIGITS", lambda _, size: number("1" * size), "is not a number"),
    Case("submission.file_tree:MAX_DEPTH", _deep_tree, "folders nested more than 40 deep"),
    Case("submission.audit:_MAX_HOPS", _chained, "Links are circular"),
    Case("submission.audit:_MAX_PARTS", _straight, "Links are broken"),
    Case("submission.audit:MAX_PATH", _long_path, "longer"),
    Case("packing.tree:MAX_MEMBERS", _tree_of, "contains more than 9 files", 9),
    Case("packing.tree:MAX_MANIFEST", _MANIFEST, "is not a manifest: longer than", 1 << 10),
    Case("packing.names:MAX_NAME", lambda _, size: name_problem("T/" + "n" * size), "name is longer than 255 bytes"),
    Case("packing.names:MAX_PATH", _long_name, "the path is longer than 1024 bytes"),
    Case("packing.names:MAX_PATH", _long_target, "longer than 1024 characters"),
    Case("packing.names:MAX_DEPTH", lambda _, parts: name_problem("/".join("d" * parts)), "deeper than 64 folders"),
    Case("packing.archive:_MAX_RECORDS", _records, "unusual size"),
    Case("packing.archive:MAX_SIZE", lambda _, size: _amount(size, packed=1 << 36), "unpacked it is more than"),
    Case("packing.archive:MAX_RATIO", lambda _, ratio: _amount((1 << 30) * ratio), "200 times as large"),
    Case("packing.archive:MAX_MEMBERS", lambda _, count: _amount(0, count - 1), "more than 500000 members"),
    Case("packing.age:MAX_HEADER", _long_header, "more than 64 KiB"),
    Case("packing.age:MAX_STANZAS", _many_stanzas, "1,000 recipients"),
    Case("packing.forms:MAX_PASSPHRASE", _file("p", b"", read_passphrase, b"p"), "more than 1000 bytes"),
    Case("packing.forms:_MAX_FILE", _file("k", b"", read_identities, b"#"), "too long for what it should hold"),
    Case("commands.review.table:MAX_BYTES", _file("t.csv", _TABLE, _table), "larger than", 1 << 10),
    Case("commands.review.table:MAX_ROWS", _many_rows, "more than 9 rows", 9),
    Case("commands.review.workbook:MAX_PARTS", _many_parts, "more than 1,000 parts"),
    Case("commands.review.workbook:MAX_UNPACKED", _unpacked(len, b" "), "unpacks to more than", 1 << 16),
    Case("commands.review.workbook:MAX_TAGS", _unpacked(_count_tags, b"="), "than 99 tags and attributes", 99),
    Case("commands.review.workbook:MAX_CELLS", _far_cell, "more than 900 cells", 900),
    Case("commands.review.workbook:MAX_TEXT", _text, "of text", 1 << 10),
    Case("packing.redactor:MAX_ITEMS", _replaced, "more than 3 different things", 3),
    Case("commands.fix.run:MAX_LOG", _repaired, "larger than", 1 << 20),
)
