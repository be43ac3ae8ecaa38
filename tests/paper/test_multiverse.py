"""Claims judged with every setting: how often they hold, and what they hang on."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from graphdr.paper import claims, multiverse
from graphdr.paper.claims import ClaimSpec

WIDTHS, RIDGES, KS, HORIZONS = (0.01, 0.1, 1.0), (0.1, 1.0), (2, 5, 10), (2000, 20000)
BELOW = [{"ratio": {"of": "regret@ours", "to": "regret@full", "below": 1}}]
SPEC = ClaimSpec(BELOW, ["sbm", "lastfm"], experiments=["e"])


def played(regret, datasets=("sbm",), instances: int = 2) -> pd.DataFrame:
    """Build the tidy table of two methods of which ours has a k; ``regret`` is ours against one of full LinUCB."""
    rows = []
    for dataset, instance, alpha, ridge, horizon in product(datasets, range(instances), WIDTHS, RIDGES, HORIZONS):
        at = (dataset, instance, "regret", alpha, ridge)
        rows.append((*at, None, horizon, "full", 1.0))
        for k in KS:
            setting = {"alpha": alpha, "ridge": ridge, "k": k, "horizon": horizon}
            setting |= {"instance": instance, "dataset": dataset}
            rows.append((*at, k, horizon, "ours", regret(setting)))
    names = ["problem", "instance", "quantity", "with_alpha", "with_ridge", "with_k", "with_horizon", "method", "value"]
    frame = pd.DataFrame(rows, columns=names).assign(draw=0, sem=np.nan, n=1, predictor=None, with_candidates="uniform")
    return claims.tidy({"e": frame}, {}, {name: {"dataset": name, "k": 5} for name in datasets})


def judged(regret, spec=SPEC, other=(), **more) -> multiverse.Judgement:
    return multiverse.judge(multiverse.decide("c", spec, played(regret, **more), other))


@pytest.mark.parametrize(
    ("factor", "least"), [("alpha", 1), ("ridge", 1), ("k", 10), ("horizon", 2001), ("instance", 1)]
)
def test_a_claim_planted_to_depend_on_a_setting_is_reported_as_such(factor, least):
    judgement = judged(lambda at: 0.5 if at[factor] >= least else 2)
    assert judgement.verdict == f"depends on {multiverse.FACTORS[factor]}"
    assert judgement.factor == factor
    assert 0.05 < judgement.share < 0.95


def test_a_claim_that_hangs_mostly_on_the_width_names_the_width():
    judgement = judged(lambda at: 0.5 if at["alpha"] >= 1 or (at["k"] == 2 and at["ridge"] == 1) else 2)
    assert judgement.verdict == "depends on width"
    assert judgement.levels == "width 0.01: 17 %, 0.1: 17 %, 1: 100 %"


def test_what_happens_at_the_papers_k_is_told_apart():
    judgement = judged(lambda at: 2 if at["k"] == 2 else 0.5)
    assert (judgement.verdict, judgement.share_at_k) == ("depends on k", 1)
    judgement = judged(lambda at: 2 if at["k"] == 5 and at["alpha"] == 1 else 0.5)
    assert judgement.share_at_k == pytest.approx(2 / 3)


def test_a_claim_holds_or_fails_in_nearly_all_settings():
    everywhere = judged(lambda at: 0.5)
    assert (everywhere.verdict, everywhere.share) == ("holds", 1)
    assert everywhere.settings == len(WIDTHS) * len(RIDGES) * len(KS) * len(HORIZONS) * 2
    assert judged(lambda at: 2.0).verdict == "fails"


def test_a_claim_on_each_data_set_holds_where_it_holds_on_all_and_turns_on_its_exceptions():
    spec = replace(SPEC, each="dataset", exceptions=["lastfm"])
    both = ("sbm", "lastfm")
    judgement = judged(lambda at: 2.0 if at["dataset"] == "lastfm" else 0.5, spec, datasets=both)
    assert (judgement.verdict, judgement.settings) == ("holds", 36)
    assert judged(lambda at: 0.5, spec, datasets=both).verdict == "fails"
    assert judged(lambda at: 0.5, spec, other=["lastfm"], datasets=both).verdict == "holds"  # other data left out


def test_the_effect_is_how_many_times_one_number_is_the_other():
    decided = multiverse.decide("c", SPEC, played(lambda at: at["alpha"]), ())
    assert set(decided["effect"]) == set(WIDTHS)
    assert (decided["effect"] == decided["alpha"]).all()


def test_a_claim_without_settings_or_data_is_not_lost():
    without_data = replace(SPEC, datasets=["elsewhere"])
    table = played(lambda _: 0.5)
    parts = [multiverse.decide(name, spec, table, ()) for name, spec in (("c", SPEC), ("d", without_data))]
    decided = pd.concat([multiverse.marked("t", multiverse.NO_SETTINGS), *parts])
    verdicts = multiverse.summary(decided)[["claim", "verdict"]].to_numpy().tolist()
    assert verdicts == [["t", "no settings"], ["c", "holds"], ["d", "not varied"]]
    words = pd.DataFrame({"claim": ["t", "c", "d"], "statement": ["A theorem", "A claim", "Another"]})
    text = multiverse.markdown(words, decided)
    assert "| A theorem (`t`) | no settings | – | – | – | – |" in text
    assert "| A claim (`c`) | holds | 100 % | 72 | 100 % |" in text
