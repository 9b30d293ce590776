"""``mlsub status``: from a manifest before anything is recorded to a sealed package, by what it says to do next."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyrage import x25519

from tests.conftest import ExpectedText
from tools.support.make_tree import Log, make_description, make_log, make_tree, snapshot, spoil
from tools.support.runner import Outcome, answer_schema, run
from tools.support.workplace import Workplace


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.chdir(tmp_path)
    return Workplace(tmp_path)


def status(*options: object) -> Outcome:
    return run("status", *options, "--jobs", "1")


def answer(*options: object) -> Outcome:
    done = status(*options, "--format", "json")
    answer_schema("status").validate(done.document)
    assert done.document["next"] and done.document["why"]
    return done


def kinds(done: Outcome) -> list[tuple[str, str]]:
    return [(task["kind"], task["where"]) for task in done.document["tasks"]]


def filled(workplace: Workplace) -> None:
    """Everything that the rules ask for beside the runs."""
    workplace.add_code()
    run("pack", "--scaffold", "--write", "--jobs", "1")
    for file in (workplace.folder / "setup/resnet/rack1").iterdir():
        file.write_text("{}" if file.suffix == ".json" else "done\n")


def test_what_is_recorded_run_by_run(workplace: Workplace) -> None:
    workplace.add_code()
    description = (workplace.folder / "rack1.json").read_bytes()
    (workplace.folder / "rack1.json").unlink()
    runs = workplace.folder / "runs/resnet"
    later = runs.rename(workplace.folder / "later")
    workplace.entry(runs="runs/resnet")
    nothing = answer()
    left = [("description", "rack1.json"), ("runs", "runs/resnet"), ("template", "setup/resnet/rack1")]
    assert (nothing.status, kinds(nothing)) == (1, left)
    capture = "mlsub system capture --submitter ACME --set system_name=rack1 -o rack1.json"
    assert nothing.document["next"] == capture
    (workplace.folder / "rack1.json").write_bytes(description)
    assert answer().document["next"] == "mlsub rules keys resnet --round 1.0"
    runs.mkdir()
    for number in range(4):
        (later / f"train-{number}.txt").rename(runs / f"result_{number}.txt")
    some = answer()
    assert some.document["next"] == "mlsub watch runs/resnet"
    [entry] = some.document["entries"]
    assert (entry["runs"], entry["needed"], entry["rcp"], entry["official"]) == (4, 5, "open", "rejected")
    assert entry["percent"] > 0


@pytest.mark.slow
def test_what_was_sealed_is_another_package_by_now(workplace: Workplace) -> None:
    filled(workplace)
    states = []
    for command in ("pack --write --jobs 1", "seal training_v1.0/ACME --no-encryption"):
        states.append(answer().document["state"])
        assert run(*command.split()).status == 0
    done = answer()
    assert [*states, done.document["state"], done.status] == ["to-be-written", "to-be-sealed", "sealed", 0]
    (workplace.folder / "code/mxnet/train.py").write_text("print('other')\n")
    assert answer().document["state"] == "to-be-written"
    run("pack", "--write", "--jobs", "1")
    changed = answer().document
    assert (changed["state"], changed["sealed"]) == ("to-be-sealed", None)
    assert changed["next"].endswith("--force")


#: What only a person can do, of the tasks that status names: the words of the task say it, the command helps.
PERSON = {"runs": "record 5 runs of rack1/resnet", "code": "put the code there"}
_EDITOR = """
import json, sys
from pathlib import Path
for name in sys.argv[1:]:
    file = Path(name)
    if file.suffix != ".json":
        file.write_text("done\\n")
    elif "mlsub-template" in file.read_text():
        file.write_text("{}\\n")
    else:
        said = {"status": "Available on-premise"}
        content = {k: said.get(k, "N/A") if v == "TODO" else v for k, v in json.loads(file.read_text()).items()}
        file.write_text(json.dumps(content))
"""


@pytest.mark.parametrize("where", [pytest.param(".", marks=pytest.mark.slow), "acme inc"])
def test_from_init_to_a_sealed_package_by_each_next_command_to_the_letter(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "editor.py").write_text(_EDITOR)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {tmp_path / 'editor.py'}")
    Path(where).mkdir(exist_ok=True)
    file = Path(where) / "submission.yaml"
    flags = ["--organisation", "ACME", "--round", "1.0", "--division", "closed", "--system", "rack1"]
    run("init", file, *flags, "--benchmark", "resnet", "--implementation", "mxnet", "--no-ask")
    kinds_done = []
    for _ in range(20):
        before, shown = answer(where).document, status(where).stdout
        command = shown.splitlines()[-1].removeprefix("Next: ")
        assert command == before["next"]
        [task] = before["tasks"][:1] or [{"kind": before["state"], "words": ""}]
        kinds_done.append(task["kind"])
        if command.startswith("mlsub "):
            done = run(*shlex.split(command.replace(" KEY", f" {x25519.Identity.generate().to_public()}"))[1:])
            # A plan that only shows what is to be done finds something.
            assert done.status == 0 or task["kind"] == "code", done.stderr
        else:
            subprocess.run(["sh", "-c", command], check=True)
        if task["kind"] in PERSON:
            assert task["words"].startswith(PERSON[task["kind"]])
            _work(task["kind"], Path(where))
        if before["state"] == "sealed":
            break
        after = answer(where).document
        assert task not in after["tasks"] and after["next"] != command
    assert kinds_done[0] == "description" and {"fill-in", "template", *PERSON} < set(kinds_done)
    assert kinds_done[-3:] == ["to-be-written", "to-be-sealed", "sealed"]


def _work(kind: str, folder: Path) -> None:
    """What a person does: train, or put the code where the manifest says."""
    place = folder / ("runs/rack1/resnet" if kind == "runs" else "code/resnet")
    place.mkdir(parents=True)
    for number in range(5 if kind == "runs" else 0):
        (place / f"result_{number}.txt").write_text(make_log("resnet", "closed", number).text())
    if kind == "code":
        (place / "train.py").write_text("print('training')\n")


def test_what_is_printed(workplace: Workplace, expected_text: ExpectedText) -> None:
    filled(workplace)
    (workplace.folder / "rack1.json").write_text(json.dumps(make_description(cooling="TODO", hw_notes="not published")))
    for number in (0, 1):
        file = workplace.folder / f"runs/resnet/train-{number}.txt"
        log = Log.read(file)
        log.put("run_stop", metadata={"status": "aborted"})
        file.write_text(log.text())
    (workplace.folder / "setup/resnet/rack1/README.md").unlink()
    before = snapshot(workplace.folder)
    done = status("submission.yaml")
    assert done.status == 1
    expected_text("status.txt", done.stdout)
    assert snapshot(workplace.folder) == before


@pytest.mark.parametrize(("days", "said"), [(12, "12 days left"), (1, "1 day left"), (0, "today"), (-3, "3 days ago")])
def test_the_days_to_the_deadline(workplace: Workplace, days: int, said: str) -> None:
    day = datetime.now(UTC).date() + timedelta(days)
    workplace.save(deadline=str(day))
    assert f"deadline: {day}, {said}\n" in status().stdout
    assert answer().document["days_left"] == days


@pytest.mark.parametrize("written", ["soon", "2026-13-01", "never", 5])
def test_a_deadline_is_a_day(workplace: Workplace, written: object) -> None:
    workplace.save(deadline=written)
    done = status()
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("mlsub status: submission.yaml:") and "deadline" in done.stderr


def test_a_package_by_itself_and_with_a_manifest_near(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    done = answer(tree.folder)
    assert (done.status, done.document["state"], done.document["manifest"]) == (0, "to-be-sealed", None)
    assert done.document["next"] == f"mlsub seal {tree.folder} --recipient KEY"
    (tree.folder.parent / "submission.yaml").write_text(
        'organisation: ACME\nround: "1.0"\nsystems: {}\nentries: []\ndeadline: 2020-01-31\n'
    )
    assert answer(tree.folder).document["days_left"] < 0
    tree.log(4).unlink()
    tree.describe(cooling="TODO")
    left = answer(tree.folder)
    assert (left.status, left.document["next"]) == (1, f"mlsub check {tree.folder}")
    assert [kind for kind, _ in kinds(left)] == ["runs", "fill-in"]


def test_a_rejected_package_names_what_rejects_it(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 0, 1)
    done = answer(tree.folder)
    assert done.status == 1
    assert {kind for kind, _ in kinds(done)} == {"rejected"}
    assert [kind for kind, _ in kinds(answer(tree.folder.parent))] == [kind for kind, _ in kinds(done)]


def test_what_seal_stops_at_is_left_to_do(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.edit(lambda log: log.put("submission_platform", value="SUBMISSION_PLATFORM_PLACEHOLDER"), 0, 1)
    done = answer(tree.folder)
    assert (done.status, done.document["state"], done.document["official"]) == (1, "unfinished", "accepted")
    assert [task["words"] for task in done.document["tasks"]] == [
        "Records contain a placeholder [run.placeholder] (2 places)"
    ]


def test_a_part_of_a_package_and_a_round_of_several(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    make_tree(tmp_path, org="Zeta")
    assert [entry["entry"] for entry in answer(tree.entry()).document["entries"]] == ["rack1/resnet"]
    both = answer(tree.folder.parent).document
    assert both["organisation"] == "ACME, Zeta"
    assert [entry["entry"] for entry in both["entries"]] == ["ACME/rack1/resnet", "Zeta/rack1/resnet"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("nowhere.yaml", "cannot be read"),
        ("nowhere", "There is no "),
        ("empty", "There is neither a submission.yaml nor a package in empty. Write a manifest with mlsub init."),
        ("v1.0/ACME/results/rack1/resnet/result_0.txt", "is a log. Name a package of one round."),
        (".", "several rounds. Name a package of one round."),
        ("work/ACME", "No round was given"),
    ],
)
def test_what_is_neither_is_said_in_a_line(
    path: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for above in ("v1.0", "v1.1", "work"):
        make_tree(tmp_path, above)
    done = status(path)
    assert (done.status, done.stdout) == (2, "")
    assert why in done.stderr and len(done.stderr.splitlines()) == 1


def test_options_are_of_one_kind_of_path(workplace: Workplace) -> None:
    make_tree(workplace.folder)
    assert status("--round", "1.0").status == 2
    # A setting for packages is not an option.
    (workplace.folder / "mlsub.toml").write_text('round = "1.1"\n')
    assert answer().document["round"] == "1.0"
    (workplace.folder / "mlsub.toml").unlink()
    assert status("v1.0/ACME", "--package", "x").status == 2
    run("pack", "-o", "out/ACME", "--write", "--jobs", "1")
    done = answer("--package", "out/ACME").document
    assert done["written"] and all("-o out/ACME" in task["command"] for task in done["tasks"])


def test_runs_are_counted_while_there_are_too_few_to_choose_from(workplace: Workplace) -> None:
    (workplace.folder / "runs/resnet/train-4.txt").unlink()
    workplace.entry(runs="runs/resnet/*.txt", choose="median-window")
    done = answer()
    assert (done.document["entries"][0]["runs"], done.document["entries"][0]["rcp"]) == (4, "open")
    assert kinds(done)[0] == ("runs", "runs/resnet/*.txt")
    assert "record 1 more run of rack1/resnet (4 of 5)" in status().stdout


def test_templates_are_one_task_a_folder_until_no_line_of_theirs_is_left(workplace: Workplace) -> None:
    workplace.add_code()
    run("pack", "--scaffold", "--write", "--jobs", "1")
    [task] = answer().document["tasks"]
    assert (task["kind"], task["where"]) == ("fill-in", "setup/resnet/rack1")
    assert task["words"].startswith("fill in 5 templates, and remove every line that asks for it: README.md, ")
    for file in (workplace.folder / "setup/resnet/rack1").iterdir():
        file.write_text(file.read_text() + "\nmore\n")
    assert len(answer().document["tasks"]) == 1
    # Whoever removes the line with the marker alone is still asked.
    for file in (workplace.folder / "setup/resnet/rack1").iterdir():
        file.write_text("".join(line for line in file.read_text().splitlines(True) if "mlsub-template" not in line))
    [again] = answer().document["tasks"]
    assert again == task
    run("pack", "--write", "--jobs", "1")
    assert not (workplace.out / "benchmarks/resnet/rack1").exists()
    assert [kind for kind, _ in kinds(answer())] == ["fill-in"]


def test_a_division_that_is_to_be_filled_in_is_one_task(workplace: Workplace) -> None:
    filled(workplace)
    workplace.entry(division="closed")
    (workplace.folder / "rack1.json").write_text(json.dumps(make_description(division="TODO")))
    done = answer()
    assert (done.status, kinds(done)) == (1, [("fill-in", "rack1.json")])
    assert done.document["entries"][0]["runs"] == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("round_", "command", "word"),
    [
        ("1.0", "redact training_v1.0/ACME --write", "redact"),
        ("4.0", "score training_v4.0/ACME --write-scaling", "scaling"),
    ],
)
def test_a_package_that_a_command_has_changed_ends_sealed_whether_the_manifest_asks_for_that_or_not(
    round_: str, command: str, word: str, workplace: Workplace
) -> None:
    for file in (workplace.folder / "runs/resnet").iterdir():
        log = Log.read(file)
        log.put("eval_accuracy", metadata={"epoch_num": 35})
        file.write_text("Running as /home/mallory/run\n" + log.text())
    workplace.save(round=round_)
    filled(workplace)
    assert run("pack", "--write", "--jobs", "1").status == 0
    assert run(*command.split()).status == 0
    assert run("pack", "--jobs", "1").status == 1
    done = answer()
    assert (done.document["state"], done.document["unasked"]) == ("to-be-sealed", [word])
    assert f"manifest: submission.yaml, which lacks prepare: {{{word}: true}} for" in " ".join(status().stdout.split())
    if word == "scaling":
        assert done.document["entries"][0]["minutes"] > 12
    seal, _, _ = done.document["next"].partition(" --recipient")
    assert run(*shlex.split(seal)[1:], "--no-encryption").status == 0
    assert (answer().document["state"], status().status) == ("sealed", 0)
    workplace.save(prepare={word: True})
    asked = answer().document
    assert (asked["state"], asked["unasked"]) == ("sealed", [])
    assert run(*shlex.split(asked["next"])[1:]).status == 0
    assert run("pack", "--write", "--jobs", "1").stdout.endswith(" is as planned: nothing to write.\n")


@pytest.mark.slow
def test_what_a_person_changed_in_the_package_is_shown_by_pack(workplace: Workplace) -> None:
    filled(workplace)
    assert run("pack", "--write", "--jobs", "1").status == 0
    with (workplace.folder / "training_v1.0/ACME/results/rack1/resnet/result_0.txt").open("a") as log:
        log.write("by hand\n")
    done = answer()
    assert (done.document["state"], done.document["unasked"]) == ("unfinished", [])
    assert done.document["next"] == "mlsub pack submission.yaml"
    assert "package.out-changed" in run(*shlex.split(done.document["next"])[1:]).stdout


def test_the_days_of_the_round_are_counted_from_the_deadline(workplace: Workplace) -> None:
    workplace.entry(benchmark="flux1")
    workplace.save(round="6.1", deadline="2026-12-31")
    [rcps, *review, publication] = answer().document["calendar"]
    assert (rcps["day"], rcps["source"]) == ("2026-12-24", "training_policies#589")
    # The deadline is a Thursday: the schedule in the submission rules counts from the Friday.
    assert [each["day"] for each in review] == ["2027-01-08", "2027-01-11", "2027-01-18", "2027-01-20"]
    assert (publication["day"], publication["what"]) == ("2027-01-27", "publication")
    shown = status().stdout
    assert "Days of the round\n" in shown and "2027-01-27" in shown
    # A round that is published has no days to come; and no calendar has the year 10000.
    workplace.save(round="6.0")
    assert answer().document["calendar"] == []
    workplace.save(round="6.1", deadline="9999-12-31")
    assert [each["day"] for each in answer().document["calendar"]] == ["9999-12-24"]


def test_a_run_that_is_gzip_is_named_and_pack_says_what_unpacks_it(workplace: Workplace) -> None:
    log = workplace.folder / "runs/resnet/train-0.txt"
    packed = log.with_name("a.log.gz")
    packed.write_bytes(gzip.compress(log.read_bytes()))
    workplace.entry(runs=["runs/resnet/a.log.gz", *(f"runs/resnet/train-{number}.txt" for number in range(1, 5))])
    done = answer().document
    assert done["tasks"][0]["words"] == "a.log.gz is gzip [package.compressed]"
    assert "prepare: {gunzip: true}" in run(*shlex.split(done["next"])[1:]).stdout
    workplace.save(prepare={"gunzip": True})
    assert [task["kind"] for task in answer().document["tasks"]] == ["template"]


def test_numbered_logs_are_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    workplace = Workplace(tmp_path, "bert", named="run_{}.log")
    workplace.entry(runs="runs/bert")
    done = answer().document
    assert [(entry["runs"], entry["needed"]) for entry in done["entries"]] == [(10, 10)]
    assert "package.runs-missing" not in run("pack").stdout
