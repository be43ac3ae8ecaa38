# Needs: nothing, data/tables or the clean parent graph. Makes: results/graph, results/basis.


rule build_graph:
    input:
        files_of(jobs.build_graph),
    output:
        nodes=paths.nodes("{graph}"),
        edges=paths.edges("{graph}"),
    log:
        "results/logs/build_graph/{graph}.log",
    benchmark:
        "results/benchmarks/build_graph/{graph}.tsv"
    params:
        job=as_job(jobs.build_graph),
        output=as_output,
        code=stage_code("build_graph"),
    shell:
        STAGE


rule compute_basis:
    input:
        files_of(jobs.compute_basis),
    output:
        basis=paths.basis("{graph}", "{basis}"),
    log:
        "results/logs/compute_basis/{graph}/{basis}.log",
    benchmark:
        "results/benchmarks/compute_basis/{graph}/{basis}.tsv"
    params:
        job=as_job(jobs.compute_basis),
        output=as_output,
        code=stage_code("compute_basis"),
    shell:
        STAGE
