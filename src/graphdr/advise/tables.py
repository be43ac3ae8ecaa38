"""The evidence behind advice: tables of text (a caption, a head and rows each), and a self-contained page of them."""

from pathlib import Path

from graphdr import __version__
from graphdr.advise import logs, wording
from graphdr.advise.findings import Findings, Score
from graphdr.advise.simulation.methods import FULL, RANDOM
from graphdr.advise.simulation.verdict import PRACTICAL, Saving
from graphdr.core.terminal import printable

TextTable = tuple[str, list[str], list[list[str]]]
FOLDER = Path(__file__).parent
DASHES = ("", "7 3", "2 2", "10 2 2 2", "4 4", "11 3")  # of curves


def evidence(findings: Findings) -> list[TextTable]:
    """Return three tables of the simulation, and what the log says of every policy, if there is a log."""
    by_log = logs.tables(findings.log.estimates) if findings.log else []
    return [regrets(findings), comparisons(findings), data(findings), *by_log]


def regrets(findings: Findings) -> TextTable:
    """Show every method at its settings: first those that are judged, by regret, then the others, the nearest first."""
    config, best = findings.simulation, findings.verdict.method
    caption = (
        f"Regret after {config.horizon:,} simulated rounds of {config.arms} candidates: mean over {config.splits} "
        f"splits of the data, {config.judging_runs} runs each, ± standard error over splits; * the method to use. The "
        "answer rests on these runs. Other runs chose the best method with the graph and the best without it; the last "
        "column says how much more regret the rest had there than the best of their kind"
    )

    def place(name: str) -> tuple[bool, float]:
        score = findings.scores[name]
        return (True, score.behind or 0.0) if score.regret is None else (False, score.regret)

    rows = []
    for name in sorted(findings.scores, key=place):
        score = findings.scores[name]
        if score.control:
            continue
        settings = "" if name == RANDOM else wording.settings(score.settings)
        label = wording.short(name) + ("*" if name == best else "")
        rows.append([label, "yes" if score.sees_graph else "no", settings, *_regret(score)])
    return caption, ["method", "sees the graph", "settings", "regret", "behind the best"], rows


def _regret(score: Score) -> tuple[str, str]:
    if score.behind is None:
        return f"{score.regret:.1f} ± {score.sem:.1f}", ""
    return "", f"{wording.percent(abs(score.behind))} {'more' if score.behind >= 0 else 'less'}"


def comparisons(findings: Findings) -> TextTable:
    """Show what the best method with the graph saves, against all that it must beat."""
    verdict, config = findings.verdict, findings.simulation
    best = wording.short(verdict.best_graph)
    others = {
        f"{wording.short(verdict.best_without)}, the best without a graph": verdict.saves,
        "full LinUCB, every item by itself": verdict.saves_full,
        "itself on a shuffled graph (control)": verdict.over_shuffled,
        "itself with row lengths alone (control)": verdict.over_random_directions,
        "playing the longest row (control)": verdict.over_longest,
    }
    if verdict.best_without == FULL:
        del others["full LinUCB, every item by itself"]
    caption = (
        f"What {best}, the best method with the graph, saves of the regret of others, on {config.judging_runs} runs of "
        f"each split (controls: the first {config.controls} of them): one less the ratio of both regrets"
    )
    head = ["other method", "its regret", "the graph's method", "saves", "95 % interval", "so the graph's method is"]
    return caption, head, [[label, *_compared(share)] for label, share in others.items()]


def _compared(share: Saving) -> list[str]:
    if share.low > 0:
        verdict = "better"
    elif share.high < 0:
        verdict = "worse"
    elif share.high < PRACTICAL:
        verdict = f"not better by {wording.percent(PRACTICAL)}"
    else:
        verdict = "not clearly better or worse"
    estimate, low, high = (wording.percent(value) for value in share[:3])
    return [f"{share.other_regret:.1f}", f"{share.regret:.1f}", estimate, f"{low} … {high}", verdict]


def data(findings: Findings) -> TextTable:
    """Say how large the data and the graph are, and what a first look says."""
    size, signal = findings.size, findings.verdict.reliability
    splits = ", ".join(f"{value:+.1f}" for value in findings.screen.by_split)
    rows = {
        "items in the data, taken, and played": f"{size.items:,}, {size.taken:,}, {wording.between(size.played)}",
        "edges and components of the graph": f"{wording.between(size.edges)}; {wording.between(size.components)}",
        "noise of a reward, in units where all mean rewards have length one": f"{size.noise:.3f}",
        "share of the variance of held-out item means that is signal": (
            "not known" if signal is None else wording.percent(signal)
        ),
        "ln B of the graph, split by split": splits,
    }
    return "The data", ["", ""], [[label, text] for label, text in rows.items()]


def page(findings: Findings) -> str:
    """Return a page in the style of the report; the template escapes all texts of the user and draws the chart."""
    from graphdr.show import palette
    from graphdr.show.report import template

    verdict = findings.verdict
    shown = dict.fromkeys([verdict.best_graph, verdict.best_without, FULL])  # random play would dwarf them
    looks = {
        name: {"light": light, "dark": dark, "dash": dash}
        for name, (light, dark), dash in zip(shown, palette.DATASETS, DASHES, strict=False)
    }
    text = template.render(
        "".join((FOLDER / part).read_text(encoding="utf-8") for part in ("parts.html", "page.html")),
        **findings._asdict() | {"curves": {name: findings.curves[name] for name in shown}},
        labels={name: wording.short(name) for name in shown},
        style=template.style(palette.css(sorted(shown), [], looks)),
        version=__version__,
        tables=evidence(findings),
        look=lambda series: palette.styles(list(series), looks),
        first_look=wording.screen(findings.screen),
        words=wording.WORDS,
    )
    return printable(text)
