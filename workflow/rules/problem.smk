# Needs: results/graph, results/basis. Makes: results/problem, results/pilot.


rule pose_problem:
    input:
        files_of("pose_problem"),
    output:
        **jobs.outputs("pose_problem"),
    log:
        "results/logs/pose_problem/{batch}.log",
    resources:
        **needs("pose_problem"),
    params:
        job=as_json("pose_problem"),
        code=code_of("pose_problem"),
    shell:
        STAGE


rule estimate_pilot:
    input:
        files_of("estimate_pilot"),
    output:
        **jobs.outputs("estimate_pilot"),
    log:
        "results/logs/estimate_pilot/{batch}.log",
    resources:
        **needs("estimate_pilot"),
    params:
        job=as_json("estimate_pilot"),
        code=code_of("estimate_pilot"),
    shell:
        STAGE


rule describe_problem:
    input:
        files_of("describe_problem"),
    output:
        **jobs.outputs("describe_problem"),
    log:
        "results/logs/describe_problem/{batch}.log",
    resources:
        **needs("describe_problem"),
    params:
        job=as_json("describe_problem"),
        code=code_of("describe_problem"),
    shell:
        STAGE
