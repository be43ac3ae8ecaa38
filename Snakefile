# The paper, from config.yaml to results/. `snakemake --cores all` builds everything that can be built here.


configfile: "config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/profiles/slurm/start.smk"


# With `--sdm apptainer` every stage runs in this image, which docs/container.md builds; without it Snakemake would say
# in every run that an image is ignored.
if workflow.deployment_settings.deployment_method:

    container: os.environ.get("GRAPHDR_IMAGE", "graphdr.sif")


# The synthetic half, and every data set whose raw files are here.
rule all:
    default_target: True
    input:
        results_on(CONFIG.datasets, STUDIES),


rule synthetic:
    input:
        results_on(set(CONFIG.datasets) - set(OBSERVED)),


# The main comparison, which a reader looks at first: `make` gives it the highest priority.
rule headline:
    input:
        [file for file in rules.all.input if file == paths.page(paths.HEADLINE)],


# The raw files of all data sets, and nothing else.
rule fetch:
    input:
        [paths.receipt(dataset) for dataset in OBSERVED],


# All that `all` builds, and the raw files of all data sets: one that is missing is an error, after all else is built.
rule paper:
    input:
        rules.all.input,
        [paths.receipt(dataset) for dataset in OBSERVED],
    params:
        late=" ".join(MISSING),
    shell:
        'test -z "{params.late}" || {{ echo "error: {params.late}: fetched just now; run snakemake paper again" >&2; exit 1; }}'


# A study of its own: `snakemake theory` builds the experiments that name it as their target.
for study in sorted(STUDIES - {None} | OPT_IN):

    rule:
        name:
            study
        input:
            results_on(CONFIG.datasets, [study]),


# A data set of its own: `snakemake ml_1m` fetches it if need be, and builds what shows it alone.
for dataset in OBSERVED:

    rule:
        name:
            dataset
        input:
            results_on([dataset]),


include: "workflow/rules/data.smk"
include: "workflow/rules/graph.smk"
include: "workflow/rules/problem.smk"
include: "workflow/rules/bandit.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/artifacts.smk"
