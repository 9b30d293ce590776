"""Results as annotations of GitHub Actions, and their summary.

See https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlsub.findings import Severity
from mlsub.io.show import plain
from mlsub.present.ci import CiFinding, CiReport, Outcome

#: What GitHub shows of a step: so many of each kind.
MOST = 10
#: Bytes of a step's summary; GitHub refuses a longer one whole.
MOST_OF_SUMMARY = 1 << 20
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_WORDS = {"error": "error", "warning": "warning", "notice": "note"}
_CUT = b"\n\nThe rest does not fit into a summary of 1 MiB.\n"


def render(results: CiReport) -> str:
    """A line for each annotation that GitHub shows, then one that counts the others, if there are any."""
    found: dict[str, list[CiFinding]] = {name: [] for name in _WORDS}
    for result in _first_places_first(list(results.all)):
        found[_command(result)].append(result)
    left: Counter[str] = Counter()
    lines = []
    for name, of in found.items():
        # The last line is a notice too.
        most = MOST - (name == "notice")
        lines += [_annotation(name, result) for result in of[:most]]
        left[_WORDS[name]] = max(0, len(of) - most)
    if more := [f"{count} more {word}{'s' * (count > 1)}" for word, count in left.items() if count]:
        where = "GitHub shows 10 of each kind in a step; --format sarif has them all."
        lines.append(f"::notice title={_property(f'mlsub {results.command}')}::{_data(f'{_listed(more)}. {where}')}")
    return "".join(f"{line}\n" for line in lines)


def summary(markdown: str, room: int = MOST_OF_SUMMARY) -> bytes:
    """A document in Markdown as a part of a step's summary, cut at a line where there is no room (bytes) for all."""
    data = markdown.encode("utf-8", "backslashreplace")
    if len(data) <= room:
        return data
    return data[: max(0, data.rfind(b"\n", 0, max(0, room - len(_CUT))))] + _CUT if room > len(_CUT) else b""


def _first_places_first(results: Sequence[CiFinding]) -> Iterator[CiFinding]:
    """What counts first, and of each defect one place before the second of any."""
    places: Counter[tuple[str, str]] = Counter()
    ranked = []
    for result in results:
        defect = (result.finding.rule, result.finding.message)
        places[defect] += 1
        ranked.append((result.outcome not in (Outcome.COUNTS, Outcome.NOT_CHECKED), places[defect], result))
    return (result for _, _, result in sorted(ranked, key=lambda one: one[:2]))


def _command(result: CiFinding) -> str:
    return "notice" if result.outcome is Outcome.WAIVED else _COMMANDS[result.level]


def _annotation(command: str, result: CiFinding) -> str:
    line = f",line={result.finding.line}" if result.finding.line else ""
    place = f"file={_property(plain(result.file))}{line},title={_property(result.finding.rule)}"
    return f"::{command} {place}::{_data(chr(10).join(result.lines))}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def _data(text: str) -> str:
    """Text of a command, escaped as GitHub's own tools do."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The value of a property, which a colon or a comma would end."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
