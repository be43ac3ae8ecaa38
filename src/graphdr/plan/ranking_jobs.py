"""The job of the leaderboard: methods ranked over the experiments of its target that judge, not choose, settings."""

from typing import Any

import graphdr.stages.rank_methods as rank
from graphdr.cache import paths
from graphdr.plan.design import Design, batches_of
from graphdr.plan.job import Job
from graphdr.plan.plays import KNOBS

KINDS = (  # of games: factors that differ from a data set's usual, in words
    ("n", "all", "whole graph"), ("users", "split", "users split"), ("noise", "resampled", "ratings resampled"),
    ("shuffle", 1, "shuffled graph"),
)  # fmt: skip


def ranked(design: Design) -> list[str]:
    """Return the experiments whose methods are ranked."""
    experiments = design.config.experiments
    judged = [name for name, spec in experiments.items() if spec.target == paths.LEADERBOARD and not spec.settings]
    return [name for name in judged if batches_of(design, [name])]


def rank_methods(design: Design) -> Job[rank.Input, rank.Output, rank.Params]:
    methods = design.config.methods
    played, titles = [], {}
    for experiment in ranked(design):
        names = [name for name in design.config.experiments[experiment].methods if not methods[name].control]
        for batch in batches_of(design, [experiment]):
            for problem in design.batches[batch].problems:
                titles[problem] = _title(design, design.problems[problem])
                played += [(problem, method, *design.played[problem, method]) for method in names]
    used = dict.fromkeys(method for _, method, *_ in played)
    params = rank.Params(
        played=played,
        titles=titles,
        labels={name: methods[name].label for name in used},
        methods={name: methods[name].model_dump(include=KNOBS) for name in used},
        untuned=[name for name in used if methods[name].policy.startswith("graph_prior")],
        seed=design.config.seed,
    )
    input = rank.Input(sorted({path for _, _, path, *_ in played}))
    return Job("rank_methods", input, rank.Output(), params)


def _title(design: Design, problem: dict[str, Any]) -> str:
    label = design.config.datasets[problem["dataset"]].label or problem["dataset"]
    return ", ".join([label, *(words for factor, value, words in KINDS if problem[factor] == value)])
