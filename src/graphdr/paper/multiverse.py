"""Judge the paper's claims again with every setting of the bandits: in how many they hold, and on what that hangs."""

from collections.abc import Collection, Iterator
from itertools import product

import numpy as np
import pandas as pd

from graphdr.core.markdown import escape, pipe_table
from graphdr.paper.claims import check_all, word_for
from graphdr.paper.predicates import NoData, cell_names, gather
from graphdr.scores import cells

SETTINGS = {"alpha": "width", "ridge": "ridge", "k": "k", "horizon": "horizon", "candidates": "candidates"}
FACTORS = SETTINGS | {"instance": "instance"}  # what a claim can hang on, and the word for it
NO_SETTINGS, NOT_VARIED = "no settings", "not varied"  # marks of claims that are not judged here
PREFIX = "with_"  # of the column of a setting: a problem has factors of the same names
COLUMNS = ("claim", "dataset", *FACTORS, "paper_k", "holds", "effect")


def at_horizons(runs: pd.DataFrame, variants: list[tuple[str, str, dict]], horizons: list[int]) -> pd.DataFrame:
    """Return the mean regret over the seeds at every horizon, as measurements of methods with columns of settings."""
    chosen = runs[runs["t"].isin(horizons) & (runs["draw"] == 0)]
    mean = chosen.groupby(["method", "problem", "instance", "t"], sort=False)["regret"].mean().reset_index()
    settings = {name: setting for name, _, setting in variants}
    for knob in ("alpha", "ridge", "k"):
        mean[PREFIX + knob] = mean["method"].map({name: setting.get(knob) for name, setting in settings.items()})
    mean["method"] = mean["method"].map({name: method for name, method, _ in variants})
    told = {"quantity": "regret", "draw": 0, "sem": np.nan, "n": 1, "predictor": None}
    return mean.rename(columns={"regret": "value", "t": f"{PREFIX}horizon"}).assign(**told)


def decide(claim: str, spec: dict, table: pd.DataFrame, other: Collection[str]) -> pd.DataFrame:
    """Apply the checks of a claim with every setting, on every instance and, if it is about each, every data set.

    ``table`` is tidy, with a column of every setting, empty where a method does not have it. Data that are not the
    paper's are left out.
    """
    named = [spec["experiment"]] if isinstance(spec["experiment"], str) else spec["experiment"]
    checks = cells.named(spec["checks"])
    asked = {cells.parse(claim, cell) for _, arguments in checks for cell in cell_names(arguments)}
    used = table["experiment"].isin(named) & table["dataset"].isin(spec["datasets"]) & ~table["dataset"].isin(other)
    methods = {cell.key for cell in asked}.union(*(arguments.get("among", []) for _, arguments in checks))
    rows = table[used & (table["method"].isna() | table["method"].isin(methods))]
    found = []
    for dataset in sorted(set(rows["dataset"])) if spec.get("each") else [None]:
        stated = dataset not in spec.get("except", [])
        for setting, instance, world in _worlds(rows if dataset is None else rows[rows["dataset"] == dataset]):
            try:
                outcome = check_all(spec["checks"], gather(world))
            except NoData:
                continue
            if outcome.used is not None and len(outcome.used) < spec.get("pool", 0):
                continue  # fewer than the paper pools cannot refute it
            own_k = {row["k"] for row in world}
            paper_k = own_k.pop() if len(own_k) == 1 else None  # none where k is what the claim is about
            found.append((claim, dataset, *setting, instance, paper_k, int(outcome.holds == stated), outcome.effect))
    return pd.DataFrame(found, columns=list(COLUMNS)) if found else marked(claim, NOT_VARIED)


def _worlds(rows: pd.DataFrame) -> Iterator[tuple[tuple, int, list[dict]]]:
    """Yield every setting and instance with the rows of methods that have the setting, or not the knob at all."""
    columns = {name: rows[PREFIX + name] for name in SETTINGS}
    levels = {name: sorted(column.dropna().unique()) or [None] for name, column in columns.items()}
    masks = {
        name: {level: (column.isna() | (column == level)).to_numpy() for level in levels[name]}
        for name, column in columns.items()
    }
    records, instances = rows.to_dict("records"), rows["instance"].to_numpy()
    own = {int(instance): instances == instance for instance in np.unique(instances)}
    for setting in product(*levels.values()):
        mask = np.logical_and.reduce([masks[name][level] for name, level in zip(SETTINGS, setting, strict=True)])
        for instance, mine in own.items():
            yield setting, instance, [records[at] for at in np.flatnonzero(mask & mine)]


def together(decided: pd.DataFrame) -> pd.DataFrame:
    """Return of one claim whether it holds with each setting on each instance: on all data sets, if it is about each.

    Random instances and data sets do not meet: a claim on both holds with a setting where it holds on all.
    """
    datasets = decided["dataset"].nunique()
    keys = list(SETTINGS if datasets else FACTORS)
    if datasets:
        on = decided.groupby(keys, dropna=False)["dataset"].transform("nunique")
        decided = decided[on == datasets]
    return decided.groupby(keys, dropna=False, sort=False)["holds"].all().reset_index()


def hangs_on(worlds: pd.DataFrame) -> dict[str, float]:
    """Return for every factor the share of the variance of a claim's truth that its levels explain by themselves."""
    truth = worlds["holds"].astype(float)
    total = truth.var(ddof=0)
    factors = [name for name in FACTORS if name in worlds and worlds[name].nunique() > 1]
    if total == 0:
        return dict.fromkeys(factors, 0.0)
    return {name: float(truth.groupby(worlds[name]).transform("mean").var(ddof=0) / total) for name in factors}


def judge(decided: pd.DataFrame) -> dict:
    """Return the verdict on one claim: holds, fails, or on what it depends; with the shares that say so."""
    worlds = together(decided)
    if not len(worlds):
        nothing = {"verdict": NOT_VARIED, "share": np.nan, "settings": 0, "factor": "", "levels": ""}
        return nothing | {"share_at_k": np.nan, "paper_k": np.nan}
    share, parts = float(worlds["holds"].mean()), hangs_on(worlds)
    factor = max(parts, key=lambda name: parts[name]) if parts else ""
    word = word_for(share)
    word = f"depends on {FACTORS[factor]}" if word == "mixed" else word
    by_level = worlds.groupby(factor)["holds"].mean() if factor else pd.Series(dtype=float)
    levels = ", ".join(f"{cells.label(level)}: {100 * part:.0f} %" for level, part in by_level.items())
    levels = f"{FACTORS[factor]} {levels}" if factor else ""
    at_k = together(decided[decided["k"] == decided["paper_k"]])["holds"].mean()
    told = {"verdict": word, "share": share, "settings": len(worlds), "factor": factor, "levels": levels}
    own = decided["paper_k"].dropna().unique()
    return told | {"share_at_k": float(at_k), "paper_k": float(own[0]) if len(own) == 1 else np.nan}


def summary(decided: pd.DataFrame) -> pd.DataFrame:
    """Return one row per claim, in order; a claim without a setting is there once, with its mark for a data set."""
    rows = []
    for claim, part in decided.groupby("claim", sort=False):
        marks = part.loc[part["holds"].isna(), "dataset"]
        told = judge(part.astype({"holds": bool})) if marks.empty else judge(part[:0]) | {"verdict": marks.iloc[0]}
        rows.append({"claim": claim} | told)
    return pd.DataFrame(
        rows, columns=["claim", "verdict", "share", "settings", "factor", "levels", "share_at_k", "paper_k"]
    )


def marked(claim: str, mark: str) -> pd.DataFrame:
    """Return the row of a claim that is not judged here."""
    return pd.DataFrame([{"claim": claim, "dataset": mark}], columns=list(COLUMNS))


def markdown(words: pd.DataFrame, decided: pd.DataFrame) -> str:
    """Render the verdicts, each with the share of settings in which the claim holds and what decides."""
    said = words.set_index("claim")["statement"].to_dict()
    table = summary(decided)
    counts = table["verdict"].str.split(" on ").str[0].value_counts()
    lines = ["# The paper's claims with other settings", "", f"{', '.join(f'{n} {w}' for w, n in counts.items())}.", ""]
    head = ["claim", "verdict", "holds in", "of settings", "at the paper's k", "share by level of what decides"]
    body = []
    for row in table.to_dict("records"):
        share, at_k = ("–" if np.isnan(x) else f"{100 * x:.0f} %" for x in (row["share"], row["share_at_k"]))
        levels = row["levels"] or "–"
        text = f"{said.get(row['claim'], '')} (`{row['claim']}`)"
        body.append([escape(text), row["verdict"], share, f"{row['settings'] or '–'}", at_k, escape(levels)])
    return "\n".join([*lines, NOTE, "", *pipe_table(head, body), ""])


NOTE = (
    "Every claim about who wins, and by how much, is judged again with each width, ridge, k, horizon, way to offer "
    "candidates and, on random graphs, instance. It `holds` if it does so in at least 95 % of them, `fails` in at most "
    "5 %, and else depends on the factor whose levels explain most of the difference. `no settings`: theorems and "
    "spectra have none. `not varied`: scores over pools of problems, which are "
    "not played again, or claims whose data are not here."
)
