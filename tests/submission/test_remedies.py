"""What remedies say of files in the wrong place; everyday/broken.yaml runs their commands on a published package."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.submission.listing import Listing
from mlsub.submission.model import Entry
from mlsub.submission.remedies import (
    find_missing_description,
    find_missing_folder,
    fix_for_divided,
    fix_for_elsewhere,
    fix_for_names,
    fix_for_run_count,
    fix_for_too_deep,
)

FIX = "mlsub fix PATH --write does it"
WHAT, UP = "Move what", "Move the organisations' folders up:"
ADD = "Add the runs that are missing, named result_<anything>.txt; a run that was never made has to be made."


def make(above: Path, files: str) -> Path:
    """A folder with files and, where a name ends in a slash, folders."""
    for name in files.split(", ") if files else []:
        file = above / name
        (file if name.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            file.touch()
    return above


@pytest.mark.parametrize(
    ("system", "results", "files", "fix"),
    [
        (".old", 4, "", "Remove results/.old: the official checker takes each folder in results for a system."),
        ("rack1", 6, "", "Leave out all but the runs that count: mlsub pack picks them where the manifest says "),
        ("rack1", 4, "result_4.txt.gz", "Decompress the logs in that folder: gunzip *.gz"),
        ("rack1", 4, "Result-4.log", f"Name the logs result_<n>.txt; {FIX} for MLPerf logs."),
        ("rack1", 0, "run_4.log", f"Name the logs result_<n>.txt; {FIX} for MLPerf logs."),
        ("rack1", 4, "run_4.log", "If these are the logs of the runs that are missing, name them result_<n>.txt: r"),
        ("rack1", 4, "run_4.log, run_5.log", ADD),
        ("rack1", 0, "logs/result_0.txt", f"Move the logs one folder up; {FIX}."),
        (
            *("rack1", 0, "my logs/result_0.txt, plots/a.png"),
            "Move the logs one folder up: mv 'my logs'/result_*.txt . in that folder.",
        ),
        ("rack1", 4, "logs/result_4.txt", ADD),
        ("rack1", 0, "logs/run.txt", ADD),
        ("rack1", 4, "notes.md", ADD),
    ],
)
def test_another_number_of_runs_has_the_remedy_for_what_lies_there(
    system: str, results: int, files: str, fix: str, tmp_path: Path
) -> None:
    make(tmp_path, files)
    strays, runs = tuple(sorted(one.name for one in tmp_path.iterdir())), (Path("result"),) * results
    entry = Entry(path="", organisation="", system=system, benchmark="", folder=tmp_path, results=runs, strays=strays)
    assert (fix_for_run_count(entry, 5) or "").startswith(fix)


@pytest.mark.parametrize(
    ("name", "files", "found"),
    [
        ("results", "Results/", ("Results", f"Rename Results to results; {FIX}.")),
        ("systems", "system/", ("system", "Rename system to systems.")),
        ("results", "a/results/", ("a", f"{WHAT} a contains up to ACME: mv a/* . && rmdir a in the folder ACME.")),
        (
            *("results", "a b/bert/result_0.txt, b/bert/, c/other/result_0.txt, d/bert/result_0.txt, e/bert/log.txt"),
            ("a b", "Move the systems into results: mkdir results && mv 'a b' d results/ in the folder ACME."),
        ),
        ("systems", "a/bert/result_0.txt", None),
        ("results", "benchmarks/bert/result_0.txt, plots/", None),
    ],
)
def test_a_missing_folder_is_found_by_its_name_or_what_lies_there(
    name: str, files: str, found: tuple[str, str] | None, tmp_path: Path
) -> None:
    assert find_missing_folder(make(tmp_path / "ACME", files), name, {"bert"}, Listing()) == found


@pytest.mark.parametrize(
    ("inner", "others", "fix"),
    [
        ("ACME/closed", "", f"{WHAT} ACME/closed contains up to ACME: mv ACME/closed/* ACME/ && rmdir ACME/closed in"),
        ("ACME/acme/open", "", f"{WHAT} ACME/acme/open contains up to ACME: mv ACME/acme/open/* ACME/ && rmdir"),
        ("NVIDIA/a", "", f"{WHAT} NVIDIA/a contains up to NVIDIA: mv NVIDIA/a/* NVIDIA/ && rmdir NVIDIA/a in the"),
        ("team/ACME", "", f"{WHAT} this folder contains to round/<organisation>, with the name of its organisation: t"),
        ("closed/results", "", f"{WHAT} this folder contains to round/<organisation>, with the name of its organis"),
        ("closed/ACME", "", f"{UP} mv closed/ACME . && rmdir closed in the folder round."),
        ("closed/ACME, open/B", "", f"{UP} mv closed/ACME open/B . && rmdir closed open in the folder round."),
        ("closed/ACME", "closed/a.txt", f"{UP} mv closed/ACME . in the folder round."),
        ("closed/ACME", "ACME/", "round contains another ACME: join them with mlsub merge, or rename one."),
        (
            *("closed/ACME, closed/Bolt, open/ACME", ""),
            "Join the packages of ACME, and remove both afterwards: "
            "mlsub merge round/closed/ACME round/open/ACME -o round/ACME --write",
        ),
        (", ".join(f"open/{n}" for n in "abcde"), "", f"{UP} mv open/a open/b open/c open/d open/e . && rmdir open in"),
        (", ".join(f"open/{n}" for n in "abcdef"), "", "Move each organisation's folder up to round."),
    ],
)
def test_trees_in_folders_of_divisions_move_up_only_where_that_mixes_nothing(
    inner: str, others: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    above = make(make(tmp_path / "round", others), f"{inner.replace(', ', '/results/, ')}/results/")
    assert fix_for_divided([above / name for name in inner.split(", ")], above, Listing()).startswith(fix)


@pytest.mark.parametrize(
    ("inner", "alone", "others", "fix"),
    [
        ("ACME/try", True, "", f"{WHAT} ACME/try contains up to ACME: mv ACME/try/* ACME/ && rmdir ACME/try in the"),
        ("ACME/try", True, "ACME/results", f"{WHAT} ACME/try contains up to ACME, and join what both have: results."),
        ("ACME/try", False, "", "Move the organisation's folder up: mv ACME/try . in the folder round."),
        ("closed/ACME", True, "", "Move the organisation's folder up: mv closed/ACME . in the folder round."),
        ("closed/ACME", True, "ACME/", "round contains another ACME: join them with mlsub merge, or rename one."),
    ],
)
def test_a_tree_that_is_too_deep_moves_up(inner: str, alone: bool, others: str, fix: str, tmp_path: Path) -> None:
    above = make(make(tmp_path / "round", others), f"{inner}/results/")
    assert fix_for_too_deep(above / inner, (above / inner).parent, Listing(), alone=alone).startswith(fix)


@pytest.mark.parametrize(
    ("system", "unused", "only", "meant", "fix"),
    [
        (".old", ["old"], True, None, "Remove results/.old: the official checker takes each folder in results for a"),
        (
            *("rack1 ", ["rack1"], True, "rack1"),
            f"Rename the folder of the system: mv 'results/rack1 ' results/rack1 in the folder ACME; {FIX}.",
        ),
        ("Rack1", ["rack1"], False, "rack1", f"Rename systems/rack1.json to Rack1.json; {FIX}."),
        ("rack1", ["z", "rack-1"], True, "rack-1", "Rename systems/rack-1.json to rack1.json, if it describes this "),
        ("rack1", ["zzz"], True, "zzz", "Rename systems/zzz.json to rack1.json, if it describes this system."),
        *(
            (
                *("rack1", unused, only, None),
                "Add systems/rack1.json: mlsub system capture --submitter ACME --set system_name=rack1 "
                "-o systems/rack1.json writes it, on the machine and in the folder ACME. Or remove results/rack1.",
            )
            for unused, only in ((["zzz"], False), (["xx", "zzz"], True), ([], True))
        ),
    ],
)
def test_a_missing_description_is_the_one_of_a_similar_name_or_the_only_one_left(
    system: str, unused: list[str], only: bool, meant: str | None, fix: str
) -> None:
    found, words = find_missing_description(Path("ACME"), system, unused, only=only)
    assert found == meant and words.startswith(fix)


def test_packages_somewhere_below_are_named_as_one_types_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    deep = [tmp_path / "a b", Path("/elsewhere"), *(tmp_path / name for name in "cdef")]
    assert fix_for_elsewhere(deep[:5]) == "Name the packages: 'a b' /elsewhere c d e"
    assert fix_for_elsewhere(deep) == "Name the packages one by one: 'a b' /elsewhere c d e"


def test_logs_that_are_not_named_like_results_are_renamed_or_decompressed() -> None:
    assert fix_for_names(["notes.md", "run_1.log"]) == "Name the logs result_<n>.txt."
    assert fix_for_names(["run_1.log", "run_2.txt.gz"]) == "Decompress the logs in that folder: gunzip *.gz"
    assert fix_for_names(["notes.md", "result.txt"]) is None
