# Needs: config. Makes: DESIGN, and what every rule is written with.
import json
import os
import sys
import time
from pathlib import Path

from graphdr import design, jobs, paths
from graphdr.config import typed
from graphdr.errors import UserError
from graphdr.fingerprint import stage_code

try:
    config.update(typed(config))
    DESIGN = design.expand(config)
except UserError as error:
    sys.exit(f"config error: {error}")

# The interpreter that runs Snakemake runs the stages, whether or not its environment is activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

STAGE = "python -m graphdr {rule} {params.code} {params.job:q} {params.output:q} > {log} 2>&1"


def files_of(job):
    """Return the input function of a rule: every file that its job reads."""
    return lambda wildcards: job(DESIGN, **wildcards).files()


def as_job(job):
    """Return the parameter function of a rule: what its job reads and its settings, as JSON with sorted keys.

    It depends on the wildcards alone: Snakemake does not track parameters that are derived from files.
    """
    return lambda wildcards: json.dumps(job(DESIGN, **wildcards)._asdict(), sort_keys=True)


def as_output(wildcards, output):
    """Return the named outputs of a job as JSON."""
    return json.dumps(dict(output.items()), sort_keys=True)


def artifacts(design) -> list[str]:
    """Return the tables, the figures and the comparison, in all their formats."""
    tables = [paths.table(name, suffix) for name in design.config["tables"] for suffix in paths.TABLE_FORMATS]
    figures = [paths.figure(name, suffix) for name in design.config["figures"] for suffix in paths.FIGURE_FORMATS]
    return [*tables, *figures, *paths.COMPARISON.values()]


def last_words(since: float) -> list[str]:
    """Return the one-line errors that stages left in their logs after the given time."""
    logs = [log for log in Path("results/logs").rglob("*.log") if log.stat().st_mtime >= since]
    endings = [(log.read_text(errors="replace").splitlines() or [""])[-1] for log in sorted(logs)]
    return [line for line in endings if line.startswith("error: ")]


STARTED = time.time()


onerror:
    for line in last_words(STARTED):
        print(line, file=sys.stderr)


wildcard_constraints:
    graph="|".join(DESIGN.graphs),
    basis="|".join(sorted({basis for _, basis in DESIGN.bases})),
    batch="|".join(DESIGN.batches),
    method="|".join(config["methods"]),
    experiment="|".join(config["experiments"]),
    evaluation="|".join(config["evaluations"]),
    table="|".join(config["tables"]),
    figure="|".join(config["figures"]),
