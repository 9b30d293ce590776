"""A line at the end of the test run: how much the differential tests compared, and how many demands were hit."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings

# How long an example takes says how busy the machine is, and nothing about the program.
settings.register_profile("mlsub", deadline=None)
settings.load_profile("mlsub")

#: What tests record by record_property, in the order of the line. Workers of pytest-xdist send it along.
COUNTED = ("mutants", "published mutants", "demands", "demands hit")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what the tests recorded."""
    counts: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            if report.when == "call":
                counts.update({name: int(value) for name, value in report.user_properties if name in COUNTED})
    if counts:
        figures = ", ".join(f"{counts[name]} {name}" for name in COUNTED if name in counts)
        terminalreporter.write_line(f"differential: {figures}")
