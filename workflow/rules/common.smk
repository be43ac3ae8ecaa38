# Needs: config. Makes: CONFIG, DESIGN, and the functions that the rules use.
import os
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import graphdr

# Where neither the package nor home is writable, compiled functions are cached with the build. Numba reads this once.
if not any(os.access(folder, os.W_OK) for folder in (*graphdr.__path__, os.path.expanduser("~"))):
    os.environ.setdefault("NUMBA_CACHE_DIR", os.path.abspath(".snakemake/compiled"))

from graphdr.cache import paths, times
from graphdr.core import forks
from graphdr.core.errors import UserError
from graphdr.plan import config as configuration
from graphdr.plan import compute_jobs, design, jobs, yaml_files
from graphdr.plan.design import KINDS
from graphdr.raw import fetch
from snakemake.logging import logger

PREFIX = workflow.modifier.path_modifier.replace_prefix("")  # if another workflow uses this one as a module


def asked_for(target) -> bool:
    """Return whether a target, perhaps renamed by another workflow, is on the command line."""
    return workflow.modifier.modify_rulename(target) in sys.argv[1:]


try:
    for file in {*map(str, workflow.configfiles), *map(str, workflow.overwrite_configfiles)}:
        yaml_files.read_yaml(file)  # refuses repeated keys, which Snakemake accepts
    CONFIG = configuration.read(config)
    config.update(CONFIG.plain())  # for captions of the report
    MISSING = fetch.missing_datasets(config, list(filter(asked_for, CONFIG.datasets)), PREFIX)
    DESIGN = design.expand(CONFIG, MISSING, PREFIX)
    compute_jobs.check_files(DESIGN)
except UserError as error:
    sys.exit(f"config error: {error}")

STUDIES = {None} | {spec.target for spec in CONFIG.experiments.values() if not spec.opt_in}
OPT_IN = {spec.target for spec in CONFIG.experiments.values() if spec.opt_in}
OBSERVED = [name for name, block in CONFIG.datasets.items() if block.is_observed]

# The interpreter that runs Snakemake runs the stages, whether or not its environment is activated.
mirror = os.environ.get("GRAPHDR_MIRROR") or config.get("mirror")
os.environ.update(
    {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "",  # so that jobs share compiled modules
        paths.PROJECT: os.getcwd(),  # a stage may run in another folder
    }
    | ({"GRAPHDR_MIRROR": str(Path(mirror).expanduser().absolute())} if mirror else {})
)

MANY = 10  # jobs from which on a server of forked jobs is faster
# A stage runs in the folder of its files, since a module may have a prefix and storage another folder. It replaces the
# shell, which would print the whole command if the stage were killed.
STAGE = "exec > {log:q} 2>&1; cd {params.root:q}; exec ${{GRAPHDR_RUN:-python -m graphdr}} {params.stage} {params.code} {params.job:q}"

# Megabytes and minutes of a stage in a queue. Stages took at most 440 MB, Snakemake around them 250 MB, and the stages of
# the paper at most about 20 seconds. Jobs of a group run one after the other, so their minutes add up.
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
    """Return the job of a stage: inputs, outputs, parameters and code."""
    if frozenset(wildcards.items()) not in planned(stage):
        outputs = ", ".join(path.format(**wildcards) for path in jobs.outputs(stage).values())
        sys.exit(f"error: {outputs}: the configuration has no such job; graphdr ls {stage} lists what is built")
    return jobs.JOBS[stage](DESIGN, **wildcards)


def files_of(stage):
    """Return the input function of a rule: every file that its job reads.

    The report shows the studies of settings if they are built, and waits for those that are requested together with it.
    """
    studies = {
        "multiverse": paths.multiverse("parquet"),
        "calibration": paths.table("calibrated", "parquet"),
        "leaderboard": paths.leaderboard("parquet"),
    }
    requested = [path for target, path in studies.items() if asked_for(target)]

    def files(wildcards):
        return job(stage, **wildcards).files() + (requested if wildcards.get("page") == paths.REPORT else [])

    return files


def call_of(stage):
    """Return the parameters of a rule: its stage, its job as JSON, a fingerprint of the code, and the folder to run in.

    Snakemake reruns a job if one of the first three changes; it does not track the folder, which follows from files.
    """
    return {
        "stage": stage,
        "job": lambda wildcards: job(stage, **wildcards).as_argument(),
        "code": lambda wildcards: job(stage, **wildcards).code(),
        "root": lambda wildcards, output: job(stage, **wildcards).root(str(output[0])),
    }


def shown(stage, suffix, kind, category):
    """Return the outputs of a rule; `snakemake --report` shows the one with the suffix, with a caption."""
    files = jobs.written(stage)
    name = f"{{{kind}}}" if kind in ("table", "figure") else kind
    caption = workflow.source_path(f"../report/{kind}.rst")
    return files | {suffix: report(files[suffix], caption=caption, category=category, labels={kind: name})}


def needs(stage):
    """Return the resources of a rule; they grow with every attempt, for jobs that were killed for lack of them."""
    memory, minutes = NEEDS.get(stage, (2000, 2))
    return {
        "mem_mb": lambda wildcards, attempt: memory * attempt,
        "runtime": lambda wildcards, attempt: minutes * attempt,
    }


def results_on(datasets, targets=(None,)) -> list[str]:
    """Return the measurements on some data sets, and the tables and figures that show no others.

    Only experiments with one of the targets count; None is the target of the paper's experiments.
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
SERVERS = []  # at most one


onstart:
    check_start()
    settings = workflow.config_settings
    configuration.remember(
        configuration.Overrides(
            tuple(map(str, settings.configfiles)), dict(settings.config), settings.replace_workflow_config
        )
    )
    if getattr(workflow, "local_exec", False):
        # With a rate limit, Snakemake schedules once more for every job that has ended.
        workflow.scheduler.job_rate_limiter = None
        # Jobs in a container cannot be forks of a process outside.
        in_container = workflow.deployment_settings.deployment_method
        if not in_container and sys.platform == "linux" and len(list(workflow.dag.needrun_jobs())) >= MANY:
            with suppress(OSError):  # without a socket, jobs are separate processes
                SERVERS.append(forks.Server.start("graphdr"))
                os.environ.update(GRAPHDR_RUN=SERVERS[0].command)


def finish() -> None:
    """Stop the server and write the cost of the build, which includes that of the server and its jobs."""
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
