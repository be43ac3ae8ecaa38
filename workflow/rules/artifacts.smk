# Needs: results/measurements, results/curves, results/evaluations, data/paper.
# Makes: results/tables, results/figures, results/comparison, results/claims, results/leaderboard, results/report.html and results/headline.html.


def shown(stage, suffix, kind, category):
    """Return what a stage writes, and let `snakemake --report` show one format of it, with a caption."""
    files = jobs.outputs(stage)
    name = f"{{{kind}}}" if kind in ("table", "figure") else kind
    caption = workflow.source_path(f"../report/{kind}.rst")
    return files | {suffix: report(files[suffix], caption=caption, category=category, labels={kind: name})}


rule make_table:
    input:
        files_of("make_table"),
    output:
        **shown("make_table", "csv", "table", "Tables"),
    log:
        "results/logs/make_table/{table}.log",
    resources:
        **needs("make_table"),
    params:
        job=as_json("make_table"),
        code=code_of("make_table"),
    shell:
        STAGE


rule make_figure:
    input:
        files_of("make_figure"),
    output:
        **shown("make_figure", "svg", "figure", "Figures"),
    log:
        "results/logs/make_figure/{figure}.log",
    resources:
        **needs("make_figure"),
    params:
        job=as_json("make_figure"),
        code=code_of("make_figure"),
    shell:
        STAGE


rule compare_paper:
    input:
        files_of("compare_paper"),
    output:
        **shown("compare_paper", "md", "comparison", "Against the paper"),
    log:
        "results/logs/compare_paper.log",
    resources:
        **needs("compare_paper"),
    params:
        job=as_json("compare_paper"),
        code=code_of("compare_paper"),
    shell:
        STAGE


rule judge_claims:
    input:
        files_of("judge_claims"),
    output:
        **shown("judge_claims", "md", "claims", "Against the paper"),
    log:
        "results/logs/judge_claims/{judged}.log",
    resources:
        **needs("judge_claims"),
    params:
        job=as_json("judge_claims"),
        code=code_of("judge_claims"),
    shell:
        STAGE


rule make_report:
    input:
        files_of("make_report"),
    output:
        **jobs.outputs("make_report"),
    log:
        "results/logs/make_report/{page}.log",
    resources:
        **needs("make_report"),
    params:
        job=as_json("make_report"),
        code=code_of("make_report"),
    shell:
        STAGE
