# Needs: files at hand, a mirror or a network. Makes: data/raw, data/tables.


localrules:
    fetch_raw,


rule fetch_raw:
    output:
        **jobs.outputs("fetch_raw"),
    log:
        "results/logs/fetch_raw/{dataset}.log",
    params:
        job=as_json("fetch_raw"),
        code=code_of("fetch_raw"),
    shell:
        STAGE


rule tabulate_dataset:
    input:
        files_of("tabulate_dataset"),
    output:
        **jobs.outputs("tabulate_dataset"),
    log:
        "results/logs/tabulate_dataset/{dataset}.log",
    resources:
        **needs("tabulate_dataset"),
    params:
        job=as_json("tabulate_dataset"),
        code=code_of("tabulate_dataset"),
    shell:
        STAGE
