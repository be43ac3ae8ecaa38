"""Judge the paper's claims again with every setting of the bandits: in how many they hold, and on what they depend."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.markdown import escape, pipe_table
from graphdr.paper.claims import ClaimSpec, check_all
from graphdr.paper.predicates import NoData, cell_names, gather
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


class SettingRows(NamedTuple):
    """The rows of one instance with one setting."""

    setting: tuple[Any, ...]
    instance: int
    rows: list[dict[Any, Any]]


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
    rows = _rows_of_claim(claim, spec, table, other)
    decided = []
    for dataset in sorted(set(rows["dataset"])) if spec.each else [None]:
        stated = dataset not in spec.exceptions
        for part in _by_setting(rows if dataset is None else rows[rows["dataset"] == dataset]):
            try:
                outcome = check_all(spec.checks, gather(part.rows))
            except NoData:
                continue
            if outcome.used is not None and len(outcome.used) < (spec.min_problems or 0):
                continue  # fewer problems than the paper's cannot refute it
            ks = {row["k"] for row in part.rows}
            paper_k = ks.pop() if len(ks) == 1 else None  # a claim about k has several
            holds = int(outcome.holds == stated)
            decided.append((claim, dataset, *part.setting, part.instance, paper_k, holds, outcome.effect))
    return pd.DataFrame(decided, columns=list(COLUMNS)) if decided else marked(claim, NOT_VARIED)


def _rows_of_claim(claim: str, spec: ClaimSpec, table: pd.DataFrame, other: Collection[str]) -> pd.DataFrame:
    """Return the rows of the experiments, data sets and methods that a claim is about."""
    methods: set[str | None] = set()
    for _, arguments in cells.named(spec.checks):
        methods |= {cells.parse(claim, cell).key for cell in cell_names(arguments)}
        methods |= set(arguments.get("among", []))
    datasets = set(spec.datasets) - set(other)
    rows = table[table["experiment"].isin(spec.experiments) & table["dataset"].isin(datasets)]
    return rows[rows["method"].isna() | rows["method"].isin(methods)]


def _by_setting(rows: pd.DataFrame) -> Iterator[SettingRows]:
    """Yield every setting and instance, with the rows of methods that have the setting or lack that parameter."""
    masks: dict[str, dict[Any, np.ndarray]] = {}  # by setting and level
    for name in SETTINGS:
        column = rows[PREFIX + name]
        levels = sorted(column.dropna().unique()) or [None]
        masks[name] = {level: (column.isna() | (column == level)).to_numpy() for level in levels}
    records, numbers = rows.to_dict("records"), rows["instance"].to_numpy()
    of_instance = {int(instance): numbers == instance for instance in np.unique(numbers)}
    for setting in product(*masks.values()):
        mask = np.logical_and.reduce([masks[name][level] for name, level in zip(SETTINGS, setting, strict=True)])
        for instance, chosen in of_instance.items():
            yield SettingRows(setting, instance, [records[row] for row in np.flatnonzero(mask & chosen)])


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


def explained_variance(worlds: pd.DataFrame) -> dict[str, float]:
    """Return for every factor the share of the variance of a claim's truth that its levels explain by themselves."""
    truth = worlds["holds"].astype(float)
    total = truth.var(ddof=0)
    factors = [name for name in FACTORS if name in worlds and worlds[name].nunique() > 1]
    if total == 0:
        return dict.fromkeys(factors, 0.0)
    return {name: float(truth.groupby(worlds[name]).transform("mean").var(ddof=0) / total) for name in factors}


def judge(decided: pd.DataFrame) -> Judgement:
    """Return the verdict on one claim: it holds, fails, or depends on a factor."""
    worlds = together(decided)
    if worlds.empty:
        return Judgement(NOT_VARIED)
    share, parts = float(worlds["holds"].mean()), explained_variance(worlds)
    word, factor, levels = word_for(share), "", ""
    if parts:
        factor = max(parts, key=lambda name: parts[name])
        shares = worlds.groupby(factor)["holds"].mean()
        texts = [f"{cells.label(level)}: {100 * part:.0f} %" for level, part in shares.items()]
        levels = f"{FACTORS[factor]} {', '.join(texts)}"
    if word == "mixed":
        word = f"depends on {FACTORS[factor]}"
    at_k = together(decided[decided["k"] == decided["paper_k"]])["holds"].mean()
    ks = decided["paper_k"].dropna().unique()
    paper_k = float(ks[0]) if len(ks) == 1 else np.nan
    return Judgement(word, share, len(worlds), factor, levels, float(at_k), paper_k)


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
        text = f"{statements.get(row['claim'], '')} (`{row['claim']}`)"
        share, at_k = _percent(row["share"]), _percent(row["share_at_k"])
        settings, levels = f"{row['settings'] or '–'}", row["levels"] or "–"
        body.append([escape(text), row["verdict"], share, settings, at_k, escape(levels)])
    lines = ["# The paper's claims with other settings", "", f"{count}.", "", NOTE, "", *pipe_table(head, body), ""]
    return "\n".join(lines)


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.0f} %"


NOTE = (
    "Every claim about who wins, and by how much, is judged again with each width, ridge, k, horizon, way to offer "
    "candidates and, on random graphs, instance. It `holds` if it does so in at least 95 % of them, `fails` in at most "
    "5 %, and else depends on the factor whose levels explain most of the difference. `no settings`: theorems and "
    "spectra have none. `not varied`: scores over pools of problems, which are "
    "not played again, or claims whose data are not here."
)
