"""Judge the paper's claims again with every setting of the bandits: in how many they hold, and on what they depend."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.terminal import escape, pipe_table
from graphdr.paper.claims import ClaimSpec, check_all
from graphdr.paper.predicates import NoData, Rows, cell_names
from graphdr.paper.verdicts import word_for
from graphdr.scores import cells

SETTINGS = {"alpha": "width", "ridge": "ridge", "k": "k", "horizon": "horizon", "candidates": "candidates"}
FACTORS = SETTINGS | {"instance": "instance"}  # everything that a claim can depend on, with its label
NO_SETTINGS, NOT_VARIED = "no settings", "not varied"  # marks of claims that are not judged here
PREFIX = "with_"  # of the column of a setting: a problem has factors of the same names
COLUMNS = ("claim", "dataset", *FACTORS, "paper_k", "holds", "effect")


class Judgement(NamedTuple):
    """The verdict on a claim over all settings, with the factor that explains most of the differences."""

    verdict: str
    share: float = np.nan  # of the settings and instances in which the claim holds …
    settings: int = 0  # … and their number
    factor: str = ""
    levels: str = ""  # share by level of the factor
    share_at_k: float = np.nan  # with the k of the paper
    paper_k: float = np.nan


def at_horizons(
    runs: pd.DataFrame, variants: Sequence[tuple[str, str, Mapping[str, Any]]], horizons: Sequence[int]
) -> pd.DataFrame:
    """Return the mean regret over the seeds at every horizon, as measurements of methods with columns of settings."""
    chosen = runs[runs["t"].isin(horizons) & (runs["draw"] == 0)]
    mean = chosen.groupby(["method", "problem", "instance", "t"], sort=False)["regret"].mean().reset_index()
    for name in ("alpha", "ridge", "k"):
        mean[PREFIX + name] = mean["method"].map({variant: setting.get(name) for variant, _, setting in variants})
    mean["method"] = mean["method"].map({variant: method for variant, method, _ in variants})
    mean = mean.rename(columns={"regret": "value", "t": f"{PREFIX}horizon"})
    return mean.assign(quantity="regret", draw=0, sem=np.nan, n=1, predictor=None)


def decide(claim: str, spec: ClaimSpec, table: pd.DataFrame, other: Collection[str]) -> pd.DataFrame:
    """Check a claim with every setting on every instance and, if it is about each, every data set.

    ``table`` is tidy, with a column of every setting, empty where a method does not have it. Data that are not the
    paper's are left out.
    """
    methods: set[str | None] = set()
    for _, arguments in cells.named(spec.checks):
        methods |= {cells.parse(claim, cell).key for cell in cell_names(arguments)} | {*arguments.get("among", [])}
    rows = table[table["experiment"].isin(spec.experiments) & table["dataset"].isin(set(spec.datasets) - set(other))]
    rows = rows[rows["method"].isna() | rows["method"].isin(methods)]
    decided = []
    for dataset in sorted(set(rows["dataset"])) if spec.each else [None]:
        stated = dataset not in spec.exceptions
        for at, records in _by_setting(rows if dataset is None else rows[rows["dataset"] == dataset]):
            try:
                outcome = check_all(spec.checks, Rows(records))
            except NoData:
                continue
            if outcome.used is not None and len(outcome.used) < (spec.min_problems or 0):
                continue  # fewer problems than the paper's cannot refute it
            ks = {row["k"] for row in records}
            paper_k = ks.pop() if len(ks) == 1 else None  # a claim about k has several
            decided.append((claim, dataset, *at, paper_k, int(outcome.holds == stated), outcome.effect))
    return pd.DataFrame(decided, columns=list(COLUMNS)) if decided else marked(claim, NOT_VARIED)


def _by_setting(rows: pd.DataFrame) -> Iterator[tuple[tuple[Any, ...], list[dict[Any, Any]]]]:
    """Yield every setting and instance, with the rows of methods that have the setting or lack that parameter."""
    masks: list[dict[Any, np.ndarray]] = []  # by level, for every setting and the instance
    for name in SETTINGS:
        column = rows[PREFIX + name]
        levels = sorted(column.dropna().unique()) or [None]
        masks.append({level: (column.isna() | (column == level)).to_numpy() for level in levels})
    instances = rows["instance"].to_numpy()
    masks.append({int(instance): instances == instance for instance in np.unique(instances)})
    records = rows.to_dict("records")
    for at in product(*masks):
        mask = np.logical_and.reduce([by_level[level] for by_level, level in zip(masks, at, strict=True)])
        yield at, [records[row] for row in np.flatnonzero(mask)]


def together(decided: pd.DataFrame) -> pd.DataFrame:
    """Return whether one claim holds with each setting on each instance: on all data sets, if it is about each.

    Random instances and data sets cannot be paired: a claim on both holds with a setting where it holds on all.
    """
    datasets = decided["dataset"].nunique()
    keys = list(SETTINGS if datasets else FACTORS)
    if datasets:
        counts = decided.groupby(keys, dropna=False)["dataset"].transform("nunique")
        decided = decided[counts == datasets]
    return decided.groupby(keys, dropna=False, sort=False)["holds"].all().reset_index()


def judge(decided: pd.DataFrame) -> Judgement:
    """Return the verdict on one claim: it holds, fails, or depends on a factor.

    That factor is the one whose levels by themselves explain most of the variance of the claim's truth.
    """
    worlds = together(decided)
    if worlds.empty:
        return Judgement(NOT_VARIED)
    truth = worlds["holds"].astype(float)
    word, factor, levels = word_for(float(truth.mean())), "", ""
    varied = [name for name in FACTORS if name in worlds and worlds[name].nunique() > 1]
    if varied:
        explained = {name: truth.groupby(worlds[name]).transform("mean").var(ddof=0) for name in varied}
        factor = max(varied, key=lambda name: explained[name])
        shares = truth.groupby(worlds[factor]).mean()
        texts = [f"{cells.label(level)}: {100 * part:.0f} %" for level, part in shares.items()]
        levels = f"{FACTORS[factor]} {', '.join(texts)}"
    if word == "mixed":
        word = f"depends on {FACTORS[factor]}"
    at_k = together(decided[decided["k"] == decided["paper_k"]])["holds"].mean()
    ks = decided["paper_k"].dropna().unique()
    paper_k = float(ks[0]) if len(ks) == 1 else np.nan
    return Judgement(word, float(truth.mean()), len(worlds), factor, levels, float(at_k), paper_k)


def summary(decided: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim, in order; a claim that is not judged has its mark as verdict."""
    rows = []
    for claim, part in decided.groupby("claim", sort=False):
        marks = part.loc[part["holds"].isna(), "dataset"]
        judgement = judge(part.astype({"holds": bool})) if marks.empty else Judgement(marks.iloc[0])
        rows.append((claim, *judgement))
    return pd.DataFrame(rows, columns=["claim", *Judgement._fields])


def marked(claim: str, mark: str) -> pd.DataFrame:
    """Return the row of a claim that is not judged here; the mark stands in place of a data set."""
    return pd.DataFrame([{"claim": claim, "dataset": mark}], columns=list(COLUMNS))


def markdown(paper: pd.DataFrame, decided: pd.DataFrame) -> str:
    """Render the verdicts, each with the share of settings in which the claim holds and the factor that decides."""
    statements = paper.set_index("claim")["statement"].to_dict()
    table = summary(decided)
    counts = table["verdict"].str.split(" on ").str[0].value_counts()
    count = ", ".join(f"{number} {word}" for word, number in counts.items())
    head = ["claim", "verdict", "holds in", "of settings", "at the paper's k", "share by level of what decides"]
    body = []
    for row in table.to_dict("records"):
        text = escape(f"{statements.get(row['claim'], '')} (`{row['claim']}`)")
        share, at_k = ("–" if np.isnan(x) else f"{100 * x:.0f} %" for x in (row["share"], row["share_at_k"]))
        body.append([text, row["verdict"], share, str(row["settings"] or "–"), at_k, escape(row["levels"] or "–")])
    lines = ["# The paper's claims with other settings", "", f"{count}.", "", NOTE, "", *pipe_table(head, body), ""]
    return "\n".join(lines)


NOTE = (
    "Every claim about who wins, and by how much, is judged again with each width, ridge, k, horizon, way to offer "
    "candidates and, on random graphs, instance. It `holds` if it does so in at least 95 % of them, `fails` in at most "
    "5 %, and else depends on the factor whose levels explain most of the difference. `no settings`: theorems and "
    "spectra have none. `not varied`: scores over pools of problems, which are "
    "not played again, or claims whose data are not here."
)
