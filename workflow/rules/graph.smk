# Needs: nothing, data/tables or the clean parent graph. Makes: results/graph, results/basis.


rule build_graph:
    input:
        files_of("build_graph"),
    output:
        **jobs.outputs("build_graph"),
    log:
        "results/logs/build_graph/{graph}.log",
    resources:
        **needs("build_graph"),
    params:
        job=as_json("build_graph"),
        code=code_of("build_graph"),
    shell:
        STAGE


rule compute_basis:
    input:
        files_of("compute_basis"),
    output:
        **jobs.outputs("compute_basis"),
    log:
        "results/logs/compute_basis/{graph}/{basis}.log",
    resources:
        **needs("compute_basis"),
    params:
        job=as_json("compute_basis"),
        code=code_of("compute_basis"),
    shell:
        STAGE
