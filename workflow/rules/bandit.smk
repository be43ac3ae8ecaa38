# Needs: results/problem, results/basis, for theorems' radii results/pilot, for dense penalties results/graph. Makes: results/runs.


rule run_bandit:
    """Play the methods of a batch on its problems, with all instances, draws and seeds."""
    input:
        files_of("run_bandit"),
    output:
        **jobs.written("run_bandit"),
    log:
        "results/logs/run_bandit/{batch}/{kind}.log",
    resources:
        **needs("run_bandit"),
    params:
        **call_of("run_bandit"),
    shell:
        STAGE
