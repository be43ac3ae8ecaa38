"""A small data set through all stages in this process, from a raw file to a table: refused in one line, or no NaN."""

import contextlib
import io as streams
import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import yaml
from hypothesis import strategies as st

from graphdr.__main__ import run_stage
from graphdr.cache import io, paths
from graphdr.core.errors import UserError
from graphdr.plan import design, jobs
from tests.support import films
from trust.checkout import ROOT

BATCH, TABLE = "films", "films"
HEADER = "user_id:token\titem_id:token\trating:float"
NUMBERS = {  # columns that are never missing
    "theta": ("theta", paths.theta(BATCH)),
    "facts": ("value", paths.facts(BATCH)),
    "runs": ("regret", paths.runs(BATCH, "plain")),
    "measurements": ("value", paths.measurements(BATCH)),
    "curves": ("mean", paths.curves(BATCH)),
}


@st.composite
def odd_ratings(draw) -> bytes:
    """Draw ratings that are few, constant, repeated, huge or negative, or that fall apart into groups."""
    users, items = draw(st.sampled_from([14, 20, 6, 1])), draw(st.sampled_from([24, 30, 14, 2, 1]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["any", "huge", "negative", "twice", "tied", "apart", "constant", "too huge"]))
    lines = [HEADER]
    for user in range(users):
        for item in rng.permutation(items)[: draw(st.sampled_from([18, 10, 3, 1]))]:
            if kind == "apart" and user % 3 != item % 3:
                continue
            rating = int(rng.integers(1, 6))
            odd = {"constant": 3, "huge": rating * 1e99, "too huge": 1e300, "negative": -rating, "tied": item % 2}
            rating = odd.get(kind, rating)
            lines += [f"u{user}\ti{item}\t{rating}"] * (2 if kind == "twice" else 1)
    return "\n".join([*lines, ""]).encode()


def settings(k: int) -> dict:
    """Return the tiny configuration with the data set and little to play; k may be as large as is allowed."""
    config = yaml.safe_load((ROOT / "tests" / "support" / "tiny.yaml").read_text(encoding="utf-8"))
    films.add_to(config, n=24)
    config["protocol"] |= {"horizon": 50, "components": max(12, k + 2), "k": k, "k_star": min(k, 3)}
    return config


def build(folder: Path, data: bytes, k: int = 3) -> bool:
    """Run all stages in a folder; tell whether the data are taken, which they are without NaN alone."""
    for name in ("data", "results"):
        shutil.rmtree(folder / name, ignore_errors=True)
    raw = folder / paths.receipt("films")
    raw.parent.mkdir(parents=True)
    (raw.parent / "films.inter").write_bytes(data)
    quiet = contextlib.redirect_stdout(streams.StringIO())
    with contextlib.chdir(folder), quiet, warnings.catch_warnings(action="ignore"):
        try:
            _run(design.expand(settings(k)))
        except UserError as error:
            if len(str(error).splitlines()) != 1:
                raise AssertionError(str(error)) from None
            return False
        for kind, (column, path) in NUMBERS.items():
            found = io.values(io.read(kind, path)[column])
            if not np.isfinite(found).all():
                raise AssertionError(f"{path}: {column} has NaN or infinite values")
    return True


def _run(plan) -> None:
    graph, *_ = (name for name in plan.graphs if name.startswith("films"))
    bases = ("laplacian_low", "laplacian_low_shuffled", "content_pca")
    steps = [
        ("fetch_raw", "films"),
        ("tabulate_dataset", "films"),
        ("build_graph", graph),
        *(("compute_basis", graph, basis) for basis in bases),
        ("pose_problem", BATCH),
        ("estimate_pilot", BATCH),
        ("describe_problem", BATCH),
        ("run_bandit", BATCH, "plain"),
        ("measure_batch", BATCH),
        ("make_table", TABLE),
    ]
    for stage, *key in steps:
        job = jobs.JOBS[stage](plan, *key)
        run_stage(stage, "code", json.loads(job.as_json()))
