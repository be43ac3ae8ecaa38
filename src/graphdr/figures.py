"""Figures: regret curves, sweeps and the overview picture, colour-blind safe, in print and on screen."""

from graphdr import io

# Okabe and Ito's palette; a line style of its own keeps each method apart in grey print, too.
STYLES = {
    "graphdr": ("#0072B2", "-", "o"),
    "linucb_full": ("#D55E00", "--", "s"),
    "graphdr_shuffled": ("#009E73", "-.", "^"),
    "pca_onehot": ("#CC79A7", ":", "v"),
    "jl": ("#E69F00", (0, (5, 1)), "D"),
    "random": ("#666666", (0, (1, 1)), "x"),
}
OTHER = ("#000000", "-", ".")
RC = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "graphdr",  # the same drawing gives the same bytes
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


def _axes(title: str, x: str, y: str):
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(RC)
    figure = Figure(figsize=(5.2, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y, yscale="log")
    return figure, axes


def curves(input, spec: dict):
    """Draw regret over rounds on instance 0, with a band of two standard errors."""
    import pandas as pd

    figure, axes = _axes(spec["title"], "round t", "cumulative regret R(t)")
    table = io.read("curves", input.curves).to_pandas()
    table = table[table["problem"] == spec["problem"]]
    parts = []
    final = table.groupby("method")["mean"].last()
    for method in sorted(spec["labels"], key=lambda name: -final[name]):
        part = table[table["method"] == method]
        colour, line, _ = STYLES.get(method, OTHER)
        low, high = part["mean"] - 2 * part["sem"], part["mean"] + 2 * part["sem"]
        axes.plot(part["t"], part["mean"], color=colour, linestyle=line, linewidth=1.6, label=spec["labels"][method])
        axes.fill_between(part["t"], low, high, color=colour, alpha=0.2, linewidth=0)
        spread = {"panel_low": part["panel_low"], "panel_high": part["panel_high"]}
        parts.append(
            pd.DataFrame({"series": method, "x": part["t"], "y": part["mean"], "low": low, "high": high} | spread)
        )
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.set_size_inches(6.8, 3.4)
    return figure, pd.concat(parts, ignore_index=True)


def sweep(input, spec: dict):
    """Draw final regret against a varied factor: instance 0 with two standard errors, and the panel behind it."""
    import pandas as pd

    figure, axes = _axes(spec["title"], spec["x"], "cumulative regret R(T)")
    table = io.read("measurements", input.measurements).to_pandas()
    table = table[table["quantity"] == "regret"].assign(x=table["problem"].map(spec["positions"]))
    parts = []
    for method, label in spec["labels"].items():
        rows = table[table["method"] == method].sort_values("x")
        shown = rows[rows["instance"] == 0]
        panel = rows.groupby("x")["value"].quantile([0.05, 0.95]).unstack()
        colour, line, marker = STYLES.get(method, OTHER)
        axes.fill_between(panel.index, panel[0.05], panel[0.95], color=colour, alpha=0.15, linewidth=0)
        axes.errorbar(shown["x"], shown["value"], yerr=2 * shown["sem"], color=colour, linestyle=line, marker=marker,
                      markersize=4, capsize=2, linewidth=1.4, label=label)  # fmt: skip
        points = {"series": method, "x": shown["x"], "y": shown["value"]}
        points |= {"low": shown["value"] - 2 * shown["sem"], "high": shown["value"] + 2 * shown["sem"]}
        points |= {"panel_low": panel[0.05].to_numpy(), "panel_high": panel[0.95].to_numpy()}
        parts.append(pd.DataFrame(points))
    axes.set_xticks(sorted(set(spec["positions"].values())))
    axes.legend(fontsize=8)
    return figure, pd.concat(parts, ignore_index=True)


def overview(input, spec: dict):
    """Draw the pipeline on the data themselves: graph, eigenvectors, projected arms, regret."""
    from graphdr.overview import draw

    return draw(input, spec)


KINDS = {f.__name__: f for f in (curves, sweep, overview)}


def save(figure, path: str, suffix: str) -> None:
    """Save a figure without dates, so that equal figures are equal files."""
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[suffix]
    figure.savefig(path, format=suffix, metadata=metadata, dpi=200)
