# `snakemake --cores all` builds everything that can be built here; the targets are in workflow/Snakefile.


include: "workflow/Snakefile"


workflow.default_target = "all"  # that of an included file does not count
