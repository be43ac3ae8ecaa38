"""Where every file lives: the one place that turns names into paths, for rules, jobs and commands alike."""

import os
from pathlib import Path

PROJECT = "GRAPHDR_PROJECT"  # variable with the folder that Snakemake runs in, where a stage runs in another
SHIPPED = Path(__file__).parents[1] / "shipped"  # what comes with the project; in a checkout, links to it


class Pattern(str):
    """A path with wildcards, as a rule has it; called with their values, in order, it is the path of one file."""

    def __call__(self, *names: str) -> str:
        path, rest = "", str(self)
        for name in names:
            before, _, rest = rest.partition("{")
            path, rest = path + before + name, rest.partition("}")[2]
        return path + rest


CONFIGS = "config.yaml", "config/config.yaml"  # the second is where Snakemake's catalogue has it
COMMITTED = PAPER, PAPER_CLAIMS, PAPER_REASONS = (
    "data/paper/reference.csv",
    "data/paper/claims.csv",
    "data/paper/reasons.csv",
)
MANIFEST = "results/entries"
TIMES = "results/times"
OVERRIDES = "results/overrides.json"  # what the command line of the last build added to the configuration
JUDGED = CLAIMS, MULTIVERSE, LEADERBOARD = "claims", "multiverse", "leaderboard"  # claims, with every setting; methods
PAGES = HEADLINE, REPORT = "headline", "report"  # the main comparison alone, which is made first, and everything
ADVICE = "results/advise"  # a folder per data set of a user, each laid out as a project

receipt = Pattern("data/raw/{dataset}/receipt.parquet")
dataset_nodes = Pattern("data/tables/{dataset}/nodes.parquet")
dataset_links = Pattern("data/tables/{dataset}/links.parquet")
dataset_users = Pattern("data/tables/{dataset}/users.parquet")
nodes = Pattern("results/graph/{graph}/nodes.parquet")
edges = Pattern("results/graph/{graph}/edges.parquet")
basis = Pattern("results/basis/{graph}/{basis}.parquet")
contexts = Pattern("results/problem/{batch}/contexts.parquet")
rewards = Pattern("results/problem/{batch}/rewards.parquet")
theta = Pattern("results/problem/{batch}/theta.parquet")
pilot = Pattern("results/pilot/{batch}/estimates.parquet")
pilot_rounds = Pattern("results/pilot/{batch}/rounds.parquet")
facts = Pattern("results/problem/{batch}/facts.parquet")
runs = Pattern("results/runs/{batch}/{kind}.parquet")
measurements = Pattern("results/measurements/{batch}.parquet")
curves = Pattern("results/curves/{batch}.parquet")
evaluation = Pattern("results/evaluations/{evaluation}.parquet")
table = Pattern("results/tables/{table}.{suffix}")
figure = Pattern("results/figures/{figure}.{suffix}")
comparison = Pattern("results/comparison.{suffix}")
judged = Pattern("results/{judged}.{suffix}")
power = "results/power.parquet"
claims = Pattern("results/claims.{suffix}")
multiverse = Pattern("results/multiverse.{suffix}")
leaderboard = Pattern("results/leaderboard.{suffix}")
page = Pattern("results/{page}.html")


def committed(path: str, folder: str | Path = "") -> str:
    """Return where a file that comes with the project is: in the folder, or else with the package."""
    here, brought = Path(folder, path), SHIPPED / path
    # os.path, since Path.is_file raises an error for a name that is too long
    return str(brought if os.path.isfile(brought) and not os.path.exists(here) else here)


def config() -> str:
    """Return the configuration of this folder, or else that of the package."""
    return next((path for path in CONFIGS if Path(path).is_file()), committed(CONFIGS[0]))
