"""What calls of no published package work on: small accepted packages, and inputs that are broken in one way each.

Each function fills an empty folder. Cases of ``tests/commands/calls.yaml`` call them by name; all other calls in it are
made in what :func:`everything` makes.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from pathlib import Path
from typing import Any

import yaml

from tools.support.corpus import CORPUS
from tools.support.make_tree import Tree, make_log, make_tree, reference_runs
from tools.support.runner import run
from tools.support.workplace import Workplace


def accepted(folder: Path) -> None:
    """An accepted package of two entries."""
    make_tree(folder, benchmarks=["resnet", "bert"])


def two_rounds(folder: Path) -> None:
    """An organisation in two rounds; in the later one a run is slower and an entry is new."""
    make_tree(folder)
    later = make_tree(folder, "v1.1")
    later.edit(lambda log: log.last(20), 3)
    later.add_system("rack2", "open", accelerators_per_node="16")
    later.add_entry("bert", "rack2", "open")


def with_rules(folder: Path) -> None:
    """An accepted package, rules of its own that it breaks, a round to come, and a file of rules with a slip."""
    make_tree(folder)
    seed = {"common": {"1.0": {"both": {"seed": {"occurs": "exactly_one", "above": 1002}}}}}
    rounds = {"7.0": {"ruleset": "7.0.0", "checker": "a draft", "benchmarks": ["llama31_8b", "newthing"]}}
    accuracy = {"occurs": "at_least_one", "metadata": ["samples_count"], "reaches": {"at_least": 0.5}}
    new = {"title": "Something new", "7.0": {"runs": 3, "closed": {"eval_accuracy": accuracy}}}
    files: dict[str, dict[str, Any]] = {
        "house.yaml": {"title": "House rules", **seed},
        "next.yaml": {"title": "A draft", "rounds": rounds, "benchmarks": {"newthing": new}},
        "slip.yaml": {"title": "House rules", "comon": seed["common"]},
    }
    for name, content in files.items():
        (folder / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")


def without_run_stop(folder: Path) -> None:
    """Two logs have no run_stop."""
    make_tree(folder).edit(lambda log: log.drop("run_stop"), 1, 2)


def below_target(folder: Path) -> None:
    """Two runs never reach the quality target."""
    make_tree(folder).edit(lambda log: log.put("eval_accuracy", value=0.1), 0, 1)


def too_fast(folder: Path) -> None:
    """All runs converge faster than the reference."""
    tree = make_tree(folder)
    tree.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 16}), *range(5))


def same_seed(folder: Path) -> None:
    """Two runs have the same seed, and one an optimizer that Closed forbids."""
    tree = make_tree(folder)
    tree.edit(lambda log: log.put("seed", value=1), 0, 1)
    tree.edit(lambda log: log.put("opt_name", value="adam"), 2)


def field_missing(folder: Path) -> None:
    """A description lacks a field, and another is of the wrong kind."""
    make_tree(folder).describe(accelerators_per_node=None, number_of_nodes=["1"])


def empty_log(folder: Path) -> None:
    """A result file is empty."""
    make_tree(folder).log(1).write_bytes(b"")


def not_utf8(folder: Path) -> None:
    """A log holds NUL bytes and latin-1 text, a record that is no JSON, and a description is not UTF-8."""
    tree = make_tree(folder)
    log = tree.log(0)
    log.write_bytes(b"caf\xe9 \xff\xfe\x00\x00\n" + log.read_bytes() + b':::MLLOG {"key": "broken\n')
    description = tree.description()
    description.write_bytes(description.read_bytes().replace(b"some cooling", b"some c\xf6\xf6ling"))


def infinite(folder: Path) -> None:
    """Values and times that are not numbers: legal to the official parser."""
    tree = make_tree(folder)
    tree.edit(lambda log: log.put("lars_opt_base_learning_rate", value=float("nan")))
    tree.edit(lambda log: log.put("eval_accuracy", value=float("inf")), 1)
    tree.edit(lambda log: log.put("global_batch_size", value="3200"), 2)


def without_results(folder: Path) -> None:
    """An organisation that has only a description."""
    Tree(folder / "v1.0" / "ACME").add_system()
    (folder / "empty").mkdir()


def run_missing(folder: Path) -> None:
    """An entry has too few runs, a stray file, and a system without a description."""
    tree = make_tree(folder)
    tree.log(4).unlink()
    (tree.entry() / "notes.md").write_text("of a person\n", encoding="utf-8")
    tree.add_entry("bert", "nameless")


def link_outside(folder: Path) -> None:
    """A result file is a link that leads out of the package, and another leads nowhere."""
    tree = make_tree(folder)
    outside = folder / "elsewhere.txt"
    tree.log(0).rename(outside)
    tree.log(0).symlink_to(outside)
    tree.log(1).unlink()
    tree.log(1).symlink_to("nowhere.txt")


def loose_logs(folder: Path) -> None:
    """Logs in no package: one as it should be, one of another benchmark, one that is no log."""
    (folder / "one.txt").write_text(make_log("resnet").text(), encoding="utf-8")
    (folder / "two.txt").write_text(make_log("bert", run=1).text(), encoding="utf-8")
    (folder / "prose.txt").write_text("Nothing to see.\n", encoding="utf-8")


def without_scaling(folder: Path) -> None:
    """A published package with power measurements, without its scaling.json."""
    package = folder / "v4.0" / "smc-ac-power"
    shutil.copytree(CORPUS / "v4.0" / "smc-ac-power", package, symlinks=True)
    for file in package.rglob("scaling.json"):
        file.unlink()


def many_runs(folder: Path) -> None:
    """More runs of one benchmark than an entry needs."""
    for at in range(8):
        (folder / f"train_{at}.txt").write_text(make_log("resnet", run=(at * 5) % 8).text(), encoding="utf-8")


def untidy(folder: Path) -> None:
    """What can be repaired without knowing the run: line ends, a field given twice, blanks, a status."""
    tree = make_tree(folder, "v4.0")
    tree.describe(status="Available  on-premise")
    file = tree.description()
    text = file.read_text(encoding="utf-8").replace(
        '  "cooling"', '  "host_storage_type": "some host storage type",\n  "cooling"'
    )
    file.write_bytes(text.replace("\n", "\r\n").encode() + b"  \n")
    log = tree.log(1)
    log.write_bytes(b"\xef\xbb\xbf" + log.read_bytes().replace(b"\n", b"\r\n"))
    tree.log(4).rename(tree.log(7))


def private(folder: Path) -> None:
    """Logs that name a user, a host, a home and a secret; one of them inside of a record."""
    logs = folder / "logs"
    logs.mkdir()
    record = ':::MLLOG {"time_ms": 1, "key": "a", "value": null, "metadata": {"file": "/home/alice/t.py"}}\n'
    (logs / "result_0.txt").write_text(
        "cd /home/alice/run\n" + record + f"alice\nkey AKIA{'Q' * 16}\n", encoding="utf-8"
    )
    (logs / "result_1.txt").write_text("HOSTNAME=node7\nwriting to /home/alice\n", encoding="utf-8")


def large(folder: Path) -> None:
    """A log above 100 MiB, of which most are lines without a record."""
    log = make_tree(folder).log(0)
    first, *rest = log.read_bytes().splitlines(keepends=True)
    noise = b"training talks a lot " * 50_000 + b"\n"
    log.write_bytes(first + noise * 101 + b"".join(rest))


def parts(folder: Path) -> None:
    """Two teams' parts of one package, and a third that contradicts the first."""
    one = make_tree(folder / "a", benchmarks=["bert"])
    two = Tree(folder / "b" / "v1.0" / "ACME")
    two.add_system("rack2")
    two.add_entry("resnet", "rack2")
    three = make_tree(folder / "c", benchmarks=["bert"])
    three.describe(cooling="water")
    for tree in (one, two, three):
        (tree.folder / "README.md").write_text("of all\n", encoding="utf-8")


def workplace(folder: Path) -> Workplace:
    """Loose runs, a description, code and the manifest of a package."""
    made = Workplace(folder)
    made.add_code()
    return made


def unknown_word(folder: Path) -> None:
    """A manifest with a word that manifests do not have."""
    workplace(folder).save(organization="ACME")


def unknown_system(folder: Path) -> None:
    """A manifest whose entry names a system that it does not list."""
    workplace(folder).entry(system="rack9")


def torn_manifest(folder: Path) -> None:
    """A manifest that is no YAML."""
    file = workplace(folder).manifest_file
    file.write_text(file.read_text(encoding="utf-8") + "entries: [\n", encoding="utf-8")


def _claims(folder: Path, **changes: Any) -> None:
    make_tree(folder)
    result = {"round": "v1.0", "submitter": "ACME", "system": "rack1", "benchmark": "resnet", "division": "closed"}
    under = {"value": 20, "unit": "min", "wording": "under"}
    claim = {"id": "C1", "kind": "time_to_train", "text": "12 minutes", "expr": "minutes(here)"}
    content = {
        "claims_version": 1,
        "source": {"title": "A page", "publisher": "ACME", "date": "2021-07-01"},
        "results": {"here": result},
        "values": {"twice": "minutes(here) * 2"},
        "claims": [
            claim | {"stated": {"value": 12, "unit": "min"}},
            claim | {"id": "C2", "text": "under 20", "expr": "twice", "stated": under},
        ],
    }  # fmt: skip
    (folder / "claims.yaml").write_text(yaml.safe_dump(content | changes, sort_keys=False), encoding="utf-8")


def two_claims(folder: Path) -> None:
    """A claim that holds and one that does not, about a package."""
    _claims(folder)


def circular_claims(folder: Path) -> None:
    """Two values of a claims file that need each other."""
    _claims(folder, values={"twice": "half * 4", "half": "twice / 4"})


def keys(folder: Path) -> None:
    """A package to seal, a passphrase, and a key with its public half."""
    import pyrage

    make_tree(folder)
    identity = pyrage.x25519.Identity.generate()
    for name, content in (("key.txt", str(identity)), ("passphrase", "correct horse battery staple")):
        (folder / name).write_text(content + "\n", encoding="utf-8")
        (folder / name).chmod(0o600)
    (folder / "recipients.txt").write_text(str(identity.to_public()) + "\n", encoding="utf-8")


def altered(folder: Path) -> None:
    """A package beside the list of its digests; since then a file was changed, one removed and one added."""
    tree = make_tree(folder)
    files = sorted(path for path in tree.folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(tree.folder.parent).as_posix()}\n"
        for file in files
    ]
    (folder / "MANIFEST.sha256").write_text("".join(lines), encoding="utf-8")
    tree.describe(cooling="water")
    tree.log(3).unlink()
    (tree.folder / "more.txt").write_text("more\n", encoding="utf-8")


def hyperparameters(folder: Path) -> None:
    """Hyperparameters of the rehearsal's digits with a wrong value, a misspelled key, a missing one and one's own."""
    lines = ["global_batch_size: 48", "opt_name: sgd", "learning_rate: 5e-2", "opt_momentum: 0.9", "dropout: 0.1"]
    (folder / "hyperparameters.yaml").write_text("\n".join([*lines, "opt_weight_decay: 0.0001", ""]))


def training(folder: Path) -> None:
    """What the shortest demonstration trains: runs of one epoch, which are given up."""
    entry = {"system": "this-machine", "division": "open", "hyperparameters": {"max_epochs": 1}}
    content = {"organisation": "Rehearsal", "status": "research", "entries": [entry]}
    (folder / "training.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")


def everything(folder: Path) -> None:
    """Something for every command: packages, of which one can be repaired, runs to pack, an archive, a database."""
    for name in ("v1.0", "v1.1"):
        tree = make_tree(folder, name)
        tree.add_system("rack2")
        tree.add_entry(system="rack2")
    file = tree.description()
    file.write_text(file.read_text().replace('  "cooling"', '  "cooling": "some cooling",\n  "cooling"', 1))
    parts(folder)
    make_tree(folder / "d").describe(cooling="<water> | *ice*")
    reference_runs(folder / "reference")
    Workplace(folder)
    _claims(folder)
    hyperparameters(folder)
    training(folder)
    private(folder)
    with contextlib.chdir(folder):
        assert run("seal", "v1.0/ACME", "--no-encryption", "-o", "sealed.tar.gz").status == 0
        assert run("db", "build", "v1.0", "-o", "made.duckdb").status == 0
