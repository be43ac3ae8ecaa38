"""The two pages: what they count and name, on numbers known beforehand."""

import pandas as pd
import pytest

from docs import reproduction
from graphdr.paper import multiverse
from graphdr.plan import config as configuration


@pytest.fixture
def results(config) -> reproduction.Found:
    """Three numbers and three claims, and what settings do to two methods on two data sets."""
    number = {"artifact": "t", "paper": 1.0, "verdict": "match", "cell": "a", "kind": "synthetic"}
    others = [{"cell": "b", "verdict": "differs"}, {"cell": "b", "verdict": "differs", "artifact": "u"}]
    claim = {"measured": "1 / 2", "share": float("nan"), "available": "sbm"}
    claim |= dict.fromkeys(("missing", "where", "criterion"), "")
    judged = [("main_wins", "holds"), ("main_15x", "fails"), ("thm1_holds", "holds, vacuous")]
    decided = pd.DataFrame(
        [("main_wins", None, alpha, 1.0, 5, 100, "uniform", 0, 5, int(alpha < 1), 1.0) for alpha in (0.1, 1.0)]
        + [("main_15x", "not varied", *[None] * 9)],
        columns=list(multiverse.COLUMNS),
    )
    columns = ("regret", "alpha", "ridge", "k", "behind", "behind_low", "behind_high")
    numbers = {"graphdr": (30.0, 0.1, 1, 5, 10, 5, 15), "linucb_full": (20.0, 0.3, 1, float("nan"), 0, 0, 0)}
    rows = [(f"lastfm {name}", c, v) for name, values in numbers.items() for c, v in zip(columns, values, strict=True)]
    widths = [(f"{label}, alpha {width}", method, "regret", value)
              for label in ("LastFM", "ogbn-arxiv") for width, full in ((1, 200.0), (0.1, 100.0))
              for method, value in (("graphdr", 98.0), ("linucb_full", full))]  # fmt: skip
    return reproduction.Found(
        configuration.read(config),
        pd.DataFrame([number, *(number | other for other in others)]),
        pd.DataFrame([claim | {"claim": name, "statement": name, "verdict": verdict} for name, verdict in judged]),
        decided,
        pd.DataFrame(rows, columns=["row", "column", "value"]),
        pd.DataFrame(widths, columns=["row", "column", "quantity", "value"]),
    )


def test_the_page_has_every_section_and_its_numbers(results):
    text = reproduction.render(results)
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == list(reproduction.SECTIONS)
    assert "- 2 distinct synthetic numbers: 1 match, 0 close, 0 not contradicted, 1 differs." in text
    assert "on LastFM GraphDR has 51 % less regret than full LinUCB at the paper's width" in text
    assert "and 2 % less at one standard deviation of the noise" in text
    assert "| LastFM | LinUCB-full | α 0.3, ridge 1 | 20.0 | 30.0 | 20.0 | 10.0 (5.0 … 15.0) |" in text
    assert "GraphDR has the least regret on 0 of 1." in text
    assert "- main_wins (depends on the confidence width: holds in 50 % of 2 settings" in text
    assert "**Claims that fail** (1):" in text
    assert "1 bounds of theorems hold, but no policy could break them" in text


def test_without_the_studies_it_says_how_to_build_them(results):
    nothing = pd.DataFrame()
    text = reproduction.render(results._replace(decided=nothing, calibrated=nothing, widths=nothing))
    assert "Not built: `make multiverse`." in text
    assert "**Claims that hold** (1):" in text
