# Needs: config. Makes: DESIGN, and what every rule is written with.
import json
import shlex
import sys

from graphdr import design, jobs, paths
from graphdr.errors import UserError
from graphdr.fingerprint import stage_code

try:
    DESIGN = design.expand(config)
except UserError as error:
    sys.exit(f"config error: {error}")

# The interpreter that runs Snakemake runs the stages, whether or not its environment is activated.
STAGE = shlex.quote(sys.executable) + " -m graphdr {rule} {params.job:q} > {log} 2>&1"


def _files(role) -> list[str]:
    """Flatten a path, a list or a dictionary of them."""
    if isinstance(role, str):
        return [role]
    return [path for part in (role.values() if isinstance(role, dict) else role) for path in _files(part)]


def files_of(job):
    """Return the input function of a rule: every file that its job reads."""
    return lambda wildcards: _files(job(DESIGN, **wildcards).input)


def as_job(job):
    """Return the parameter function of a rule: the whole job as JSON with sorted keys."""

    def text(wildcards, output):
        built = job(DESIGN, **wildcards)
        return json.dumps(
            {"input": built.input, "output": dict(output.items()), "params": built.params}, sort_keys=True
        )

    return text


def artifacts(design) -> list[str]:
    """Return the tables, the figures and the comparison, in all their formats."""
    tables = [paths.table(name, suffix) for name in design.config["tables"] for suffix in paths.TABLE_FORMATS]
    figures = [
        paths.figure(name, suffix) for name in design.config["figures"] for suffix in paths.FIGURE_FORMATS
    ]
    return [*tables, *figures, *paths.COMPARISON.values()]


wildcard_constraints:
    graph="|".join(DESIGN.graphs),
    basis="|".join(sorted({basis for _, basis in DESIGN.bases})),
    batch="|".join(DESIGN.batches),
    method="|".join(config["methods"]),
    experiment="|".join(config["experiments"]),
    evaluation="|".join(config["evaluations"]),
    table="|".join(config["tables"]),
    figure="|".join(config["figures"]),
