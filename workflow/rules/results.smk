# Needs: results/runs, results/problem. Makes: results/measurements, results/curves, results/evaluations.


rule measure_experiment:
    input:
        files_of(jobs.measure_experiment),
    output:
        measurements=paths.measurements("{experiment}"),
        curves=paths.curves("{experiment}"),
    log:
        "results/logs/measure_experiment/{experiment}.log",
    benchmark:
        "results/benchmarks/measure_experiment/{experiment}.tsv"
    params:
        job=as_job(jobs.measure_experiment),
        output=as_output,
        code=stage_code("measure_experiment"),
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
