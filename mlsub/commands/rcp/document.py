"""Reference points, what a batch size needs, and how near the limit results are, as documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlsub.commands.rcp.run import Margins, NewReference, Planned
from mlsub.convergence.chance import Chance
from mlsub.convergence.curves import BatchPlan, RcpReference, ReferenceRow, ReferenceTable, reference_of
from mlsub.convergence.margin import Margin, PackageMargins
from mlsub.convergence.reference import Point, describe_cutoff, merged_between
from mlsub.convergence.words import format_number
from mlsub.io.show import plural
from mlsub.present import document as doc
from mlsub.present.entries import EntryColumn, results_table, round_line
from mlsub.present.reference import OWN, reference_chart
from mlsub.rounds import get_round
from mlsub.submission.report import describe_own_files

_HOW = {
    "exact": "a reference point of this batch size",
    "interpolated": "between two reference points",
    "smaller-batch": "smaller than any reference point: accepted if no faster than the smallest",
    "missing": "larger than any reference point: a new one has to be submitted",
}
_HOW_COMPARED = {
    "exact": "a reference point",
    "interpolated": "between two reference points",
    "smaller-batch": "below the smallest reference point, so that point counts",
}
_NO_FACTOR = "-"


def points_document(table: ReferenceTable) -> doc.Document:
    """Show the reference points of a benchmark."""
    pruned = [_why_pruned(row) for row in table.rows]
    later = merged_between(table.benchmark, get_round(table.usage, table.round), table.reference_points, "newest")
    hull = "hull: the lower convex hull of the written rules, from which the official pruning differs"
    return doc.document(
        f"{_title(table)}: {table.unit} to converge, {table.runs} runs an entry",
        _point_table(table.rows, "pruned", pruned),
        _chart(table),
        doc.Text(hull) if any("hull" in why for why in pruned) else None,
        doc.Text(f"accepted from: {grace}") if (grace := _grace(table)) else None,
        doc.Text(f"Changed later, which does not count here: {later}") if later else None,
    )


def built_document(built: NewReference) -> doc.Document:
    """Show the points that were built."""
    fates = []
    for point in built.points:
        fate = "kept" if point.kept else "pruned"
        replaced = None if point.replaces is None else format_number(point.replaces)
        fates.append(fate if replaced is None else f"{fate}; in place of one with a mean of {replaced}")
    return doc.document(
        f"{built.file}: {built.benchmark}, {built.unit} to converge",
        _point_table(built.points, f"beside {built.installed} installed points", fates),
        doc.section("Notes", doc.Items(built.notes)),
        doc.section("What makes the files no runs of a submission", doc.Findings(built.findings)),
    )


def _point_table(points: Sequence[Point], head: str, cells: Sequence[str]) -> doc.Table:
    """Return a row a reference point, with a further column under ``head``."""
    names = ("batch size", "runs", "mean", "stdev", "accepted from")
    rows = []
    for point, cell in zip(points, cells, strict=True):
        means = map(format_number, (point.mean, point.stdev, point.minimum))
        rows.append((format_number(point.batch_size), str(point.runs), *means, cell))
    return doc.Table((*(doc.Column(name, number=True) for name in names), doc.Column(head)), tuple(rows))


def _why_pruned(row: ReferenceRow) -> str:
    """Return why the official pruning takes a point out; nothing where it does not, and the hull agrees."""
    if row.kept:
        return "" if row.on_hull else "no, though above the hull"
    others = [format_number(size) for size in row.pruned_by]
    why = f"between {others[0]} and {others[1]}" if len(others) == 2 else f"below the fastest, {others[0]}"
    return why if not row.on_hull else f"{why}, though on the hull"


def plan_document(planned: Planned) -> doc.Document:
    """Show what runs at a batch size need."""
    plan = planned.plan
    facts = [("reference", _HOW[plan.how])]
    if plan.mean is not None and plan.stdev is not None and plan.minimum is not None:
        mean, minimum = format_number(plan.mean), format_number(plan.minimum)
        facts += [
            ("mean", f"{mean} {plan.unit}{_evaluations(planned, plan.mean)}, stdev {format_number(plan.stdev)}"),
            ("accepted", f"an olympic mean of {minimum} {plan.unit}{_evaluations(planned, plan.minimum)} or more"),
        ]
        if grace := _grace(plan, plan.minimum):
            facts.append(("grace", grace))
        if plan.normalised and plan.minimum < plan.mean:
            factor = plan.mean / plan.minimum if plan.minimum > 0 else 1.0
            scaled = f"below {mean} {plan.unit} the time is scaled up, by {factor:.4f} at the limit"
            facts.append(("faster", scaled))
    if planned.first_evaluation is not None:
        first, every = format_number(planned.first_evaluation), format_number(planned.evaluation_interval)
        facts.append(("evaluations", f"the rules ask for one at {first} {plan.unit}, then every {every}"))
    facts.append(("runs", f"{planned.runs}, of which {planned.may_fail} may fail"))
    if planned.chance is not None:
        facts.append(("chance", f"{_percent(planned.chance)} that runs pass that spread as the reference's do"))
    title = f"{_title(plan)}, batch size {plan.batch_size:g}"
    own = () if plan.mean is None else ((plan.batch_size, plan.mean),)
    chart = _chart(plan, plan.batch_size, doc.Series("mean of this batch size", "large", OWN, own))
    return doc.document(title, doc.Facts(tuple(facts)), chart)


def _grace(found: ReferenceTable | BatchPlan, limit: float | None = None) -> str:
    """Return what a limit is below that of the test, where the round lets a result be so much earlier."""
    allowance = _reference(found).allowance
    whole = "" if limit is None else f", which alone accepts {format_number(limit + allowance)} or more"
    words = (
        f"{format_number(allowance)} {found.unit} below the limit of the test{whole}: the official checker allows it"
    )
    return words if allowance else ""


def _evaluations(planned: Planned, value: float) -> str:
    count = planned.evaluations(value)
    return "" if count is None else f" ({count:.1f} evaluations)"


def _chart(found: ReferenceTable | BatchPlan, batch_size: float | None = None, *own: doc.Series) -> doc.Chart:
    return reference_chart(_reference(found), batch_size, own)


def _reference(found: ReferenceTable | BatchPlan) -> RcpReference:
    return reference_of(get_round(found.usage, found.round), found.benchmark, cutoff=found.reference_points)


def _title(found: ReferenceTable | BatchPlan) -> str:
    """Return the benchmark, its round, and of which day the reference points are unless they are the usual ones."""
    words = describe_cutoff(found.reference_points, get_round(found.usage, found.round))
    return f"{found.benchmark}, {found.usage} {found.round}{f', {words}' if words else ''}"


def margins_document(margins: Margins) -> doc.Document:
    """Show each entry with what it rests on; where there are several, first an overview."""
    bootstrap = margins.bootstrap
    how = (
        f"chance: studentised bootstrap of the runs at hand, {bootstrap.resamples} resamples under "
        f"{bootstrap.worlds} draws of mean and spread, seed {bootstrap.seed}"
    )
    return doc.document(
        "Distance to the limit of the convergence test",
        *(doc.section(doc.Span(of.root, "path"), *_margin_report(of)) for of in margins.reports),
        doc.Text(how) if any(entry.chance for entry in margins.entries) else None,
    )


def _margin_report(report: PackageMargins) -> Iterator[doc.Block | None]:
    yield round_line(report.usage, report.round, report.round_from)
    order = sorted(report.entries, key=lambda entry: (entry.percent is not None, entry.percent or 0.0))
    if len(order) > 1:
        yield _overview(report, order)
    yield _margin_chart(report, order) if any(entry.limit for entry in order) else None
    for entry in report.entries:
        runs = f"{entry.runs} of {entry.needed} runs" if entry.runs < entry.needed else f"{entry.runs} runs"
        title = f"{report.name_of(entry)}: {entry.verdict}, {runs}"
        facts, undecided = doc.Facts(tuple(_margin_facts(entry))), entry.verdict in ("bypassed", "open")
        yield doc.section(title, facts, meaning="good" if entry.verdict == "pass" else "note" if undecided else "bad")
    untested = tuple(f"{report.name_of(entry)}: {entry.why}" for entry in report.untested)
    yield doc.section("Not tested", doc.Items(untested))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(e.verdict for e in report.entries).items())
    tested = f"{len(report.entries)} entr{'y' if len(report.entries) == 1 else 'ies'} compared with a reference"
    rest = f"; {len(report.untested)} not tested" if report.untested else ""
    own = describe_own_files(report.rcp_file, report.rules_file)
    yield doc.Text(f"{tested}{own}{': ' if counts else ''}{counts}{rest}")


def _margin_chart(report: PackageMargins, order: Sequence[Margin]) -> doc.Chart:
    """Draw how far the mean of each entry, and that of its reference, lies from the limit."""
    points = [
        (entry.percent, 100 * (entry.reference_mean / entry.limit - 1), report.name_of(entry).removeprefix("results/"))
        for entry in order
        if entry.percent is not None and entry.reference_mean is not None and entry.limit
    ]
    places = range(len(points))
    series = (
        doc.Series("limit", "ticks", 3, tuple((0.0, at) for at in places)),
        doc.Series("mean of the reference", "hollow", 5, tuple((points[at][1], at) for at in places)),
        doc.Series("mean of the entry", "marks", 2, tuple((points[at][0], at) for at in places)),
    )
    x, y = doc.Axis("per cent of the limit"), doc.Axis("entry", names=tuple(name for *_, name in points))
    about = "What lies left of the limit fails; what lies left of the mean of the reference is scaled up."
    return doc.Chart(title="Distance of the mean to the limit", about=about, x=x, y=y, series=series)


def _overview(report: PackageMargins, order: Sequence[Margin]) -> doc.Table:
    """Return one row an entry, those nearest to the limit first."""
    columns = (
        EntryColumn("entry", when_narrow="shorten", value=report.name_of),
        EntryColumn("verdict", when_narrow="keep", value=lambda one: one.verdict),
        "to the limit",
        EntryColumn("scaling", number=True, leave_out=1, value=lambda one: _factor(one.scaling)),
        EntryColumn("expected", number=True, leave_out=2, value=lambda one: _factor(one.expected_scaling)),
        EntryColumn("chance", number=True, value=lambda one: _chance(one.chance)),
        EntryColumn("90 % interval", when_narrow="keep", leave_out=3, value=lambda one: _interval(one.chance)),
    )
    return results_table(order, columns)


def _margin_facts(entry: Margin) -> Iterator[tuple[str, str]]:
    if entry.batch_size is not None:
        how = f", {_HOW_COMPARED[entry.how]}" if entry.how in _HOW_COMPARED else ""
        yield "batch size", f"{format_number(entry.batch_size)}{how}"
    if entry.mean is not None:
        kind = "olympic mean" if entry.olympic else "plain mean, too few runs for an olympic one"
        yield "mean", f"{format_number(entry.mean)} {entry.unit} ({kind}; {entry.converged} converged)"
    if entry.limit is not None:
        mean, stdev = format_number(entry.reference_mean), format_number(entry.reference_stdev)
        yield "reference", f"a mean of {mean} {entry.unit}, stdev {stdev}"
        yield "limit", f"{format_number(entry.limit)} {entry.unit}{_distance_words(entry)}"
    if entry.published is not None:
        yield "time", _time_words(entry)
    if entry.chance is not None:
        interval, more = _interval(entry.chance), plural(entry.chance.runs, "further run")
        named = interval if entry.chance.low is None else f"90 % interval: {interval}"
        yield "chance", f"{_chance(entry.chance)} ({named}) that {more} pass"
    if entry.completion is not None:
        more = plural(entry.needed - entry.runs, "further run")
        yield "to complete", f"{_percent(entry.completion)} that the entry passes with {more}"
    yield from (("note", note) for note in entry.notes)


def _distance_words(entry: Margin) -> str:
    if entry.distance is None:
        return ""
    if entry.distance == 0:
        return "; the mean is the limit itself"
    side = "above" if entry.distance > 0 else "below"
    part = "" if entry.percent is None else f" ({abs(entry.percent):.2f} %)"
    return f"; the mean lies {format_number(abs(entry.distance))} {entry.unit}{part} {side}"


def _time_words(entry: Margin) -> str:
    so_far = " so far" if entry.verdict == "open" else ""
    factor, expected = _factor(entry.scaling), _factor(entry.expected_scaling)
    scaled = f"{entry.unscaled:.4f} unscaled times {factor} (scaling.json)"
    text = f"{entry.published:.4f} minutes{so_far}, {'not scaled' if factor == _NO_FACTOR else scaled}"
    if expected != factor and entry.expected is not None:
        why = "no factor" if expected == _NO_FACTOR else f"a factor of {expected}"
        text += f"; expected {entry.expected:.4f}, because the convergence test gives {why}"
    return text


def _factor(factor: float) -> str:
    return _NO_FACTOR if factor == 1 else f"{factor:.6f}"


def _chance(chance: Chance | None) -> str:
    if chance is None:
        return "-"
    return f"{100 * chance.value:.0f} %" if chance.certain else _percent(chance.value)


def _interval(chance: Chance | None) -> str:
    if chance is None:
        return ""
    if chance.low is None or chance.high is None:
        return "no interval"
    low, high = _percent(chance.low), _percent(chance.high)
    return f"{low} to {high}" if low != high else f"all {low}"


def _percent(part: float) -> str:
    """Return a chance in per cent; never 0 or 100 % where the bootstrap merely did not see the other side."""
    if part > 0.995:
        return "over 99 %"
    return "under 1 %" if part < 0.005 else f"{100 * part:.0f} %"
