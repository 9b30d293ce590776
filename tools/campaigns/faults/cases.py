"""The commands that write: an old state of each, the call that makes the new one, and what may be left."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import chdir
from functools import lru_cache, partial
from pathlib import Path

from mlsub.emit import EmitError
from tools.campaigns.faults.engine import Case, Judged, State, View, each
from tools.support.digits import initialise, recorder, train
from tools.support.make_tree import make_tree
from tools.support.runner import run
from tools.support.workplace import Workplace

ONE = ("--jobs", "1")
Prepare = Callable[[Path], object]


def _after(words: tuple[str, ...], change: Callable[[], None], *inputs: Prepare) -> Prepare:
    """Make a call that gives the old state, then change the input, so that the next call gives a new one."""

    def prepare(folder: Path) -> None:
        for one in inputs or (make_tree,):
            one(folder)
        with chdir(folder):
            done = run(*words)
            assert done.status == 0, done.stdout + done.stderr
            change()

    return prepare


def _slower(*trees: str) -> None:
    """Change a log of each tree, or of ``v1.0``, so that what is made of it is another."""
    for tree in trees or ("v1.0",):
        log = Path(tree, "ACME/results/rack1/resnet/result_0.txt")
        log.write_text(log.read_text().replace("0.7595", "0.7596"))


PACK = ("pack", "submission.yaml", "-o", "out/ACME", *ONE, "--write")


def _pack(folder: Path) -> None:
    place = Workplace(folder)
    place.add_code()
    _after(PACK, lambda: None, lambda _: None)(folder)
    place.entry(runs=place.content["entries"][0]["runs"][::-1])


MERGE = ("merge", "a/v1.0/ACME", "b/v1.0/ACME", "-o", "merged/ACME", *ONE, "--write", "--force")


def _two(folder: Path) -> None:
    for name in ("a", "b"):
        make_tree(folder / name)


SEAL = ("seal", "v1.0/ACME", "-o", "ACME.tar.gz", "--no-encryption", "--force")
SEALED = ("ACME.tar.gz", "ACME.tar.gz.*")
_seal = _after(SEAL, _slower)


def _sealed(found: View, old: View, new: View) -> Judged:
    """The archive is old or new, and what lies beside it is its own, or not there yet.

    Where the record of what mlsub has written cannot be read, the old ones have further names as well.
    """
    kept = {path: content for path, content in found.items() if path.endswith(".~1~")}
    found = {path: content for path, content in found.items() if path not in kept}
    if any(content != old.get(path.removesuffix(".~1~")) for path, content in kept.items()):
        return (State.BROKEN, f"not all of {', '.join(kept)} are what was there")
    for state, its in ((State.NEW, new), (State.OLD, old)):
        if found.get("ACME.tar.gz") == its["ACME.tar.gz"] and found.items() <= its.items():
            return (state, "")
    return (State.BROKEN, f"the archive is neither old nor new, or not all of {', '.join(found)} belong together")


def _without_time(path: str, content: bytes) -> bytes:
    if not path.removesuffix(".~1~").endswith(".receipt.txt"):
        return content
    return re.sub(rb"(?m)^sealed: .*$|^sealed .*\d\d:\d\d.*$", b"", content)


def _bad_names(folder: Path) -> None:
    """An organisation that only repairs keep from being accepted."""
    tree = make_tree(folder, "v1.1")
    file = tree.description()
    file.write_text(file.read_text().replace('  "cooling"', '  "cooling": "some cooling",\n  "cooling"', 1))
    file.rename(file.with_name("RACK1.json"))
    tree.edit(lambda log: log.lines.append(log.records("submission_org")[0]), 0, 1)
    tree.log(4).rename(tree.log(4).with_name("Result-4.log"))
    tree.entry().rename(tree.entry().with_name("ResNet50"))


def _fixed(found: View, old: View, new: View) -> Judged:
    """Each file is there once, under its old or new name, with its old or new content."""
    names = {"ResNet50": "resnet", "Result-4.log": "result_4.txt", "RACK1": "rack1"}
    pattern = re.compile("|".join(names))
    views = [{pattern.sub(lambda name: names[name[0]], at): view[at] for at in view} for view in (found, old, new)]
    if len(views[0]) < len(found):
        return (State.BROKEN, "a file is there twice")
    judged = each(*views)
    state = next((state for state, view in ((State.NEW, new), (State.OLD, old)) if found == view), State.BETWEEN)
    return judged if judged[0] is State.BROKEN else (state, "")


def _private(folder: Path) -> None:
    (folder / "logs").mkdir()
    for number in range(3):
        text = f"cd /home/alice/run{number}\nHOSTNAME=node0{number}\n" + "step\n" * 5000
        (folder / "logs" / f"result_{number}.txt").write_text(text)
    (folder / "logs" / "result_0.txt").chmod(0o640)


def _unnumbered(path: str, content: bytes) -> bytes:
    """Placeholders without their numbers: a second call goes on counting where the first was killed."""
    return re.sub(rb"<(\w+)-\d+>", rb"<\1>", content)


def _fast(folder: Path) -> None:
    """Entries of two systems that converged faster than the reference, so that they need a scaling factor."""
    tree = make_tree(folder, "v4.0")
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 35}), *range(5))


BUILD = ("db", "build", "v1.0", "-o", "results.duckdb", *ONE)
TABLES = (*BUILD, "--parquet", "tables")


@lru_cache(maxsize=64)
def _rows(path: str, content: bytes) -> bytes:
    """All rows of a database; two that hold the same are not the same bytes."""
    if not path.endswith(".duckdb"):
        return b"" if path.endswith(".parquet") and content[:4] == content[-4:] == b"PAR1" else content
    import duckdb

    found: list[object] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "results.duckdb")
        file.write_bytes(content)
        try:
            with duckdb.connect(file, read_only=True, config={"threads": 1}) as connection:
                for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall():
                    rows = sorted(map(repr, connection.execute(f'FROM "{name}"').fetchall()))
                    found += [name, *(re.sub(r"datetime\.datetime\([^)]*\)", "", row) for row in rows)]
        except duckdb.Error as error:
            return f"damaged: {error}".encode()
    return repr(found).encode()


SITE = ("site", "v1.0", "-o", "site", *ONE, "--force")
BASELINE = ("check", "v1.0", "--baseline", "known.json", "--write-baseline", "--force", *ONE)


def _baseline(folder: Path) -> None:
    tree = make_tree(folder)
    tree.edit(lambda log: log.drop("seed"), 0)
    with chdir(folder):
        run(*BASELINE)
    tree.edit(lambda log: log.drop("gradient_accumulation_steps"), 1)


INIT = (
    *("init", "new.yaml", "--organisation", "ACME", "--round", "5.1"),
    *("--division", "closed", "--system", "rack1", "--benchmark", "llama31_8b", "--force"),
)


def _reference(folder: Path) -> None:
    reference = make_tree(folder / "made", org="Reference", benchmarks=())
    reference.add_entry(runs=10)
    reference.entry().rename(folder / "reference")
    shutil.rmtree(folder / "made")


def _record() -> None:
    try:
        with recorder(Path("result_0.txt"), overwrite=True) as rec:
            initialise(rec, seed=7)
            train(rec)
    except EmitError as error:
        sys.exit(print(error, file=sys.stderr) or 2)


def _recorded(folder: Path) -> None:
    """An earlier run, of another seed."""
    with recorder(folder / "result_0.txt") as rec:
        initialise(rec, seed=6)
        train(rec, (0.97,))


def _log(found: View, old: View, new: View) -> Judged:
    """Whole records in their order, and at most one more that is torn."""
    if found == old:
        return (State.OLD, "")
    content = (found.get("result_0.txt") or b"").decode()
    *lines, torn = content.split("\n")
    expected = (new["result_0.txt"] or b"").decode().split("\n")[:-1]
    keys = [json.loads(line.partition(" ")[2])["key"] for line in expected]
    for number, line in enumerate(lines):
        try:
            key = json.loads(line.partition(" ")[2])["key"]
            if key != keys[number] and not key.endswith("_stop"):  # Of a run that an error has ended.
                return (State.BROKEN, f"line {number + 1} is another record")
        except (ValueError, IndexError):
            return (State.BROKEN, f"line {number + 1} is not a record: {line[:80]!r}")
    if torn and len(lines) >= len(expected):
        return (State.BROKEN, "there is more than the run")
    return (State.NEW if len(lines) == len(expected) and not torn else State.BETWEEN), ""


def _times(path: str, content: bytes) -> bytes:
    return re.sub(rb'"(time_ms|lineno)": \d+', b'"time_ms": 0', content)


def _new_file(name: str, file: str, words: tuple[str, ...], *inputs: Prepare) -> Case:
    """A command that writes a file in the place of one that somebody wrote."""

    def prepare(folder: Path) -> None:
        for one in inputs:
            one(folder)
        (folder / file).write_text("written by hand, and the only copy\n")

    return Case(name, prepare, words, (file,))


_BUILT = _after(BUILD, _slower)
DATABASE = "results.duckdb"
#: What ``pack --scaffold`` may leave, and ``db build --force``, which keeps the old database where it cannot read what
#: mlsub has written.
SETUP, KEPT = ("setup", "out", "out/ACME*", "out/.ACME.mlsub-written"), (f"{DATABASE}.~1~",)
NEW = ("system", "new", "--from", "ipu-pod64", "-o", "pod64.json", "--force")
RCP = ("rcp", "build", "reference", "-o", "rcps_resnet.json", "--round", "1.0", "--force", *ONE)
CASES = (
    Case("emit", _recorded, (), ("result_0.txt",), _log, work=_record, normal=_times),
    Case("pack", _pack, PACK, ("out/ACME", "out/ACME/*")),
    Case("pack --scaffold", Workplace, (*PACK, "--scaffold"), ("setup/*",), each, beside=SETUP),
    Case("merge", _after(MERGE, partial(_slower, "a/v1.0", "b/v1.0"), _two), MERGE, ("merged/ACME", "merged/ACME/*")),
    Case("seal", _seal, SEAL, SEALED, _sealed, normal=_without_time),
    Case("unseal", _seal, ("unseal", "ACME.tar.gz", "-o", "opened"), ("opened", "opened/*"), statuses=(0, 2)),
    Case("fix", _bad_names, ("fix", "v1.1/ACME", "--write"), ("v1.1/*.txt", "v1.1/*.log", "v1.1/*.json"), _fixed),
    Case("redact", _private, ("redact", "logs", "--write"), ("logs/*",), each, normal=_unnumbered, statuses=(0, 1)),
    Case("redact -o", _private, ("redact", "logs", "-o", "copies"), ("copies", "copies/*"), statuses=(0, 2)),
    Case("score --write-scaling", _fast, ("score", "v4.0", "--write-scaling", *ONE), ("*/scaling.json",), each),
    Case("db build", _BUILT, BUILD, (DATABASE,), normal=_rows),
    Case("db build --force", _BUILT, (*BUILD, "--force"), (DATABASE,), normal=_rows, beside=KEPT),
    Case("db build --parquet", _after(TABLES, _slower), TABLES, ("tables", "tables/*"), normal=_rows),
    Case("site", _after(SITE, _slower), SITE, ("site", "site/*")),
    Case("baseline", _baseline, BASELINE, ("known.json",), statuses=(0, 1)),
    _new_file("score -o", "table.csv", ("score", "v1.0", "-o", "table.csv", "--force", *ONE), make_tree),
    _new_file("init", "new.yaml", INIT),
    _new_file("system new", "pod64.json", NEW),
    _new_file("rcp build", "rcps_resnet.json", RCP, _reference),
)
