# Needs: results/problem, results/basis, for dense penalties results/graph. Makes: results/runs.


rule run_bandit:
    input:
        files_of(jobs.run_bandit),
    output:
        runs=paths.runs("{batch}", "{method}"),
    log:
        "results/logs/run_bandit/{batch}/{method}.log",
    benchmark:
        "results/benchmarks/run_bandit/{batch}/{method}.tsv"
    params:
        job=as_job(jobs.run_bandit),
        output=as_output,
        code=stage_code("run_bandit"),
    shell:
        STAGE
