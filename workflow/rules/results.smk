# Needs: results/runs, results/problem. Makes: results/measurements, results/curves, results/evaluations.


rule measure_batch:
    input:
        files_of(jobs.measure_batch),
    output:
        measurements=paths.measurements("{batch}"),
        curves=paths.curves("{batch}"),
    log:
        "results/logs/measure_batch/{batch}.log",
    benchmark:
        "results/benchmarks/measure_batch/{batch}.tsv"
    params:
        job=as_job(jobs.measure_batch),
        output=as_output,
        code=stage_code("measure_batch"),
    shell:
        STAGE


rule evaluate_predictors:
    input:
        files_of(jobs.evaluate_predictors),
    output:
        evaluation=paths.evaluation("{evaluation}"),
    log:
        "results/logs/evaluate_predictors/{evaluation}.log",
    benchmark:
        "results/benchmarks/evaluate_predictors/{evaluation}.tsv"
    params:
        job=as_job(jobs.evaluate_predictors),
        output=as_output,
        code=stage_code("evaluate_predictors"),
    shell:
        STAGE
