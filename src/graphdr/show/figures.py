"""Figures of regret, colour-blind safe, in print and on screen: over rounds, against a factor, and by problem.

A kind of figure is a function of the figure's specification and of the frames that it shows.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from graphdr.show.small_multiples import leaderboard, specifications, widths
from graphdr.show.style import (
    AXES,
    GREY,
    INK,
    REGRET,
    Drawing,
    FigureSpec,
    blank,
    final_regrets,
    label_ends,
    log_ticks,
    regret_lines,
    with_errors,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from graphdr.graphs.arm_features import Basis
    from graphdr.graphs.model import Graph

ROUND, REGRET_T = "round t", "cumulative regret R(t) (reward units)"


def curves(spec: FigureSpec, curves: pd.DataFrame) -> Drawing:
    """Draw regret over rounds on instance 0, and the range of the final regret over all instances."""
    figure, axes = _axes(spec.title, ROUND, REGRET_T)
    styles = spec.method_styles()
    points = regret_lines(axes, curves[curves["problem"] == spec.problem], styles)
    last = points.groupby("series").last()
    end = last["x"].max()
    for place, (method, row) in enumerate(last.sort_values("y").iterrows(), start=1):
        axes.vlines(end * (1 + 0.02 * place), row["panel_low"], row["panel_high"], color=styles[method].light,
                    linewidth=3, alpha=0.6)  # fmt: skip
    _round_axis(axes, end, end * (1 + 0.02 * (len(last) + 1)))
    label_ends(axes, last["y"].to_dict(), spec.labels, styles)
    _explain(figure, "vertical bar: 5–95 % range of the final regret over all random instances", bar=True)
    return figure, points


def bounds(spec: FigureSpec, curves: pd.DataFrame) -> Drawing:
    """Draw the regret on instance 0 with the radius of each theorem and, as a thin line above it, the bound."""
    figure, axes = _axes(spec.title, ROUND, REGRET_T)
    table = curves[curves["bound"].notna() & (curves["problem"] == spec.problem)]
    styles = spec.method_styles(set(table["method"]))
    table = table[table["method"].isin(list(styles))]
    parts = [regret_lines(axes, table, styles)]
    for method, part in table.groupby("method", sort=False):
        style = styles[method]
        axes.plot(part["t"], part["bound"], color=style.light, linestyle=style.line, linewidth=0.8)
        parts.append(pd.DataFrame({"series": f"{method} bound", "x": part["t"], "y": part["bound"]}))
    _round_axis(axes, table["t"].max())
    log_ticks(axes.yaxis, subs=(1,))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    label_ends(axes, table.groupby("method")["bound"].last().to_dict(), spec.labels, styles)
    texts = ["bound, mean over the runs of instance 0", "regret with that radius, mean of the same runs"]
    _legend(figure, [_line(linewidth=width) for width in (0.8, 1.5)], texts)
    return figure, pd.concat(parts, ignore_index=True)


def sweep(spec: FigureSpec, measurements: pd.DataFrame) -> Drawing:
    """Draw final regret against a factor: instance 0 with two standard errors, over the range of all instances."""
    assert spec.x is not None
    assert spec.positions is not None
    figure, axes = _axes(spec.title, AXES.get(spec.x, spec.x), REGRET)
    table = final_regrets(measurements)
    table = table.assign(place=table["problem"].map(spec.positions))
    styles, parts = spec.method_styles(set(table["method"])), []
    for method, style in styles.items():
        first, low, high = _range(table[table["method"] == method].sort_values("place"))
        axes.fill_between(low.index, low, high, color=style.light, alpha=0.18, linewidth=0)
        axes.errorbar(first["place"], first["value"], yerr=2 * first["sem"], color=style.light, linestyle=style.line,
                      marker=style.marker, markersize=4, capsize=2, linewidth=1.4)  # fmt: skip
        points = with_errors(method, first["place"], first["value"], first["value"], first["sem"])
        parts.append(points.assign(panel_low=low.to_numpy(), panel_high=high.to_numpy()))
    points = pd.concat(parts, ignore_index=True)
    places = sorted(set(spec.positions.values()))
    axes.set_xscale("log" if places[0] > 0 else "linear")
    axes.set_xticks(places, [f"{place:,g}" for place in places])
    axes.minorticks_off()
    label_ends(axes, points.groupby("series")["y"].last().to_dict(), spec.labels, styles)
    _explain(figure, f"band: 5–95 % range over {table['instance'].nunique()} random instances")
    return figure, points


def dots(spec: FigureSpec, measurements: pd.DataFrame) -> Drawing:
    """Draw final regret as a row of dots per problem: instance 0, with the range of all instances as a bar."""
    table = final_regrets(measurements)
    problems = set(table["problem"])
    titles = {name: title for name, title in spec.rows or [] if name in problems}
    places = {name: -place for place, name in enumerate(titles)}
    table = table.assign(place=table["problem"].map(places))
    figure, axes = _axes(spec.title, REGRET, "")
    figure.set_size_inches(figure.get_figwidth(), 1.2 + 0.22 * len(titles))
    parts = []
    for method, style in spec.method_styles(set(table["method"])).items():
        first, low, high = _range(table[table["method"] == method])
        low, high = low.reindex(first["place"]), high.reindex(first["place"])
        axes.hlines(first["place"], low, high, color=style.light, alpha=0.4, linewidth=3)
        axes.plot(first["value"], first["place"], color=style.light, marker=style.marker, linestyle="none",
                  markersize=4, label=spec.labels[method])  # fmt: skip
        points = with_errors(method, first["value"], first["place"], first["value"], first["sem"])
        parts.append(points.assign(panel_low=low.to_numpy(), panel_high=high.to_numpy()))
    axes.set_yscale("linear")
    axes.set_ylim(-len(titles), 1)
    axes.set_yticks(list(places.values()), list(titles.values()), fontsize=7)
    axes.set_xscale("log")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, fontsize=8, frameon=False)
    return figure, pd.concat(parts, ignore_index=True)


def overview(spec: FigureSpec, graph: "Graph", basis: "Basis", curves: pd.DataFrame) -> Drawing:
    """Draw the method on one instance: graph, eigenvectors, projected arms, regret."""
    from graphdr.show.overview import draw  # imports Matplotlib, which is slow and not needed to list the kinds

    return draw(spec, graph, basis, curves)


KINDS: dict[str, Callable[..., Drawing]] = {
    kind.__name__: kind for kind in (curves, bounds, sweep, dots, widths, specifications, leaderboard, overview)
}


def _range(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Return the rows of instance 0, and the 5 % and the 95 % quantile over the instances at every place."""
    quantiles = rows.groupby("place")["value"].quantile([0.05, 0.95]).unstack()
    return rows[rows["instance"] == 0], quantiles[0.05], quantiles[0.95]


def _axes(title: str, x: str, y: str) -> "tuple[Figure, Axes]":
    figure = blank((6.8, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
    log_ticks(axes.yaxis)
    return figure, axes


def _round_axis(axes: "Axes", end: float, limit: float | None = None) -> None:
    """Put a tick at every quarter of the rounds."""
    axes.set_xlim(0, limit or end)
    axes.set_xticks([end * share / 4 for share in range(5)])
    axes.xaxis.set_major_formatter("{x:,g}")


def _explain(figure: "Figure", text: str, bar: bool = False) -> None:
    """Explain lines and ranges below the axes, in grey; the range over the instances is a bar or a band."""
    from matplotlib.patches import Patch

    errors, marker = ("thin band", "") if bar else ("error bars", "o")
    upright = _line(alpha=0.6, linestyle="", marker="|", markersize=9, markeredgewidth=3)
    line = _line(linewidth=1.5, marker=marker, markersize=4)
    band = upright if bar else Patch(color=GREY, alpha=0.4, linewidth=0)
    _legend(figure, [line, band], [f"line and {errors}: instance 0, mean of its runs ± 2 standard errors", text])


def _line(**look: Any) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], color=GREY, **look)


def _legend(figure: "Figure", handles: Sequence[Any], texts: Sequence[str]) -> None:
    figure.legend(handles, texts, loc="outside lower left", handlelength=1.6, labelcolor=INK)
