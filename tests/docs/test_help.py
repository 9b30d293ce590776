"""The example at the top of each command's help is run, in a folder that holds what it names."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from pyrage import x25519

from tests.commands.tree import leaves
from tests.docs.pages import REPOSITORY, Reader, Step
from tools.support.corpus import CORPUS

#: What an example names in the place of what only its reader has: the key of the committee, which the fixture makes.
KEY = "age1..."
#: Commands whose example is run elsewhere: what takes a minute, ``rehearsed`` and ``make demo`` train; a server.
ELSEWHERE = {"demo", "mcp"}
#: Commands whose example needs the published packages.
PUBLISHED = {"compare", "audit"}
#: Commands whose example follows one of another, in this order.
AFTER = ("init", "status", "pack", "seal", "unseal", "verify", "db build", "db query")
#: Commands whose example is to find something: status a package that is to be packed, rules keys what a file lacks.
FINDS = {"status", "compare", "audit", "rules keys"}
#: Commands on a page of docs/ that need no row of README.
IN_HELP_ALONE = {"cache", "completion", "schema"}
EXAMPLES = {name: str(getattr(command, "example", "")) for name, command in leaves().items()}


def accepted(folder: Path) -> None:
    """The package of docs/first-check.md as it is in the end: an organisation's folder."""
    shutil.copytree(REPOSITORY / "examples/rejected/v5.1/ACME", folder)
    runs = folder / "results/rack1/retinanet"
    (runs / "result_4.log").rename(runs / "result_4.txt")
    for run, later in ((1, 5), (3, 6)):
        shutil.copy(REPOSITORY / f"examples/rejected/later-runs/run_{later}.txt", runs / f"result_{run}.txt")
    file = folder / "systems/rack1.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "framework": "PyTorch 2.8.0"}))


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder = tmp_path_factory.mktemp("helped")
    for place in ("v5.0/Globex", "v5.1/ACME", "team-a/v5.1/ACME", "team-b/v5.1/ACME"):
        accepted(folder / place)
    for path in sorted((folder / "team-b/v5.1/ACME").glob("*/rack1*")):
        path.rename(path.with_name(path.name.replace("rack1", "rack2")))
    for log in (folder / "team-b/v5.1/ACME/results").glob("*/*/*"):  # other runs, an hour later
        log.write_text(re.sub(r'(?<="time_ms": )\d+', lambda at: str(int(at[0]) + 3_600_000), log.read_text()))
    runs = folder / "v5.1/ACME/results/rack1/retinanet"
    shutil.copytree(runs, folder / "runs")
    (folder / "reference/retinanet").mkdir(parents=True)
    for number in range(10):
        text = (runs / f"result_{number % 5}.txt").read_text()
        other = re.sub(r'"time_ms": \d', f'"time_ms": {number + 1}', text)  # another run, years earlier or later
        (folder / f"reference/retinanet/result_{number}.txt").write_text(other)
    (folder / "hyperparameters.yaml").write_text("global_batch_size: 64\nopt_name: adamw\n")
    shutil.copy(REPOSITORY / "submissions/graphcore-v1.0/claims.yaml", folder)
    for round_ in ("v1.0", "v1.1"):
        if CORPUS.is_dir():
            (folder / round_).symlink_to(CORPUS / round_)
    key = x25519.Identity.generate()
    (folder / "key.txt").write_text(f"{key}\n")
    (folder / "key.txt").chmod(0o600)
    (folder / "committee.txt").write_text(f"{key.to_public()}\n")
    return Reader(folder)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - ELSEWHERE - set(AFTER)))
def test_the_example_of_a_command_works(name: str, reader: Reader) -> None:
    if name in PUBLISHED and not CORPUS.is_dir():
        pytest.skip("published results are not there")
    assert EXAMPLES[name].startswith(f"mlsub {name}")
    _works(name, reader)


@pytest.mark.slow
def test_examples_that_follow_one_another_work(reader: Reader) -> None:
    for name in AFTER:
        _works(name, reader)


def _works(name: str, reader: Reader) -> None:
    step = Step(EXAMPLES[name].replace(KEY, (reader.folder / "committee.txt").read_text().strip()), ())
    done = reader.type(step.command, int(name in FINDS))
    assert done.stdout or " -o " in step.command


def test_every_command_is_in_the_readme_and_on_a_page() -> None:
    table = (REPOSITORY / "README.md").read_text("utf-8").partition("## Commands")[2].partition("## ")[0]
    written = "".join(page.read_text("utf-8") for page in (REPOSITORY / "docs").glob("*.md"))
    named = {name.split()[0] for name in leaves()}
    assert {name for name in named if f"`{name}`" not in table} == IN_HELP_ALONE
    assert {name for name in named if f"mlsub {name}" not in written} == set()
