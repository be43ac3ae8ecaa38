"""What all figures share: the look of axes, lines and labels, and the lines of regret over rounds."""

from math import log
from pathlib import Path

import pandas as pd

from graphdr.show.palette import Style, styles

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


def looks(spec: dict) -> dict[str, Style]:
    """Return how each labelled method of a figure is drawn."""
    return styles(list(spec["labels"]), spec["styles"])


def blank(size: tuple[float, float], **options):
    """Return an empty figure of a size in inches, in the look that all figures share."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(RC)
    return Figure(figsize=size, **options)


def save(figure, path: str | Path, suffix: str) -> None:
    """Save a figure without dates, so that equal figures are equal files."""
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[suffix]
    figure.savefig(path, format=suffix, metadata=metadata, dpi=200)


def log_ticks(axis, subs=(1, 2, 5)) -> None:
    """Label a logarithmic axis with plain numbers at the given multiples of the powers of ten."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_locator(NullLocator())


def regret_lines(axes, table, looks: dict[str, Style]):
    """Draw regret over rounds on instance 0 with a band of two standard errors, and return the points."""
    parts = []
    for method, style in looks.items():
        part = table[table["method"] == method]
        low, high = part["mean"] - 2 * part["sem"], part["mean"] + 2 * part["sem"]
        axes.plot(part["t"], part["mean"], color=style.light, linestyle=style.line, linewidth=1.5)
        axes.fill_between(part["t"], low, high, color=style.light, alpha=0.25, linewidth=0)
        points = {"series": method, "x": part["t"], "y": part["mean"], "low": low, "high": high}
        parts.append(pd.DataFrame(points | {side: part[side] for side in ("panel_low", "panel_high")}))
    return pd.concat(parts, ignore_index=True)


def spread(positions: list[float], gap: float) -> list[float]:
    """Push rising positions apart until neighbours are a gap away from each other, around the same centre."""
    placed = list(positions)
    for _ in range(200):
        for i in range(len(placed) - 1):
            lacking = max(0.0, placed[i] + gap - placed[i + 1])
            placed[i] -= lacking / 2
            placed[i + 1] += lacking / 2
    return placed


def label_ends(axes, ends: dict[str, float], labels: dict[str, str], looks: dict[str, Style], gap=0.062) -> None:
    """Write the label of every line to the right of its end, a gap (as a share of the height) apart."""
    low, high = axes.get_ylim()
    methods = sorted(ends, key=ends.get)
    heights = [log(max(ends[method], low) / low) / log(high / low) for method in methods]
    for method, height, place in zip(methods, heights, spread(heights, gap), strict=True):
        leader = {"arrowstyle": "-", "color": looks[method].light, "linestyle": looks[method].line}
        leader |= {"linewidth": 1.5, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 0}
        axes.annotate(labels[method], (1, height), (1.1, place), xycoords="axes fraction", va="center", color=INK,
                      fontsize=8.5, arrowprops=leader, annotation_clip=False)  # fmt: skip
