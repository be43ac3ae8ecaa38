# Needs: results/graph, results/basis. Makes: results/problem.


rule pose_problem:
    input:
        files_of(jobs.pose_problem),
    output:
        theta=paths.theta("{batch}"),
    log:
        "results/logs/pose_problem/{batch}.log",
    benchmark:
        "results/benchmarks/pose_problem/{batch}.tsv"
    params:
        job=as_job(jobs.pose_problem),
        output=as_output,
        code=stage_code("pose_problem"),
    shell:
        STAGE


rule describe_problem:
    input:
        files_of(jobs.describe_problem),
    output:
        facts=paths.facts("{batch}"),
        pilots=paths.pilots("{batch}"),
    log:
        "results/logs/describe_problem/{batch}.log",
    benchmark:
        "results/benchmarks/describe_problem/{batch}.tsv"
    params:
        job=as_job(jobs.describe_problem),
        output=as_output,
        code=stage_code("describe_problem"),
    shell:
        STAGE
