"""The evidence behind advice as tables of text: a caption, a head and rows each, for a terminal and for the page."""

from graphdr.advise import logs, wording
from graphdr.advise.findings import Findings
from graphdr.advise.simulation.field import FULL, RANDOM
from graphdr.advise.simulation.verdict import PRACTICAL, Interval

Table = tuple[str, list[str], list[list[str]]]


def simulation(findings: Findings) -> list[Table]:
    """Return the tables of the simulation."""
    return [regrets(findings), comparisons(findings), data(findings)]


def log(findings: Findings) -> list[Table]:
    """Return what the log says of every policy, if there is a log."""
    return logs.tables(findings.log.estimates) if findings.log else []


def regrets(findings: Findings) -> Table:
    """Show the regret of every method at its settings, the least first."""
    game, use = findings.game, findings.verdict.method
    caption = (
        f"Regret after {game.horizon:,} simulated rounds of {game.arms} candidates: mean over {game.splits} splits of "
        f"the data, {game.comparing} runs each, ± standard error over splits; * the method to use. Between near "
        f"methods up to {game.deciding} further runs of each split decided"
    )
    rows = [
        [
            wording.short(name) + ("*" if name == use else ""),
            "yes" if score.sees_graph else "no",
            "" if name == RANDOM else wording.settings(score.settings),
            f"{score.regret:.1f} ± {score.sem:.1f}",
        ]
        for name, score in sorted(findings.scores.items(), key=lambda item: item[1].regret)
        if not score.control
    ]
    return caption, ["method", "sees the graph", "settings", "regret"], rows


def comparisons(findings: Findings) -> Table:
    """Show what the best method with the graph saves, against all that it must beat."""
    verdict = findings.verdict
    best = wording.short(verdict.best_graph)
    game = findings.game
    rows = [_row(f"{wording.short(verdict.best_without)}, the best without a graph", verdict.saves)]
    if verdict.best_without != FULL:
        rows.append(_row("full LinUCB, every item by itself", verdict.saves_full))
    rows += [
        _row("itself on a shuffled graph (control)", verdict.over_shuffled),
        _row("itself with row lengths alone (control)", verdict.over_length),
        _row("playing the longest row (control)", verdict.over_longest),
    ]
    caption = (
        f"What {best}, the best method with the graph, saves of the regret of others, on {game.judging} further runs "
        f"of each split (controls: {game.controls})"
    )
    return caption, ["other method", "saves", "95 % interval", "so the graph's method is"], rows


def _row(label: str, share: Interval) -> list[str]:
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
        wording.percent(share.estimate),
        f"{wording.percent(share.low)} … {wording.percent(share.high)}",
        verdict,
    ]


def data(findings: Findings) -> Table:
    """Say how large the data and the graph are, and what a first look says."""
    size, found = findings.size, findings.screen
    splits = ", ".join(f"{value:+.1f}" for value in found.by_split)
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
