"""Figures of regret, colour-blind safe, in print and on screen: over rounds, against a factor, and by problem.

A kind of figure is a function of the figure's specification and of the frames that it shows.
"""

from collections.abc import Callable, Mapping
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
    label_ends,
    log_ticks,
    points_of,
    regret_lines,
)
from graphdr.show.words import FACTORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from graphdr.graphs.arm_features import Basis
    from graphdr.graphs.model import Graph

ACROSS = 4  # subplots in a row
HOLDS, FAILS = "#0072b2", "#d55e00"
SETTINGS = ("alpha", "ridge", "k", "horizon", "candidates")  # columns of the multiverse, in the order shown


# Regret over rounds


def curves(spec: FigureSpec, curves: pd.DataFrame) -> Drawing:
    """Draw regret over rounds on instance 0, and the range of the final regret over all instances."""
    figure, axes = _axes_over_rounds(spec.title)
    styles = spec.method_styles()
    points = regret_lines(axes, curves[curves["problem"] == spec.problem], styles)
    last = points.groupby("series").last()
    end = last["x"].max()
    for place, (method, row) in enumerate(last.sort_values("y").iterrows(), start=1):
        axes.vlines(end * (1 + 0.02 * place), row["panel_low"], row["panel_high"], color=styles[method].light,
                    linewidth=3, alpha=0.6)  # fmt: skip
    _quarter_ticks(axes, end, end * (1 + 0.02 * (len(last) + 1)))
    label_ends(axes, last["y"].to_dict(), spec.labels, styles)
    bar = _line(alpha=0.6, linestyle="", marker="|", markersize=9, markeredgewidth=3)
    _legend(figure, {
        "line and thin band: instance 0, mean of its runs ± 2 standard errors": _line(linewidth=1.5, markersize=4),
        "vertical bar: 5–95 % range of the final regret over all random instances": bar,
    })  # fmt: skip
    return figure, points


def bounds(spec: FigureSpec, curves: pd.DataFrame) -> Drawing:
    """Draw the regret on instance 0 with the radius of each theorem and, as a thin line above it, the bound."""
    figure, axes = _axes_over_rounds(spec.title)
    table = curves[curves["bound"].notna() & (curves["problem"] == spec.problem)]
    styles = spec.method_styles(set(table["method"]))
    table = table[table["method"].isin(list(styles))]
    parts = [regret_lines(axes, table, styles)]
    for method, part in table.groupby("method", sort=False):
        style = styles[method]
        axes.plot(part["t"], part["bound"], color=style.light, linestyle=style.line, linewidth=0.8)
        parts.append(pd.DataFrame({"series": f"{method} bound", "x": part["t"], "y": part["bound"]}))
    _quarter_ticks(axes, table["t"].max(), table["t"].max())
    log_ticks(axes.yaxis, subs=(1,))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    label_ends(axes, table.groupby("method")["bound"].last().to_dict(), spec.labels, styles)
    _legend(figure, {
        "bound, mean over the runs of instance 0": _line(linewidth=0.8),
        "regret with that radius, mean of the same runs": _line(linewidth=1.5),
    })  # fmt: skip
    return figure, pd.concat(parts, ignore_index=True)


# Regret at T


def sweep(spec: FigureSpec, measurements: pd.DataFrame) -> Drawing:
    """Draw final regret against a factor: instance 0 with two standard errors, over the range of all instances."""
    from matplotlib.patches import Patch

    assert spec.x is not None
    assert spec.positions is not None
    figure, axes = _axes(spec.title, AXES.get(spec.x, spec.x), REGRET)
    table = final_regrets(measurements)
    table = table.assign(place=table["problem"].map(spec.positions)).sort_values("place", kind="stable")
    styles, parts = spec.method_styles(set(table["method"])), []
    for method, style in styles.items():
        rows = _with_range(table[table["method"] == method])
        axes.fill_between(
            rows["place"], rows["panel_low"], rows["panel_high"], color=style.light, alpha=0.18, linewidth=0
        )
        axes.errorbar(rows["place"], rows["value"], yerr=2 * rows["sem"], color=style.light, linestyle=style.line,
                      marker=style.marker, markersize=4, capsize=2, linewidth=1.4)  # fmt: skip
        parts.append(points_of(method, rows))
    points = pd.concat(parts, ignore_index=True)
    places = sorted(set(spec.positions.values()))
    axes.set_xscale("log" if places[0] > 0 else "linear")
    axes.set_xticks(places, [f"{place:,g}" for place in places])
    axes.minorticks_off()
    label_ends(axes, points.groupby("series")["y"].last().to_dict(), spec.labels, styles)
    band = Patch(color=GREY, alpha=0.4, linewidth=0)
    _legend(figure, {
        "line and error bars: instance 0, mean of its runs ± 2 standard errors":
            _line(linewidth=1.5, marker="o", markersize=4),
        f"band: 5–95 % range over {table['instance'].nunique()} random instances": band,
    })  # fmt: skip
    return figure, points


def dots(spec: FigureSpec, measurements: pd.DataFrame) -> Drawing:
    """Draw final regret as a row of dots per problem: instance 0, with the range of all instances as a bar."""
    table = final_regrets(measurements)
    titles = _titles(dict(spec.rows or []), table["problem"])
    table = table.assign(place=table["problem"].map({name: -place for place, name in enumerate(titles)}))
    figure, axes = _axes(spec.title, REGRET, "")
    figure.set_size_inches(figure.get_figwidth(), 1.2 + 0.22 * len(titles))
    parts = []
    for method, style in spec.method_styles(set(table["method"])).items():
        rows = _with_range(table[table["method"] == method])
        axes.hlines(rows["place"], rows["panel_low"], rows["panel_high"], color=style.light, alpha=0.4, linewidth=3)
        axes.plot(rows["value"], rows["place"], color=style.light, marker=style.marker, linestyle="none",
                  markersize=4, label=spec.labels[method])  # fmt: skip
        parts.append(points_of(method, rows, x="value", y="place"))
    axes.set_yscale("linear")
    axes.set_ylim(-len(titles), 1)
    axes.set_yticks([-place for place in range(len(titles))], list(titles.values()), fontsize=7)
    axes.set_xscale("log")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, fontsize=8, frameon=False)
    return figure, pd.concat(parts, ignore_index=True)


def widths(spec: FigureSpec, measurements: pd.DataFrame) -> Drawing:
    """Draw the final regret of every method against a setting, on instance 0 with two standard errors.

    Every data set has axes of its own.
    """
    assert spec.x is not None
    table = final_regrets(measurements)
    table = table[(table["instance"] == 0) & table["method"].isin(list(spec.labels))]
    dataset = table["problem"].map(dict(spec.rows or []))
    table = table.assign(place=table["problem"].map(spec.positions), dataset=dataset)
    figure = blank((9.0, 5.0), spec.title, layout="constrained")
    down = -(-dataset.nunique() // ACROSS)
    grid = figure.subplots(down, min(ACROSS, dataset.nunique()), squeeze=False, sharex=True).ravel()
    parts: list[pd.DataFrame] = []
    lines: dict[str, Any] = {}  # handles of Matplotlib
    for axes, (name, rows) in zip(grid, table.groupby("dataset", sort=False), strict=False):
        for method, style in spec.method_styles(set(rows["method"])).items():
            part = rows[rows["method"] == method].sort_values("place")
            lines[method] = axes.errorbar(part["place"], part["value"], yerr=2 * part["sem"], color=style.light,
                                          linestyle=style.line, marker=style.marker, markersize=3)  # fmt: skip
            parts.append(points_of(f"{name}: {method}", part))
        axes.set(title=name, xscale="log", yscale="log")
        places = sorted(set(rows["place"]))
        axes.set_xticks(places, [f"{place:g}" for place in places], fontsize=7)
        log_ticks(axes.yaxis)
        axes.minorticks_off()
    axes.set_xlabel(AXES.get(spec.x, spec.x), fontsize=8, color=INK)
    for unused in grid[dataset.nunique() :]:
        unused.axis("off")
    figure.supylabel(REGRET, fontsize=9, color=INK)
    labels = [spec.labels[method] for method in lines]
    figure.legend(list(lines.values()), labels, loc="outside lower center", ncols=5, labelcolor=INK)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


# Claims and ranks


def specifications(spec: FigureSpec, multiverse: pd.DataFrame) -> Drawing:
    """Draw the effect behind a claim with every setting, sorted, and below each which setting it is."""
    table = multiverse[(multiverse["claim"] == spec.claim) & multiverse["effect"].notna()]
    table = table.assign(dataset=table["dataset"].fillna(""))
    titles = _titles(spec.dataset_labels or {}, table["dataset"])
    levels = [(name, level) for name in SETTINGS for level in sorted(table[name].dropna().unique())]
    labels = []
    for name, level in levels:
        label = FACTORS.get(name, name)
        labels.append(f"{label} {level:g}" if isinstance(level, int | float) else f"{label}: {level}")
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
        below.set_yticks([-place for place in range(len(levels))], labels, fontsize=7)
        below.set_xticks([])
        parts.append(pd.DataFrame({"series": name, "x": rows.index, "y": rows["effect"]}))
    log_ticks(grid[0, 0].yaxis)
    grid[0, 0].set_ylabel(spec.y_label, fontsize=8)
    explanation = "settings, sorted by effect; blue where the claim holds, orange where it does not"
    figure.supxlabel(explanation, fontsize=8, color=INK)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


def leaderboard(spec: FigureSpec, leaderboard: pd.DataFrame) -> Drawing:
    """Draw the regret of every method, divided by that of the best other method on the same problem.

    A dot is a problem, a bar the geometric mean of a method.
    """
    table = leaderboard[leaderboard["method"].isin(list(spec.labels))]
    means = np.exp(np.log(table["ratio"]).groupby(table["method"]).mean().sort_values())
    places = {method: -place for place, method in enumerate(means.index)}
    figure = blank((7.0, 1.2 + 0.24 * len(places)), spec.title, layout="constrained")
    axes = figure.subplots()
    axes.axvline(1, color=GREY, linewidth=0.8)
    parts = []
    for method, style in spec.method_styles(places).items():
        rows = table[table["method"] == method]
        place, mean = places[method], float(means[method])
        axes.scatter(rows["ratio"], np.full(len(rows), place), color=style.light, s=9, alpha=0.5, linewidths=0)
        axes.plot([mean, mean], [place - 0.35, place + 0.35], color=style.light, linewidth=2.5)
        series = [*(f"{method}: " + rows["problem"]), f"{method}: mean"]
        parts.append(pd.DataFrame({"series": series, "x": [*rows["ratio"], mean], "y": place}))
    axes.set(xscale="log", ylim=(-len(places), 1))
    axes.set_xlabel("regret over that of the best other method", color=INK)
    axes.set_yticks(list(places.values()), [spec.labels[method] for method in places], fontsize=7)
    log_ticks(axes.xaxis)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


def overview(spec: FigureSpec, graph: "Graph", basis: "Basis", curves: pd.DataFrame) -> Drawing:
    """Draw the method on one instance: graph, eigenvectors, projected arms, regret."""
    from graphdr.show.overview import draw  # imports Matplotlib, which is slow and not needed to list the kinds

    return draw(spec, graph, basis, curves)


KINDS: dict[str, Callable[..., Drawing]] = {
    kind.__name__: kind for kind in (curves, bounds, sweep, dots, widths, specifications, leaderboard, overview)
}


def _with_range(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of instance 0, with the 5 % and the 95 % quantile over the instances at every place."""
    low, high = (rows["place"].map(rows.groupby("place")["value"].quantile(share)) for share in (0.05, 0.95))
    return rows.assign(panel_low=low, panel_high=high)[rows["instance"] == 0]


def _titles(titles: dict[str, str], names: pd.Series) -> dict[str, str]:
    """Return the titles of what has rows."""
    return {name: title for name, title in titles.items() if name in set(names)}


def _axes(title: str, x: str, y: str) -> "tuple[Figure, Axes]":
    figure = blank((6.8, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
    log_ticks(axes.yaxis)
    return figure, axes


def _axes_over_rounds(title: str) -> "tuple[Figure, Axes]":
    return _axes(title, "round t", "cumulative regret R(t) (reward units)")


def _quarter_ticks(axes: "Axes", end: float, limit: float) -> None:
    """Put a tick at every quarter of the rounds."""
    axes.set_xlim(0, limit)
    axes.set_xticks([end * share / 4 for share in range(5)])
    axes.xaxis.set_major_formatter("{x:,g}")


def _line(**look: Any) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], color=GREY, **look)


def _legend(figure: "Figure", explained: Mapping[str, Any]) -> None:
    """Explain lines and ranges below the axes, in grey."""
    figure.legend(list(explained.values()), list(explained), loc="outside lower left", handlelength=1.6, labelcolor=INK)
