"""Figures from small frames: the points that they show, the styles that they are given, and nothing imported early."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from graphdr.cache.io import SCHEMAS
from graphdr.graphs.spectral import low_eigenpairs
from graphdr.show import palette, style
from graphdr.show.figures import KINDS
from graphdr.show.style import FigureSpec

LABELS = {"graphdr": "GraphDR", "mine": "Mine", "yours": "Yours"}
MINE = {"mine": {"light": "#123456", "dark": "#654321", "dash": "4 2", "marker": "P"}}
ENDS = {"graphdr": 10.0, "mine": 40.0, "yours": 90.0}
PLACES = {"p": 1.0, "q": 2.0}


def curves() -> pd.DataFrame:
    t = np.arange(10, 50, 10)
    parts = [
        pd.DataFrame({"problem": "p", "method": method, "t": t, "mean": end * t / 40, "sem": 0.5}).assign(
            panel_low=end * t / 50, panel_median=end * t / 40, panel_high=end * t / 30, bound=9.0 * t
        )
        for method, end in ENDS.items()
    ]
    return pd.concat([*parts, parts[0].assign(problem="another")], ignore_index=True)


def measurements() -> pd.DataFrame:
    rows = [
        (problem, instance, draw, method, "regret", end * place + instance - 99 * draw, 0.5)
        for problem, place in PLACES.items()
        for method, end in (ENDS | {"unlabelled": 5.0}).items()
        for instance in range(3)
        for draw in ((0, 1) if instance == 0 else (0,))  # a further draw is not shown
    ]
    columns = ["problem", "instance", "draw", "method", "quantity", "value", "sem"]
    facts = [("p", 0, 0, None, "zeta", 0.5, np.nan), ("unrun", 0, 0, None, "zeta", 0.5, np.nan)]
    return pd.DataFrame(rows + facts, columns=columns)


def decided() -> pd.DataFrame:
    rows = [
        ("c", "sbm", alpha, 1.0, k, 20000, "uniform", 0, int(alpha * k < 1), alpha * k)
        for alpha in (0.1, 1.0)
        for k in (2, 5)
    ]
    columns = ["claim", "dataset", "alpha", "ridge", "k", "horizon", "candidates", "instance", "holds", "effect"]
    return pd.DataFrame([*rows, ("other", None, *[None] * 8)], columns=columns)


def spec(kind: str, **more) -> FigureSpec:
    return FigureSpec(kind, "T", [], LABELS, {}, problem="p", k=2, **more)


SPECS = {kind: spec(kind) for kind in ("curves", "bounds", "overview", "leaderboard")}
SPECS["sweep"] = spec("sweep", x="k", positions=PLACES)
SPECS["dots"] = spec("dots", rows=[["p", "P"], ["q", "Q"], ["unrun", "U"]])
SPECS["widths"] = spec("widths", x="alpha", positions=PLACES, rows=[["p", "SBM"], ["q", "SBM"]])
SPECS["specifications"] = spec(
    "specifications", claim="c", dataset_labels={"sbm": "SBM", "unrun": "U"}, y_label="ratio"
)
BY_CLAIM = {"specifications"}  # kinds that show no methods


@pytest.fixture
def shown(small_graph) -> dict:
    """What each kind of figure is drawn from."""
    ratios = [(problem, method, end / 10) for problem in ("p", "q") for method, end in ENDS.items()]
    sources = {kind: {"curves": curves()} for kind in ("curves", "bounds")}
    sources |= {kind: {"measurements": measurements()} for kind in ("sweep", "dots", "widths")}
    sources["overview"] = {"graph": small_graph, "basis": low_eigenpairs(small_graph, 5), "curves": curves()}
    sources["specifications"] = {"multiverse": decided()}
    sources["leaderboard"] = {"leaderboard": pd.DataFrame(ratios, columns=["problem", "method", "ratio"])}
    return sources


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_with_its_points_and_the_same_bytes_twice(kind, shown):
    files = []
    for _ in range(2):
        figure, points = KINDS[kind](SPECS[kind], **shown[kind])
        assert len(points) > 0
        assert set(points) == set(SCHEMAS["figure"].names)
        stream = BytesIO()
        style.save(figure, stream, "svg")
        files.append(stream.getvalue())
    assert files[0] == files[1]


def test_curves_are_those_of_their_problem_alone(shown):
    _, points = KINDS["curves"](SPECS["curves"], **shown["curves"])
    assert points["series"].tolist() == np.repeat(list(ENDS), 4).tolist()
    assert_allclose(points.groupby("series")["y"].last(), list(ENDS.values()))
    assert_allclose(points["high"] - points["low"], 2.0)


def test_bounds_leave_out_methods_without_one():
    table = curves()
    table.loc[table["method"] == "mine", "bound"] = np.nan
    _, points = KINDS["bounds"](SPECS["bounds"], table)
    assert set(points["series"]) == {"graphdr", "graphdr bound", "yours", "yours bound"}
    assert_allclose(points.groupby("series")["y"].last()[["yours", "yours bound"]], [90, 360])


@pytest.mark.parametrize(("kind", "value", "place"), [("sweep", "y", "x"), ("dots", "x", "y")])
def test_points_are_instance_0_with_the_range_over_the_instances(kind, value, place, shown):
    _, points = KINDS[kind](SPECS[kind], **shown[kind])
    assert set(points["series"]) == set(ENDS)  # neither without a label nor without a regret
    mine = points[points["series"] == "mine"]
    assert_allclose(mine[value], [40, 80])
    assert_allclose(mine[place], [1, 2] if kind == "sweep" else [0, -1])
    assert_allclose(mine["low"], [39, 79])
    for side, share in (("panel_low", 0.05), ("panel_high", 0.95)):
        assert_allclose(mine[side], [np.quantile([40, 41, 42], share), np.quantile([80, 81, 82], share)])


def test_a_claim_is_shown_with_every_setting_by_its_effect(shown):
    figure, points = KINDS["specifications"](SPECS["specifications"], **shown["specifications"])
    assert_allclose(points["y"], [0.2, 0.5, 2, 5])
    above, below = figure.axes
    assert above.get_title(loc="left") == "SBM"
    labels = [label.get_text() for label in below.get_yticklabels()]
    assert {"confidence width α 0.1", "confidence width α 1", "k 2", "k 5"} < set(labels)
    small = below.collections[0].get_offsets()  # where the width is small, the effect is among the lowest two
    assert_allclose(small[:, 0], [0, 1])


def test_widths_are_shown_on_one_subplot_per_data_set(shown):
    figure, points = KINDS["widths"](SPECS["widths"], **shown["widths"])
    assert [title for axes in figure.axes if (title := axes.get_title(loc="left"))] == ["SBM"]
    mine = points[points["series"] == "SBM: mine"]
    assert_allclose(mine[["x", "y"]], [[1, 40], [2, 80]])


@pytest.mark.parametrize("kind", sorted(set(KINDS) - BY_CLAIM))
@pytest.mark.parametrize(("styles", "colour"), [(MINE, MINE["mine"]["light"]), ({}, palette.FURTHER[0].light)])
def test_a_style_of_the_settings_is_drawn(kind, styles, colour, shown):
    figure, _ = KINDS[kind](SPECS[kind]._replace(labels={"mine": "Mine"}, styles=styles), **shown[kind])
    colours = {line.get_color() for axes in figure.axes for line in axes.get_lines()}
    assert colours & {MINE["mine"]["light"], palette.FURTHER[0].light} == {colour}


def test_methods_without_a_style_take_turns():
    chosen = palette.styles(["yours", "mine", "also"], MINE)
    assert chosen["mine"] == palette.Style(**MINE["mine"])
    assert (chosen["also"], chosen["yours"]) == tuple(palette.FURTHER[:2])  # in the order of their names
    assert "--m-mine:#123456;" in palette.css(["mine"], [], MINE)
