"""The overview picture: the method from graph to regret in five subplots, drawn from the data themselves."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.patheffects import withStroke

from graphdr.graphs.arm_features import Basis, nontrivial
from graphdr.graphs.model import Graph, edges
from graphdr.show.style import GREY, INK, POINTS, Drawing, FigureSpec, blank, log_ticks, regret_lines

# All lengths are inches of a picture that a README shows about 900 pixels wide.
WIDTH, HEIGHT = 10.0, 4.05
LEFTS, WIDTHS = (0.12, 2.42, 4.3, 6.43, 8.02), (1.7, 1.4, 1.65, 1.1, 1.53)
BOTTOM, TALL = 1.32, 1.72
STRIP = (0.1, 0.08, 9.8, 0.4)

COLOURS, SIGNED = "viridis", "PuOr"
FOCUS, TINT = "#0072b2", "#FDF3E1"
CONTRAST = ("linucb_full", "graphdr_shuffled", "graphdr")
RAYS = 4  # dimensions that the plane shows as a star
LETTERS = "abcde"  # of the example arms that all subplots share
ROUNDS = 400  # of the example run behind the scores
HALO = withStroke(linewidth=2.5, foreground="white")


def draw(spec: FigureSpec, graph: Graph, basis: Basis, curves: pd.DataFrame) -> Drawing:
    """Draw the method on one instance: graph, eigenvectors, projected arms, scores and regret."""
    k = min(spec.k or 0, len(basis.values) - 1)
    features = nontrivial(basis.vectors, k)
    reward = features @ (1 / np.arange(1, k + 1))  # in their span, decreasing with the frequency
    reward = reward / np.linalg.norm(reward)
    count = min(graph.n, len(LETTERS))
    arms = ((np.arange(count) + 0.5) * graph.n / count).astype(int)  # at equal distances in the order of the nodes

    figure = blank((WIDTH, HEIGHT))
    subplots = []
    for left, width in zip(LEFTS, WIDTHS, strict=True):
        axes = figure.add_axes((left / WIDTH, BOTTOM / HEIGHT, width / WIDTH, TALL / HEIGHT))
        axes.grid(False)
        axes.tick_params(length=2, pad=2, labelsize=8.5, labelcolor=INK)
        subplots.append(axes)
    parts = [
        _draw_graph(subplots[0], graph, layout(graph, basis.vectors[:, 1:3]), reward, arms),
        _draw_basis(subplots[1], basis.values, features, arms),
        _draw_projection(subplots[2], features, reward, arms),
        _draw_scores(subplots[3], features, reward, arms),
        _draw_regret(subplots[4], curves[curves["problem"] == spec.problem], spec),
    ]
    _write_texts(figure, spec, graph.n, k)
    middle = BOTTOM + TALL / 2
    for left, width, following in zip(LEFTS, WIDTHS, LEFTS[1:], strict=False):
        _arrow(figure, (left + width + 0.12, middle), (following - 0.2, middle), color=FOCUS, linewidth=2)
    _draw_residual(figure)
    return figure, pd.concat(parts, ignore_index=True).reindex(columns=POINTS)


def layout(graph: Graph, start: np.ndarray, rounds: int = 150) -> np.ndarray:
    """Place nodes by springs along edges and repulsion between all, from a given start and without randomness."""
    place = start / np.abs(start).max()
    weight = graph.adjacency.toarray()
    repulsion = weight.sum() / graph.n**2
    for step in np.linspace(0.1, 0.002, rounds):
        offset = place[:, None] - place[None]
        distance = np.maximum(np.linalg.norm(offset, axis=2), 0.02)
        force = (offset * (repulsion / distance**2 - weight)[:, :, None]).sum(axis=1)
        place = place + step * force / np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
    centred: np.ndarray = place - place.mean(axis=0)
    return centred


def play(features: np.ndarray, reward: np.ndarray, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Run LinUCB without noise on candidates taken in turn; return every arm's estimate and width."""
    n, k = features.shape
    gram, response = np.eye(k), np.zeros(k)
    for t in range(rounds + 1):
        inverse = np.linalg.inv(gram)
        estimate = features @ inverse @ response
        width = np.sqrt(np.einsum("ai,ij,aj->a", features, inverse, features))
        offered = (t + np.arange(10) * n // 10) % n
        arm = offered[np.argmax((estimate + width)[offered])]
        gram += np.outer(features[arm], features[arm])
        response += features[arm] * reward[arm]
    return estimate, width


def _draw_graph(axes: Axes, graph: Graph, place: np.ndarray, reward: np.ndarray, arms: np.ndarray) -> pd.DataFrame:
    i, j, _ = edges(graph)
    axes.add_collection(LineCollection(place[np.column_stack([i, j])], colors=GREY, linewidths=0.3, alpha=0.22))
    _draw_arms(axes, place, reward, arms)
    nodes = pd.DataFrame({"series": "node", "x": place[:, 0], "y": place[:, 1]})
    return pd.concat([nodes, pd.DataFrame({"series": "reward", "x": np.arange(graph.n), "y": reward})])


def _draw_basis(axes: Axes, values: np.ndarray, features: np.ndarray, arms: np.ndarray) -> pd.DataFrame:
    n, k = features.shape
    limit = np.quantile(np.abs(features), 0.98)
    axes.imshow(features, cmap=SIGNED, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    columns = range(k) if k <= 5 else (0, k - 1)
    axes.set_xticks(columns, [f"$u_{{{column + 2}}}$\n{values[column + 1]:.2f}" for column in columns])
    axes.set_yticks(arms, list(LETTERS[: len(arms)]), fontweight="bold")
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.text(-0.08, 1.055, "$\\lambda$", transform=axes.transAxes, ha="right", fontsize=8.5, color=INK)
    axes.spines[:].set_visible(False)
    entries = pd.DataFrame(features, columns=[f"u_{column + 2}" for column in range(k)])
    entries = entries.melt(var_name="series", value_name="y")
    eigenvalues = pd.DataFrame({"series": "eigenvalue", "x": np.arange(2, k + 2), "y": values[1 : k + 1]})
    return pd.concat([entries.assign(x=np.tile(np.arange(n), k)), eigenvalues])


def _draw_projection(axes: Axes, features: np.ndarray, reward: np.ndarray, arms: np.ndarray) -> pd.DataFrame:
    shown = features[:, :RAYS]
    angle = np.pi / 2 - 2 * np.pi * np.arange(shown.shape[1]) / max(shown.shape[1], 3)
    rays = np.column_stack([np.cos(angle), np.sin(angle)])
    place = shown @ rays  # a point of k dimensions is the sum along k directions of the plane
    reach = 1.05 * np.linalg.norm(place, axis=1).max()
    for number, ray in enumerate(rays):
        axes.annotate("", reach * ray, (0, 0), arrowprops={"arrowstyle": "->", "color": GREY, "linewidth": 0.8})
        x, y = 1.14 * reach * ray
        axes.text(x, y, f"$z_{number + 1}$", ha="center", va="center", fontsize=9, color=INK)
    axes.update_datalim(1.14 * reach * rays)
    _draw_arms(axes, place, reward, arms)
    return pd.DataFrame({"series": "arm", "x": place[:, 0], "y": place[:, 1]})


def _draw_arms(axes: Axes, place: np.ndarray, reward: np.ndarray, arms: np.ndarray) -> None:
    """Draw all arms in the colour of their reward, and the example arms ringed with their letters."""
    colours = {"cmap": COLOURS, "vmin": reward.min(), "vmax": reward.max()}
    x, y = place.T
    axes.scatter(x, y, c=reward, s=11, linewidths=0, zorder=2, **colours)
    axes.scatter(x[arms], y[arms], c=reward[arms], s=36, edgecolors=INK, linewidths=1.2, zorder=3, **colours)
    for letter, arm in zip(LETTERS, arms, strict=False):
        outward = 9 * place[arm] / max(np.linalg.norm(place[arm]), 1e-9)
        axes.annotate(letter, place[arm], outward, textcoords="offset points", ha="center", va="center", color=INK,
                      fontsize=9, fontweight="bold", zorder=4, path_effects=[HALO])  # fmt: skip
    axes.margins(0.03)
    axes.set_aspect("equal", adjustable="datalim")
    axes.axis("off")


def _draw_scores(axes: Axes, features: np.ndarray, reward: np.ndarray, arms: np.ndarray) -> pd.DataFrame:
    estimate, width = (of_arm[arms] for of_arm in play(features, reward, ROUNDS))
    rows = np.arange(len(arms))
    best = int(np.argmax(estimate + width))
    colours = [FOCUS if row == best else "#999999" for row in rows]
    axes.barh(rows, width, left=estimate, height=0.4, color=colours, alpha=0.5)
    axes.scatter(estimate, rows, color=colours, s=22, zorder=3)
    axes.set_yticks(rows, list(LETTERS[: len(arms)]), fontweight="bold")
    top = estimate[best] + width[best]
    axes.text(top, best, " $a_t$", va="center", fontsize=10, color=FOCUS)
    span = top - estimate.min()
    axes.set_xlim(estimate.min() - 0.06 * span, top + 0.2 * span)
    axes.set_xticks([])
    axes.set_xlabel("● estimate  ▬ width", fontsize=8, color=INK, labelpad=3)
    axes.invert_yaxis()
    return pd.DataFrame({"series": "score", "x": arms, "y": estimate + width, "low": estimate})


def _draw_regret(axes: Axes, table: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    styles = spec.method_styles()
    contrast = {method: styles[method] for method in CONTRAST if method in styles}
    axes.set_yscale("log")
    points = regret_lines(axes, table, contrast or styles)
    last = points.groupby("series").last().sort_values("y")
    for method, row in last.iterrows():
        higher = last["y"][last["y"] > row["y"]]
        above = higher.empty or higher.min() > 5 * row["y"]
        axes.annotate(spec.labels[method], (row["x"], row["y"]), (-3, 4 if above else -5), textcoords="offset points",
                      ha="right", va="bottom" if above else "top", fontsize=8, color=INK)  # fmt: skip
    axes.set_ylim(top=axes.get_ylim()[1] * 2)
    log_ticks(axes.yaxis, subs=(1,))
    axes.yaxis.tick_right()
    axes.spines["right"].set_visible(True)
    axes.spines["left"].set_visible(False)
    end = points["x"].max()
    axes.set_xlim(0, end)
    axes.set_xticks([0, end / 2, end], ["0", "round t", f"{end:,g}"])
    axes.grid(True, axis="y")
    return points


def _write_texts(figure: Figure, spec: FigureSpec, n: int, k: int) -> None:
    """Write the title, the heading over every subplot and the caption under it."""
    promise = f"a bandit that learns along the k = {k} smoothest directions of a graph, not in all n = {n} nodes"
    _write(figure, 0.1, HEIGHT - 0.2, spec.title, fontsize=12, fontweight="bold")
    _write(figure, 1.85, HEIGHT - 0.2, promise, fontsize=9.5)
    control = "shuffled: same method,\nnode labels permuted" if "graphdr_shuffled" in spec.labels else ""
    texts = {
        "Graph $G$": "nodes are arms, colour\nis a reward smooth on $G$",
        "Basis $E_k$": "eigenvectors $u_2 \\ldots u_{k+1}$\nof the Laplacian $L$",
        "Project $z = E_k^\\top x$": f"an arm is its row of $E_k$\n({min(k, RAYS)} of {k} axes drawn)",
        "LinUCB in $\\mathbb{R}^k$": "pull the top score $a_t$,\nlearn from its reward",
        "Regret (log scale)": control,
    }
    number = {"fontsize": 8.5, "color": "white", "fontweight": "bold", "ha": "center"}
    for place, (left, (heading, caption)) in enumerate(zip(LEFTS, texts.items(), strict=True), start=1):
        _write(figure, left + 0.08, 3.52, str(place), bbox={"boxstyle": "circle,pad=0.25", "color": FOCUS}, **number)
        _write(figure, left + 0.25, 3.52, heading, fontsize=10, fontweight="bold")
        _write(figure, left, 0.9, caption, fontsize=8.8, linespacing=1.25)


def _draw_residual(figure: Figure) -> None:
    """Draw the strip that explains how the part of the reward outside of the projection adds regret."""
    left, bottom, width, height = STRIP
    box = FancyBboxPatch(STRIP[:2], width, height, boxstyle="round,pad=0,rounding_size=0.08", linewidth=0.8)
    box.set(facecolor=TINT, edgecolor="#E69F00", transform=figure.dpi_scale_trans)
    figure.add_artist(box)
    middle, top = bottom + height / 2, bottom + height
    texts = {
        left + 0.15: "What $E_k$ misses of the reward: $r_\\perp = (I - E_k E_k^\\top)\\,\\theta^*$",
        4.2: "$\\mathrm{SRL}_T$: bias in the estimates",
        6.2: "$\\mathrm{CRW}_T$: spread over candidates",
        8.85: "more regret",
    }
    for x, text in texts.items():
        _write(figure, x, middle, text, fontsize=9)
    arrows = (3.1, top + 0.2, 3.1, top), (3.6, middle, 4.05, middle), (8.3, middle, 8.75, middle)
    for x, y, end_x, end_y in (*arrows, (9.25, top, 9.25, top + 0.2)):
        _arrow(figure, (x, y), (end_x, end_y), color="#B35900", linewidth=1.2, linestyle=(0, (3, 2)))


def _arrow(figure: Figure, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    look = {"transform": figure.dpi_scale_trans} | style
    figure.add_artist(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, shrinkA=0, shrinkB=0, **look))


def _write(figure: Figure, x: float, y: float, text: str, **style: Any) -> None:
    figure.text(x, y, text, transform=figure.dpi_scale_trans, **{"va": "center", "color": INK} | style)
