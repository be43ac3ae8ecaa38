"""Figures of many small panels, one a data set: regret against a setting, and a claim over all settings."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from graphdr.show.figures import AXES, REGRET
from graphdr.show.style import GREY, INK, blank, log_ticks, looks
from graphdr.show.words import FACTORS

ACROSS = 4  # panels in a row
POINTS = ["series", "x", "y", "low", "high", "panel_low", "panel_high"]
HOLDS, FAILS = "#0072b2", "#d55e00"
SETTINGS = ("alpha", "ridge", "k", "horizon", "candidates")  # columns of what was decided, in their order here


def widths(spec: dict, measurements):
    """Draw the final regret of every method against a setting, on instance 0 with two standard errors."""
    table = measurements[(measurements["draw"] == 0) & (measurements["quantity"] == "regret")]
    table = table[(table["instance"] == 0) & table["method"].isin(list(spec["labels"]))]
    table = table.assign(place=table["problem"].map(spec["positions"]), panel=table["problem"].map(dict(spec["rows"])))
    figure, parts, lines = blank((9.0, 5.0), layout="constrained"), [], {}
    for axes, (panel, rows) in _each(figure, table):
        for method, style in looks(spec).items():
            part = rows[rows["method"] == method].sort_values("place")
            if len(part):
                lines[method] = axes.errorbar(part["place"], part["value"], yerr=2 * part["sem"], color=style.light,
                                              linestyle=style.line, marker=style.marker, markersize=3)  # fmt: skip
                band = {"low": part["value"] - 2 * part["sem"], "high": part["value"] + 2 * part["sem"]}
                parts.append(
                    pd.DataFrame({"series": f"{panel}: {method}", "x": part["place"], "y": part["value"]} | band)
                )
        axes.set(title=panel, xscale="log", yscale="log")
        axes.set_xticks(places := sorted(set(rows["place"])), [f"{place:g}" for place in places], fontsize=7)
        log_ticks(axes.yaxis)
        axes.minorticks_off()
    axes.set_xlabel(AXES.get(spec["x"], spec["x"]), fontsize=8, color=INK)
    figure.supylabel(REGRET, fontsize=9, color=INK)
    figure.suptitle(spec["title"], x=0.01, ha="left", fontsize=10, fontweight="bold")
    named = [spec["labels"][method] for method in lines]
    figure.legend(list(lines.values()), named, loc="outside lower center", ncols=5, labelcolor=INK)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


def specifications(spec: dict, multiverse):
    """Draw the effect behind a claim with every setting, sorted, and below each which setting it is."""
    table = multiverse[(multiverse["claim"] == spec["claim"]) & multiverse["effect"].notna()]
    table = table.assign(dataset=table["dataset"].fillna(""))
    names = [name for name in spec["panels"] if name in set(table["dataset"])]
    levels = [(name, level) for name in SETTINGS for level in sorted(table[name].dropna().unique())]
    figure, parts = blank((1.2 + 1.5 * len(names), 5.4), layout="constrained"), []
    grid = figure.subplots(2, len(names), squeeze=False, sharex="col", sharey="row", height_ratios=[2, 3])
    for (above, below), name in zip(grid.T, names, strict=True):
        rows = table[table["dataset"] == name].sort_values("effect", ignore_index=True)
        colours = rows["holds"].map({1: HOLDS, 0: FAILS})
        above.scatter(rows.index, rows["effect"], c=colours, s=4, linewidths=0)
        above.axhline(1, color=GREY, linewidth=0.8)
        above.set_title(spec["panels"][name], fontsize=8)
        above.set_yscale("log")
        for place, (factor, level) in enumerate(levels):
            at = rows.index[rows[factor] == level]
            below.scatter(at, [-place] * len(at), c=colours[at], s=14, marker="|", linewidths=0.4, alpha=0.6)
        below.set_yticks([-place for place in range(len(levels))], [_level(*level) for level in levels], fontsize=7)
        below.set_xticks([])
        parts.append(pd.DataFrame({"series": name, "x": rows.index, "y": rows["effect"]}))
    log_ticks(grid[0, 0].yaxis)
    grid[0, 0].set_ylabel(spec["y_label"], fontsize=8)
    figure.suptitle(spec["title"], x=0.01, ha="left", fontsize=10, fontweight="bold")
    figure.supxlabel(
        "settings, sorted by effect; blue where the claim holds, orange where it does not", fontsize=8, color=INK
    )
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


def _level(factor: str, level: object) -> str:
    word = FACTORS.get(factor, factor)
    return f"{word} {level:g}" if isinstance(level, int | float) else f"{word}: {level}"


def _each(figure, table) -> Iterator[tuple]:
    """Yield axes with the name and rows of every panel; what is left of the last row stays empty."""
    parts = list(table.groupby("panel", sort=False))
    down = -(-len(parts) // ACROSS)
    grid = figure.subplots(down, min(ACROSS, len(parts)), squeeze=False, sharex=True).ravel()
    for axes in grid[len(parts) :]:
        axes.axis("off")
    yield from zip(grid, parts, strict=False)


def leaderboard(spec: dict, leaderboard: pd.DataFrame):
    """Draw the regret of every method over that of the best other one: a dot for each problem, a bar for the mean."""
    table = leaderboard[leaderboard["method"].isin(list(spec["labels"]))]
    logs = np.log(table["ratio"]).groupby(table["method"]).mean().sort_values()
    places = {method: -place for place, method in enumerate(logs.index)}
    figure = blank((7.0, 1.2 + 0.24 * len(places)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color=GREY, linewidth=0.8)
    parts = []
    for method, style in looks(spec).items():
        rows = table[table["method"] == method]
        if not len(rows):
            continue
        place, mean = places[method], float(np.exp(logs[method]))
        axes.scatter(rows["ratio"], np.full(len(rows), place), color=style.light, s=9, alpha=0.5, linewidths=0)
        axes.plot([mean, mean], [place - 0.35, place + 0.35], color=style.light, linewidth=2.5)
        parts.append(pd.DataFrame({"series": f"{method}: " + rows["problem"], "x": rows["ratio"], "y": place}))
        parts.append(pd.DataFrame([{"series": f"{method}: mean", "x": mean, "y": place}]))
    axes.set(xscale="log", ylim=(-len(places), 1))
    figure.suptitle(spec["title"], x=0.01, ha="left", fontsize=10, fontweight="bold")
    axes.set_xlabel("regret over that of the best other method", color=INK)
    axes.set_yticks(list(places.values()), [spec["labels"][method] for method in places], fontsize=7)
    log_ticks(axes.xaxis)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)
