# profile of a tiny build of Snakemake
