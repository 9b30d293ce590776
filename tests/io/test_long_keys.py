"""A key as long as a file may be: each reader of documents answers in short lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.support.make_tree import make_tree
from tools.support.runner import run

_KEY = "k" * 200_000
_YAML = f"? {_KEY}\n: 1\n? {_KEY}\n: 2\n"
_JSON = f'{{"{_KEY}": 1, "{_KEY}": 2}}'
#: By what is read: the name of the file, its text, and the words of the command, in which FILE and TREE are replaced.
CASES = {
    "claims": ("c.yaml", _YAML, "audit FILE --results TREE"),
    "a manifest": ("m.yaml", _YAML, "pack FILE"),
    "settings": ("s.toml", f"{_KEY} = 1\n", "check TREE --config FILE"),
    "waivers": ("s.toml", f"[[waivers]]\n{_KEY} = 1\n", "check TREE --config FILE"),
    "rules": ("r.yaml", f"title: x\nrounds: {{}}\n{_YAML}", "check TREE --rules FILE"),
    "reference points": ("r.json", _JSON, "check TREE --rcp FILE"),
    "a description": ("d.json", _JSON, "system check FILE --format json"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_long_key_is_answered_in_short_lines(case: str, tmp_path: Path) -> None:
    name, text, words = CASES[case]
    file = tmp_path / name
    file.write_text(text)
    places = {"FILE": file, "TREE": make_tree(tmp_path / "tree").folder}
    done = run(*(places.get(word, word) for word in words.split()))
    lines = (done.stdout + done.stderr).splitlines()
    assert done.status and lines
    assert max(map(len, lines)) < 1_000
