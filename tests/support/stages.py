"""A protocol that is small enough for every method, and stages run in this process."""

import importlib
import json
from types import SimpleNamespace

from graphdr.plan import jobs

PROTOCOL = {
    "instances": 2, "draws": 2, "horizon": 80, "seeds": 2, "checkpoint": 1, "arms": 5,
    "ridge": 0.7, "alpha": 0.8, "k": 3, "k_star": 2, "tail": 0.2, "components": 12, "k_max": 6, "resamples": 3,
    "k_grid": [1, 3, 6],
}  # fmt: skip
# With five neighbours no two nodes of the data set are alike: their tie would be broken by a twin's rounding.
OBSERVED = {"instances": 1, "seeds": 2, "k": 4, "k_min": 2, "n": 30, "neighbours": 5}


def run(stage: str, job: jobs.Job, **output) -> None:
    """Run a stage as the workflow does, its job having gone through JSON."""
    parts = json.loads(json.dumps([job.input, output, job.params]))
    importlib.import_module(f"graphdr.stages.{stage}").main(*(SimpleNamespace(**part) for part in parts))
