# Needs: results/runs, results/problem. Makes: results/measurements, results/curves, results/evaluations.


rule measure_batch:
    """Turn the runs and facts of one batch into the tidy table and its regret curves."""
    input:
        files_of("measure_batch"),
    output:
        **jobs.written("measure_batch"),
    log:
        "results/logs/measure_batch/{batch}.log",
    resources:
        **needs("measure_batch"),
    params:
        **call_of("measure_batch"),
    shell:
        STAGE


rule evaluate_predictors:
    """Score facts as predictors of a measure over the pooled problems of several experiments."""
    input:
        files_of("evaluate_predictors"),
    output:
        **jobs.written("evaluate_predictors"),
    log:
        "results/logs/evaluate_predictors/{evaluation}.log",
    resources:
        **needs("evaluate_predictors"),
    params:
        **call_of("evaluate_predictors"),
    shell:
        STAGE
