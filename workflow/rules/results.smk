# Needs: results/runs, results/problem. Makes: results/measurements, results/curves, results/evaluations.


rule measure_batch:
    input:
        files_of("measure_batch"),
    output:
        **jobs.outputs("measure_batch"),
    log:
        "results/logs/measure_batch/{batch}.log",
    resources:
        **needs("measure_batch"),
    params:
        job=as_json("measure_batch"),
        code=code_of("measure_batch"),
    shell:
        STAGE


rule evaluate_predictors:
    input:
        files_of("evaluate_predictors"),
    output:
        **jobs.outputs("evaluate_predictors"),
    log:
        "results/logs/evaluate_predictors/{evaluation}.log",
    resources:
        **needs("evaluate_predictors"),
    params:
        job=as_json("evaluate_predictors"),
        code=code_of("evaluate_predictors"),
    shell:
        STAGE
