"""Claims judged with every setting: how often they hold, and what they hang on."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from graphdr.paper import claims, multiverse

WIDTHS, RIDGES, KS, HORIZONS = (0.01, 0.1, 1.0), (0.1, 1.0), (2, 5, 10), (2000, 20000)
BELOW = [{"ratio": {"of": "regret@ours", "to": "regret@full", "below": 1}}]
SPEC = {"experiment": "e", "checks": BELOW, "datasets": ["sbm", "lastfm"]}


def played(regret, datasets=("sbm",), instances: int = 2) -> pd.DataFrame:
    """Build the tidy table of two methods of which ours has a k; ``regret`` is ours against one of full LinUCB."""
    rows = []
    for dataset, instance, alpha, ridge, horizon in product(datasets, range(instances), WIDTHS, RIDGES, HORIZONS):
        at = (dataset, instance, "regret", alpha, ridge)
        rows.append((*at, None, horizon, "full", 1.0))
        for k in KS:
            told = {
                "alpha": alpha,
                "ridge": ridge,
                "k": k,
                "horizon": horizon,
                "instance": instance,
                "dataset": dataset,
            }
            rows.append((*at, k, horizon, "ours", regret(told)))
    names = ["problem", "instance", "quantity", "with_alpha", "with_ridge", "with_k", "with_horizon", "method", "value"]
    frame = pd.DataFrame(rows, columns=names).assign(draw=0, sem=np.nan, n=1, predictor=None, with_candidates="uniform")
    return claims.tidy({"e": frame}, {}, {name: {"dataset": name, "k": 5} for name in datasets})


def judged(regret, spec=SPEC, other=(), **more) -> dict:
    return multiverse.judge(multiverse.decide("c", spec, played(regret, **more), other))


@pytest.mark.parametrize(
    ("factor", "regret"),
    [
        ("alpha", lambda told: 0.5 if told["alpha"] >= 1 else 2),
        ("ridge", lambda told: 0.5 if told["ridge"] >= 1 else 2),
        ("k", lambda told: 0.5 if told["k"] >= 10 else 2),
        ("horizon", lambda told: 0.5 if told["horizon"] > 2000 else 2),
        ("instance", lambda told: 0.5 if told["instance"] else 2),
    ],
)
def test_a_claim_planted_to_hang_on_a_setting_is_reported_as_hanging_on_it(factor, regret):
    found = judged(regret)
    assert found["verdict"] == f"depends on {multiverse.FACTORS[factor]}"
    assert found["factor"] == factor
    assert 0.05 < found["share"] < 0.95


def test_a_claim_that_hangs_mostly_on_the_width_names_the_width():
    found = judged(lambda told: 0.5 if told["alpha"] >= 1 or (told["k"] == 2 and told["ridge"] == 1) else 2)
    assert found["verdict"] == "depends on width"
    assert found["levels"] == "width 0.01: 17 %, 0.1: 17 %, 1: 100 %"


def test_what_happens_at_the_papers_k_is_told_apart():
    found = judged(lambda told: 2 if told["k"] == 2 else 0.5)
    assert (found["verdict"], found["share_at_k"]) == ("depends on k", 1)
    found = judged(lambda told: 2 if told["k"] == 5 and told["alpha"] == 1 else 0.5)
    assert found["share_at_k"] == pytest.approx(2 / 3)


def test_a_claim_holds_or_fails_in_nearly_all_settings():
    everywhere = judged(lambda told: 0.5)
    assert (everywhere["verdict"], everywhere["share"]) == ("holds", 1)
    assert everywhere["settings"] == len(WIDTHS) * len(RIDGES) * len(KS) * len(HORIZONS) * 2
    assert judged(lambda told: 2.0)["verdict"] == "fails"


def test_a_claim_on_each_data_set_holds_where_it_holds_on_all_and_turns_on_its_exceptions():
    spec = SPEC | {"each": "dataset", "except": ["lastfm"]}
    both = ("sbm", "lastfm")
    found = judged(lambda told: 2.0 if told["dataset"] == "lastfm" else 0.5, spec, datasets=both)
    assert (found["verdict"], found["settings"]) == ("holds", 36)
    assert judged(lambda told: 0.5, spec, datasets=both)["verdict"] == "fails"
    assert judged(lambda told: 0.5, spec, other=["lastfm"], datasets=both)["verdict"] == "holds"  # other data left out


def test_the_effect_is_how_many_times_one_number_is_the_other():
    decided = multiverse.decide("c", SPEC, played(lambda told: told["alpha"]), ())
    assert set(decided["effect"]) == set(WIDTHS)
    assert (decided["effect"] == decided["alpha"]).all()


def test_a_claim_without_settings_says_so():
    decided = pd.concat(
        [multiverse.marked("t", multiverse.NO_SETTINGS), multiverse.decide("c", SPEC, played(lambda _: 0.5), ())]
    )
    found = multiverse.summary(decided)
    assert found[["claim", "verdict"]].to_numpy().tolist() == [["t", "no settings"], ["c", "holds"]]
    text = multiverse.markdown(pd.DataFrame({"claim": ["t", "c"], "statement": ["A theorem", "A claim"]}), decided)
    assert "| A theorem (`t`) | no settings | – | – | – | – |" in text
    assert "| A claim (`c`) | holds | 100 % | 72 | 100 % |" in text


def test_a_claim_without_data_is_not_lost():
    decided = multiverse.decide("c", SPEC | {"datasets": ["elsewhere"]}, played(lambda told: 0.5), ())
    assert multiverse.summary(decided)[["claim", "verdict"]].to_numpy().tolist() == [["c", "not varied"]]
