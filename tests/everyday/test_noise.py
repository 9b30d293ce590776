"""A clean package says little: its table, its verdict, and how many review findings it has of which rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from mlsub.commands.check.document import MANY, MOST_LISTED, document_of
from mlsub.findings import Kind, Severity, Verdict
from mlsub.io.show import cells
from mlsub.present import markdown
from mlsub.present.text import render
from mlsub.submission.report import Choice, Detail, EntryResult, Report
from mlsub.workspace import Context, check_paths
from tools.support.corpus import CORPUS
from tools.support.effort import LONG
from tools.support.make_tree import make_tree, spoil

#: Lines on review findings that a clean package may print at 80 columns.
MOST = 12
PACKAGES = sorted(f"{folder.parent.name}/{folder.name}" for folder in CORPUS.glob("*/*/") if folder.is_dir())
QUICK = ("v1.0/Graphcore", "v4.0/JuniperNetworks", "v4.0/smc-ac-power", "v5.0/tinycorp", "v5.1/MiTAC")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def shown(reports: Sequence[Report], width: int, **view: object) -> list[str]:
    return render(document_of(reports, Choice(**view), verdict_last=True), width).splitlines()  # type: ignore[arg-type]


@pytest.mark.skipif(not PACKAGES, reason=f"published packages are not at {CORPUS}")
@pytest.mark.parametrize("package", PACKAGES if LONG else QUICK)
def test_a_published_package(package: str) -> None:
    reports = check_paths([CORPUS / package], Context(jobs=1))
    [report] = reports
    for width in (60, 80, 120):
        lines = shown(reports, width)
        assert max(map(cells, lines)) <= width
        coloured = render(document_of(reports, Choice(), verdict_last=True), width, colour=True)
        assert COLOUR.sub("", coloured).splitlines() == lines
        _is_short(report, lines, most=MOST if width >= 80 else 2 * MOST)
    _is_whole(report, shown(reports, 80, detail="full"))
    _says_what_rejects(report, "".join(shown(reports, 200, detail="quiet")))
    page = markdown.render(document_of(reports, Choice(detail="full"), verdict_last=False))
    assert {finding.rule for finding in report.findings} <= set(re.findall(r"`\[([\w.-]+)\]`", page))
    assert "more place" not in page


def _is_short(report: Report, lines: list[str], *, most: int) -> None:
    """Review findings but errors are counted, and nothing is shown in full that nobody has to fix."""
    text = "\n".join(lines)
    assert "review warning:" not in text and "review note:" not in text
    begin = next((at for at, line in enumerate(lines) if re.match("review [a-z]+:", line)), None)
    end = next(at for at, line in enumerate(lines) if re.match(f"{report.official.value}[:,] ", line))
    assert begin is None or 0 < end - begin <= most
    official = [f for f in report.findings if f.kind is Kind.OFFICIAL and f.severity is not Severity.NOTE]
    in_full = {rule for rule in re.findall(r"\[([a-z][\w.-]+)\]", text) if "." in rule}
    wanted = official if report.official is Verdict.ACCEPTED else report.rejecting()
    assert in_full == {finding.rule for finding in (*wanted, *report.review_errors())}


def _is_whole(report: Report, lines: list[str]) -> None:
    """With --verbose every finding is shown, in fewer lines than there are places."""
    text = "\n".join(lines)
    assert all(f"[{finding.rule}]" in text for finding in report.findings)
    assert "-v shows" not in text


def _says_what_rejects(report: Report, line: str) -> None:
    assert re.match(f"{report.official.value}[:,] ", line)
    assert ("rejected (" in line) == (report.official is Verdict.REJECTED)
    for finding in report.rejecting()[:1]:
        assert finding.rule in line


def test_every_published_package_is_known() -> None:
    assert not PACKAGES or (len(PACKAGES) == 55 and set(QUICK) <= set(PACKAGES))


def test_ten_equal_places_are_one_line() -> None:
    if not PACKAGES:
        pytest.skip(f"published packages are not at {CORPUS}")
    [report] = check_paths([Path(CORPUS) / "v5.1/MiTAC"], Context(jobs=1))
    places = [line.strip() for line in shown([report], 120, detail="full") if " in: " in line]
    assert "in:       results/8xMI325X_2xEPYC_9755/llama2_70b_lora/result_{0..9}.txt:35" in places
    assert len(places) == len({(f.rule, f.expected) for f in report.findings})


def test_a_round_of_many_organisations_begins_with_a_row_for_each(tmp_path: Path) -> None:
    make_tree(tmp_path)
    make_tree(tmp_path, org="Zeta").log(4).unlink()
    [report] = check_paths([tmp_path / "v1.0"], Context(jobs=1))
    first, last = report.entries
    more = [msgspec.structs.replace(first, path=f"ACME/results/rack{n}/resnet", system=f"rack{n}") for n in range(MANY)]
    [few] = [[line for line in shown([report], 120) if line.startswith(("ACME", "Zeta"))]]
    assert [line.split()[:2] for line in few] == [["ACME", "rack1"], ["Zeta", "rack1"]]
    big = msgspec.structs.replace(report, entries=(first, *more, last))
    lines = shown([big], 120)
    assert [" ".join(line.split()) for line in lines if line.startswith(("ACME", "Zeta"))][:2] == [
        f"ACME {MANY + 1} of {MANY + 1} 5 of 5 1 of 1 accepted",
        "Zeta 0 of 1 4 of 4 1 of 1 rejected",
    ]
    assert [line.split()[:2] for line in lines if line.startswith("Zeta")][1:] == [["Zeta", "rack1"]]
    assert f"{MANY + 1} accepted entries are not listed here (--summary lists them)." in lines
    for detail in ("summary", "full"):
        assert sum(line.startswith(("ACME", "Zeta")) for line in shown([big], 120, detail=detail)) == MANY + 2


def test_of_many_single_logs_the_bad_ones_are_listed(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 1)
    [report] = check_paths([tree.log(run) for run in range(2)], Context(jobs=1))
    assert [line.split()[0] for line in shown([report], 120) if line.startswith("result_")] == [
        "result_0.txt", "result_1.txt"
    ]  # fmt: skip
    good, bad = report.logs
    more = [msgspec.structs.replace(good, path=f"result_{number}.txt") for number in range(2, MANY + 2)]
    lines = shown([msgspec.structs.replace(report, logs=(good, bad, *more))], 120)
    assert [line.split()[0] for line in lines if line.startswith("result_")] == ["result_1.txt"]
    assert f"{MANY + 1} compliant logs are not listed here (--summary lists them)." in lines
    worse = [msgspec.structs.replace(bad, path=f"result_{number}.txt") for number in range(2, MOST_LISTED + 3)]
    lines = shown([msgspec.structs.replace(report, logs=(good, bad, *worse))], 120)
    assert sum(line.startswith("result_") for line in lines) == MOST_LISTED
    assert "1 compliant log is not listed here (--summary lists them)." in lines
    assert "2 noncompliant logs are not listed here (--summary lists them)." in lines


def test_of_more_entries_than_an_organisation_has_the_rejected_ones_are_listed(tmp_path: Path) -> None:
    make_tree(tmp_path)
    [report] = check_paths([tmp_path / "v1.0"], Context(jobs=1))
    [good] = report.entries
    bad = msgspec.structs.replace(good, official=Verdict.REJECTED)

    def rows(first: EntryResult, other: EntryResult, number: int, detail: Detail = "usual") -> tuple[int, list[str]]:
        more = [msgspec.structs.replace(other, system=f"rack{n}") for n in range(number)]
        lines = shown([msgspec.structs.replace(report, entries=(first, *more))], 120, detail=detail)
        return sum(line.startswith("rack") for line in lines), [line for line in lines if "not listed" in line]

    why = "not listed here (--summary lists them)."
    assert rows(bad, good, MOST_LISTED - 1) == (MOST_LISTED, [])
    assert rows(bad, good, MOST_LISTED) == (1, [f"{MOST_LISTED} accepted entries are {why}"])
    left_out = [f"1 accepted entry is {why}", f"3 rejected entries are {why}"]
    assert rows(good, bad, MOST_LISTED + 3) == (MOST_LISTED, left_out)
    for detail in ("summary", "full"):
        assert rows(good, bad, MOST_LISTED + 3, detail) == (MOST_LISTED + 4, [])
