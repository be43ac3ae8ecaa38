"""Where every file lives: the one place that turns names into paths, for rules and stages alike."""

PAPER = "data/paper/reference.csv"
COMPARISON = {"parquet": "results/comparison.parquet", "md": "results/comparison.md"}
MANIFEST = "results/manifest"

TABLE_FORMATS = ("parquet", "csv", "md", "tex")
FIGURE_FORMATS = ("parquet", "pdf", "svg", "png")


def nodes(graph: str) -> str:
    return f"results/graph/{graph}/nodes.parquet"


def edges(graph: str) -> str:
    return f"results/graph/{graph}/edges.parquet"


def basis(graph: str, basis: str) -> str:
    return f"results/basis/{graph}/{basis}.parquet"


def theta(batch: str) -> str:
    return f"results/problem/{batch}/theta.parquet"


def facts(batch: str) -> str:
    return f"results/problem/{batch}/facts.parquet"


def runs(batch: str, method: str) -> str:
    return f"results/runs/{batch}/{method}.parquet"


def measurements(experiment: str) -> str:
    return f"results/measurements/{experiment}.parquet"


def curves(experiment: str) -> str:
    return f"results/curves/{experiment}.parquet"


def evaluation(evaluation: str) -> str:
    return f"results/evaluations/{evaluation}.parquet"


def table(table: str, suffix: str) -> str:
    return f"results/tables/{table}.{suffix}"


def figure(figure: str, suffix: str) -> str:
    return f"results/figures/{figure}.{suffix}"
