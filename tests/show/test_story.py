"""The story: every claim in one list, whatever the multiverse says, with its numbers and in order."""

import pandas as pd
import pytest

from graphdr.show.story import best_of, place, tell, winners


def claim(name: str, verdict: str, share: float = float("nan"), measured: str = "a / b = 2", available: str = "sbm"):
    texts = {"statement": f"{name} is so", "measured": measured, "available": available}
    return {"claim": name, "verdict": verdict, "share": share} | texts


def claims(*rows: dict) -> pd.DataFrame:
    return pd.DataFrame(rows)


def multiverse(**verdicts: str) -> pd.DataFrame:
    return pd.DataFrame([{"claim": name, "verdict": verdict, "share": 0.4, "settings": 75, "factor": ""}
                         for name, verdict in verdicts.items()])  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "varied", "expected"),
    [
        ("holds", None, "holds"),
        ("holds on 4 of 4 available (missing: amazon)", None, "holds"),
        ("holds", "depends on width", "depends"),
        ("holds", "fails", "depends"),
        ("mixed", None, "depends"),
        ("mixed", "holds", "depends"),
        ("fails", None, "fails"),
        ("fails", "holds", "fails"),
        ("fails", "depends on k", "depends"),
        ("holds, vacuous", None, "vacuous"),
        ("holds, vacuous in 4 of 5 runs", "depends on width", "vacuous"),
    ],
)
def test_every_claim_has_its_place(verdict, varied, expected):
    assert place(verdict, varied) == expected


def test_what_depends_says_on_what_and_claims_without_settings_or_data_do_not():
    rows = [claim(name, "holds") for name in "abcd"]
    varied = multiverse(a="depends on width", b="depends on k", c="no settings", d="not varied")
    story = tell(claims(*rows, claim("e", "no data (other data: x)")), varied.assign(levels=["", "2: 44 %", "", ""]))
    assert [line.result for line in story.depends] == [
        "depends on the confidence width: holds in 40 % of 75 settings; at the paper's: a / b = 2",
        "depends on k: holds in 40 % of 75 settings (2: 44 %); at the paper's: a / b = 2",
    ]
    assert [(line.claim, line.result) for line in story.holds] == [("c", "a / b = 2"), ("d", "a / b = 2")]
    assert story.without_data == 1


def test_claims_about_who_wins_come_first():
    rows = claims(claim("a", "holds"), claim("b", "holds"), claim("c", "holds"))
    assert [line.claim for line in tell(rows, first=["c"]).holds] == ["c", "a", "b"]
    assert [line.claim for line in tell(rows, multiverse(a="no settings", b="holds")).holds] == ["b", "a", "c"]


def test_lines_are_marked_by_the_kind_of_their_data():
    rows = claims(claim("a", "holds"), claim("b", "holds", available="ml"), claim("c", "holds", available="sbm, ml"))
    assert [line.kinds for line in tell(rows, real=["ml"]).holds] == [("synthetic",), ("real",), ("synthetic", "real")]
    assert [line.kinds for line in tell(rows).holds] == [(), (), ()]


def test_many_numbers_become_a_count():
    each = "as claimed: SBM (a / b = 2); ML (a / b = 3)"
    rows = claims(
        claim("a", "holds on 2 of 2 available (missing: amazon)", 0.97, each),
        claim("b", "fails on 1 of 2 available (missing: amazon)", measured="not as claimed: ML (k = 4)"),
        claim("c", "mixed", 0.53, "R(T) at k " + "1, " * 60),
        claim("d", "holds, vacuous in 35 of 39 runs on 5 of 5 available (missing: x)", 1.0, each),
    )
    story = tell(rows)
    assert story.holds[0].result == "holds on 2 of 2 data sets, in 97 % of the random instances"
    assert story.fails[0].result == "fails on 1 of 2 data sets"
    assert story.depends[0].result == "holds in 53 % of the random instances"
    assert story.vacuous[0].result.endswith("vacuous in 35 of 39 runs")


def calibrated(**regrets: dict[str, tuple]) -> pd.DataFrame:
    """Build the table of methods at their best: by data set and method (regret, k, behind, its interval)."""
    columns = ("regret", "k", "behind", "behind_low", "behind_high")
    return pd.DataFrame(
        [
            {"row": f"{dataset} {method}", "column": column, "value": value}
            for dataset, methods in regrets.items()
            for method, numbers in methods.items()
            for column, value in [*zip(columns, numbers, strict=True), ("alpha", 0.1), ("ridge", 1.0)]
        ]
    )


def test_the_best_at_its_best_is_named_and_who_is_as_good():
    nan = float("nan")
    table = calibrated(
        sbm={"ours": (5, 5, 0, 0, 0), "full": (9, nan, 4, 3, 5), "control": (1, 5, -4, -5, -3)},
        ml={"ours": (8, 10, 1, -1, 3), "full": (7, nan, 0, 0, 0)},
        fm={"ours": (8, 10, 2, 1, 3), "full": (6, nan, 0, 0, 0)},
    )
    best_methods = winners(table, ["control"], "ours")
    assert [(best.dataset, best.method, best.is_tie) for best in best_methods] == [
        ("sbm", "ours", True), ("ml", "full", True), ("fm", "full", False),
    ]  # fmt: skip
    assert best_methods[0].setting == {"alpha": 0.1, "ridge": 1, "k": 5}
    assert best_methods[1].setting == {"alpha": 0.1, "ridge": 1}
    assert best_methods[2].behind == (2, 1, 3)
    assert best_of(best_methods, "ours", {"ours": "GraphDR", "sbm": "SBM"}) == (
        "Least regret with each method at its own best setting: GraphDR on SBM; full on ml (a tie with GraphDR), fm."
    )


def test_a_claim_that_holds_with_every_other_setting_at_the_papers_k_is_safe():
    varied = multiverse(a="depends on k", b="depends on k").assign(
        levels="2: 0 %, 5: 99 %", share_at_k=[0.99, 0.8], paper_k=5.0
    )
    story = tell(claims(claim("a", "holds"), claim("b", "holds")), varied)
    assert [line.claim for line in story.holds] == ["a"]
    text = "holds in 99 % of the settings with k = 5, the paper's, in 40 % of 75 settings over all k (2: 0 %, 5: 99 %)"
    assert text in story.holds[0].result
    assert [line.claim for line in story.depends] == ["b"]
    assert tell(claims(claim("a", "mixed")), varied).holds == []
