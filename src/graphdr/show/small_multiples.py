"""Figures with many rows or subplots: regret against a setting by data set, a claim over all settings, and ranks."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from graphdr.show.style import (
    AXES,
    GREY,
    INK,
    POINTS,
    REGRET,
    Drawing,
    FigureSpec,
    blank,
    final_regrets,
    log_ticks,
    with_errors,
)
from graphdr.show.words import FACTORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure

ACROSS = 4  # subplots in a row
HOLDS, FAILS = "#0072b2", "#d55e00"
SETTINGS = ("alpha", "ridge", "k", "horizon", "candidates")  # columns of the multiverse, in the order shown


def widths(spec: FigureSpec, measurements: pd.DataFrame) -> Drawing:
    """Draw the final regret of every method against a setting, on instance 0 with two standard errors."""
    assert spec.x is not None
    table = final_regrets(measurements)
    table = table[(table["instance"] == 0) & table["method"].isin(list(spec.labels))]
    dataset = table["problem"].map(dict(spec.rows or []))
    table = table.assign(place=table["problem"].map(spec.positions), dataset=dataset)
    figure = blank((9.0, 5.0), spec.title, layout="constrained")
    parts: list[pd.DataFrame] = []
    lines: dict[str, ErrorbarContainer] = {}
    for axes, name, rows in _subplots(figure, table):
        for method, style in spec.method_styles(set(rows["method"])).items():
            part = rows[rows["method"] == method].sort_values("place")
            lines[method] = axes.errorbar(part["place"], part["value"], yerr=2 * part["sem"], color=style.light,
                                          linestyle=style.line, marker=style.marker, markersize=3)  # fmt: skip
            parts.append(with_errors(f"{name}: {method}", part["place"], part["value"], part["value"], part["sem"]))
        axes.set(title=name, xscale="log", yscale="log")
        places = sorted(set(rows["place"]))
        axes.set_xticks(places, [f"{place:g}" for place in places], fontsize=7)
        log_ticks(axes.yaxis)
        axes.minorticks_off()
    axes.set_xlabel(AXES.get(spec.x, spec.x), fontsize=8, color=INK)
    figure.supylabel(REGRET, fontsize=9, color=INK)
    labels = [spec.labels[method] for method in lines]
    handles: Sequence[Any] = list(lines.values())  # a container is no artist by its annotations
    figure.legend(handles, labels, loc="outside lower center", ncols=5, labelcolor=INK)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


def _subplots(figure: "Figure", table: pd.DataFrame) -> "Iterator[tuple[Axes, str, pd.DataFrame]]":
    """Yield axes with the name and the rows of every data set; the rest of the last row stays empty."""
    parts = list(table.groupby("dataset", sort=False))
    down = -(-len(parts) // ACROSS)
    grid = figure.subplots(down, min(ACROSS, len(parts)), squeeze=False, sharex=True).ravel()
    for axes in grid[len(parts) :]:
        axes.axis("off")
    for axes, (name, rows) in zip(grid, parts, strict=False):
        yield axes, name, rows


def specifications(spec: FigureSpec, multiverse: pd.DataFrame) -> Drawing:
    """Draw the effect behind a claim with every setting, sorted, and below each which setting it is."""
    table = multiverse[(multiverse["claim"] == spec.claim) & multiverse["effect"].notna()]
    table = table.assign(dataset=table["dataset"].fillna(""))
    datasets = set(table["dataset"])
    titles = {name: title for name, title in (spec.dataset_labels or {}).items() if name in datasets}
    levels = [(name, level) for name in SETTINGS for level in sorted(table[name].dropna().unique())]
    figure = blank((1.2 + 1.5 * len(titles), 5.4), spec.title, layout="constrained")
    grid = figure.subplots(2, len(titles), squeeze=False, sharex="col", sharey="row", height_ratios=[2, 3])
    parts = []
    for (above, below), (name, title) in zip(grid.T, titles.items(), strict=True):
        rows = table[table["dataset"] == name].sort_values("effect", ignore_index=True)
        colours = rows["holds"].map({1: HOLDS, 0: FAILS})
        above.scatter(rows.index, rows["effect"], c=colours, s=4, linewidths=0)
        above.axhline(1, color=GREY, linewidth=0.8)
        above.set_title(title, fontsize=8)
        above.set_yscale("log")
        for place, (factor, level) in enumerate(levels):
            at = rows.index[rows[factor] == level]
            below.scatter(at, [-place] * len(at), c=colours[at], s=14, marker="|", linewidths=0.4, alpha=0.6)
        below.set_yticks([-place for place in range(len(levels))], [_level(*level) for level in levels], fontsize=7)
        below.set_xticks([])
        parts.append(pd.DataFrame({"series": name, "x": rows.index, "y": rows["effect"]}))
    log_ticks(grid[0, 0].yaxis)
    grid[0, 0].set_ylabel(spec.y_label, fontsize=8)
    explanation = "settings, sorted by effect; blue where the claim holds, orange where it does not"
    figure.supxlabel(explanation, fontsize=8, color=INK)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


def _level(factor: str, level: object) -> str:
    label = FACTORS.get(factor, factor)
    return f"{label} {level:g}" if isinstance(level, int | float) else f"{label}: {level}"


def leaderboard(spec: FigureSpec, leaderboard: pd.DataFrame) -> Drawing:
    """Draw the regret of every method over that of the best other one: a dot for each problem, a bar for the mean."""
    table = leaderboard[leaderboard["method"].isin(list(spec.labels))]
    logs = np.log(table["ratio"]).groupby(table["method"]).mean().sort_values()
    places = {method: -place for place, method in enumerate(logs.index)}
    figure = blank((7.0, 1.2 + 0.24 * len(places)), spec.title, layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color=GREY, linewidth=0.8)
    parts = []
    for method, style in spec.method_styles(places).items():
        rows = table[table["method"] == method]
        place, mean = places[method], float(np.exp(logs[method]))
        axes.scatter(rows["ratio"], np.full(len(rows), place), color=style.light, s=9, alpha=0.5, linewidths=0)
        axes.plot([mean, mean], [place - 0.35, place + 0.35], color=style.light, linewidth=2.5)
        parts.append(pd.DataFrame({"series": f"{method}: " + rows["problem"], "x": rows["ratio"], "y": place}))
        parts.append(pd.DataFrame([{"series": f"{method}: mean", "x": mean, "y": place}]))
    axes.set(xscale="log", ylim=(-len(places), 1))
    axes.set_xlabel("regret over that of the best other method", color=INK)
    axes.set_yticks(list(places.values()), [spec.labels[method] for method in places], fontsize=7)
    log_ticks(axes.xaxis)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)
