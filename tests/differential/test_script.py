"""Flags in the organisation's folder: mlsub, and the script that verifies a submission with the official parser."""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path

import pytest

from mlsub.findings import Kind, Severity
from mlsub.rounds import Round, get_round
from mlsub.submission.params import FILE, read_flags
from tools.oracle.generate import Combination, usage_and_round
from tools.oracle.packages import Package, accepted, build, log_of, official, ours, rejecting, speed_up
from tools.oracle.scores import RELEASES, of_history
from tools.oracle.script import BEGINNING, FLAGS, ScriptError, asked_by_script, words_for
from tools.oracle.shared import ABSENT, present
from tools.support.corpus import CORPUS
from tools.support.effort import effort

ROUNDS = [round_id for round_id in RELEASES if get_round(*usage_and_round(round_id)).script_options]
#: What lines are made of: options of either spelling, whole and cut, and what shells and parsers care about.
PIECES = (
    *(b"rcp-bypass", b"rcp_bypass", b"seed-checker-bypass", b"rcp-bert-train-samples", b"rcp_bert_train_samples"),
    *(b"werror", b"quiet", b"log_output", b"help", b"rcp", b"rcp-by", b"seed", b"q", b"l", b"w", b"h", b"foo", b"x"),
    *(b"=", b"=1", b" ", b"  ", b"\t", b"\r", b"\0", b"\v", b"-", b"--", b" -h", b" -1", b" --q", b"\\", b'"', b"'"),
    *(
        b"#",
        b"*",
        b"?",
        b"[",
        b"$HOME",
        b"`id`",
        b"$(id)",
        b"~",
        b"{a,b}",
        b"\xc3\xa9",
        b"\xff",
        b"\xc2\xa0",
        b"\x01\x7f",
    ),
)


def _text(rng: random.Random) -> bytes:
    lines = [b"".join(rng.choices(PIECES, k=rng.choice((0, 1, 1, 1, 2, 3)))) for _ in range(rng.choice((1, 1, 2, 3)))]
    return b"\n".join(lines) + rng.choice((b"\n", b"\n", b""))


def _differs(folder: Path, text: bytes, round_: Round) -> str | None:
    """What each side says of a file, where they differ: the flags, or that nothing is checked."""
    (folder / FILE).write_bytes(text)
    flags = read_flags(folder, "x", round_, "root")
    asked = (flags.werror, flags.rcp_bypass, flags.train_samples, flags.seed_bypass)
    here = None if any(found.rejects for found in flags.findings) else [file is not None for file in asked]
    try:
        there = list(asked_by_script(folder, round_).values())
    except ScriptError:
        there = None
    return None if here == there else f"{text!r}: {here} here, {there} there"


@pytest.mark.parametrize("round_id", ["3.1", "4.0", "6.1"])
def test_any_lines_ask_for_what_the_script_makes_of_them(round_id: str, tmp_path: Path) -> None:
    rng, round_ = random.Random(f"lines {round_id}"), get_round(*usage_and_round(round_id))
    texts = [_text(rng) for _ in range(effort(40, 400))]
    assert [said for text in texts if (said := _differs(tmp_path, text, round_))] == []


def test_the_script_ends_on_a_file_that_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    assert words_for(tmp_path) == []
    assert not any(found.rejects for found in read_flags(tmp_path, "x", get_round("training", "6.1"), "root").findings)


def _without_seeds(package: Package) -> None:
    for file in package.logs:
        file.write_bytes(log_of(package.combination, 0).without("seed").content())


#: Rounds, what is wrong with the package, and whether each file lets it pass.
LLAMA, LORA, SSD = ("6.1", "llama31_8b"), ("5.1", "retinanet"), ("4.0", "ssd")
VERDICTS = [
    (LLAMA, _without_seeds, "", False),
    (LLAMA, _without_seeds, "seed-checker-bypass\n", True),
    (LLAMA, _without_seeds, "seed\n", True),
    (LLAMA, _without_seeds, "seed-checker-bypass", False),
    (LLAMA, _without_seeds, "seed-checker-bypass\n# none\n", False),
    (LORA, speed_up, "", False),
    (LORA, speed_up, "rcp-bypass\n", True),
    (LORA, speed_up, "rcp_bypass\n", False),
    (SSD, speed_up, "rcp_bypass\n", True),
    (SSD, speed_up, "rcp-bypass\n", False),
    (("3.1", "ssd"), speed_up, "rcp_bypass\n", True),
    (LORA, None, "# none\n", False),
    (LORA, None, "rcp_bypass\n", False),
    (LORA, None, "help\n", False),
    (LORA, None, "q\n", True),
    (LORA, None, "rcp_bypass", True),
    (("2.1", "ssd"), None, "no-option\n", False),
    (("1.1", "ssd"), None, "no-option\n", True),
]


@pytest.mark.parametrize(("where", "change", "text", "passes"), VERDICTS)
def test_a_package_gets_the_verdict_of_the_script(
    where: tuple[str, str], change: object, text: str, passes: bool, tmp_path: Path
) -> None:
    package = build(tmp_path, Combination(*where, "closed", None))
    if callable(change):
        change(package)
    (package.folder / FILE).write_text(text)
    report = ours(package)
    assert (accepted(report), official(package).accepted) == (passes, passes), rejecting(report)


@pytest.mark.slow
@pytest.mark.skipif(not present(), reason=ABSENT)
def test_published_logs_without_seeds_pass_where_the_organisation_asks_for_it(tmp_path: Path) -> None:
    copy = tmp_path / "v5.1" / "MiTAC"
    shutil.copytree(CORPUS / "v5.1" / "MiTAC", copy, copy_function=shutil.copyfile)
    for log in copy.glob("results/*/*/result_*.txt"):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(line for line in lines if b'"key": "seed"' not in line))
    package = Package(copy, Combination("5.1", "", "", None))
    verdicts = []
    for text in ("", "seed-checker-bypass\n", "seed_checker_bypass\n"):
        (copy / FILE).write_text(text)
        verdicts.append((accepted(ours(package)), official(package).accepted))
    assert verdicts == [(False, False), (True, True), (False, False)]


def test_werror_rejects_what_the_compliance_checker_warns_of(tmp_path: Path) -> None:
    package = build(tmp_path, Combination("5.1", "retinanet", "open", None))
    for run, file in enumerate(package.logs):
        log = log_of(package.combination, run)
        (place,) = log.places("submission_org")
        file.write_bytes(log.inserted(place, log.like(place)).content())
    verdicts = []
    for text in ("", "werror\n"):
        (package.folder / FILE).write_text(text)
        verdicts.append((accepted(ours(package)), official(package).accepted))
    assert verdicts == [(True, True), (False, False)]
    warned = [found for found in ours(package).findings if found.rule == "key.submission_org.repeated"]
    assert {(found.kind, found.severity) for found in warned} == {(Kind.OFFICIAL, Severity.ERROR)}


@pytest.mark.parametrize("round_id", ROUNDS)
def test_each_round_has_the_script_and_the_options_of_its_release(round_id: str, history: Path) -> None:
    usage, name = usage_and_round(round_id)
    round_ = get_round(usage, name)
    release = "2.1.0" if round_id == "hpc-2.0" else RELEASES[round_id]
    script = re.sub("^# .*\n", "", of_history(history, release, f"scripts/verify_for_v{name}_{usage}.sh"), flags=re.M)
    call = f"python3 -m mlperf_logging.package_checker $1 {usage} {round_.ruleset} $PACKAGE_CHECKER_PARAMS\n"
    assert script.startswith(BEGINNING + call)
    checker = of_history(history, release, "mlperf_logging/package_checker/package_checker.py")
    options = re.findall(r"^        '--(.*)',$", checker, re.MULTILINE)
    assert [option.rstrip("=") for option in round_.script_options] == options
    assert {flag.replace("-", "_") for flag in round_.script_options} >= {flag for flag in FLAGS if "seed" not in flag}
    assert set(re.findall(r'line == "(.*)"', checker)) == set(round_.folder_flags)


@pytest.mark.parametrize("round_id", ["0.7", "1.0", "1.1", "hpc-1.0"])
def test_a_round_without_such_a_script_has_no_options(round_id: str, history: Path) -> None:
    usage, name = usage_and_round(round_id)
    round_ = get_round(usage, name)
    script = of_history(history, "master", f"scripts/verify_for_v{name}_{usage}.sh")
    assert "PARAMS" not in script
    assert (round_.script_options, round_.folder_flags) == ((), ())
