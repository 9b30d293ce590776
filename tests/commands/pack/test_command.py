"""``mlsub pack`` and ``mlsub init`` as they are called: what people read, to the letter, and how they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mlsub.cli import main
from tests.conftest import ExpectedText
from tools.support.make_tree import make_tree, snapshot
from tools.support.runner import Outcome, answer_schema, run
from tools.support.workplace import Workplace


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.chdir(tmp_path)
    return Workplace(tmp_path)


@pytest.fixture
def reads(workplace: Workplace, expected_text: ExpectedText) -> ExpectedText:
    """The text is the expected one, where ROOT stands for the workplace."""
    return lambda name, text: expected_text(name, text.replace(str(workplace.folder), "ROOT"))


def pack(*options: str) -> Outcome:
    return run("pack", "submission.yaml", "-o", "out/ACME", "--jobs", "1", *options)


def everything(workplace: Workplace) -> None:
    """A plan with all there is to show: code, strays, power, notes, other files, templates."""
    code = workplace.add_code()
    (code / "__pycache__").mkdir()
    (code / "__pycache__" / "train.pyc").write_text("")
    for run_ in range(5):
        (workplace.folder / f"power/train-{run_}").mkdir(parents=True)
        (workplace.folder / f"power/train-{run_}/node_0.txt").write_text("")
    (workplace.folder / "NOTES.md").write_text("")
    workplace.entry(power="power", implementation="mxnet", division="closed", notes="With the new\n  driver.")
    workplace.save(files=[{"from": "NOTES.md", "to": "README.md"}])


def test_a_dry_run_shows_the_plan_and_the_verdict(workplace: Workplace, reads: ExpectedText) -> None:
    everything(workplace)
    before = snapshot(workplace.folder)
    done = pack("--scaffold")
    assert done.status == 0
    assert done.stderr == ""
    reads("plan.txt", done.stdout)
    assert snapshot(workplace.folder) == before


def test_written_and_then_as_planned(workplace: Workplace) -> None:
    workplace.add_code()
    first, second = pack("--write"), pack("--write")
    assert (first.status, second.status) == (0, 0)
    assert first.stdout.endswith("Written to out/ACME: 8 files (8 new).\n")
    assert second.stdout.endswith("out/ACME is as planned: nothing to write.\n")
    workplace.entry(runs="runs/resnet/train-*.txt")
    assert pack().stdout.endswith(
        "Nothing is written yet. With --write, out/ACME has 8 files (0 new, 4 changed, 4 as before).\n"
    )


def test_a_rejection_is_told_and_may_be_allowed(workplace: Workplace, reads: ExpectedText) -> None:
    workplace.make_too_fast()
    refused = pack("--write")
    assert refused.status == 1
    reads("refused.txt", refused.stdout)
    assert not (workplace.folder / "out/ACME").exists()
    allowed = pack("--write", "--allow", "rcp.too-fast", "--reason", "for the appeal")
    assert allowed.status == 0
    assert "waived without an end: rcp.too-fast of results/rack1/resnet: for the appeal\n" in allowed.stdout
    assert allowed.stdout.endswith("Written to out/ACME: 6 files (6 new).\n")
    assert run("check", "out/ACME", "--round", "1.0").status == 1


WHY = "say why with --reason TEXT"
ALLOWED = {
    ("--allow", "rcp.too-fast"): WHY,
    ("--reason", "because"): WHY,
    ("--allow", "rcp.too-fast", "--reason", " "): WHY,
    ("--allow", "a", "--reason", "x"): "there is no rule 'a'.",
    ("--allow", "rcp.too-fst", "--reason", "x"): "there is no rule 'rcp.too-fst'. Did you mean rcp.too-fast",
}


@pytest.mark.usefixtures("workplace")
def test_what_is_allowed_is_a_rule_with_a_reason() -> None:
    for options, message in ALLOWED.items():
        done = pack(*options)
        assert (done.status, message in done.stderr) == (2, True), options


def test_files_that_would_go_are_told(workplace: Workplace) -> None:
    (workplace.folder / "notes.txt").write_text("")
    workplace.save(files=[{"from": "notes.txt", "to": "notes.txt"}])
    pack("--write")
    workplace.save(files=[])
    done = pack("--write")
    assert done.status == 1
    assert done.stdout.endswith(
        "Not in the plan, but there\n  - notes.txt\n\n"
        "Not written: The folder holds files that the manifest does not name [package.out-has-more]\n"
    )
    gone = pack("--write", "--force")
    assert gone.stdout.endswith(
        "Gone from there\n  - notes.txt\n\nWritten to out/ACME: 6 files (0 new, 6 as before, 1 removed).\n"
    )


def test_an_unsound_plan_is_not_checked(workplace: Workplace, reads: ExpectedText) -> None:
    workplace.entry(runs=["runs/resnet/train-0.txt", "runs/absent.txt"])
    done = pack("--format", "markdown")
    assert done.status == 1
    reads("unsound.md", done.stdout)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["newer.yaml"], "newer.yaml:2: round: there are no rules for training round '1.9'. Did you mean 1.1?"),
        (["absent.yaml", "-o", "x"], "absent.yaml:1: cannot be read: No such file or directory"),
        (
            ["submission.yaml", "-o", "."],
            ". holds something other than a submission (neither results nor systems). "
            "Name the organisation's folder, such as Organisation.",
        ),
    ],
)
def test_what_cannot_be_used_ends_with_2(workplace: Workplace, arguments: list[str], why: str) -> None:
    (workplace.folder / "newer.yaml").write_text(workplace.manifest_file.read_text().replace("1.0", "1.9"))
    assert run("pack", *arguments) == (2, "", f"mlsub pack: {why}\n")


def test_the_document_has_it_all(workplace: Workplace) -> None:
    everything(workplace)
    workplace.make_too_fast()
    waiver = {"rule": "rcp.too-fast", "reason": "It is known to all.", "expires": "2999-12-31"}
    workplace.save(waivers=[waiver])
    done = pack("--format", "json", "--write")
    assert done.status == 0
    document = done.document
    answer_schema("pack").validate(document)
    assert document["written"]
    assert not document["refused"]
    assert document["report"]["official"] == "rejected"
    assert document["waived"] == [waiver | {"path": "results/rack1/resnet"}]
    places = {file["to"]: file["from"] for file in document["files"]}
    assert places["results/rack1/resnet/result_0.txt"] == str(workplace.folder / "runs/resnet/train-4.txt")
    cache = str(workplace.folder / "code/mxnet/__pycache__")
    assert document["left_out"] == [{"path": cache, "why": "folders of caches do not belong in a submission"}]
    assert sorted(document["difference"]["new"]) == sorted(places)


def init(*options: str, answers: str | None = None) -> Outcome:
    result = CliRunner().invoke(main, ["init", *options], input=answers)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return Outcome(result.exit_code, result.stdout, result.stderr)


FLAGS = (
    *("--organisation", "ACME", "--round", "v5.1", "--division", "closed", "--implementation", "nemo"),
    *("--system", "rack1", "--benchmark", "llama2_70b_lora", "--benchmark", "flux1"),
)


def test_a_manifest_is_made_from_flags(workplace: Workplace, reads: ExpectedText) -> None:
    done = init("new.yaml", *FLAGS)
    assert done.status == 0
    reads("init-flags.txt", done.stdout + "\n" + (workplace.folder / "new.yaml").read_text())


def test_a_manifest_is_made_by_asking(workplace: Workplace) -> None:
    # Wrong answers are told and asked again.
    answers = "ACME\ntrainng\ntraining\n5.9\n5.1\nrack1\nllama2, flux1\nllama2_70b_lora, flux1\nclosed\n"
    done = init("asked.yaml", "--ask", "--implementation", "nemo", answers=answers)
    assert done.status == 0
    assert "There is no usage 'trainng'. Did you mean training?" in done.stdout
    assert "There is no benchmark of the round 'llama2'. Did you mean llama2_70b_lora?" in done.stdout
    init("new.yaml", *FLAGS)
    assert (workplace.folder / "asked.yaml").read_text() == (workplace.folder / "new.yaml").read_text()


def test_what_nobody_says_and_nobody_is_asked_is_an_error(workplace: Workplace) -> None:
    done = init("new.yaml", "--organisation", "ACME")
    assert done.status == 2
    assert done.stderr == ("mlsub init: --round is not given. Say it, or use --ask to be asked for what is missing.\n")
    assert not (workplace.folder / "new.yaml").exists()


NAMES_NOTHING = {
    ("--round", "5.9"): "There is no round of training '5.9'. Did you mean 5.1?",
    ("--benchmark", "bort"): "There is no benchmark of the round 'bort'",
    ("--usage", "inference"): "There is no usage 'inference'",
    ("--organisation", "a/b"): "'a/b' cannot be the name of a folder",
    ("--system", "../x"): "'../x'",
}


def test_a_flag_that_names_nothing_is_an_error(workplace: Workplace) -> None:
    for changed, message in NAMES_NOTHING.items():
        done = init("new.yaml", *FLAGS, *changed)
        assert (done.status, done.stderr.startswith("mlsub init: "), message in done.stderr) == (2, True, True), changed
        assert not (workplace.folder / "new.yaml").exists()


def test_a_manifest_that_is_there_is_not_replaced_unasked(workplace: Workplace) -> None:
    before = workplace.manifest_file.read_bytes()
    assert init(*FLAGS).stderr == "mlsub init: submission.yaml exists. Add --force to replace it.\n"
    assert workplace.manifest_file.read_bytes() == before
    assert init(*FLAGS, "--force").status == 0
    assert workplace.manifest_file.read_bytes() != before


def test_a_manifest_of_a_submission_that_is_there(workplace: Workplace) -> None:
    tree = make_tree(workplace.folder / "old", org="ACME")
    assert init("from.yaml", "--from", str(tree.folder)).status == 0
    done = run("pack", "from.yaml", "-o", "new/ACME", "--write", "--jobs", "1")
    assert done.status == 0
    assert "names as they are" in done.stdout
    for file in tree.folder.rglob("result_*.txt"):
        packed = workplace.folder / "new/ACME" / file.relative_to(tree.folder)
        assert packed.read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--from", "runs"), "runs holds neither results nor systems. Name an organisation's folder."),
        (("--from", "loose"), "No folder above is named like a round. Say --round, such as --round 5.1."),
        (("--from", "loose", "--round", "9.9"), "no training round '9.9'"),
    ],
)
def test_what_is_no_submission_has_no_manifest(workplace: Workplace, options: tuple[str, ...], message: str) -> None:
    (workplace.folder / "loose" / "results").mkdir(parents=True)
    done = init("from.yaml", *options)
    assert done.status == 2
    assert done.stderr.startswith(f"mlsub init: {message}")
