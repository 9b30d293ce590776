"""Verdicts on synthetic results: what each word of a claims file does."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.audit.document import build_ci_report, build_document, headline, summary
from mlsub.commands.audit.run import audit
from mlsub.commands.audit.verdict import Audit, JudgedClaim
from mlsub.io import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.present.text import render
from mlsub.workspace import Context
from tests.commands.audit.claims import CASES, flow
from tools.support.make_tree import Tree, make_tree, spoil

#: ACME trains in (11 + 12 + 13) / 3 = 12 minutes; BETA in Open, too.
HEAD = """claims_version: 1
source: {title: A post}
results:
  acme: {round: v1.0, submitter: ACME, system: rack1, benchmark: resnet, division: closed}
  beta: {round: v1.0, submitter: BETA, system: rack1, benchmark: resnet, division: open}
inputs:
  price: {value: 100, unit: USD, kind: price, source: a list, plus_minus: 10%}
  half_price: {value: 50, unit: USD, kind: price, source: a list}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    make_tree(tmp_path, org="BETA", division="open")
    return make_tree(tmp_path)


def run(tree: Tree, *claims: str, head: str = HEAD, **options: Any) -> Audit:
    file = tree.folder.parents[1] / "claims.yaml"
    file.write_text(head + "claims:\n" + "".join(f"  - {{id: c{n}, {claim}}}\n" for n, claim in enumerate(claims)))
    return audit(file, [str(tree.folder.parents[1])], context=Context(jobs=1), **options)


def one(tree: Tree, claim: str, **options: Any) -> JudgedClaim:
    [judged] = run(tree, claim, **options).claims
    return judged


@pytest.mark.parametrize(("claim", "verdict", "only_for"), [(*case, None)[:3] for case in CASES["judged"]], ids=str)
def test_a_claim_has_its_verdict(claim: dict[str, Any], verdict: str, only_for: str | None, tree: Tree) -> None:
    judged = one(tree, flow(claim))
    assert (judged.verdict.value, judged.only_for) == (verdict, only_for)


@pytest.mark.parametrize(
    ("expression", "message"),
    [*CASES["no_value"], ("*".join(["x9"] * 100), "column 183: the number grows beyond any figure")],
    ids=lambda text: text[:20],
)
def test_an_expression_without_a_value_is_told_with_its_line(expression: str, message: str, tree: Tree) -> None:
    head = HEAD + "values: {x9: " + "9" * 40 + "}\n"
    with pytest.raises(FileProblemsError) as caught:
        run(tree, f'expr: "{expression}", stated: {{value: 1}}', head=head)
    [problem] = caught.value.problems
    assert f"{problem.line}: {problem.message}" == f"11: c0: {message}"


def test_values_that_are_not_used_may_have_no_value(tree: Tree) -> None:
    head = HEAD + "values: {broken: 1 / 0, good: chips(acme)}\n"
    assert one(tree, "expr: good, stated: {value: 8}", head=head).verdict == "holds"
    with pytest.raises(FileProblemsError, match="division by zero"):
        one(tree, "expr: broken, stated: {value: 8}", head=head)


@pytest.mark.parametrize(("old", "new", "why"), CASES["lost"])
def test_a_result_that_is_not_there_leaves_its_claims_unchecked(old: str, new: str, why: str, tree: Tree) -> None:
    found = run(
        tree,
        "expr: minutes(acme), stated: {value: 12}",
        "expr: minutes(beta), stated: {value: 12}",
        head=HEAD.replace(old, new, 1),
    )
    first, second = found.claims
    assert (first.verdict, second.verdict) == ("not-checked", "holds")
    assert (first.reason or "").startswith(why)
    assert found.exit_status() == 2


def test_a_division_in_another_spelling_is_the_same_one(tree: Tree) -> None:
    tree.describe(division="Close")
    assert one(tree, "expr: minutes(acme), stated: {value: 12}").verdict == "holds"


@pytest.mark.parametrize(
    ("described", "dropped", "remarks"),
    [
        ("open", (), ["the logs say division closed"]),
        ("closed", (), []),
        (None, (), []),
        ("closed", ("submission_division",), []),
    ],
)
def test_another_division_in_the_logs_is_remarked(
    described: str | None, dropped: tuple[str, ...], remarks: list[str], tree: Tree
) -> None:
    tree.describe(division=described)
    tree.edit(lambda log: log.drop(*dropped), *range(5))
    head = HEAD.replace(", division: closed", "")
    [acme] = run(tree, "expr: runs(acme), stated: {value: 5}", head=head).results
    assert [one for one in acme.remarks if "division" in one] == remarks


def test_a_result_may_be_named_by_its_path(tree: Tree) -> None:
    head = HEAD.replace("submitter: ACME, system: rack1, benchmark: resnet", "path: v1.0/ACME/results/rack1/resnet")
    assert one(tree, "expr: minutes(acme), stated: {value: 12}", head=head).verdict == "holds"
    file = tree.folder.parents[1] / "claims.yaml"
    around = tree.folder.parents[1] / "v1.0" / ".."
    assert audit(file, [str(around)], context=Context(jobs=1)).exit_status() == 0


def test_a_folder_that_is_no_benchmark_of_the_round(tree: Tree) -> None:
    tree.entry().rename(tree.entry().with_name("sorting"))
    head = HEAD.replace("benchmark: resnet, division: closed", "benchmark: sorting")
    judged = one(tree, "expr: minutes(acme), stated: {value: 12}", head=head)
    assert (judged.verdict, judged.reason) == ("not-checked", "acme: no result log in rack1/sorting")


def test_a_folder_without_logs(tree: Tree) -> None:
    for file in tree.entry().iterdir():
        file.unlink()
    judged = one(tree, "expr: minutes(acme), stated: {value: 12}")
    assert (judged.verdict, judged.reason) == ("not-checked", "acme: no result log in rack1/resnet")


def test_values_without_end_cost_little(tree: Tree) -> None:
    head = HEAD + "values:\n  v0: price\n" + "".join(f"  v{n}: {'+'.join([f'v{n - 1}'] * 20)}\n" for n in range(1, 40))
    found = run(tree, *["expr: v39 - v38, stated: {value: 0, wording: at least}"] * 5, head=head)
    assert {one.verdict.value for one in found.claims} == {"holds"}


@pytest.mark.parametrize("below", ["", "v1.0", "v1.0/ACME"])
def test_folders_of_rounds_a_round_and_an_organisation_will_do(below: str, tree: Tree) -> None:
    above = tree.folder.parents[1]
    file = above / "claims.yaml"
    file.write_text(HEAD + "claims:\n  - {id: one, expr: minutes(acme), stated: {value: 12}}\n")
    assert audit(file, [str(above / below)], context=Context(jobs=1)).exit_status() == 0


@pytest.mark.parametrize("name", ["nowhere", "claims.yaml", "a\0b"])
def test_a_folder_without_results(name: str, tree: Tree) -> None:
    above = tree.folder.parents[1]
    (above / "claims.yaml").write_text(HEAD + "claims:\n  - {id: one, unverifiable: no log}\n")
    with pytest.raises(MlsubError, match=r"There is no |No round was given"):
        audit(above / "claims.yaml", [str(above / name)], context=Context(jobs=1))


def test_break_even_is_exact_for_a_line_and_for_one_over_it(tree: Tree) -> None:
    line = one(tree, "expr: minutes(acme) * price, stated: {value: 1200}")
    assert [point.at for point in line.break_even] == [Fraction(2399, 24), Fraction(2401, 24)]
    over = one(tree, "expr: 'per_dollar(acme, price) * 12000', stated: {value: 10}")
    assert [point.at for point in over.break_even] == [Fraction(2000, 19), Fraction(2000, 21)]
    percent = one(tree, "expr: price / 200, stated: {value: 50, unit: '%'}")
    assert [point.at for point in percent.break_even] == [99, 101]
    square, beyond = "price * price, stated: {value: 10000}", "100 / (price - 200), stated: {value: -1}"
    for neither in (square, beyond, "12 + price - price, stated: {value: 12}"):
        assert not one(tree, f"expr: {neither}").break_even


def test_what_is_noted_beside_a_verdict(tree: Tree) -> None:
    part = one(tree, "expr: price * 2, label: this, also: {expr: price * 3, label: that}, stated: {value: 200}")
    assert (part.verdict, part.only_for) == ("holds-only-for", "this")
    assert part.notes == ("fragile: not for all values that its inputs may have",)
    head = HEAD.replace("plus_minus: 10%", "plus_minus: 100%")
    unbound = one(tree, "expr: 100 / price, stated: {value: 1}", head=head)
    assert unbound.verdict == "holds-fragile"
    assert unbound.notes == ("within the uncertainty of its inputs a divisor may be zero: the figure has no bounds",)
    far = one(tree, "expr: minutes(acme), stated: {value: 1, wording: over}")
    assert (far.verdict, far.notes) == ("holds", ("understated: the figure is far above",))


def test_a_table_of_published_scores_decides(tree: Tree) -> None:
    (tree.entry() / "scaling.json").write_text(json.dumps({"scaling_factor": 1.0502}))
    table = "published: {acme: {minutes: '12.60', source: a table}}\n"
    judged = one(tree, "expr: minutes(acme), stated: {value: 12, unit: min}", head=HEAD + table)
    # The logs say 12, and 12.6024 with the factor; nobody edited them, so what they say is for comparison.
    assert judged.verdict == "fails"
    assert [(one.basis, one.value, one.holds, one.decides) for one in judged.readings[0].bases] == [
        ("published", Fraction(63, 5), False, True),
        ("unscaled", 12, True, False),
    ]
    asked = one(tree, "expr: minutes(acme), stated: {value: 12, unit: min}", head=HEAD + table, bases=["unscaled"])
    assert asked.verdict == "holds"
    own = one(tree, "basis: unscaled, expr: minutes(acme), stated: {value: 12}", head=HEAD + table, bases=["published"])
    assert own.verdict == "holds"


def test_a_table_gives_no_score_to_an_entry_whose_logs_give_none(tree: Tree) -> None:
    spoil(tree, 0, 1)
    table = "published: {acme: {minutes: '12.6', source: a table}}\n"
    judged = one(tree, "expr: minutes(acme), stated: {value: '12.6', unit: min}", head=HEAD + table)
    assert (judged.verdict, judged.reason) == ("not-verifiable", "acme has no score: too few of its runs count")


def test_folders_name_a_result_of_hpc_that_only_its_path_names(tmp_path: Path) -> None:
    path = "hpc-v3.0/ACME/results/rack1/strong/cosmoflow"
    (tmp_path / path).mkdir(parents=True)
    file = tmp_path / "claims.yaml"
    file.write_text(
        "claims_version: 1\nsource: {title: A post}\n"
        f"results: {{a: {{usage: hpc, round: v3.0, scaling: strong, path: {path}}}}}\n"
        "claims: [{id: c0, expr: minutes(a), stated: {value: 1, unit: min}}]\n"
    )
    [found] = audit(file, [str(tmp_path)], context=Context(jobs=1)).results
    assert (found.submitter, found.system, found.benchmark) == ("ACME", "rack1", "cosmoflow")


def test_without_a_table_the_logs_and_scaling_json_give_the_published_score(tree: Tree) -> None:
    for claim in (
        "expr: minutes(acme), stated: {value: 12}, basis: published",
        "expr: 'minutes(acme, published)', stated: {value: 12}",
    ):
        judged = one(tree, claim)
        assert (judged.verdict, judged.basis) == ("holds", "published")
    assert one(tree, "expr: minutes(acme), stated: {value: 12}", bases=["published"]).verdict == "holds"


def test_the_factor_of_the_committee_makes_a_published_score(tree: Tree) -> None:
    (tree.entry() / "scaling.json").write_text(json.dumps({"scaling_factor": 1.05}))
    judged = one(tree, "expr: minutes(acme), stated: {value: '12.6'}")
    assert judged.computed == Fraction(63, 5)
    assert judged.verdict == "holds"
    assert [(one.basis, one.value, one.decides) for one in judged.readings[0].bases] == [
        ("published", Fraction(63, 5), True),
        ("unscaled", 12, False),
    ]


def test_a_run_that_is_not_compliant_counts_as_slowest(tree: Tree) -> None:
    spoil(tree, 0)
    found = run(tree, "expr: minutes(acme), stated: {value: 13}")
    [acme] = found.results
    assert (acme.minutes["unscaled"], acme.run_minutes[0]) == (13, None)


def test_an_entry_without_a_score_is_not_verifiable(tree: Tree) -> None:
    spoil(tree, 0, 1)
    judged = one(tree, "expr: minutes(acme), stated: {value: 13}")
    assert (judged.verdict, judged.reason) == ("not-verifiable", "acme has no score: too few of its runs count")


def test_edited_times_are_undone(tree: Tree) -> None:
    for number in range(5):
        # What the training took, to its last event, times 1.1.
        def stretch(log: object, number: int = number) -> None:
            start = log.records("run_start")[0]["time_ms"]  # type: ignore[attr-defined]
            log.put("eval_stop", time_ms=start + (10 + number) * 60_000)  # type: ignore[attr-defined]
            log.put("run_stop", time_ms=start + (10 + number) * 66_000)  # type: ignore[attr-defined]

        tree.edit(stretch, number)
    found = run(tree, "expr: minutes(acme), stated: {value: 13, unit: min}")
    [acme] = found.results
    assert (acme.minutes["published"], acme.edit_factor, acme.minutes["unscaled"]) == (
        Fraction(66, 5),
        Fraction(11, 10),
        12,
    )
    [judged] = found.claims
    assert judged.verdict == "depends-on-basis"
    assert [(one.basis, one.value) for one in judged.readings[0].bases][:2] == [
        ("published", Fraction(66, 5)),
        ("unscaled", 12),
    ]


def test_what_else_differs_is_told_where_it_is_asked_for(tree: Tree) -> None:
    tree.describe(framework="another")
    tree.edit(lambda log: log.put("global_batch_size", value=1600), *range(4))
    judged = one(
        tree, "expr: 'ratio(acme, beta)', stated: {value: 1}, context: [global_batch_size, framework, opt_name]"
    )
    assert [(change.name, change.old, change.new) for change in judged.changed] == [
        ("global_batch_size", "1600", "3200"),
        ("framework", "another", "some framework"),
    ]
    everything = one(tree, "expr: 'ratio(acme, beta)', stated: {value: 1}, context: all")
    assert [change.name for change in everything.changed] == [
        *("submitter", "division", "framework", "global_batch_size"),
    ]
    tree.describe(framework=None)
    text = render(build_document(run(tree, "expr: 'ratio(acme, beta)', stated: {value: 1}, context: all")))
    assert "changed too: " in text
    assert "framework: not stated -> some framework\n" in text
    assert "global_batch_size: 1600 -> 3200 (old: 4 of 5 runs)\n" in text


def test_the_statement_of_another_claim_is_compared(tree: Tree) -> None:
    eight, nine = "expr: chips(acme), stated: {value: 8}", "expr: chips(acme), stated: {value: 9}"
    judged = run(tree, f"{eight}, same_quantity: [{{claim: c1}}]", nine).claims[0]
    assert (judged.verdict, [said.where for said in judged.statements]) == ("contradiction", ["c0", "c1"])


def test_two_wordings_of_one_number_are_noted(tree: Tree) -> None:
    judged = one(
        tree, "unverifiable: no log, same_quantity: [{value: 16, unit: x}, {value: 16, unit: x, wording: over}]"
    )
    assert judged.verdict == "not-verifiable"
    assert judged.notes == ("worded in two ways: 16x (line 10), over 16x (line 10)",)
    other = "[{value: 16, unit: x}, {value: 16, unit: x}, {value: 15, unit: x, wording: over}]"
    assert one(tree, f"unverifiable: no log, same_quantity: {other}").notes == ()


def test_figures_for_scale_are_shown_and_not_judged(tree: Tree) -> None:
    near = "'reduction(acme, beta)', 1 - price / 400, {expr: minutes(acme) + 1, label: a minute more}, samples(acme)"
    found = run(tree, f"expr: chips(acme), stated: {{value: 8}}, nearest: [{near}, 1 < 2]")
    text = render(build_document(found))
    assert text[text.index("  nearest: ") : text.index("  source: ")] == (
        "  nearest:  reduction(acme, beta): 0%\n"
        "            1 - price / 400: 75%\n"
        "            a minute more: 13\n"
        "            samples(acme): the logs of acme do not state samples\n"
        "            1 < 2: true\n"
    )
    assert found.claims[0].verdict == "holds"


def test_results_that_no_claim_uses_are_not_read(tree: Tree) -> None:
    assert [one.name for one in run(tree, "expr: minutes(acme), stated: {value: 12}").results] == ["acme"]


def test_exit_statuses(tree: Tree) -> None:
    good, fragile = "expr: chips(acme), stated: {value: 8}", "expr: price, stated: {value: 100}"
    bad = "expr: chips(acme), stated: {value: 9}"
    assert [run(tree, *claims).exit_status() for claims in ((good,), (good, fragile), (good, bad))] == [0, 0, 1]
    assert [run(tree, *claims).exit_status(strict=True) for claims in ((good,), (good, fragile))] == [0, 1]
    assert run(tree, "unverifiable: no log").exit_status(strict=True) == 1
    # What is only proposed counts for nothing, or is doubtful; a file without any other confirms nothing.
    found = run(tree, good, f"proposed: true, {bad}")
    assert (found.verdicts, found.proposed) == ({"holds": 1}, {"fails": 1})
    assert [found.exit_status(), found.exit_status(strict=True)] == [0, 1]
    assert run(tree, f"proposed: true, {good}").exit_status() == 1
    assert "1 claim: 1 holds. 1 proposed claim: 1 fails; remove proposed: true to confirm one" in summary(found)
    assert [headline(one) for one in found.claims] == ["holds", "fails, proposed"]
    found = run(tree, fragile, "unverifiable: no log", bad)
    for strict, outcomes in ((False, ["beside", "beside", "counts"]), (True, ["counts"] * 3)):
        assert [one.outcome for one in build_ci_report(found, strict=strict).all] == outcomes


@pytest.mark.parametrize(("text", "stated", "differs"), [(*case[:2], case[2:]) for case in CASES["spoken"]], ids=str)
def test_the_figure_in_the_words_is_the_one_that_is_checked(
    text: str, stated: dict[str, Any], differs: list[str], tree: Tree
) -> None:
    judged = one(tree, flow({"text": text, "expr": "minutes(acme)", "stated": stated}))
    assert [[found.what, found.said, *found.results] for found in judged.differences] == (
        [["figure", *differs]] if differs else []
    )
    assert judged.verdict == ("fails" if differs else "holds")


def test_percentages_and_multiples_are_compared_too(tree: Tree) -> None:
    gain = "expr: 'reduction(acme, beta)', stated: {value: 0, unit: '%', wording: at least}"
    assert one(tree, f"text: It saves 40 percent, {gain}").differences[0].said == "40 percent"
    assert not one(tree, f"text: 'It saves 40%, or 0%', {gain}").differences
    times = "expr: 'ratio(acme, beta)', stated: {value: 1, unit: x}"
    assert one(tree, f"text: It is 2.5x as fast, {times}").differences[0].said == "2.5x"
    assert not one(tree, f"text: It is 1 times as fast as 8x Z100, {times}").differences
    same = "expr: 'ratio(acme, beta)', stated: {wording: the same}"
    assert not one(tree, f"text: It is 2.5x as fast, {same}").differences


@pytest.mark.parametrize(("claim", "verdict"), CASES["several"], ids=str)
def test_a_claim_of_several_figures_is_as_good_as_the_worst(claim: dict[str, Any], verdict: str, tree: Tree) -> None:
    assert one(tree, flow(claim)).verdict == verdict
