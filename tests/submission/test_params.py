"""package_checker_params: which file of which round counts, and what lines it understands."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlperf_logging.package_checker import package_checker
from mlperf_logging.rcp_checker import rcp_checker

from mlsub.findings import Finding
from mlsub.io.data import load_yaml
from mlsub.rounds import get_round
from mlsub.submission.model import Entry, Package
from mlsub.submission.params import FILE, Flags, flags_of, read_flags


def read(top: Path, *folders: Path, round_name: str, usage: str = "training") -> tuple[list[Flags], list[Finding]]:
    """The flags that hold for some benchmarks' folders, and what is wrong with the files."""
    entries = [
        Entry(path="", organisation="ACME", system="", benchmark="", folder=folder, results=()) for folder in folders
    ]
    package = Package(folder=top, prefix="ACME/", entries=tuple(entries))
    flags, findings = flags_of(package, get_round(usage, round_name))
    return [flags[folder] for folder in folders], findings


def tree(top: Path, where: str, text: str) -> Path:
    """A benchmark's folder of an organisation, with a file of flags somewhere."""
    folder = top / "results" / "rack1" / "bert"
    folder.mkdir(parents=True)
    (top / where / FILE).write_bytes(text.encode())
    return folder


TABLES = load_yaml(Path(__file__).with_name("params.yaml"))
ROOT, SYSTEM, BENCHMARK = "", "results/rack1", "results/rack1/bert"


#: What the flags of a file ask for, as the tables name it.
ASKED = {"rcp": "rcp_bypass", "seeds": "seed_bypass", "samples": "train_samples", "warnings": "werror"}


def asked(flags: Flags, file: str) -> set[str]:
    """What a file asks for; nothing else asks for anything."""
    files = {word: getattr(flags, field) for word, field in ASKED.items()}
    assert set(files.values()) <= {file, None}
    return {word for word, value in files.items() if value}


@pytest.mark.parametrize(
    ("round_name", "table"),
    [
        *((name, "old") for name in ("2.0", "2.1", "3.0", "3.1", "4.0", "hpc-2.0", "hpc-3.0")),
        *((name, "new") for name in ("4.1", "5.0", "5.1", "6.0", "6.1")),
    ],
)
def test_the_lines_count_that_the_verifying_script_reads(round_name: str, table: str, tmp_path: Path) -> None:
    """The script makes ``--LINE`` of each line that ends in a line feed; to v4.0 options have underscores."""
    usage, _, name = round_name.rpartition("-")
    file = f"ACME/{FILE}"
    tree(tmp_path, ROOT, "")
    for text, wanted, rules in TABLES[table]:
        (tmp_path / FILE).write_bytes(text.encode())
        [flags], findings = read(tmp_path, tmp_path / BENCHMARK, round_name=name, usage=usage or "training")
        assert (asked(flags, file), [found.rule for found in findings]) == (set(wanted), rules), text
        assert all(found.rejects is (found.rule == "official.crash") for found in findings)


@pytest.mark.parametrize("where", [SYSTEM, BENCHMARK])
@pytest.mark.parametrize("round_name", ["4.0", "4.1", "5.0", "5.1", "6.0", "6.1"])
@pytest.mark.parametrize(("text", "asked", "rules"), TABLES["folders"])
def test_from_v40_a_flag_counts_on_a_last_line_without_a_line_feed(
    where: str, round_name: str, text: str, asked: str | None, rules: list[str], tmp_path: Path
) -> None:
    """The package checker compares whole lines, ends included. Seeds can be let off since v4.1, which asks for them."""
    [flags], findings = read(tmp_path, tree(tmp_path, where, text), round_name=round_name)
    unknown = round_name == "4.0" and "seed" in text
    expected = f"ACME/{where}/{FILE}"
    assert flags.rcp_bypass == (expected if asked == "rcp" else None)
    assert flags.seed_bypass == (expected if asked == "seeds" and not unknown else None)
    assert [finding.rule for finding in findings] == (["params.unknown-flag"] if unknown else rules)


@pytest.mark.parametrize(
    "text", ["rcp-bypass", "rcp-bypass\n", "rcp-bypass\r", "rcp_bypass", "a\nrcp-bypass", "rcp-bypass "]
)
@pytest.mark.parametrize("where", [SYSTEM, BENCHMARK])
def test_the_live_package_checker_takes_the_same_lines(
    where: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path, where, text)
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems" / "rack1.json").write_text('{"division": "closed"}')
    asked = []

    def check_directory(*_: Any, rcp_bypass: bool, **__: Any) -> tuple[bool, str, float]:
        asked.append(rcp_bypass)
        return True, "", 1.0

    monkeypatch.setattr(rcp_checker, "check_directory", check_directory)
    package_checker.check_training_result_files(str(tmp_path), "training", "5.0.0", True, False, False, False, False)
    [flags], _ = read(tmp_path, folder, round_name="5.0")
    assert asked == [flags.rcp_bypass is not None]


@pytest.mark.parametrize(
    ("text", "rule", "fix"),
    [
        ("rcp-bypass\n", "params.line-end", "Write the file with: printf 'rcp-bypass' > package_checker_params"),
        ("rcp_bypass\n", "params.unknown-flag", "Did you mean rcp-bypass? Write the file with: printf 'rcp-bypass'"),
        ("rcp-bypas\n", "params.unknown-flag", "Did you mean rcp-bypass? Write the file with: printf 'rcp-bypass'"),
    ],
)
def test_from_v40_a_line_that_counts_for_nothing_says_how_to_write_it(
    text: str, rule: str, fix: str, tmp_path: Path
) -> None:
    """The official checker compares with rcp-bypass; a file above two benchmarks is one finding."""
    folder = tree(tmp_path, SYSTEM, text)
    other = folder.with_name("resnet")
    other.mkdir()
    flags, [finding] = read(tmp_path, folder, other, round_name="5.1")
    assert [each.rcp_bypass for each in flags] == [None, None]
    assert (finding.rule, finding.line, finding.kind) == (rule, 1, "review")
    assert finding.actual == (None if rule == "params.line-end" else text.strip())
    at_end = "a last line, without a line feed at its end"
    assert finding.expected == (at_end if rule == "params.line-end" else "one of rcp-bypass, seed-checker-bypass")
    assert finding.fix is not None and finding.fix.startswith(fix)


def test_flags_of_a_system_and_of_a_benchmark_add_up(tmp_path: Path) -> None:
    folder = tree(tmp_path, SYSTEM, "rcp-bypass")
    (folder / FILE).write_text("seed-checker-bypass")
    [flags], _ = read(tmp_path, folder, round_name="5.1")
    assert (flags.rcp_bypass, flags.seed_bypass) == (f"ACME/{SYSTEM}/{FILE}", f"ACME/{BENCHMARK}/{FILE}")


def test_another_systems_flags_are_not_ones_own(tmp_path: Path) -> None:
    tree(tmp_path, SYSTEM, "rcp-bypass")
    other = tmp_path / "results" / "rack2" / "bert"
    other.mkdir(parents=True)
    [flags], _ = read(tmp_path, other, round_name="5.1")
    assert flags.rcp_bypass is None


@pytest.mark.parametrize(
    ("round_name", "usage", "where", "expected"),
    [
        ("1.1", "training", ROOT, "no such file"),
        ("1.1", "training", BENCHMARK, "no such file"),
        ("1.0", "hpc", ROOT, "no such file"),
        ("3.0", "hpc", BENCHMARK, "the file in the organisation's folder"),
        ("2.0", "training", BENCHMARK, "the file in the organisation's folder"),
        (
            *("5.1", "training", "results"),
            "the file in the organisation's folder, and the files in the folders of a system and of a benchmark",
        ),
    ],
)
def test_a_file_in_another_place_does_nothing_and_is_told(
    round_name: str, usage: str, where: str, expected: str, tmp_path: Path
) -> None:
    [flags], [finding] = read(tmp_path, tree(tmp_path, where, "rcp-bypass\n"), round_name=round_name, usage=usage)
    assert flags.rcp_bypass is None
    assert (finding.rule, finding.kind, finding.expected) == ("params.misplaced", "review", expected)


@pytest.mark.parametrize("place", ["root", "results", "folders"])
@pytest.mark.parametrize("content", [b"\0" * 100_000, b"\xff\xfe\n" * 40, b"a" * 60_000, b"a\n" * 30_000])
def test_hostile_files_are_findings(place: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(content)
    flags = read_flags(tmp_path, "x", get_round("training", "5.1"), place)
    assert flags.rcp_bypass is None
    assert 1 <= len(flags.findings) <= 10
    assert all(len(f.actual or "") < 400 for f in flags.findings)


#: What the official checker of v4.0 and later opens, and what it makes of it.
ODD: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "no text": lambda file: file.write_bytes(b"rcp-bypass\xff"),
    "a pipe": os.mkfifo,
}


def odd(top: Path, where: str, make: Callable[[Path], object]) -> Path:
    """A benchmark's folder, with something else in the place of a file of flags."""
    folder = tree(top, where, "")
    (top / where / FILE).unlink()
    make(top / where / FILE)
    return folder


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
@pytest.mark.parametrize("where", [SYSTEM, BENCHMARK])
@pytest.mark.parametrize("round_name", ["4.0", "5.1", "6.1"])
def test_what_the_official_checker_cannot_read_rejects(
    make: Callable[[Path], object], where: str, round_name: str, tmp_path: Path
) -> None:
    folder = odd(tmp_path, where, make)
    [flags], [found] = read(tmp_path, folder, round_name=round_name)
    assert flags.rcp_bypass is None
    assert (found.rule, found.path, found.rejects) == ("official.crash", f"ACME/{where}/{FILE}", True)


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
@pytest.mark.parametrize(("round_name", "where"), [("3.1", BENCHMARK), ("3.1", ROOT), ("5.1", ROOT), ("1.0", SYSTEM)])
def test_where_no_official_checker_reads_it_nothing_rejects(
    make: Callable[[Path], object], round_name: str, where: str, tmp_path: Path
) -> None:
    folder = odd(tmp_path, where, make)
    _, findings = read(tmp_path, folder, round_name=round_name)
    assert [found for found in findings if found.rejects] == []


def test_a_link_that_leads_nowhere_is_no_file_to_the_official_checker(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to(FILE)
    (found,) = read_flags(tmp_path, "x", get_round("training", "5.1")).findings
    assert found.rule == "params.unreadable"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        (
            "rcp_bypass\n",
            r"Did you mean rcp-bypass? Write the file with: printf 'rcp-bypass\n' > package_checker_params",
        ),
        ("rcp_bypass\nquiet\n", "Did you mean rcp-bypass? Write the line so."),
        ("# none\n", "Remove the line, or the file."),
        ("help\n", "Remove the line, or the file."),
        ("rcp-bypass", "End the line with: echo >> package_checker_params"),
    ],
)
def test_a_line_of_the_organisation_that_is_not_taken_says_what_to_do(text: str, fix: str, tmp_path: Path) -> None:
    [flags], [found] = read(tmp_path, tree(tmp_path, ROOT, text), round_name="5.1")
    assert (flags.rcp_bypass, found.path, found.line, found.fix) == (None, f"ACME/{FILE}", 1, fix)


def test_a_flag_that_counts_in_the_organisations_folder_alone_says_so(tmp_path: Path) -> None:
    _, [found] = read(tmp_path, tree(tmp_path, BENCHMARK, "rcp-bert-train-samples"), round_name="5.1")
    there = r"printf 'rcp-bert-train-samples\n' > package_checker_params"
    assert found.fix == f"It counts in the organisation's folder. There: Write the file with: {there}"


def test_a_large_file_of_the_organisation_is_never_accepted(tmp_path: Path) -> None:
    """One line of it that is no option would end the script."""
    tree(tmp_path, ROOT, "quiet\n" * 20_000)
    (found,) = read_flags(tmp_path, "x", get_round("training", "5.1"), "root").findings
    assert (found.rule, found.rejects) == ("official.crash", True)


def test_many_options_are_parsed_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is linear: argparse alone takes the square of the number of options. Equal ones are parsed once."""
    parsed: list[int] = []
    parse = ArgumentParser.parse_args

    def counted(self: ArgumentParser, words: list[str]) -> Namespace:
        parsed.append(len(words))
        return parse(self, words)

    monkeypatch.setattr(ArgumentParser, "parse_args", counted)
    tree(
        tmp_path,
        ROOT,
        "".join(f"l {number}\n" for number in range(500)) + "quiet --q\n" + "rcp-bypass" + " --q" * 9000 + "\n",
    )
    flags = read_flags(tmp_path, "x", get_round("training", "5.1"), "root")
    assert (flags.rcp_bypass, flags.findings) == (f"x/{FILE}", ())
    assert (len(parsed), max(parsed)) == (504, 5)
    (tmp_path / FILE).write_text("q" + " -h" * 9000 + "\n")
    assert read_flags(tmp_path, "x", get_round("training", "5.1"), "root").findings
    assert len(parsed) == 504
