# Needs: files at hand, a mirror or a network. Makes: data/raw, data/tables.


rule fetch_raw:
    """Fetch the raw files of one data set and write down what came from where."""
    output:
        **jobs.written("fetch_raw"),
    log:
        "results/logs/fetch_raw/{dataset}.log",
    localrule: True
    params:
        **call_of("fetch_raw"),
    shell:
        STAGE


rule tabulate_dataset:
    """Turn the raw files of one data set into its three tables, and mark what is not the published data."""
    input:
        files_of("tabulate_dataset"),
    output:
        **jobs.written("tabulate_dataset"),
    log:
        "results/logs/tabulate_dataset/{dataset}.log",
    resources:
        **needs("tabulate_dataset"),
    params:
        **call_of("tabulate_dataset"),
    shell:
        STAGE
