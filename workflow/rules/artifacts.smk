# Needs: results/measurements, results/curves, results/evaluations, data/paper.
# Makes: results/tables, results/figures, results/comparison, results/claims, results/leaderboard, results/report.html and results/headline.html.


rule make_table:
    """Build one table and write it as parquet, csv, markdown and LaTeX."""
    input:
        files_of("make_table"),
    output:
        **shown("make_table", "csv", "table", "Tables"),
    log:
        "results/logs/make_table/{table}.log",
    resources:
        **needs("make_table"),
    params:
        **call_of("make_table"),
    shell:
        STAGE


rule make_figure:
    """Draw one figure and write it as pdf, svg and png, with its points as parquet."""
    input:
        files_of("make_figure"),
    output:
        **shown("make_figure", "svg", "figure", "Figures"),
    log:
        "results/logs/make_figure/{figure}.log",
    resources:
        **needs("make_figure"),
    params:
        **call_of("make_figure"),
    shell:
        STAGE


rule compare_paper:
    """Compare every number that the paper prints with the table that rebuilds it, and measure what this can notice."""
    input:
        files_of("compare_paper"),
    output:
        **shown("compare_paper", "md", "comparison", "Against the paper"),
    log:
        "results/logs/compare_paper.log",
    resources:
        **needs("compare_paper"),
    params:
        **call_of("compare_paper"),
    shell:
        STAGE


rule judge_claims:
    """Judge claims by what was measured, at the paper's settings or with every one of a grid, and rank methods."""
    input:
        files_of("judge_claims"),
    output:
        **shown("judge_claims", "md", "claims", "Against the paper"),
    log:
        "results/logs/judge_claims/{judged}.log",
    resources:
        **needs("judge_claims"),
    params:
        **call_of("judge_claims"),
    shell:
        STAGE


rule make_report:
    """Make a report: one self-contained page of everything that was built, or of the main comparison alone."""
    input:
        files_of("make_report"),
    output:
        **jobs.written("make_report"),
    log:
        "results/logs/make_report/{page}.log",
    resources:
        **needs("make_report"),
    params:
        **call_of("make_report"),
    shell:
        STAGE
