"""What the data are not travels with them: through every stage into tables, verdicts and the manifest."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphdr.cache import io, manifest, paths
from graphdr.cli import integrity
from graphdr.plan import design, jobs
from graphdr.raw.adapters.movielens_100k import GENRES
from graphdr.show import style
from tests.support.project import RAW, TOY, draw_ratings
from tests.support.stages import blank_picture, run_as_rule, small

THETA = {"problem": ["a", "a"], "instance": [0, 0], "node": [0, 1], "theta": [0.6, -0.8]}
JOB = {"stage": "s", "params": {}, "code": "c", "version": "1"}


def marks_of(path: str) -> dict:
    return json.loads(pq.read_schema(path).metadata[io.MARKS])


def written(path: str, **marks: dict[str, str]) -> str:
    """Write a table in a job that marks the data sets behind it."""
    with io.provenance(**JOB):
        for dataset, words in marks.items():
            io.mark(dataset, **words)
        io.write("theta", THETA, path)
    return path


def test_a_file_carries_the_marks_of_all_inputs(workdir):
    films, songs = {"release": "of 2014"}, {"absent": "titles"}
    short = {"incomplete": "9 of 10 lines"}
    inputs = [written("plain.parquet"), written("films.parquet", films=films)]
    inputs.append(written("both.parquet", songs=songs, films=short))
    expected = [{}, {"films": films}, {"films": films | short, "songs": songs}]
    for count, marks in enumerate(expected, start=1):
        with io.provenance(**JOB) as context:
            for path in inputs[:count]:
                io.read("theta", path)
            io.write("theta", THETA, "out.parquet")
            manifest.record("s", {}, "c", context.inputs, ["out.parquet"])
        assert marks_of("out.parquet") == marks
    entry = json.loads(Path(paths.MANIFEST, "out.parquet.json").read_text())
    assert entry["marks"] == expected[-1]
    assert set(entry["inputs"]) == set(inputs)


def test_no_mark_reaches_the_next_job_and_none_is_part_of_the_content(workdir):
    written("t.parquet", films={"release": "of 2014"})
    marked = pq.read_schema("t.parquet").metadata
    assert marks_of(written("t.parquet")) == {}
    assert io.marks() == {}
    assert pq.read_schema("t.parquet").metadata[io.HASH] == marked[io.HASH]
    assert b"films" not in marked[io.PROVENANCE]
    with io.provenance(**JOB):
        io.mark("films")
        assert io.marks() == {}


# Through every stage


def put_raw(ratings: np.ndarray, items: bool = True) -> None:
    """Place the raw files of the toy data set by hand."""
    item, user = np.nonzero(~np.isnan(ratings))
    lines = [f"{u + 1}\t{i + 1}\t{ratings[i, u]:.0f}\t0\n" for i, u in zip(item, user, strict=True)]
    flags = "|".join(["0"] * (len(GENRES) - 1) + ["1"])
    Path("data/raw/toy").mkdir(parents=True)
    with zipfile.ZipFile("data/raw/toy/toy.zip", "w") as archive:
        archive.writestr("u.data", "".join(lines))
        if items:
            archive.writestr("u.item", "".join(f"{i + 1}|Film {i + 1}||||{flags}\n" for i in range(len(ratings))))


def members(lines: int, **ratings) -> dict:
    return {"ratings": {"path": "u.data", "lines": lines} | ratings, "items": {"path": "u.item", "optional": True}}


def build(config: dict, **raw) -> list[str]:
    """Run all stages on the toy data set, raw files to comparison, and return what they wrote."""
    columns = [{"ours": "regret"}]
    blocks = {
        "datasets": {"toy": TOY | {"raw": RAW | raw}},
        "experiments": {"e": {"problems": {"of": ["toy"]}, "methods": ["graphdr"], "facts": ["zeta", "pilot_error"]}},
        "tables": {"t": {"caption": "T", "experiment": "e", "rows": "method", "columns": columns}},
        "figures": {"f": {"kind": "curves", "title": "F", "experiment": "e"}},
        "claims": {"c": {"experiment": "e", "checks": [{"ratio": {"of": "regret@graphdr", "to": "zeta", "above": 1}}]}},
    }
    plan = design.expand(small(config, **blocks))
    Path("data/paper").mkdir()
    Path(paths.PAPER).write_text("artifact,row,column,value,sem\nt,graphdr,ours,1.0,\n")
    Path(paths.PAPER_CLAIMS).write_text("claim,where,statement\nc,Section 1,regret is large\n")
    outputs = []
    for stage, *arguments in (
        ("fetch_raw", "toy"),
        ("tabulate_dataset", "toy"),
        ("build_graph", "toy"),
        ("compute_basis", "toy", "laplacian_low"),
        ("pose_problem", "e"),
        ("estimate_pilot", "e"),
        ("describe_problem", "e"),
        ("run_bandit", "e", "plain"),
        ("measure_batch", "e"),
        ("make_table", "t"),
        ("make_figure", "f"),
        ("compare_paper",),
        ("judge_claims", "claims"),
    ):
        outputs += run_as_rule(jobs.JOBS[stage](plan, *arguments))
    return outputs


KINDS = ("release", "incomplete", "unverified", "absent")
COUNT = int(np.sum(~np.isnan(draw_ratings())))
CASES = {
    "all is as published": ({}, {"lines": COUNT}, True, {}),
    "another release": ({"release": "the one of 2014"}, {"lines": COUNT}, True, {"release": "the one of 2014"}),
    "lines are missing": ({}, {"lines": 1000}, True, {"incomplete": f"ratings has {COUNT} of 1,000 lines"}),
    "other bytes": ({}, {"lines": COUNT, "sha256": "0" * 64}, True, {"unverified": "not the official bytes: ratings"}),
    "no titles": ({}, {"lines": COUNT}, False, {"absent": "items"}),
}


@pytest.mark.parametrize(("raw", "ratings", "items", "words"), CASES.values(), ids=CASES)
def test_marks_travel_from_the_raw_files_to_the_comparison(workdir, config, monkeypatch, raw, ratings, items, words):
    monkeypatch.delenv("GRAPHDR_MIRROR", raising=False)
    monkeypatch.setattr(style, "save", blank_picture)
    put_raw(draw_ratings(), items)
    source = RAW["sources"][0] | {"members": members(**ratings)}
    receipt, *outputs = build(config, **raw, sources=[source])
    expected = {"toy": words} if words else {}
    assert marks_of(receipt) == {}  # the files are what they are
    assert [marks_of(path) for path in outputs if path.endswith(".parquet")] == [expected] * 20
    entries = [json.loads(path.read_text()) for path in Path(paths.MANIFEST).iterdir()]
    assert [e["marks"] for e in entries if e["stage"] != "fetch_raw"] == [expected] * 12
    for suffix in ("md", "tex"):
        text = Path(paths.table("t", suffix)).read_text()
        assert {kind for kind in KINDS if f"Toy: {kind} (" in text} == set(words)
    verdict = io.read("comparison", paths.comparison("parquet"))["verdict"].to_pylist()
    assert (verdict == ["other data"]) == bool({"release", "incomplete"} & set(words))
    assert ("not judged" in Path(paths.comparison("md")).read_text()) == (verdict == ["other data"])
    assert integrity.findings() == []
