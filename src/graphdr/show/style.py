"""Common parts of all figures: their specification, the look of axes, lines and labels, and lines of regret."""

from collections.abc import Collection, Mapping
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from graphdr.show.palette import Style, styles
from graphdr.show.words import FACTORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

INK, GREY = "#222222", "#777777"
REGRET = "cumulative regret R(T) (reward units)"
POINTS = ["series", "x", "y", "low", "high", "panel_low", "panel_high"]  # columns of the points of a figure
AXES = FACTORS | {  # an axis has space for longer labels
    "n": "number of nodes n",
    "k": "projected dimension k",
    "flip": "share of node pairs flipped in the observed graph",
    "tail": "weight of the reward outside of the low frequencies",
}
RC: dict[Any, Any] = {
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

Drawing = tuple["Figure", pd.DataFrame]  # a figure and the points that it shows


class FigureSpec(NamedTuple):
    """A figure as configured; each kind needs some of the optional fields."""

    kind: str
    title: str
    datasets: list[str]
    labels: dict[str, str]  # of the methods
    styles: dict[str, dict[str, str]]  # of the methods that have one
    x: str | None = None  # factor along the x axis …
    positions: dict[str, float] | None = None  # … and its level in every problem
    rows: list[list[str]] | None = None  # problem and title
    problem: str | None = None
    k: int | None = None
    claim: str | None = None
    dataset_labels: dict[str, str] | None = None
    y_label: str | None = None

    def method_styles(self, methods: Collection[str] | None = None) -> dict[str, Style]:
        """Return the style of every labelled method, or of those among ``methods``."""
        by_method = styles(list(self.labels), self.styles)
        return {name: style for name, style in by_method.items() if methods is None or name in methods}


def blank(size: tuple[float, float], title: str | None = None, **options: Any) -> "Figure":
    """Return an empty figure of a size in inches, with the common look and, if it has several axes, its title."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(RC)
    figure = Figure(figsize=size, **options)
    if title is not None:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def save(figure: "Figure", path: str | Path, suffix: str) -> None:
    """Save a figure without dates, so that equal figures are equal files."""
    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[suffix]
    figure.savefig(path, format=suffix, metadata=metadata, dpi=200)


def log_ticks(axis: "Axis", subs: tuple[int, ...] = (1, 2, 5)) -> None:
    """Label a logarithmic axis with plain numbers at the given multiples of the powers of ten."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_locator(NullLocator())


def final_regrets(measurements: pd.DataFrame) -> pd.DataFrame:
    """Return the regrets at T with the first draw of a basis."""
    return measurements[(measurements["draw"] == 0) & (measurements["quantity"] == "regret")]


def points_of(series: str, rows: pd.DataFrame, x: str = "place", y: str = "value") -> pd.DataFrame:
    """Return points with a range of two standard errors around the value and, if rows have it, over the instances."""
    low, high = rows["value"] - 2 * rows["sem"], rows["value"] + 2 * rows["sem"]
    points = pd.DataFrame({"series": series, "x": rows[x], "y": rows[y], "low": low, "high": high})
    return points.assign(**{name: rows[name] for name in ("panel_low", "panel_high") if name in rows})


def regret_lines(axes: "Axes", table: pd.DataFrame, styles: Mapping[str, Style]) -> pd.DataFrame:
    """Draw regret over rounds on instance 0 with a band of two standard errors, and return the points."""
    parts = []
    for method, style in styles.items():
        points = points_of(method, table[table["method"] == method].rename(columns={"mean": "value"}), x="t")
        axes.plot(points["x"], points["y"], color=style.light, linestyle=style.line, linewidth=1.5)
        axes.fill_between(points["x"], points["low"], points["high"], color=style.light, alpha=0.25, linewidth=0)
        parts.append(points)
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


def label_ends(axes: "Axes", ends: Mapping[str, float], labels: Mapping[str, str], styles: Mapping[str, Style]) -> None:
    """Write the label of every line to the right of its end, at a distance from other labels."""
    low, high = axes.get_ylim()
    methods = sorted(ends, key=lambda method: ends[method])
    heights = [log(max(ends[method], low) / low) / log(high / low) for method in methods]
    for method, height, place in zip(methods, heights, spread(heights, 0.062), strict=True):
        leader = {"arrowstyle": "-", "color": styles[method].light, "linestyle": styles[method].line}
        leader |= {"linewidth": 1.5, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 0}
        axes.annotate(labels[method], (1, height), (1.1, place), xycoords="axes fraction", va="center", color=INK,
                      fontsize=8.5, arrowprops=leader, annotation_clip=False)  # fmt: skip
