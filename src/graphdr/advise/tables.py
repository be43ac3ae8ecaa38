"""The evidence behind advice as tables of text: a caption, a head and rows each, for a terminal and for the page."""

from graphdr.advise import logs, wording
from graphdr.advise.findings import Findings, Score
from graphdr.advise.simulation.methods import FULL, RANDOM
from graphdr.advise.simulation.verdict import PRACTICAL, Saving

TextTable = tuple[str, list[str], list[list[str]]]


def simulation(findings: Findings) -> list[TextTable]:
    """Return the tables of the simulation."""
    return [regrets(findings), comparisons(findings), data(findings)]


def log(findings: Findings) -> list[TextTable]:
    """Return what the log says of every policy, if there is a log."""
    return logs.tables(findings.log.estimates) if findings.log else []


def regrets(findings: Findings) -> TextTable:
    """Show every method at its settings: the regret of those that are judged, and how far behind the others were."""
    config, best = findings.simulation, findings.verdict.method
    caption = (
        f"Regret after {config.horizon:,} simulated rounds of {config.arms} candidates: mean over {config.splits} "
        f"splits of the data, {config.judging_runs} runs each, ± standard error over splits; * the method to use. The "
        "answer rests on these runs. Other runs chose the best method with the graph and the best without it; the last "
        "column says how much more regret the rest had there than the best of their kind"
    )
    rows = [
        [
            wording.short(name) + ("*" if name == best else ""),
            "yes" if score.sees_graph else "no",
            "" if name == RANDOM else wording.settings(score.settings),
            "" if score.regret is None else f"{score.regret:.1f} ± {score.sem:.1f}",
            "" if score.behind is None else _more(score.behind),
        ]
        for name, score in sorted(findings.scores.items(), key=_place)
        if not score.control
    ]
    return caption, ["method", "sees the graph", "settings", "regret", "behind the best"], rows


def _more(share: float) -> str:
    return f"{wording.percent(abs(share))} {'more' if share >= 0 else 'less'}"


def _place(entry: tuple[str, Score]) -> tuple[bool, float]:
    """Return the place of a method in the table: those that are judged by regret, then the nearest to the best."""
    score = entry[1]
    return (True, score.behind or 0.0) if score.regret is None else (False, score.regret)


def comparisons(findings: Findings) -> TextTable:
    """Show what the best method with the graph saves, against all that it must beat."""
    verdict = findings.verdict
    best = wording.short(verdict.best_graph)
    config = findings.simulation
    rows = [_row(f"{wording.short(verdict.best_without)}, the best without a graph", verdict.saves)]
    if verdict.best_without != FULL:
        rows.append(_row("full LinUCB, every item by itself", verdict.saves_full))
    rows += [
        _row("itself on a shuffled graph (control)", verdict.over_shuffled),
        _row("itself with row lengths alone (control)", verdict.over_random_directions),
        _row("playing the longest row (control)", verdict.over_longest),
    ]
    caption = (
        f"What {best}, the best method with the graph, saves of the regret of others, on {config.judging_runs} runs of "
        f"each split (controls: the first {config.controls} of them): one less the ratio of both regrets"
    )
    head = ["other method", "its regret", "the graph's method", "saves", "95 % interval", "so the graph's method is"]
    return caption, head, rows


def _row(label: str, share: Saving) -> list[str]:
    if share.low > 0:
        verdict = "better"
    elif share.high < 0:
        verdict = "worse"
    else:
        verdict = (
            f"not better by {wording.percent(PRACTICAL)}" if share.high < PRACTICAL else "not clearly better or worse"
        )
    return [
        label,
        f"{share.other_regret:.1f}",
        f"{share.regret:.1f}",
        wording.percent(share.estimate),
        f"{wording.percent(share.low)} … {wording.percent(share.high)}",
        verdict,
    ]


def data(findings: Findings) -> TextTable:
    """Say how large the data and the graph are, and what a first look says."""
    size = findings.size
    splits = ", ".join(f"{value:+.1f}" for value in findings.screen.by_split)
    rows = [
        ["items in the data, taken, and played", f"{size.items:,}, {size.taken:,}, {wording.between(size.played)}"],
        ["edges and components of the graph", f"{wording.between(size.edges)}; {wording.between(size.components)}"],
        ["noise of a reward, in units where all mean rewards have length one", f"{size.noise:.3f}"],
        ["share of the variance of held-out item means that is signal", _share(findings.verdict.reliability)],
        ["ln B of the graph, split by split", splits],
    ]
    return "The data", ["", ""], rows


def _share(value: float | None) -> str:
    return "not known" if value is None else wording.percent(value)
