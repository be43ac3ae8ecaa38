# Needs: nothing, data/tables or the clean parent graph. Makes: results/graph, results/basis.


rule build_graph:
    """Build the graphs of all instances: random ones, those of a data set, changed copies of others, or products."""
    input:
        files_of("build_graph"),
    output:
        **jobs.written("build_graph"),
    log:
        "results/logs/build_graph/{graph}.log",
    resources:
        **needs("build_graph"),
    params:
        **call_of("build_graph"),
    shell:
        STAGE


rule compute_basis:
    """Compute one basis of every instance, and further draws of a random basis on instance 0."""
    input:
        files_of("compute_basis"),
    output:
        **jobs.written("compute_basis"),
    log:
        "results/logs/compute_basis/{graph}/{basis}.log",
    resources:
        **needs("compute_basis"),
    params:
        **call_of("compute_basis"),
    shell:
        STAGE
