# Needs: results/problem, results/basis, for theorems' radii results/pilot, for dense penalties results/graph. Makes: results/runs.


rule run_bandit:
    input:
        files_of("run_bandit"),
    output:
        **jobs.outputs("run_bandit"),
    log:
        "results/logs/run_bandit/{batch}/{kind}.log",
    resources:
        **needs("run_bandit"),
    params:
        job=as_json("run_bandit"),
        code=code_of("run_bandit"),
    shell:
        STAGE
