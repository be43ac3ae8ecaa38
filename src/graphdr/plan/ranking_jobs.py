"""What the leaderboard is made of: the experiments of its target that judge settings, and do not choose them."""

from typing import Any

import graphdr.stages.judge_claims as judge
from graphdr.bandit.methods import GRAPH_PRIORS
from graphdr.cache import paths
from graphdr.plan.design import Design, batches_of

KINDS = (  # of games: factors that differ from a data set's usual, in words
    ("n", "all", "whole graph"), ("users", "split", "users split"), ("noise", "resampled", "ratings resampled"),
    ("shuffle", 1, "shuffled graph"),
)  # fmt: skip


def ranked(design: Design) -> list[str]:
    """Return the experiments whose methods are ranked."""
    experiments = design.config.experiments
    judged = [name for name, spec in experiments.items() if spec.target == paths.LEADERBOARD and not spec.settings]
    return sorted(name for name in judged if batches_of(design, [name]))


def ranking(design: Design) -> tuple[judge.Input, judge.Params]:
    """Return what the methods of these experiments are ranked by."""
    methods, played, titles = design.config.methods, [], {}
    for experiment in ranked(design):
        names = [name for name in design.config.experiments[experiment].methods if not methods[name].control]
        for batch in batches_of(design, [experiment]):
            for problem in design.batches[batch].problems:
                titles[problem] = _title(design, design.problems[problem])
                played += [(problem, method, *design.played[problem, method]) for method in names]
    used = dict.fromkeys(method for _, method, *_ in played)
    params = judge.Params(
        {}, {}, [], {name: methods[name].label for name in used}, {}, [], [], {},
        ranked=played,
        titles=titles,
        datasets={name: design.problems[name]["dataset"] for name in titles},
        untuned=[name for name in used if methods[name].policy in GRAPH_PRIORS],
    )  # fmt: skip
    return judge.Input("", {}, {}, {paths.LEADERBOARD: sorted({path for _, _, path, *_ in played})}), params


def _title(design: Design, problem: dict[str, Any]) -> str:
    label = design.config.datasets[problem["dataset"]].label or problem["dataset"]
    return ", ".join([label, *(words for factor, value, words in KINDS if problem[factor] == value)])
