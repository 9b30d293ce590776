"""The lock, the licences, the audit, the bill of materials and the promises of SECURITY.md are what they say."""

from __future__ import annotations

import configparser
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from tools.supply import audit
from tools.supply.build import build, epoch, level
from tools.supply.licences import REPOSITORY, SCRIPTS, closure, declared, licence_of
from tools.supply.sbom import kept
from tools.support.make_tree import make_tree

LOCKED_ENTRY = re.compile(r"^([a-z0-9][a-z0-9-]*)==([^ ]+)(?: ; .*)? \\$", re.MULTILINE)
#: Words of licences that ask no more than to name the authors, or to publish changes of that package.
PERMISSIVE = re.compile(
    r"(?i)apache|bsd|\bmit\b|\bisc\b|\bpsf\b|python software foundation|mpl|mozilla|zlib|cc0|unlicense|hpnd"
)
#: Extras that are not locked: frameworks that come from another index for every platform, and what CI does not install.
NOT_LOCKED = {"adapters", "dask", "keras", "lightning", "transformers"}


CONFIG = configparser.ConfigParser()
CONFIG.read(REPOSITORY / "setup.cfg")
LOCK = audit.LOCK.read_text("utf-8")


def test_the_lock_has_every_package_of_setup_cfg_in_a_version_that_it_allows() -> None:
    found: dict[str, set[str]] = {}
    for name, version in LOCKED_ENTRY.findall(LOCK):
        found.setdefault(name, set()).add(version)
    extras = {name: lines for name, lines in CONFIG["options.extras_require"].items() if name not in NOT_LOCKED}
    for lines in (CONFIG["options"]["install_requires"], *extras.values()):
        for requirement in map(Requirement, filter(None, lines.splitlines())):
            versions = found.get(canonicalize_name(requirement.name), set())
            assert versions and all(map(requirement.specifier.contains, versions)), str(requirement)


def test_every_package_of_the_lock_has_hashes_and_comes_from_the_index() -> None:
    entries = re.split(r"(?m)^(?=[a-z0-9])", re.sub(r"(?m)^#.*\n", "", LOCK))
    assert [entry for entry in entries if entry and "--hash=sha256:" not in entry] == []
    assert "://" not in LOCK and "--index" not in LOCK and "file:" not in LOCK


def test_what_mlsub_runs_with_may_be_used_by_all() -> None:
    installed = {canonicalize_name(one.name) for one in distributions()}
    licences = {name: licence_of(name) for name in declared() if name in installed}
    assert {"click", "jsonschema", "mlperf-logging", "msgspec", "pyyaml", "rich"} <= licences.keys()
    assert licences_that_ask_for_more(licences) == {}


def test_what_those_run_with_may_be_used_by_all() -> None:
    for name, extra in (("distributed", "dask"), ("sklearn", "rehearsal")):
        pytest.importorskip(name, reason=f"{name} is not installed: the extra {extra}, make test-all")
    assert licences_that_ask_for_more({name: licence_of(name) for name in closure()}) == {}


def licences_that_ask_for_more(licences: dict[NormalizedName, str]) -> dict[str, str]:
    return {name: text for name, text in licences.items() if not PERMISSIVE.search(text) or "GPL" in text}


def test_every_script_has_the_text_of_its_licence() -> None:
    minified = [*(REPOSITORY / "mlsub").rglob("*.min.js"), *(REPOSITORY / "docs" / "assets").glob("*.js")]
    assert {file.relative_to(REPOSITORY).as_posix() for file in minified} == {script.file for script in SCRIPTS}
    locked = json.loads((REPOSITORY / "tests/commands/site/npm/package-lock.json").read_text("utf-8"))["packages"]
    for script in SCRIPTS:
        assert "Permission" in (REPOSITORY / script.text).read_text("utf-8")
        for name, version, licence in script.libraries:
            there = locked.get(f"node_modules/{name}")
            assert there is None or (there["version"], there["license"]) == (version, licence)


WELL, UNKNOWN = {"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "not found"}


def _flawed(*fixed: str) -> dict[str, Any]:
    return {**WELL, "vulns": [{"id": "X-1", "fix_versions": fixed}]}


ANSWERS: dict[str, tuple[list[dict[str, Any]] | None, int]] = {
    "clean": ([WELL], 0),
    "a flaw": ([_flawed("2")], 1),
    "a flaw beside what is not known": ([_flawed(), UNKNOWN], 1),
    "one is not known": ([WELL, UNKNOWN], 2),
    "none": ([], 2),
    "no answer": (None, 2),
}


@pytest.mark.parametrize(("answer", "status"), ANSWERS.values(), ids=ANSWERS)
def test_what_was_not_audited_is_not_clean(answer: list[dict[str, Any]] | None, status: int) -> None:
    printed = "" if answer is None else json.dumps({"dependencies": answer})
    found, lines = audit.audit(run=lambda _: (printed, "Traceback\nConnectionError: no route"))
    assert found == status
    assert any("not audited" in line for line in lines) == ("not" in str(answer) or status == 2)


def test_a_bill_of_materials_has_what_mlsub_runs_with_and_its_scripts() -> None:
    packages = [{"bom-ref": f"{name}==1", "name": name, "version": "1"} for name in ("Click", "mlsub", "pytest")]
    links = [{"ref": "mlsub==1", "dependsOn": ["Click==1", "pytest==1"]}, {"ref": "pytest==1"}, {"ref": "Click==1"}]
    bill = kept({"components": packages, "dependencies": links, "metadata": {}}, ["click"])
    assert bill["metadata"]["component"]["name"] == "mlsub"
    scripts = [name for script in SCRIPTS for name, _, _ in script.libraries]
    assert [one["name"] for one in bill["components"]] == ["Click", *scripts]
    assert [one["ref"] for one in bill["dependencies"]][:2] == ["mlsub==1", "Click==1"]
    assert bill["dependencies"][0]["dependsOn"][0] == "Click==1" and "pytest==1" not in str(bill)
    with pytest.raises(SystemExit, match="not in the environment: attrs"):
        kept({"components": packages, "dependencies": links, "metadata": {}}, ["attrs"])


def _archive(times: int, mode: int, names: tuple[str, ...]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.mtime, member.mode, member.uname, member.size = times, mode, str(times), len(name)
            archive.addfile(member, io.BytesIO(name.encode()))
    return made.getvalue()


def test_archives_of_the_same_files_are_the_same_bytes() -> None:
    first, second = _archive(1, 0o600, ("a/b", "a/c")), _archive(2_000_000_000, 0o664, ("a/c", "a/b"))
    assert first != second and level(first, 10**9) == level(second, 10**9)
    assert level(first, 10**9) != level(_archive(1, 0o700, ("a/b", "a/c")), 10**9)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(level(first, 10**9)))) as archive:
        assert [(one.name, one.mode, one.mtime) for one in archive] == [("a/b", 0o644, 10**9), ("a/c", 0o644, 10**9)]


def test_the_time_of_a_build_is_the_one_that_is_stated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert epoch(tmp_path) == 1_700_000_000


@pytest.mark.long
def test_two_builds_in_different_places_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("build", reason="pip install '.[release]'", exc_type=ImportError)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    listed_files = subprocess.run(("git", "ls-files", "-z"), cwd=REPOSITORY, capture_output=True, text=True, check=True)
    built = []
    for place, mode in ((tmp_path / "a", 0o644), (tmp_path / "b/deeper", 0o600)):
        for name in filter(None, listed_files.stdout.split("\0")):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, place / name)
            (place / name).chmod(mode)
        built.append([path.read_bytes() for path in build(place, place / "dist")])
    assert len(built[0]) == 2 and built[0] == built[1]


def test_each_promise_names_tests_that_exist() -> None:
    text = (REPOSITORY / "SECURITY.md").read_text("utf-8")
    promised = text.partition("## What mlsub promises")[2].partition("## What mlsub does not promise")[0]
    rows = promised.split("\n- ")[1:]
    assert len(rows) >= 10
    for row in rows:
        named = re.findall(r"`(tests/[\w./]+)`", row)
        assert named and all((REPOSITORY / name).exists() for name in named), row


_WATCHED = """
import sys
REFUSED = ("socket.connect", "socket.bind", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec",
    "os.posix_spawn", "pty.spawn")
def watch(event, arguments):
    if event in REFUSED:
        raise SystemExit(f"{event} {arguments}")
    if event == "open" and str(arguments[0]).startswith(WHERE) and set(str(arguments[1])) & set("wax+"):
        raise SystemExit(f"writes {arguments[0]}")
WHERE = sys.argv.pop(1)
sys.addaudithook(watch)
from mlsub.__main__ import main
main()
"""


def test_checking_connects_to_nothing_starts_nothing_and_writes_nothing(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    words = (sys.executable, "-c", _WATCHED, str(tmp_path), "check", str(tree.folder), "--no-cache", "--jobs", "1")
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
