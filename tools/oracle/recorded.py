"""mlsub's answers beside those that were recorded in the round's day."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mlsub.convergence import mean_of, trim
from mlsub.convergence.verdict import NEVER
from mlsub.submission.report import RcpResult, Report
from mlsub.workspace import check_paths
from mlsub.workspace.places import Context, Request
from tools.oracle.generate import usage_and_round
from tools.oracle.official_rcp import HOW
from tools.oracle.shared import INSTALLED_POINTS, folder, recorded_entries, recorded_logs


class Compared(NamedTuple):
    """Something that was judged then and is judged now; the first reason of each side, where it has one."""

    path: str
    then: bool
    now: bool
    reason_then: str = ""
    reason_now: str = ""

    def describe(self, round_name: str) -> str:
        """Who says what, in three lines."""
        then, now = ("accepted" if passed else "rejected" for passed in (self.then, self.now))
        place = f"{folder(round_name).name}/{self.path}"
        return f"{place}\n    recorded: {then} {self.reason_then}\n    mlsub:    {now} {self.reason_now}"


def check(round_name: str) -> Report:
    """All packages of a round as one, compared with the reference points that the recorded answers used."""
    usage, name = usage_and_round(round_name)
    return check_paths([folder(round_name)], Context(Request(name, usage, convergence=INSTALLED_POINTS), jobs=1))[0]


def _first(answer: dict[str, Any]) -> str:
    """The first message of a recorded answer."""
    return " ".join(str(next(iter(answer.get("messages") or ()), "")).split())


def compared_logs(round_name: str, report: Report) -> Iterator[Compared]:
    """Every published log of a round."""
    recorded = recorded_logs(round_name)
    why: dict[str, str] = {}
    for f in report.findings:
        if f.rejects:
            why.setdefault(f.path, f"{f.rule}: {f.message} ({f.actual})")
    for log in report.logs:
        answer = recorded[log.path]
        passed = log.official == "compliant"
        yield Compared(log.path, answer["compliant"], passed, _first(answer), why.get(log.path, ""))


def compared_dropped(round_name: str, report: Report) -> Iterator[Compared]:
    """Every entry: whether as many of its runs are noncompliant as then."""
    recorded = recorded_entries(round_name)
    for entry in report.entries:
        if entry.path in recorded:
            then, now = recorded[entry.path]["score"]["dropped"], entry.runs - entry.compliant
            yield Compared(entry.path, True, now == then, f"{then} runs dropped", f"{now} runs dropped")


def compared_seeds(round_name: str, report: Report) -> Iterator[Compared]:
    """Every Closed entry that the seed checker of the day judged; to v0.7 there was none."""
    faults: dict[str, str] = {}
    for finding in report.findings:
        if finding.rule.startswith("seed.") and finding.rejects:
            faults.setdefault(finding.path.rpartition("/")[0], f"{finding.rule}: {finding.message}")
    for path, entry in recorded_entries(round_name).items():
        if answer := entry.get("seeds"):
            yield Compared(path, answer["passed"], path not in faults, _first(answer), faults.get(path, ""))


#: Relative, as numbers of 9 significant digits agree; and the official bisection's own.
_RELATIVE, _BISECTION = 1e-9, 1e-4
#: Minutes, absolute.
_MINUTES = 1e-9


def compared_rcp(round_name: str, report: Report) -> Iterator[Compared]:
    """Every answer of the convergence test that was recorded: of BERT one by epochs and one by train_samples.

    Where the tool of the day ended with an exception there is no answer to compare.
    """
    entries = {entry.path: entry for entry in report.entries}
    for path, recorded in recorded_entries(round_name).items():
        answers = (recorded.get("rcp") or {}) if recorded["division"] == "closed" else {}
        for kind, answer in answers.items():
            if answer["passed"] is not None and path in entries:
                # Where both ways of counting come to the same, there is but one.
                rcp = entries[path].rcp
                wanted = rcp.also is None or (rcp.counted == "train_samples") == (kind == "train_samples")
                differing = _differs(rcp if wanted or rcp.also is None else rcp.also, answer, path)
                yield Compared(f"{path} by {kind}", True, not differing, "", "; ".join(differing))


def _mean(ours: RcpResult, path: str) -> float | None:
    """The official mean, also of counts that are not in the unit of the reference."""
    if ours.logs_unit is None:
        return ours.mean
    points = [NEVER if point is None else point for point in ours.points]
    return mean_of(trim(points, path.rpartition("/")[2]))


def _differs(ours: RcpResult, recorded: dict[str, Any], path: str) -> list[str]:
    """In words, what is not as recorded; the minimum within the official tolerance."""
    passed = ours.verdict == "pass"
    how = next(name for text, name in HOW.items() if recorded["msg"].startswith(text))
    exact = {"passed": (passed, recorded["passed"]), "how": (ours.how, how)}
    near = {
        "bs": (ours.batch_size, 0.0),
        "points": (ours.reference_runs, 0.0),
        "mean": (_mean(ours, path), _RELATIVE),
        "rcp_mean": (ours.reference_mean, _RELATIVE),
        "rcp_stdev": (ours.reference_stdev, _RELATIVE),
        "minimum": (ours.minimum, None),
    }
    found = [f"{name}: {a} for {b}" for name, (a, b) in exact.items() if a != b]
    for name, (value, relative) in near.items():
        then = recorded.get(name)
        allowed = _BISECTION if relative is None else relative * abs(then or 0)
        if then is not None and (value is None or abs(value - then) > allowed):
            found.append(f"{name}: {value} for {then}")
    return found


def compared_scores(round_name: str, report: Report) -> Iterator[Compared]:
    """Every entry that got a score: unscaled, and published by the scaling.json that the tree has."""
    entries = {entry.path: entry.score for entry in report.entries}
    for path, recorded in recorded_entries(round_name).items():
        then = recorded["score"]
        if path in entries and isinstance(then["unscaled"], int | float):
            ours = entries[path]
            pairs = {"unscaled": (ours.unscaled, then["unscaled"])}
            factor = then["scaling"] if then["scaling"] is not None else 1.0
            pairs |= {"scaling": (ours.scaling, factor), "published": (ours.published, then["scaled"])}
            wrong = [f"{n}: {a} for {b}" for n, (a, b) in pairs.items() if a is None or abs(a - b) > _MINUTES]
            if (then["scaling"] is not None) != ours.scaling_file:
                wrong.append(f"scaling.json: {ours.scaling_file} for a factor of {then['scaling']}")
            yield Compared(path, True, not wrong, "", "; ".join(wrong))


#: What is recorded of an entry.
COMPARED: dict[str, Callable[[str, Report], Iterator[Compared]]] = {
    "dropped runs": compared_dropped,
    "convergence": compared_rcp,
    "score": compared_scores,
    "seeds": compared_seeds,
}
