# Needs: results/measurements, results/curves, results/evaluations, data/paper.
# Makes: results/tables, results/figures, results/comparison, results/claims, results/report.html.


def shown(files, suffix, kind, category):
    """Let `snakemake --report` show one format of an artifact, with a caption."""
    name = f"{{{kind}}}" if kind in ("table", "figure") else kind
    caption = workflow.source_path(f"../report/{kind}.rst")
    return files | {suffix: report(files[suffix], caption=caption, category=category, labels={kind: name})}


rule make_table:
    input:
        files_of(jobs.make_table),
    output:
        **shown(
            {suffix: paths.table("{table}", suffix) for suffix in paths.TABLE_FORMATS},
            "csv",
            "table",
            "Tables",
        ),
    log:
        "results/logs/make_table/{table}.log",
    benchmark:
        "results/benchmarks/make_table/{table}.tsv"
    params:
        job=as_job(jobs.make_table),
        output=as_output,
        code=stage_code("make_table"),
    shell:
        STAGE


rule make_figure:
    input:
        files_of(jobs.make_figure),
    output:
        **shown(
            {suffix: paths.figure("{figure}", suffix) for suffix in paths.FIGURE_FORMATS},
            "svg",
            "figure",
            "Figures",
        ),
    log:
        "results/logs/make_figure/{figure}.log",
    benchmark:
        "results/benchmarks/make_figure/{figure}.tsv"
    params:
        job=as_job(jobs.make_figure),
        output=as_output,
        code=stage_code("make_figure"),
    shell:
        STAGE


rule compare_paper:
    input:
        files_of(jobs.compare_paper),
    output:
        **shown(paths.COMPARISON, "md", "comparison", "Against the paper"),
    log:
        "results/logs/compare_paper.log",
    benchmark:
        "results/benchmarks/compare_paper.tsv"
    params:
        job=as_job(jobs.compare_paper),
        output=as_output,
        code=stage_code("compare_paper"),
    shell:
        STAGE


rule judge_claims:
    input:
        files_of(jobs.judge_claims),
    output:
        **shown(paths.CLAIMS, "md", "claims", "Against the paper"),
    log:
        "results/logs/judge_claims.log",
    benchmark:
        "results/benchmarks/judge_claims.tsv"
    params:
        job=as_job(jobs.judge_claims),
        output=as_output,
        code=stage_code("judge_claims"),
    shell:
        STAGE


rule make_report:
    input:
        files_of(jobs.make_report),
    output:
        html=paths.REPORT,
    log:
        "results/logs/make_report.log",
    benchmark:
        "results/benchmarks/make_report.tsv"
    params:
        job=as_job(jobs.make_report),
        output=as_output,
        code=stage_code("make_report"),
    shell:
        STAGE
