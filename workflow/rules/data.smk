# Needs: files at hand, a mirror or a network. Makes: data/raw, data/tables.


localrules:
    fetch_raw,


rule fetch_raw:
    output:
        receipt=paths.receipt("{dataset}"),
    log:
        "results/logs/fetch_raw/{dataset}.log",
    benchmark:
        "results/benchmarks/fetch_raw/{dataset}.tsv"
    params:
        job=as_job(jobs.fetch_raw),
        output=as_output,
        code=stage_code("fetch_raw"),
    shell:
        STAGE


rule tabulate_dataset:
    input:
        files_of(jobs.tabulate_dataset),
    output:
        nodes=paths.dataset_nodes("{dataset}"),
        links=paths.dataset_links("{dataset}"),
    log:
        "results/logs/tabulate_dataset/{dataset}.log",
    benchmark:
        "results/benchmarks/tabulate_dataset/{dataset}.tsv"
    params:
        job=as_job(jobs.tabulate_dataset),
        output=as_output,
        code=stage_code("tabulate_dataset"),
    shell:
        STAGE
