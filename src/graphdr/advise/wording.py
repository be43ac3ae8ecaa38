"""Advice in words: the answer in a few sentences, what to know about the data, and how to paste the data set."""

from graphdr.advise.decision import FULL, GRAPH, RANDOM, REASONS, Advice
from graphdr.advise.findings import Findings
from graphdr.advise.logs import LOGGED
from graphdr.advise.survey import Survey
from graphdr.cache import paths

NAMES = {
    "graphdr": "GraphDR (the smoothest eigenvectors of the graph)",
    "graph_pca": "graph-PCA (principal components of the graph's adjacency matrix)",
    "content_pca": "content-PCA (principal components of what is known about the items)",
    FULL: "full LinUCB (every item learned by itself)",
    RANDOM: "random play",
}
SHORT = {name: text.partition(" (")[0] for name, text in NAMES.items()}
CERTAIN = {
    "sure": "We are sure of this: every comparison behind it holds at the 99 % level.",
    "fairly sure": "We are fairly sure: every comparison behind it holds at the 95 % level, not all at 99 %.",
    "not sure": "We are not sure: some of the comparisons behind it could go either way.",
}


def answer(findings: Findings) -> list[str]:
    """Return the recommendation in a few sentences."""
    advice, horizon = findings.advice, findings.setting.horizon
    name = NAMES[advice.method] + (f" with k = {advice.k} dimensions" if advice.k else "")
    rival = advice.best_without_graph
    if advice.use_graph:
        first = f"Use the graph, through {name}."
        second = f"Over {horizon:,} rounds it would save {_share(advice, rival)} of the regret of {SHORT[rival]}"
        second += "." if rival == FULL else f", and {_share(advice, FULL)} of that of {SHORT[FULL]}."
        second += _as_good(advice)
    elif advice.reason == "nothing":
        first = f"Do not use the graph: {REASONS['nothing']} within {horizon:,} rounds."
        second = "Nothing can be said about savings."
    else:
        best = advice.best_graph_method
        first = f"Do not use the graph: {REASONS[advice.reason]}. Use {name}."
        second = f"Over {horizon:,} rounds {SHORT[advice.method]} would have {_versus(advice, best)} {SHORT[best]}."
    return [first, second, CERTAIN[advice.sure], *_edge(advice), *_by_log(findings)]


def _by_log(findings: Findings) -> list[str]:
    """Say what the log, if there is one, says of the method that is advised."""
    if not findings.log:
        return []
    label = findings.labels[findings.advice.method]
    wanted = label, LOGGED, "doubly_robust"
    gain = next(row for row in findings.log.estimates if (row.policy, row.against, row.estimator) == wanted)
    if not gain.ess:
        return [f"The log says nothing of {label}: it never shows what that would have played."]
    sign = "more" if gain.low > 0 else "less" if gain.high < 0 else "not clearly more or less"
    span = f"{gain.value:+.3g} per round, {gain.low:+.3g} to {gain.high:+.3g}"
    return [f"By the log it would have earned {sign} than what was played ({span})."]


def _edge(advice: Advice) -> list[str]:
    """Say which methods were best at the largest k that was tried, and may be better beyond."""
    names = " and ".join(SHORT[method] for method in advice.at_edge)
    said = f"The largest k that was tried is the best for {names}: larger ones may change this (--k)."
    return [said] if names else []


def _as_good(advice: Advice) -> str:
    """Name the other graph method where it is not clearly worse."""
    for method in GRAPH:
        if method in advice.against and advice.against[method].low <= 0:
            return f" {SHORT[method]} with k = {advice.chosen_k[method]} is about as good."
    return ""


def _share(advice: Advice, other: str) -> str:
    return "{} ({} to {})".format(*map(percent, advice.saves[other]))


def _versus(advice: Advice, other: str) -> str:
    share = advice.saves[other].share
    return f"{percent(abs(share))} {'less' if share >= 0 else 'more'} regret than"


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


WORDS = {
    "regret": "the reward lost by not always choosing the best candidate, summed over all rounds; lower is better. The "
    "rewards are centred and scaled to length one, so that only regrets of one table compare",
    "k": "the number of dimensions that a method describes an item with",
    "ζ_k": "the share of the reward (its length) that k dimensions of the graph miss: 0 nothing, 1 all",
    "Γ_k": "how much more of the reward's energy k dimensions of the graph hold than those of another method; full "
    "LinUCB holds all of it. In brackets the 95 % bootstrap interval of a short simulated pilot",
    "eigengap": "the distance between two neighbouring eigenvalues of the graph; a large one makes k a natural choice",
    "shuffled": "the same dimensions given to other nodes, which cannot know anything about the reward; several times",
}
