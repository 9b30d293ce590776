"""``mlsub rules keys``: what a training code must log, to the letter."""

from __future__ import annotations

import pytest

from tests.commands.runner import answer_schema, run
from tests.conftest import ExpectedText

TEXTS = {
    "keys-llama31-8b.txt": "llama31_8b --round 6.1",
    "keys-llama31-8b.md": "llama31_8b --round 6.1 --format markdown",
    "keys-resnet.txt": "resnet --round 1.0",
    "keys-minigo-0.6.txt": "minigo --round 0.6 --division open",
    "keys-stable-diffusion.txt": "stable_diffusion --round 5.0",
    "keys-digits-open.md": "digits --division open --format markdown",
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_keys_read_to_the_letter(name: str, expected_text: ExpectedText) -> None:
    outcome = run("rules", "keys", *TEXTS[name].split())
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text(name, outcome.stdout)


def test_the_document_keeps_the_schema() -> None:
    document = run("rules", "keys", "cosmoflow", "--format", "json").document
    answer_schema("rules keys").validate(document)
    assert (document["command"], document["usage"], document["round"]) == ("rules keys", "hpc", "3.0")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("flux", "mlsub rules keys: no benchmark 'flux'. Did you mean flux1?\n"),
        ("bert --division opn", "mlsub rules keys: no division 'opn'; there are closed, open. Did you mean open?\n"),
        ("bert --round 6.0", "mlsub rules keys: training 6.0 has no bert; it was in 0.7 to 5.0\n"),
    ],
)
def test_a_name_that_there_is_not_gets_one_line(arguments: str, line: str) -> None:
    outcome = run("rules", "keys", *arguments.split())
    assert (outcome.status, outcome.stdout, outcome.stderr) == (2, "", line)
