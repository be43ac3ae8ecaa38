"""Figures: regret curves, sweeps and the overview picture, colour-blind safe, in print and on screen."""

from math import log
from pathlib import Path

from graphdr.cache import io
from graphdr.show import palette

MARKERS = {
    "graphdr": "o",
    "linucb_full": "s",
    "graphdr_shuffled": "^",
    "pca_onehot": "v",
    "jl": "D",
    "random": "x",
    "graphdr_exact": "v",
    "graphdr_generic": "s",
    "graphdr_oracle": "o",
    "graphdr_estimated": "^",
    "graphdr_uninflated": "D",
}
INK, GREY = "#222222", "#777777"
RC = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 10,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.hashsalt": "graphdr",  # the same drawing gives the same bytes
    "svg.fonttype": "path",  # a browser without our font would misplace the parts of a formula
    "pdf.fonttype": 42,
}
FACTORS = {
    "n": "number of nodes n",
    "k": "projected dimension k",
    "flip": "share of node pairs flipped in the observed graph",
    "tail": "weight of the reward outside of the low frequencies",
}


def style() -> None:
    """Set the look that all figures share."""
    import matplotlib

    matplotlib.rcParams.update(RC)


def log_ticks(axis, subs=(1, 2, 5)) -> None:
    """Label a logarithmic axis with plain numbers at the given multiples of the powers of ten."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_locator(NullLocator())


def drawn_as(method: str) -> tuple[str, object, str]:
    """Return colour, line style and marker of a method."""
    colour, _, dash = palette.styles([method])[method]
    line = (0, tuple(float(part) / 2 for part in dash.split())) if dash else "-"
    return colour, line, MARKERS.get(method, ".")


def spread(positions: list[float], gap: float) -> list[float]:
    """Push rising positions apart until neighbours are a gap away from each other, around the same centre."""
    placed = list(positions)
    for _ in range(200):
        for i in range(len(placed) - 1):
            lacking = max(0.0, placed[i] + gap - placed[i + 1])
            placed[i] -= lacking / 2
            placed[i + 1] += lacking / 2
    return placed


def label_ends(axes, ends: dict[str, float], labels: dict[str, str], gap: float = 0.062) -> None:
    """Write the label of every line to the right of its end, a gap (as a share of the height) apart."""
    low, high = axes.get_ylim()
    methods = sorted(ends, key=ends.get)
    heights = [log(max(ends[method], low) / low) / log(high / low) for method in methods]
    for method, height, place in zip(methods, heights, spread(heights, gap), strict=True):
        colour, line, _ = drawn_as(method)
        leader = {"arrowstyle": "-", "color": colour, "linestyle": line, "linewidth": 1.5}
        leader |= {"relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 0}
        axes.annotate(labels[method], (1, height), (1.1, place), xycoords="axes fraction", va="center", color=INK,
                      fontsize=8.5, arrowprops=leader, annotation_clip=False)  # fmt: skip


def regret_lines(axes, table, methods):
    """Draw regret over rounds on instance 0 with a band of two standard errors, and return the points."""
    import pandas as pd

    parts = []
    for method in methods:
        part = table[table["method"] == method]
        colour, line, _ = drawn_as(method)
        low, high = part["mean"] - 2 * part["sem"], part["mean"] + 2 * part["sem"]
        axes.plot(part["t"], part["mean"], color=colour, linestyle=line, linewidth=1.5)
        axes.fill_between(part["t"], low, high, color=colour, alpha=0.25, linewidth=0)
        points = {"series": method, "x": part["t"], "y": part["mean"], "low": low, "high": high}
        parts.append(pd.DataFrame(points | {side: part[side] for side in ("panel_low", "panel_high")}))
    return pd.concat(parts, ignore_index=True)


def curves(input, spec: dict):
    """Draw regret over rounds on instance 0, and the range of the final regret over all instances."""
    figure, axes = _axes(spec["title"], "round t", "cumulative regret R(t) (reward units)")
    table = io.read_frame("curves", input.curves)
    points = regret_lines(axes, table[table["problem"] == spec["problem"]], spec["labels"])
    last = points.groupby("series").last()
    end = last["x"].max()
    for place, (method, row) in enumerate(last.sort_values("y").iterrows(), start=1):
        colour = drawn_as(method)[0]
        axes.vlines(end * (1 + 0.02 * place), row["panel_low"], row["panel_high"], color=colour, linewidth=3, alpha=0.6)
    axes.set_xlim(0, end * (1 + 0.02 * (len(last) + 1)))
    axes.set_xticks([end * share / 4 for share in range(5)])
    axes.xaxis.set_major_formatter("{x:,g}")
    label_ends(axes, last["y"].to_dict(), spec["labels"])
    _explain(figure, "vertical bar: 5–95 % range of the final regret over all random instances", bar=True)
    return figure, points


def bounds(input, spec: dict):
    """Draw the regret on instance 0 with the radius of each theorem and, as a thin line above it, the bound."""
    import pandas as pd
    from matplotlib.lines import Line2D

    figure, axes = _axes(spec["title"], "round t", "cumulative regret R(t) (reward units)")
    table = io.read_frame("curves", input.curves).query("bound.notna()")
    table = table[(table["problem"] == spec["problem"]) & table["method"].isin(list(spec["labels"]))]
    realised = regret_lines(axes, table, [method for method in spec["labels"] if method in set(table["method"])])
    parts = [realised]
    for method, part in table.groupby("method", sort=False):
        colour, line, _ = drawn_as(method)
        axes.plot(part["t"], part["bound"], color=colour, linestyle=line, linewidth=0.8)
        parts.append(pd.DataFrame({"series": f"{method} bound", "x": part["t"], "y": part["bound"]}))
    end = table["t"].max()
    axes.set_xlim(0, end)
    axes.set_xticks([end * share / 4 for share in range(5)])
    axes.xaxis.set_major_formatter("{x:,g}")
    log_ticks(axes.yaxis, subs=(1,))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    label_ends(axes, table.groupby("method")["bound"].last().to_dict(), spec["labels"])
    handles = [Line2D([], [], color=GREY, linewidth=width) for width in (0.8, 1.5)]
    texts = ["bound, mean over the runs of instance 0", "regret with that radius, mean of the same runs"]
    figure.legend(handles, texts, loc="outside lower left", handlelength=1.6, labelcolor=INK)
    return figure, pd.concat(parts, ignore_index=True)


def sweep(input, spec: dict):
    """Draw final regret against a varied factor: instance 0 with two standard errors, and the panel behind it."""
    import pandas as pd

    figure, axes = _axes(spec["title"], FACTORS.get(spec["x"], spec["x"]), "cumulative regret R(T) (reward units)")
    table = io.read_frame("measurements", input.measurements).query("draw == 0")
    table = table[table["quantity"] == "regret"].assign(x=table["problem"].map(spec["positions"]))
    parts = []
    for method in [method for method in spec["labels"] if method in set(table["method"])]:
        rows = table[table["method"] == method].sort_values("x")
        shown = rows[rows["instance"] == 0]
        panel = rows.groupby("x")["value"].quantile([0.05, 0.95]).unstack()
        colour, line, marker = drawn_as(method)
        axes.fill_between(panel.index, panel[0.05], panel[0.95], color=colour, alpha=0.18, linewidth=0)
        axes.errorbar(shown["x"], shown["value"], yerr=2 * shown["sem"], color=colour, linestyle=line, marker=marker,
                      markersize=4, capsize=2, linewidth=1.4)  # fmt: skip
        points = {"series": method, "x": shown["x"], "y": shown["value"]}
        points |= {"low": shown["value"] - 2 * shown["sem"], "high": shown["value"] + 2 * shown["sem"]}
        points |= {"panel_low": panel[0.05].to_numpy(), "panel_high": panel[0.95].to_numpy()}
        parts.append(pd.DataFrame(points))
    points = pd.concat(parts, ignore_index=True)
    _factor_axis(axes, sorted(set(spec["positions"].values())))
    label_ends(axes, points.groupby("series")["y"].last().to_dict(), spec["labels"])
    _explain(figure, f"band: 5–95 % range over {table['instance'].nunique()} random instances")
    return figure, points


def overview(input, spec: dict):
    """Draw the pipeline on the data themselves: graph, eigenvectors, projected arms, regret."""
    from graphdr.show.overview import draw

    return draw(input, spec)


def dots(input, spec: dict):
    """Draw final regret as a row of dots per problem: instance 0, with the panel as a bar."""
    import pandas as pd

    table = io.read_frame("measurements", input.measurements).query("draw == 0 and quantity == 'regret'")
    titles = {name: title for name, title in spec["rows"] if name in set(table["problem"])}
    places = {name: -place for place, name in enumerate(titles)}
    table = table[table["method"].isin(list(spec["labels"]))].assign(y=table["problem"].map(places))
    figure, axes = _axes(spec["title"], "cumulative regret R(T) (reward units)", "")
    figure.set_size_inches(figure.get_figwidth(), 1.2 + 0.22 * len(titles))
    parts = []
    for method in [method for method in spec["labels"] if method in set(table["method"])]:
        own = table[table["method"] == method]
        shown = own[own["instance"] == 0]
        low, high = (own.groupby("y")["value"].quantile(q).reindex(shown["y"]).to_numpy() for q in (0.05, 0.95))
        colour, _, marker = drawn_as(method)
        axes.hlines(shown["y"], low, high, color=colour, alpha=0.4, linewidth=3)
        axes.plot(shown["value"], shown["y"], color=colour, marker=marker or "o", linestyle="none", markersize=4,
                  label=spec["labels"][method])  # fmt: skip
        points = {"series": method, "x": shown["value"], "y": shown["y"], "panel_low": low, "panel_high": high}
        points |= {"low": shown["value"] - 2 * shown["sem"], "high": shown["value"] + 2 * shown["sem"]}
        parts.append(pd.DataFrame(points))
    axes.set_yscale("linear")
    axes.set_ylim(-len(titles), 1)
    axes.set_yticks(list(places.values()), list(titles.values()), fontsize=7)
    axes.set_xscale("log")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3, fontsize=8, frameon=False)
    return figure, pd.concat(parts, ignore_index=True)


KINDS = {f.__name__: f for f in (curves, bounds, sweep, dots, overview)}


def save(figure, path: str | Path, suffix: str) -> None:
    """Save a figure without dates, so that equal figures are equal files."""
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[suffix]
    figure.savefig(path, format=suffix, metadata=metadata, dpi=200)


def _axes(title: str, x: str, y: str):
    from matplotlib.figure import Figure

    style()
    figure = Figure(figsize=(6.8, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
    log_ticks(axes.yaxis)
    return figure, axes


def _factor_axis(axes, values: list[float]) -> None:
    """Put a tick at every value of the factor, on a logarithmic axis where all are positive."""
    from matplotlib.ticker import NullLocator

    if values[0] > 0:
        axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:,g}" for value in values])
    axes.xaxis.set_minor_locator(NullLocator())


def _explain(figure, panel: str, bar: bool = False) -> None:
    """Say below the axes, in grey, what lines and ranges stand for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    drawn, marker = ("thin band", "") if bar else ("error bars", "o")
    line = Line2D([], [], color=GREY, linewidth=1.5, marker=marker, markersize=4)
    upright = Line2D([], [], color=GREY, alpha=0.6, linestyle="", marker="|", markersize=9, markeredgewidth=3)
    texts = [f"line and {drawn}: instance 0, mean of its runs ± 2 standard errors", panel]
    handles = [line, upright if bar else Patch(color=GREY, alpha=0.4, linewidth=0)]
    figure.legend(handles, texts, loc="outside lower left", handlelength=1.6, labelcolor=INK)
