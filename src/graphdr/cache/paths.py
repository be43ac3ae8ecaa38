"""Where every file lives: the one place that turns names into paths, for rules and stages alike."""

PAPER = "data/paper/reference.csv"
PAPER_CLAIMS = "data/paper/claims.csv"
COMPARISON = {"parquet": "results/comparison.parquet", "md": "results/comparison.md"}
CLAIMS = {"parquet": "results/claims.parquet", "md": "results/claims.md"}
REPORT = "results/report.html"
MANIFEST = "results/manifest"
BENCHMARKS = "results/benchmarks"
ADVICE = "results/advise"  # a folder per data set of a user, each laid out as a project

TABLE_FORMATS = ("parquet", "csv", "md", "tex")
FIGURE_FORMATS = ("parquet", "pdf", "svg", "png")


def receipt(dataset: str) -> str:
    return f"data/raw/{dataset}/receipt.parquet"


def dataset_nodes(dataset: str) -> str:
    return f"data/tables/{dataset}/nodes.parquet"


def dataset_links(dataset: str) -> str:
    return f"data/tables/{dataset}/links.parquet"


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


def pilots(batch: str) -> str:
    return f"results/problem/{batch}/pilots.parquet"


def runs(batch: str, method: str) -> str:
    return f"results/runs/{batch}/{method}.parquet"


def measurements(batch: str) -> str:
    return f"results/measurements/{batch}.parquet"


def curves(batch: str) -> str:
    return f"results/curves/{batch}.parquet"


def evaluation(evaluation: str) -> str:
    return f"results/evaluations/{evaluation}.parquet"


def table(table: str, suffix: str) -> str:
    return f"results/tables/{table}.{suffix}"


def figure(figure: str, suffix: str) -> str:
    return f"results/figures/{figure}.{suffix}"
