"""Figures of regret, colour-blind safe, in print and on screen: over rounds, against a factor, and by problem.

Each is drawn from frames and its settings; it returns the figure and the points that it shows.
"""

import pandas as pd

from graphdr.show.style import GREY, INK, blank, label_ends, log_ticks, looks, regret_lines
from graphdr.show.words import FACTORS

ROUND, REGRET_T, REGRET = "round t", "cumulative regret R(t) (reward units)", "cumulative regret R(T) (reward units)"
AXES = FACTORS | {  # an axis has room for more words
    "n": "number of nodes n",
    "k": "projected dimension k",
    "flip": "share of node pairs flipped in the observed graph",
    "tail": "weight of the reward outside of the low frequencies",
}


def curves(spec: dict, curves):
    """Draw regret over rounds on instance 0, and the range of the final regret over all instances."""
    figure, axes = _axes(spec["title"], ROUND, REGRET_T)
    drawn = looks(spec)
    points = regret_lines(axes, curves[curves["problem"] == spec["problem"]], drawn)
    last = points.groupby("series").last()
    end = last["x"].max()
    for place, (method, row) in enumerate(last.sort_values("y").iterrows(), start=1):
        axes.vlines(end * (1 + 0.02 * place), row["panel_low"], row["panel_high"], color=drawn[method].light,
                    linewidth=3, alpha=0.6)  # fmt: skip
    _round_axis(axes, end, end * (1 + 0.02 * (len(last) + 1)))
    label_ends(axes, last["y"].to_dict(), spec["labels"], drawn)
    _explain(figure, "vertical bar: 5–95 % range of the final regret over all random instances", bar=True)
    return figure, points


def bounds(spec: dict, curves):
    """Draw the regret on instance 0 with the radius of each theorem and, as a thin line above it, the bound."""
    figure, axes = _axes(spec["title"], ROUND, REGRET_T)
    table = curves[curves["bound"].notna() & (curves["problem"] == spec["problem"])]
    drawn = _present(spec, table)
    table = table[table["method"].isin(list(drawn))]
    parts = [regret_lines(axes, table, drawn)]
    for method, part in table.groupby("method", sort=False):
        axes.plot(part["t"], part["bound"], color=drawn[method].light, linestyle=drawn[method].line, linewidth=0.8)
        parts.append(pd.DataFrame({"series": f"{method} bound", "x": part["t"], "y": part["bound"]}))
    _round_axis(axes, table["t"].max())
    log_ticks(axes.yaxis, subs=(1,))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    label_ends(axes, table.groupby("method")["bound"].last().to_dict(), spec["labels"], drawn)
    texts = ["bound, mean over the runs of instance 0", "regret with that radius, mean of the same runs"]
    _legend(figure, [_line(linewidth=width) for width in (0.8, 1.5)], texts)
    return figure, pd.concat(parts, ignore_index=True)


def sweep(spec: dict, measurements):
    """Draw final regret against a varied factor: instance 0 with two standard errors, and the panel behind it."""
    figure, axes = _axes(spec["title"], AXES.get(spec["x"], spec["x"]), REGRET)
    table = _final_regrets(measurements)
    table = table.assign(place=table["problem"].map(spec["positions"]))
    drawn, parts = _present(spec, table), []
    for method, style in drawn.items():
        first, low, high = _panel(table[table["method"] == method].sort_values("place"))
        axes.fill_between(low.index, low, high, color=style.light, alpha=0.18, linewidth=0)
        axes.errorbar(first["place"], first["value"], yerr=2 * first["sem"], color=style.light, linestyle=style.line,
                      marker=style.marker, markersize=4, capsize=2, linewidth=1.4)  # fmt: skip
        parts.append(_points(method, first, first["place"], first["value"], low, high))
    points = pd.concat(parts, ignore_index=True)
    places = sorted(set(spec["positions"].values()))
    axes.set_xscale("log" if places[0] > 0 else "linear")
    axes.set_xticks(places, [f"{place:,g}" for place in places])
    axes.minorticks_off()
    label_ends(axes, points.groupby("series")["y"].last().to_dict(), spec["labels"], drawn)
    _explain(figure, f"band: 5–95 % range over {table['instance'].nunique()} random instances")
    return figure, points


def dots(spec: dict, measurements):
    """Draw final regret as a row of dots per problem: instance 0, with the panel as a bar."""
    table = _final_regrets(measurements)
    titles = {name: title for name, title in spec["rows"] if name in set(table["problem"])}
    places = {name: -place for place, name in enumerate(titles)}
    table = table.assign(place=table["problem"].map(places))
    figure, axes = _axes(spec["title"], REGRET, "")
    figure.set_size_inches(figure.get_figwidth(), 1.2 + 0.22 * len(titles))
    parts = []
    for method, style in _present(spec, table).items():
        first, low, high = _panel(table[table["method"] == method])
        low, high = low.reindex(first["place"]), high.reindex(first["place"])
        axes.hlines(first["place"], low, high, color=style.light, alpha=0.4, linewidth=3)
        axes.plot(first["value"], first["place"], color=style.light, marker=style.marker, linestyle="none",
                  markersize=4, label=spec["labels"][method])  # fmt: skip
        parts.append(_points(method, first, first["value"], first["place"], low, high))
    axes.set_yscale("linear")
    axes.set_ylim(-len(titles), 1)
    axes.set_yticks(list(places.values()), list(titles.values()), fontsize=7)
    axes.set_xscale("log")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, fontsize=8, frameon=False)
    return figure, pd.concat(parts, ignore_index=True)


def _final_regrets(measurements):
    """Return the regrets at T with the first draw of a basis."""
    return measurements[(measurements["draw"] == 0) & (measurements["quantity"] == "regret")]


def _present(spec: dict, table) -> dict:
    """Return how the methods that have rows are drawn."""
    methods = set(table["method"])
    return {method: style for method, style in looks(spec).items() if method in methods}


def _panel(rows):
    """Return the rows of instance 0, and the 5 % and the 95 % quantile over the instances at every place."""
    quantiles = rows.groupby("place")["value"].quantile([0.05, 0.95]).unstack()
    return rows[rows["instance"] == 0], quantiles[0.05], quantiles[0.95]


def _points(method: str, first, x, y, low, high):
    points = {"series": method, "x": x, "y": y}
    points |= {"low": first["value"] - 2 * first["sem"], "high": first["value"] + 2 * first["sem"]}
    return pd.DataFrame(points | {"panel_low": low.to_numpy(), "panel_high": high.to_numpy()})


def _axes(title: str, x: str, y: str):
    figure = blank((6.8, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
    log_ticks(axes.yaxis)
    return figure, axes


def _round_axis(axes, end: float, limit: float | None = None) -> None:
    """Put a tick at every quarter of the rounds."""
    axes.set_xlim(0, limit or end)
    axes.set_xticks([end * share / 4 for share in range(5)])
    axes.xaxis.set_major_formatter("{x:,g}")


def _explain(figure, panel: str, bar: bool = False) -> None:
    """Say below the axes, in grey, what lines and ranges stand for."""
    from matplotlib.patches import Patch

    drawn, marker = ("thin band", "") if bar else ("error bars", "o")
    upright = _line(alpha=0.6, linestyle="", marker="|", markersize=9, markeredgewidth=3)
    handles = [_line(linewidth=1.5, marker=marker, markersize=4)]
    handles.append(upright if bar else Patch(color=GREY, alpha=0.4, linewidth=0))
    _legend(figure, handles, [f"line and {drawn}: instance 0, mean of its runs ± 2 standard errors", panel])


def _line(**look):
    from matplotlib.lines import Line2D

    return Line2D([], [], color=GREY, **look)


def _legend(figure, handles: list, texts: list[str]) -> None:
    figure.legend(handles, texts, loc="outside lower left", handlelength=1.6, labelcolor=INK)
