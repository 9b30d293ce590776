"""The page on CI: its files are what GitHub, GitLab and pre-commit read, and their commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from tests.docs.pages import Reader, blocks
from tests.tools.test_github_action import ACTION, validate
from tests.tools.test_gitlab_hooks_docker import HOOKS, NO_PRE_COMMIT
from tools.support.runner import REPOSITORY

PAGE = (REPOSITORY / "docs" / "ci.md").read_text()
SNIPPETS = [yaml.safe_load(text) for text in blocks("docs/ci.md", "yaml")]
[WORKFLOW] = [snippet for snippet in SNIPPETS if "jobs" in snippet]


def test_github_can_read_the_workflow() -> None:
    # YAML 1.1 reads the key `on` as true.
    validate({"on" if name is True else name: value for name, value in WORKFLOW.items()}, "github-workflows")
    uses = next(step for step in WORKFLOW["jobs"]["check"]["steps"] if "mlsub" in step["uses"])
    assert set(uses["with"]) <= set(ACTION["inputs"])


def test_the_page_has_every_input_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", PAGE[PAGE.index("| input |") :], re.MULTILINE))
    assert set(rows) >= set(ACTION["inputs"])
    for name, given in ACTION["inputs"].items():
        assert not given["default"] or rows[name] == f"`{given['default']}`"


def test_gitlab_can_read_its_job() -> None:
    [job] = [snippet for snippet in SNIPPETS if "include" in snippet]
    validate(job, "gitlab-ci")
    variables = yaml.safe_load((REPOSITORY / "examples" / "ci" / "gitlab.yml").read_text())["mlsub"]["variables"]
    assert set(job["mlsub"]["variables"]) <= set(variables)


def test_pre_commit_can_read_its_configuration(tmp_path: Path) -> None:
    load_config = pytest.importorskip("pre_commit.clientlib", reason=NO_PRE_COMMIT).load_config
    [config] = [snippet for snippet in SNIPPETS if "repos" in snippet]
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    [repository] = load_config(str(tmp_path / "config.yaml"))["repos"]
    assert {hook["id"] for hook in repository["hooks"]} == {hook["id"] for hook in HOOKS}


@pytest.mark.slow
@pytest.mark.parametrize("line", re.findall(r"sh '(.*)'", PAGE))
def test_the_commands_of_the_jenkinsfile_run(line: str, demo: Path, tmp_path: Path) -> None:
    (tmp_path / "demo").symlink_to(demo)
    assert Reader(tmp_path).type(line).stderr == ""


def test_the_commands_of_docker_are_commands_of_the_image() -> None:
    dockerfile = (REPOSITORY / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["mlsub"]' in dockerfile
    assert "WORKDIR /work" in dockerfile
    for line in re.findall(r"^docker run (.*)$", PAGE, re.MULTILINE):
        words = shlex.split(line)
        assert any(word.startswith("$PWD:/work") for word in words)
        assert words[words.index("mlsub") + 1] == "check"
