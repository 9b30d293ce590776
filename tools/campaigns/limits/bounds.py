"""The constants that bound foreign input, with the figure of each in docs/reliability.md."""

from __future__ import annotations

import importlib
from typing import Any

#: Rows of the table under "Limits", and of each the constants with their figures as they are written there.
BOUNDS: dict[str, dict[str, str]] = {
    "a record of a log": {"log.reader:MAX_RECORD": "16 MiB", "log.reader:_HEAD": "256 bytes"},
    "nesting of JSON": {"io.data:MAX_LEVELS": "500 levels"},
    "records of a log that are held": {"judge.rules:MAX_HELD": "50,000", "judge.rules:MAX_HELD_BYTES": "32 MiB"},
    "records for the convergence test": {"log.reading:MAX_STOPS": "1,000", "log.reading:MAX_STEPS": "100,000 steps"},
    "steps whose measures": {"rules.engine:MAX_STEPS": "200,000"},
    "a summary of a log": {
        "log.run:MAX_EVALUATIONS": "10,000 evaluations",
        "log.run:MAX_HYPERPARAMETERS": "512 hyperparameters",
        "log.trace:MAX_LENGTHS": "10,000 intervals",
    },
    "seeds": {"log.run:MAX_SEEDS": "20,000"},
    "findings of one rule in a log": {"judge.log:MAX_FINDINGS_A_RULE": "20 are"},
    "text for people": {
        "present.findings:MAX_DEFECTS": "50 defects",
        "present.findings:MAX_PLACES": "10 lines",
        "present.findings:MAX_FILES": "20 files",
        "present.findings:MAX_PARTS": "40 names",
        "commands.check.document:MOST_LISTED": "200 entries",
    },
    "annotations and summary for GitHub": {
        "present.ci_formats:MOST": "10 of",
        "present.ci_formats:MOST_OF_SUMMARY": "1 MiB",
    },
    "names in the folder": {"submission.listing:MAX_ITEMS": "100,000"},
    "depth of folders": {"submission.listing:MAX_DEPTH": "40"},
    "a link in a package": {"submission.audit:_MAX_HOPS": "40 links", "submission.audit:_MAX_PARTS": "200 parts"},
    "a file or path in a package": {
        "submission.audit:MAX_BYTES": "50 MiB",
        "submission.audit:MAX_PATH": "220 characters",
    },
    "a system description": {"systems.description:MAX_BYTES": "4 MiB", "systems.fields:MAX_TEXT": "2,000 characters"},
    "what `system capture` reads": {"systems.capture:MAX_BYTES": "1 MiB"},
    "`scaling.json`": {"score.scaled:MAX_BYTES": "64 KiB", "score.scaled:MAX_FACTOR": "1,000"},
    "`package_checker_params`": {"submission.params:MAX_BYTES": "64 KiB"},
    "an RCP file": {"convergence.reference:MAX_BYTES": "16 MiB", "convergence.filecheck:_MAX_RECORDS": "1,000 records"},
    "the power files of a run": {
        "score.energy.read:MAX_FILES": "20,000 files",
        "score.energy.read:MAX_FILE_BYTES": "256 MiB",
        "score.energy.read:MAX_RECORDS": "1,200,000 records",
        "score.energy.read:MAX_RUN_BYTES": "16 GiB",
    },
    "a file that people write": {
        "io.problems:MAX_BYTES": "4 MiB",
        "io.problems:MAX_DEPTH": "100 levels",
        "io.read:_MAX_NODES": "200,000 keys",
        "io.read:MAX_TOML_BYTES": "256 KiB",
    },
    "an expression": {
        "rules.formula:FORMULAS.max_length": "1,000 characters",
        "commands.audit.expression:MAX_LENGTH": "2,000 in claims",
        "rules.formula:FORMULAS.max_depth": "60 levels",
        "rules.formula:MAX_BITS": "64 Kibit",
        "rules.formula:MAX_EXPONENT": "1,024",
        "commands.audit.functions:MAX_BITS": "8,192 bits",
    },
    "a pattern of names": {"rules.model:MAX_NAMES": "100,000 names", "rules.model:_MAX_GROUPS": "20 groups"},
    "a figure of a claim": {"commands.audit.wording:MAX_DIGITS": "40 digits"},
    "a baseline": {"config.baseline:_MAX_BYTES": "64 MiB"},
    "logs that one command": {
        "workspace.runs:MAX_RUNS": "10,000",
        "log.rewrite:MAX_LOGS": "100,000 for",
        "commands.fix.run:MAX_LOG": "128 MiB",
        "packing.runs:MAX_MATCHES": "10,000 for a pattern",
        "commands.watch.run:MAX_LOGS": "256 for",
    },
    "names that `redact`": {
        "commands.redact.known:MAX_NAMES": "5,000 users",
        "commands.redact.patterns:MAX_MEMBERS": "4,096 of",
        "commands.redact.known:MAX_SECRETS": "1,000 secrets",
    },
    "things that `redact`": {"commands.redact.redactor:MAX_ITEMS": "100,000"},
    "members of a package": {
        "packing.tree:MAX_MEMBERS": "500,000",
        "packing.names:MAX_NAME": "255 bytes",
        "packing.names:MAX_PATH": "1,024 bytes",
        "packing.names:MAX_DEPTH": "64 folders",
    },
    "what is unsealed": {
        "packing.archive:MAX_SIZE": "1 TiB",
        "packing.archive:MAX_RATIO": "200 times",
        "packing.archive:_MAX_UNMEASURED": "256 MiB",
        "packing.archive:_MAX_RECORDS": "8 KiB",
    },
    "a manifest": {"packing.tree:MAX_MANIFEST": "128 MiB"},
    "keys": {
        "packing.forms:MAX_PASSPHRASE": "1,000 bytes",
        "packing.forms:_MAX_FILE": "64 KiB",
        "packing.age:MAX_WORK_FACTOR": "up to 20",
    },
}


def value(where: str) -> Any:
    """The value of a constant, ``module:NAME``, or of a field of a class or an object there."""
    module, _, path = where.removeprefix("mlsub.").partition(":")
    found: Any = importlib.import_module(f"mlsub.{module}")
    for name in path.split("."):
        found = getattr(found() if isinstance(found, type) else found, name)
    return found
