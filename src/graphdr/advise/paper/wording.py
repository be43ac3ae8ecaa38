"""Advice in words: the answer in a few sentences, what to know about the data, and how to paste the data set."""

import tomllib
from pathlib import Path

from graphdr.advise.logs import LOGGED
from graphdr.advise.paper.decision import FULL, GRAPH, Advice
from graphdr.advise.paper.findings import Findings
from graphdr.advise.paper.survey import Survey
from graphdr.cache import paths

TEXTS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
METHODS, REASONS, WORDS = TEXTS["methods"], TEXTS["reasons"], TEXTS["glossary"]
SHORT = {name: text.partition(" (")[0] for name, text in METHODS.items()}


def answer(findings: Findings) -> list[str]:
    """Return the recommendation in a few sentences."""
    advice, rounds = findings.advice, f"{findings.setting.horizon:,} rounds"
    name = METHODS[advice.method] + (f" with k = {advice.k} dimensions" if advice.k else "")
    rival, best = advice.best_without_graph, advice.best_graph_method
    if advice.use_graph:
        first = f"Use the graph, through {name}."
        second = f"Over {rounds} it would save {_share(advice, rival)} of the regret of {SHORT[rival]}"
        second += "." if rival == FULL else f", and {_share(advice, FULL)} of that of {SHORT[FULL]}."
        for method in GRAPH:  # the other one, where it is not clearly worse
            if method in advice.against and advice.against[method].low <= 0:
                second += f" {SHORT[method]} with k = {advice.chosen_k[method]} is about as good."
    elif advice.reason == "nothing":
        first = f"Do not use the graph: {REASONS['nothing']} within {rounds}."
        second = "Nothing can be said about savings."
    else:
        share = advice.saves[best].share
        less = f"{percent(abs(share))} {'less' if share >= 0 else 'more'} regret than {SHORT[best]}"
        first = f"Do not use the graph: {REASONS[advice.reason]}. Use {name}."
        second = f"Over {rounds} {SHORT[advice.method]} would have {less}."
    said = [first, second, TEXTS["certainty"][advice.sure]]
    if names := " and ".join(SHORT[method] for method in advice.at_edge):
        said.append(f"The largest k that was tried is the best for {names}: larger ones may change this (--k).")
    return [*said, _by_log(findings)] if findings.log else said


def _by_log(findings: Findings) -> str:
    """Say what the log says of the method that is advised."""
    label = findings.labels[findings.advice.method]
    gain = next(row for row in findings.log.estimates if row[:3] == (label, LOGGED, "doubly_robust"))
    if not gain.ess:
        return f"The log says nothing of {label}: it never shows what that would have played."
    sign = "more" if gain.low > 0 else "less" if gain.high < 0 else "not clearly more or less"
    span = f"{gain.value:+.3g} per round, {gain.low:+.3g} to {gain.high:+.3g}"
    return f"By the log it would have earned {sign} than what was played ({span})."


def _share(advice: Advice, other: str) -> str:
    return "{} ({} to {})".format(*map(percent, advice.saves[other]))


def percent(share: float) -> str:
    """Spell a share."""
    return f"{100 * share:.0f} %"


def notes(survey: Survey, config: dict) -> list[str]:
    """Say what became of the nodes, and how they were joined."""
    by = {"knn": "most interactions", "network": "most neighbours"}[survey.family]
    asked, available, kept = f"{survey.asked:,}", f"{survey.available:,}", f"{survey.kept:,}"
    said = []
    if asked != available:
        said.append(f"the {asked} nodes of {by} are taken, of {available} (--nodes N or --nodes all)")
    if kept != asked:
        said.append(f"the graph has {survey.components:,} components: the largest is taken, {kept} of {asked} nodes")
    if survey.family == "knn":
        count = config["observed"]["neighbours"]
        said.append(f"the graph joins each item to its {count} nearest by cosine between the users' values")
    return said


def paste(name: str, folder: str) -> str:
    """Return the command that copies the raw files to where config.yaml wants them."""
    raw = paths.receipt(name).rpartition("/")[0]
    return f"mkdir -p {raw} && cp {folder}/{raw}/{name}.* {raw}/"
