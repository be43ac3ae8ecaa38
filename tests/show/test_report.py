"""The report from small inputs: valid and safe whatever they hold, the same twice, and a page even for nothing."""

import base64
import hashlib
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from graphdr.cache import io, manifest, paths
from graphdr.cache.io import SCHEMAS
from graphdr.core.cpu_time import JobCost
from graphdr.graphs.arm_features import Basis
from graphdr.paper.compare import VERDICTS, ComparedTable
from graphdr.plan import design, jobs
from graphdr.show import palette
from graphdr.show.report import content, template
from graphdr.show.tables import Quantity, RowKey, TableSpec
from graphdr.stages import make_report
from tests.support.project import ROOT

NASTY = "</script><script>alert('é')</script> & <!-- \u2028 \"quoted\""
N, METHODS = 12, ("graphdr", "linucb_full")
COLUMNS = [{"regret": "regret"}]
SETTINGS = {"seed": 0, "protocol": {"seeds": 2}, "methods": {m: {"label": f"{m}!"} for m in METHODS}}
COMPARED = ComparedTable({"paper's name": "graphdr"}, {}, {m: ["toy"] for m in METHODS}, METHODS)
QUANTITIES = {"regret": Quantity("R(T)", 1, better="low")}
ROWS = [RowKey(m, "p", "toy", m) for m in METHODS]
TABLE = TableSpec(NASTY, "method", "method", COLUMNS, "column_min", ROWS, {}, [], [], QUANTITIES)
PROBLEM = {"key": "p", "title": "P", "dataset": "toy", "n": N, "k": 2, "horizon": 40, "seeds": 2}
EXPERIMENT = {"title": "E", "group": "Data sets", "methods": METHODS, "against": "graphdr", "count": 1}
DATASET = {"label": NASTY, "observed": True, "parameters": {}, "problem": "p", "k": 2, "licence": "none"}
CLAIM = {"claim": "c", "where": "", "statement": NASTY, "criterion": "", "measured": "1 < 2", "verdict": "holds"}
CLAIM |= {"available": "toy", "missing": "", "build": ""}
NO_STUDIES = {"multiverse": "", "leaderboard": "", "calibrated": ""}


def params(**changed) -> make_report.Params:
    usual = {
        "experiments": {"e": EXPERIMENT | {"problems": [PROBLEM]}},
        "tables": {"t": TABLE},
        "experiment_of": {"t": "e"},
        "compared": {"t": COMPARED},
        "datasets": {"toy": DATASET, "absent": DATASET | {"label": "Absent", "page": "https://example.org/"}},
        "headline": {"experiment": "e", "against": "graphdr", "problem": PROBLEM},
        "labels": {m: f"{m}!" for m in METHODS} | {"toy": "Toy"},
        "first": ["c"],
        "opt_in": {"long_study": "A long study"},
        "settings": SETTINGS,
        "styles": {},
        "missing": ["absent"],
    }
    return make_report.Params(**usual | changed)


def write(kind: str, rows: list[dict], path: str) -> str:
    """Write rows of a declared kind; columns that they lack are missing values."""
    columns = {name: [row.get(name) for row in rows] for name in SCHEMAS[kind].names}
    io.write(kind, {n: pa.nulls(len(rows)) if {*map(type, c)} == {type(None)} else c for n, c in columns.items()}, path)
    return path


HEADERS = {"paper.csv": "artifact,row,column,value,sem,horizon,seeds,note", "reasons.csv": "artifact,row,column,why"}


def written(path: str, *lines: str) -> str:
    """Write numbers of the paper, or why numbers differ."""
    Path(path).write_text("\n".join([HEADERS[path], *lines, ""]))
    return path


@pytest.fixture
def files(workdir) -> SimpleNamespace:
    """All inputs of a report on one small data set with three instances and nasty titles."""
    regret = {"graphdr": 10.0, "linucb_full": 40.0}
    curve = {"problem": "p", "sem": 0.5}
    curves = [curve | {"method": m, "t": t, "mean": end * t / 40, "bound": 9.0 * t if m == "graphdr" else None}
              | {"panel_low": end * t / 50, "panel_median": end * t / 40, "panel_high": end * t / 30}
              for m, end in regret.items() for t in (10, 20, 30, 40)]  # fmt: skip
    measured = [{"problem": "p", "instance": i, "draw": 0, "method": m, "quantity": "regret"}
                | {"value": end + i, "sem": 0.5, "n": 2}
                for m, end in regret.items() for i in range(3)]  # fmt: skip
    table = [{"row": m, "column": "regret", "quantity": "regret", "value": -end, "sem": 0.5, "n": 2}
             | {"panel_median": end, "panel_low": end, "panel_high": end + 2, "panel": [end, end + 2]}
             for m, end in regret.items()]  # fmt: skip
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(N, 5)))[0]
    basis = [
        {"instance": 0, "draw": 0, "component": i, "value": i / 10, "residual": 0.0, "vector": v}
        for i, v in enumerate(vectors.T)
    ]
    theta = [{"problem": "p", "instance": 0, "node": i, "theta": x} for i, x in enumerate(vectors[:, 1])]
    node = [{"instance": 0, "node": i, "origin": i, "item": i, "popularity": 1.0} for i in range(N)]
    titled = [{"node": i, "key": str(i), "title": NASTY if i == 3 else f"item {i}", "popularity": 1} for i in range(N)]
    edge = [{"instance": 0, "i": i, "j": i + 1, "weight": 1.0} for i in range(N - 1)]
    (workdir / "o.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (workdir / "o.parquet").write_text("its points")
    manifest.record("make_figure", {}, "code", {}, ["o.svg", "o.parquet"])
    return SimpleNamespace(
        paper=written("paper.csv", "t,paper's name,regret,11,,,,", "u,elsewhere,regret,1,,,,"),
        reasons=written("reasons.csv", "t,,regret,a rare draw"),
        claims=write("claims", [CLAIM | {"share": 0.5}], "claims.parquet"),
        tables={"t": write("table", table, "t.parquet")},
        curves={"e": [write("curves", curves, "c.parquet")]},
        measurements={"e": {"toy": [write("measurements", measured, "m.parquet")]}},
        overview=["o.svg"],
        **NO_STUDIES,
        datasets={
            "toy": {
                "nodes": write("nodes", node, "n.parquet"),
                "edges": write("edges", edge, "e.parquet"),
                "basis": write("basis", basis, "b.parquet"),
                "theta": write("theta", theta, "theta.parquet"),
                "titles": write("dataset_nodes", titled, "titles.parquet"),
            }
        },
    )


def made(files, settings) -> str:
    make_report.main(files, SimpleNamespace(html="report.html"), settings)
    with open("report.html", encoding="utf-8") as stream:
        return stream.read()


def data_of(text: str) -> dict:
    """Return the document inside a page, read as a browser does: the script ends at the first closing tag."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script', text, re.S)[1])


def test_the_page_holds_all_that_was_built(files):
    data = data_of(made(files, params()))
    (problem,) = data["experiments"]["e"]["problems"]
    assert problem["rounds"] == [10, 20, 30, 40]
    assert problem["curves"]["linucb_full"]["mean"] == [10, 20, 30, 40]
    assert problem["curves"]["graphdr"]["bound"] == [90, 180, 270, 360]
    assert "bound" not in problem["curves"]["linucb_full"]
    assert problem["panel"]["graphdr"] == {"values": [10, 11, 12], "of": "instances", "paper": 11}
    assert "paper" not in problem["panel"]["linucb_full"]
    assert data["headline"]["median"] == 3.73  # of 40 / 10, 41 / 11 and 42 / 12
    assert [data["headline"][name] for name in ("count", "low", "high", "first", "paper")] == [3, 3.52, 3.97, 4, None]
    assert data["verdicts"]["synthetic"] == dict.fromkeys(VERDICTS, 0) | {"no data": 1}
    assert data["verdicts"]["real"] == dict.fromkeys(VERDICTS, 0) | {"not contradicted": 1}
    assert data["claims"][0] | {"word": "holds", "kinds": ["real"], "share": 0.5} == data["claims"][0]
    assert [line["claim"] for line in data["story"]["holds"]] == ["c"]
    assert set(data["missing"]) == {"absent"}
    first = data["tables"]["t"]["rows"][0]["cells"][0]
    assert first == {"value": "−10.0", "sem": "0.5", "panel": ["10.0", "10.0", "12.0"]} | {
        "paper": "11", "ratio": "-0.91", "verdict": "not contradicted", "both": [11, -10]
    }  # fmt: skip
    card = data["datasets"]["toy"]
    assert (card["nodes"], card["edges"], card["energy"][1]) == (N, N - 1, 1)
    assert NASTY in card["map"]["titles"]


def test_the_scripts_never_write_markup():
    for name in template.SCRIPTS:
        text = (ROOT / "src/graphdr/show/report/static" / name).read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), name
        assert "</script" not in text


def test_the_page_is_the_same_twice_keeps_texts_in_their_place_and_loads_nothing(files):
    text = made(files, params())
    assert text == made(files, params())
    assert data_of(text)["claims"][0]["statement"] == NASTY
    assert text.lower().count("</script>") == 2
    assert NASTY not in text
    assert "\u2028" not in text
    code = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    loading = r"""(?:src|href)\s*=\s*["']?\s*(?:https?:)?//|@import|url\(|fetch\(|XMLHttpRequest|<iframe"""
    assert not re.search(loading, code)
    assert set(re.findall(r"https?://[^\s\"')]+", code)) <= {"http://www.w3.org/2000/svg"}
    assert {"--m-graphdr", "--m-linucb_full", "--d-toy"} <= set(re.findall(r"--[md]-\w+", code))


def test_without_claims_it_is_the_page_of_the_main_comparison_alone(files):
    files.claims = None
    text = made(files, params())
    data = data_of(text)
    assert (data["whole"], data["claims"]) == (False, [])
    assert sum(data["verdicts"]["real"].values()) == 1  # of its own table
    assert 'href="report.html"' in text
    assert (data["headline"]["count"], data["story"]) == (3, None)


def test_nothing_built_is_a_page_too(workdir):
    nothing = SimpleNamespace(
        paper=written("paper.csv", "u,elsewhere,regret,1,,,,"), claims=write("claims", [], "claims.parquet"),
        reasons=written("reasons.csv", "u,,,unknown"), tables={}, curves={}, measurements={}, overview=[], datasets={},
        **NO_STUDIES,
    )  # fmt: skip
    data = data_of(made(nothing, params(experiments={}, tables={}, headline=None)))
    assert (data["headline"], data["groups"], data["datasets"]) == (None, [], {})
    assert set(data["missing"]) == {"toy", "absent"}


def test_a_number_that_differs_says_why(files):
    files.paper = written("paper.csv", "t,paper's name,regret,99,,,,", "t,linucb_full,regret,99,,,,")
    files.reasons = written("reasons.csv", "t,linucb_full,,not known", "t,,regret,a rare draw")
    cells = [row["cells"][0] for row in data_of(made(files, params()))["tables"]["t"]["rows"]]
    assert [(cell["verdict"], cell["why"]) for cell in cells] == [("differs", "a rare draw"), ("differs", "not known")]


def test_claims_name_data_sets_by_their_labels(files):
    part = {"verdict": "holds on 1 of 1 available (missing: absent)", "missing": "absent"}
    row = CLAIM | part | {"build": "with files of absent: `snakemake absent`"}
    files.claims = write("claims", [row], "claims.parquet")
    (claim,) = data_of(made(files, params(labels={"absent": "Absent Data", "toy": "Toy"})))["claims"]
    assert claim["note"] == "on 1 of 1 data sets (not counted: Absent Data)"
    assert claim["build"] == ["with files of Absent Data: ", "snakemake absent", ""]


def test_studies_are_shown_where_they_are_built(files):
    assert data_of(made(files, params()))["leaderboard"] is None
    settings = {"claim": "c", "ridge": 1.0, "k": 2, "horizon": 40, "candidates": "all", "instance": 0, "effect": 1.0}
    varied = [settings | {"alpha": alpha / 10, "holds": int(alpha < 2)} for alpha in range(10)]
    files.multiverse = write("multiverse", varied, "multiverse.parquet")
    won = {"method": "graphdr", "problem": "p", "dataset": "toy", "ratio": 0.914, "wins": 1, "losses": 0, "rank": 1.0}
    lost = won | {"method": "linucb_full", "ratio": 2.0, "wins": 0, "losses": 1, "rank": 2.0}
    files.leaderboard = write("leaderboard", [won, lost], "leaderboard.parquet")
    document = data_of(made(files, params()))
    story, board = document["story"], document["leaderboard"]
    assert (story["holds"], story["varied"]) == ([], True)
    assert story["depends"][0]["result"].startswith("depends on the confidence width: holds in 20 % of 10 settings")
    assert board["lines"][0] == ["graphdr!", "1", "0.91", "0.91", "1.0 (1.0 to 1.0)", "1", "0"]
    assert len(board["head"]) == len(board["lines"][0])


def test_the_policy_of_the_page_names_its_style_and_script(files):
    text = made(files, params())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        inlined = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inlined.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_many_problems_are_a_cloud_and_no_rows_are_no_curves(files):
    data = data_of(made(files, params(experiments={"e": EXPERIMENT}, labels={"p": "Toy, k = 2"})))
    assert data["experiments"]["e"]["cloud"] == [
        {"dataset": "toy", "method": "linucb_full", "titles": ["Toy, k = 2"], "x": [40], "y": [10]}
    ]
    files.curves["e"] = [write("curves", [], "none.parquet")]
    files.measurements["e"]["toy"] = [write("measurements", [], "nothing.parquet")]
    data = data_of(made(files, params()))
    assert data["experiments"]["e"]["problems"][0]["curves"] == {}
    assert data["headline"] is None


def test_numbers_are_short_and_many_are_thinned():
    assert content.shorts([1234.56, 0.00012345, 2.0, float("nan"), float("inf")]) == [1235, 0.0001234, 2, None, None]
    kept = content.thinned(1000, 200)
    assert (len(kept), kept[0], kept[-1]) == (200, 0, 999)


def test_draws_stand_in_where_there_is_one_instance():
    frame = pd.DataFrame({"draw": [0, 1, 2], "value": [3.0, 4.0, 5.0], "method": "gaussian"})
    frame = frame.assign(problem="p", instance=0, quantity="regret")
    assert content.by_instance(frame, "p", ["gaussian"], {}) == {"gaussian": {"values": [3, 4, 5], "of": "draws"}}


def test_energy_adds_up_to_one_over_a_whole_basis():
    vectors = np.eye(4)
    theta = np.array([0.0, 3.0, 0.0, 4.0])
    np.testing.assert_allclose(content.energies(vectors, theta), [0, 9 / 25, 9 / 25, 1])
    card = content.card(3, Basis(vectors[:, :2], np.arange(2.0), np.zeros(2)), theta, None)
    assert "map" not in card  # it takes u_2 and u_3


def test_timings_are_summed_by_rule():
    jobs = [JobCost("run_bandit", 1.5, 1.0, 100), JobCost("run_bandit", 2.5, 1.0, 300)]
    assert content.timings([JobCost("make_table", 0.5, 0.4, 90), *jobs]) == [
        {"rule": "run_bandit", "jobs": 2, "seconds": 4.0, "longest": 2.5, "memory": 300},
        {"rule": "make_table", "jobs": 1, "seconds": 0.5, "longest": 0.5, "memory": 90},
    ]


# Colours


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(first: str, other: str) -> float:
    high, low = sorted((luminance(first), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_stand_out_against_the_page(config, theme):
    text = (ROOT / "src/graphdr/show/report/static/page.css").read_text(encoding="utf-8")
    block = re.findall(r":root \{(.*?)\}", text, re.S)[theme]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block.replace("#fff;", "#ffffff;")))
    for ground in ("page", "card"):
        for name in ("ink", "soft", "accent", "good", "fair", "bad", "none", "focus"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        styled = {method: spec["style"] for method, spec in config["methods"].items() if "style" in spec}
        for method, style in (styled | dict(enumerate(palette.FURTHER))).items():
            assert contrast(style[theme], colours[ground]) >= 3, (method, ground)


def test_every_method_has_a_style_of_its_own_wherever_it_is_shown(config, whole_plan):
    settings = {name: method.look for name, method in whole_plan.config.methods.items()}
    for name, spec in config["experiments"].items():
        styles = palette.styles(spec["methods"], settings)
        assert len(set(styles.values())) == len(spec["methods"]), name
    assert set(palette.styles(["mine", "yours"], {}).values()) <= set(palette.FURTHER)


# The job


def test_the_job_fits_on_a_command_line(whole_plan):
    """Linux takes 128 KiB in one argument, and a shell gets the whole command as one."""
    job = jobs.make_report(whole_plan, "report")
    assert len(job.as_argument()) < 110_000
    assert paths.claims("parquet") in job.files()
    assert "diagnostic_factorial" not in job.params.experiments


def test_without_raw_files_the_page_shows_the_synthetic_half(config):
    missing = [name for name, block in config["datasets"].items() if "raw" in block]
    job = jobs.make_report(design.expand(config, missing), "report")
    assert set(job.input.datasets) == {"sbm", "rgg"}
    assert set(job.params.experiment_of.values()) <= set(job.params.experiments)
    assert not any(name in path for path in job.files() for name in missing)
    assert job.params.headline["problem"]["key"] == "sbm"


def test_the_first_page_needs_the_main_comparison_alone(whole_plan):
    job = jobs.make_report(whole_plan, "headline")
    assert (list(job.params.experiments), list(job.params.tables)) == (["main"], ["main_synthetic"])
    assert len([path for path in job.files() if path.startswith("results/measurements")]) == 1
