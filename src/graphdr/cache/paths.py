"""Paths of all files, for rules, jobs and commands."""

import os
import re
from pathlib import Path

PROJECT = "GRAPHDR_PROJECT"  # environment variable: the folder that Snakemake runs in
PACKAGE_DATA = Path(__file__).parents[1] / "package_data"  # files of the project in the wheel; links in a checkout


class Pattern(str):
    """A path with wildcards, as in a rule; call it with their values, in order, for the path of one file."""

    def __call__(self, *names: str) -> str:
        values = iter(names)
        return re.sub(r"\{\w+\}", lambda wildcard: next(values, wildcard[0]), self)


CONFIGS = "config.yaml", "config/config.yaml"  # the second is the place in Snakemake's workflow catalogue
PAPER_FILES = PAPER, PAPER_CLAIMS, PAPER_REASONS = (
    "data/paper/reference.csv",
    "data/paper/claims.csv",
    "data/paper/reasons.csv",
)
MANIFEST = "results/entries"
TIMES = "results/times"
OVERRIDES = "results/overrides.json"  # what the command line of the last build added to the configuration
JUDGED = CLAIMS, MULTIVERSE, LEADERBOARD = "claims", "multiverse", "leaderboard"  # claims, with every setting; methods
PAGES = HEADLINE, REPORT = "headline", "report"  # the main comparison alone, which is made first, and everything
ADVICE = "results/advise"  # a folder per data set of a user

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


def data_file(path: str, folder: str | Path = "") -> str:
    """Return the path of a file in a folder or, if it is not there, of the copy in the package."""
    local, packaged = Path(folder, path), PACKAGE_DATA / path
    # os.path, since Path.is_file raises an error for a name that is too long
    return str(packaged if os.path.isfile(packaged) and not os.path.exists(local) else local)


def config() -> str:
    """Return the configuration of this folder, or that of the package."""
    return next((path for path in CONFIGS if Path(path).is_file()), data_file(CONFIGS[0]))
