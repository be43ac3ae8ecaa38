# The paper, from config.yaml to results/. `snakemake --cores all` builds everything that can be built here.


configfile: "config.yaml"


include: "workflow/rules/common.smk"


rule all:
    default_target: True
    input:
        artifacts(DESIGN),


rule synthetic:
    input:
        artifacts(DESIGN),


rule paper:
    input:
        artifacts(DESIGN),


include: "workflow/rules/graph.smk"
include: "workflow/rules/problem.smk"
include: "workflow/rules/bandit.smk"
include: "workflow/rules/results.smk"
include: "workflow/rules/artifacts.smk"
