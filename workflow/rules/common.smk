# Needs: config. Makes: CONFIG, DESIGN, and what every rule is written with.
import os
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import graphdr

# Compiled functions are kept with the build where neither the package nor home can be written; Numba looks at this once.
if not any(os.access(folder, os.W_OK) for folder in (*graphdr.__path__, os.path.expanduser("~"))):
    os.environ.setdefault("NUMBA_CACHE_DIR", os.path.abspath(".snakemake/compiled"))

from graphdr.cache import manifest, paths, times
from graphdr.core import forks
from graphdr.core.errors import UserError
from graphdr.plan import config as configuration
from graphdr.plan import compute_jobs, design, jobs, overrides, yaml_files
from graphdr.plan.plays import KINDS
from graphdr.raw import fetch
from snakemake.logging import logger

PREFIX = workflow.modifier.path_modifier.replace_prefix("")  # of a module; nothing for the workflow by itself


def asked_for(target) -> bool:
    """Tell whether a target, which another workflow may have renamed, is on the command line: Snakemake tells later."""
    return workflow.modifier.modify_rulename(target) in sys.argv[1:]


try:
    manifest.check_version(PREFIX)
except UserError as error:
    sys.exit(f"error: {error}")

try:
    for file in {*map(str, workflow.configfiles), *map(str, workflow.overwrite_configfiles)}:
        yaml_files.read_yaml(file)  # refuses what Snakemake accepts: a key that stands twice
    CONFIG = configuration.read(config)
    config.update(CONFIG.plain())  # captions of the report read it
    MISSING = fetch.missing_datasets(config, list(filter(asked_for, CONFIG.datasets)), PREFIX)
    DESIGN = design.expand(CONFIG, MISSING, PREFIX)
    compute_jobs.check_files(DESIGN)
except UserError as error:
    sys.exit(f"config error: {error}")

STUDIES = {None} | {spec.target for spec in CONFIG.experiments.values() if not spec.opt_in}
OPT_IN = {spec.target for spec in CONFIG.experiments.values() if spec.opt_in}
OBSERVED = [name for name, block in CONFIG.datasets.items() if design.is_observed(block)]

# The interpreter that runs Snakemake runs the stages, whether or not its environment is activated.
mirror = os.environ.get("GRAPHDR_MIRROR") or config.get("mirror")
os.environ.update(
    {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "",  # a job compiles no module that an earlier one has compiled
        paths.PROJECT: os.getcwd(),  # a stage may run in another folder
    }
    | ({"GRAPHDR_MIRROR": str(Path(mirror).expanduser().absolute())} if mirror else {})
)

MANY = 10  # jobs that pay for a process that they are forks of
# A stage runs in the folder that its files are in: a module may have a prefix, and storage a folder of its own.
# It replaces the shell, which would print the whole command if the stage were killed.
STAGE = "exec > {log:q} 2>&1; cd {params.root:q}; exec ${{GRAPHDR_RUN:-python -m graphdr}} {params.stage} {params.code} {params.job:q}"

# Megabytes and minutes that a stage may take in a queue. A stage took at most 440 MB and the Snakemake around it 250 MB;
# none of the paper's took much longer than 20 seconds. Those of a group run one after the other and their minutes add up.
NEEDS = {
    "tabulate_dataset": (3000, 5),
    "build_graph": (3000, 2),
    "describe_problem": (2000, 5),
    "run_bandit": (2000, 10),
}


@cache
def planned(stage):
    """Return the wildcards of all jobs of a stage."""
    return {frozenset(key.items()) for key in jobs.keys(DESIGN, stage)}


@cache  # Snakemake asks for inputs and parameters several times
def job(stage, **wildcards):
    """Return the job of a stage: what it reads and writes, its parameters, and the code behind it."""
    if frozenset(wildcards.items()) not in planned(stage):
        outputs = ", ".join(path.format(**wildcards) for path in jobs.outputs(stage).values())
        sys.exit(f"error: {outputs}: the configuration has no such job; graphdr ls {stage} lists what is built")
    return jobs.JOBS[stage](DESIGN, **wildcards)


def files_of(stage):
    """Return the input function of a rule: every file that its job reads.

    The page shows the studies of settings where they are built; it waits for those that are asked for together with it.
    """
    studies = {
        "multiverse": paths.multiverse("parquet"),
        "calibration": paths.table("calibrated", "parquet"),
        "leaderboard": paths.leaderboard("parquet"),
    }
    late = [path for target, path in studies.items() if asked_for(target)]

    def files(wildcards):
        return job(stage, **wildcards).files() + (late if wildcards.get("page") == paths.REPORT else [])

    return files


def call_of(stage):
    """Return the parameters of a rule: its stage, its job as JSON, a fingerprint of the code, and the folder to run in.

    The first three decide what runs again. Snakemake does not track the last, which is derived from files.
    """
    return {
        "stage": stage,
        "job": lambda wildcards: job(stage, **wildcards).as_argument(),
        "code": lambda wildcards: job(stage, **wildcards).code(),
        "root": lambda wildcards, output: job(stage, **wildcards).root(str(output[0])),
    }


def shown(stage, suffix, kind, category):
    """Return what a rule writes, and let `snakemake --report` show one format of it, with a caption."""
    files = jobs.written(stage)
    name = f"{{{kind}}}" if kind in ("table", "figure") else kind
    caption = workflow.source_path(f"../report/{kind}.rst")
    return files | {suffix: report(files[suffix], caption=caption, category=category, labels={kind: name})}


def needs(stage):
    """Return the resources of a rule, which grow with every attempt: a job that was killed for them gets through."""
    memory, minutes = NEEDS.get(stage, (2000, 2))
    return {
        "mem_mb": lambda wildcards, attempt: memory * attempt,
        "runtime": lambda wildcards, attempt: minutes * attempt,
    }


def results_on(datasets, targets=(None,)) -> list[str]:
    """Return all that is measured on the given data sets, and the tables and figures that show no others.

    Experiments with a target of their own are left out, unless it is among ``targets``.
    """
    datasets = set(datasets)
    here = {name for name in CONFIG.datasets if name not in MISSING}
    files = [
        paths.measurements(batch)
        for batch, spec in DESIGN.batches.items()
        if design.dataset_of(DESIGN, batch) in datasets and CONFIG.experiments[spec.experiment].target in targets
    ]
    for kind in ("table", "figure"):
        for name, spec in getattr(CONFIG, f"{kind}s").items():
            shown = design.datasets_of(DESIGN, spec) & here
            if shown and shown <= datasets and design.target_of(DESIGN, spec) in targets:
                files += job(f"make_{kind}", **{kind: name}).output
    if here <= datasets and set(targets) >= STUDIES:
        for stage in ("compare_paper", "judge_claims", "make_report"):
            keys = [key for key in jobs.keys(DESIGN, stage) if key.get("judged", paths.CLAIMS) == paths.CLAIMS]
            files += [file for key in keys for file in job(stage, **key).output]
    for judged in {paths.MULTIVERSE, paths.LEADERBOARD} & set(targets):
        files += job("judge_claims", judged=judged).output
    return files


EVERYTHING = results_on(CONFIG.datasets, STUDIES)


STARTED = time.time()
SERVERS = []  # one, where there are many jobs


onstart:
    check_start()
    given = workflow.config_settings
    overrides.remember(
        overrides.Overrides(tuple(map(str, given.configfiles)), dict(given.config), given.replace_workflow_config)
    )
    if getattr(workflow, "local_exec", False):
        # With a limit, every choice of jobs sets a timer that makes Snakemake choose once more, for each job until the end.
        workflow.scheduler.job_rate_limiter = None
        # Jobs in a container are no forks of a process out of it.
        apart = workflow.deployment_settings.deployment_method
        if not apart and sys.platform == "linux" and len(list(workflow.dag.needrun_jobs())) >= MANY:
            with suppress(OSError):  # where no socket can be made, jobs are processes of their own
                SERVERS.append(forks.Server.start("graphdr"))
                os.environ.update(GRAPHDR_RUN=SERVERS[0].words)


def finish() -> None:
    """Wait for the server, so that what it and its jobs cost can be written down."""
    for server in SERVERS:
        server.stop()
    times.record_build(STARTED, workflow.resource_settings.cores)


onsuccess:
    finish()
    if MISSING:
        logger.warning(
            f"Not built, since their raw files are not here: {', '.join(MISSING)}. "
            "Get them with `snakemake fetch`, or place them as data/README.md says, and run again."
        )


onerror:
    finish()


wildcard_constraints:
    dataset="|".join(OBSERVED) or "none",
    graph="|".join(DESIGN.graphs),
    basis="|".join(sorted({basis for _, basis in DESIGN.bases})),
    batch="|".join(DESIGN.batches),
    kind="|".join(KINDS),
    experiment="|".join(CONFIG.experiments),
    evaluation="|".join(CONFIG.evaluations),
    judged="|".join(paths.JUDGED),
    page="|".join(paths.PAGES),
    table="|".join(CONFIG.tables),
    figure="|".join(CONFIG.figures),
