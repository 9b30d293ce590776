"""The script that verifies a submission: what it asks of the package checker by the organisation's flags."""

from __future__ import annotations

import subprocess
import warnings
from argparse import ArgumentParser
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from os import fsdecode
from pathlib import Path
from tempfile import TemporaryDirectory

from mlsub.rounds import Round

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from mlperf_logging.package_checker import package_checker

#: How each of scripts/verify_for_v2.0_training.sh to v6.1 and verify_for_v2.0_hpc.sh, v3.0 begins, without comments.
BEGINNING = """\
#!/bin/bash

set -e

PACKAGE_CHECKER_PARAMS=""
PACKAGE_CHECKER_PARAMS_FILE="$1/package_checker_params"
if test -f "$PACKAGE_CHECKER_PARAMS_FILE"; then
  while IFS= read -r line
  do
    PACKAGE_CHECKER_PARAMS="$PACKAGE_CHECKER_PARAMS --$line"
  done < "$PACKAGE_CHECKER_PARAMS_FILE"
fi

"""
#: The flags of the package checker by the names that its functions have for them.
FLAGS = ("werror", "rcp_bypass", "rcp_bert_train_samples", "seed_checker_bypass")


class ScriptError(Exception):
    """The script ends before any check."""


def words_for(folder: Path, cwd: Path | None = None) -> list[str]:
    """Return the words that the script gives to the package checker behind folder, usage and ruleset.

    It runs in ``cwd``, whose names patterns may match, or in an empty folder.

    Raises:
        ScriptError: it ends before it calls it.
    """
    show = BEGINNING + "printf '%s\\0' $PACKAGE_CHECKER_PARAMS ."
    with TemporaryDirectory() as empty:
        command = ["bash", "-c", show, "verify", str(folder)]
        done = subprocess.run(command, capture_output=True, cwd=cwd or empty, check=False)
    if done.returncode:
        raise ScriptError(done.stderr.decode(errors="replace"))
    return [fsdecode(word) for word in done.stdout.split(b"\0")[:-2]]


def parser_of_the_day(round_: Round) -> ArgumentParser:
    """Return the parser of the installed package checker, with the options of the round's day: to v4.0 others."""
    parser: ArgumentParser = package_checker.get_parser()
    if "rcp_bypass" in round_.script_options:
        strings = parser._option_string_actions
        for option in [name for name in strings if name.startswith(("--rcp-", "--seed-"))]:
            action = strings.pop(option)
            if option.startswith("--rcp-"):
                strings[option.replace("-", "_").replace("__", "--", 1)] = action
    return parser


def asked_by_script(folder: Path, round_: Round) -> dict[str, bool]:
    """Return the flags with which the script of a round calls the package checker.

    Raises:
        ScriptError: nothing is checked.
    """
    there = round_.script_options and (folder / "package_checker_params").exists()
    return asked_by_words(words_for(folder) if there else [], round_)


def asked_by_words(words: list[str], round_: Round) -> dict[str, bool]:
    """Return the flags that the package checker of a round takes from words behind folder, usage and ruleset.

    Raises:
        ScriptError: nothing is checked.
    """
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        try:
            given = parser_of_the_day(round_).parse_args(["FOLDER", round_.usage, round_.ruleset, *words])
        except SystemExit as error:
            raise ScriptError(f"exit status {error.code}") from None
    return {flag: getattr(given, flag) for flag in FLAGS}
