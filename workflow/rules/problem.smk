# Needs: results/graph, results/basis. Makes: results/problem, results/pilot.


rule pose_problem:
    """Pose the problems of a batch: take rewards from data or draw them from low frequencies, and draw the contexts."""
    input:
        files_of("pose_problem"),
    output:
        **jobs.written("pose_problem"),
    log:
        "results/logs/pose_problem/{batch}.log",
    resources:
        **needs("pose_problem"),
    params:
        **call_of("pose_problem"),
    shell:
        STAGE


rule estimate_pilot:
    """Play the pilots of all problems of a batch: a few noisy rewards of every arm, before any method plays."""
    input:
        files_of("estimate_pilot"),
    output:
        **jobs.written("estimate_pilot"),
    log:
        "results/logs/estimate_pilot/{batch}.log",
    resources:
        **needs("estimate_pilot"),
    params:
        **call_of("estimate_pilot"),
    shell:
        STAGE


rule describe_problem:
    """Compute the facts of all problems of a batch that need no bandit run."""
    input:
        files_of("describe_problem"),
    output:
        **jobs.written("describe_problem"),
    log:
        "results/logs/describe_problem/{batch}.log",
    resources:
        **needs("describe_problem"),
    params:
        **call_of("describe_problem"),
    shell:
        STAGE
