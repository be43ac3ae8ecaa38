"""Judge the paper's claims: checks on every instance and data set, and the verdicts that follow from them."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr.cache.schemas import SCHEMAS
from graphdr.core.markdown import escape
from graphdr.paper.predicates import MOST, PREDICATES, NoData, Outcome, Rows, cell_names, rows_of, values
from graphdr.paper.verdicts import VERDICTS, verdict_kind
from graphdr.scores import cells

Frames = dict[str, pd.DataFrame]
EMPTY: Mapping[str, str] = {}
WORDS = ("where", "statement", "criterion")  # that the paper or the configuration has on a claim
WORST = ("regret", "worst")  # quantity and method of the policy that loses most
COLUMNS = ("claim", *WORDS, "measured", "verdict", "share", "available", "missing", "build")


def factors(claims: dict[str, dict]) -> set[str]:
    """Return the names of all factors and facts that some check sorts or selects by."""
    checks = [arguments for spec in claims.values() for _, arguments in cells.named(spec["checks"])]
    return {name for arguments in checks for name in [arguments.get("along"), *arguments.get("where", {})] if name}


def tidy(experiments: Frames, evaluations: Frames, problems: dict[str, dict]) -> pd.DataFrame:
    """Join the measurements of experiments and evaluations with the data sets and factors of their problems.

    The number of values behind a mean, ``n`` in the measurements, is called ``count`` here: ``n`` is a factor.
    """
    parts = [frame.assign(experiment=name, evaluation="") for name, frame in experiments.items()]
    parts += [frame.assign(experiment="", evaluation=name) for name, frame in evaluations.items()]
    nothing = pd.DataFrame(columns=[*SCHEMAS["measurements"].names, "experiment", "evaluation"])
    table = pd.concat(parts or [nothing], ignore_index=True)
    table = table[table["draw"] == 0].rename(columns={"n": "count"})
    names = sorted({"dataset", *(factor for problem in problems.values() for factor in problem)})
    factors = {factor: {name: problem.get(factor) for name, problem in problems.items()} for factor in names}
    return table.assign(**{factor: table["problem"].map(levels) for factor, levels in factors.items()})


class Judged(NamedTuple):
    """A claim on one pool of problems: the word of its verdict, its numbers, and the decision on every instance."""

    word: str
    measured: str
    instances: dict[int, bool]
    used: frozenset[str] | None


def judge(spec: dict, table: pd.DataFrame, other: Collection[str], labels: Mapping[str, str] = EMPTY) -> dict:
    """Judge one claim; ``other`` are data sets that are not the paper's, and ``spec`` says what it is about.

    Besides what the configuration says, ``spec`` has the ``datasets`` that the claim is about, those of them that are
    ``here``, and the names ``unknown`` to the configuration that it draws on. ``labels`` are words for names.
    """
    row = _judged(spec, table, other)
    return row | {"measured": cells.worded(row["measured"], labels)}


def _judged(spec: dict, table: pd.DataFrame, other: Collection[str]) -> dict:
    if "evaluation" in spec:
        rows = table[table["evaluation"] == spec["evaluation"]]
        return _beside(spec, rows, _judge_evaluation(spec, rows, other))
    named = spec["experiment"]
    rows = table[table["experiment"].isin([named] if isinstance(named, str) else named)]
    rows = rows[rows["dataset"].isin(spec["datasets"])]
    row = (_judge_each if spec.get("each") else _judge_pool)(spec, rows, other)
    return _beside(spec, rows, _vacuous(spec, rows[rows["dataset"].isin(row["available"])], row))


def judge_all(
    words: pd.DataFrame,
    claims: dict[str, dict],
    table: pd.DataFrame,
    other: Collection[str],
    target: str,
    labels: Mapping[str, str] = EMPTY,
) -> pd.DataFrame:
    """Judge all claims, those of the paper first and in its order; ``target`` is the page that shows them."""
    said = words.set_index("claim").to_dict("index")
    rows = []
    for claim in [*said, *(name for name in claims if name not in said)]:
        spec = claims.get(claim)
        text = dict.fromkeys(WORDS, "") | said.get(claim, {}) | (spec or {})
        row = _row("no data", "no check in config.yaml") if spec is None else judge(spec, table, other, labels)
        row["build"] = _command(spec or {"unknown": [f"claims.{claim}"]}, row["missing"], target)
        row |= {name: ", ".join(row[name]) for name in ("available", "missing")}
        rows.append({"claim": claim} | {name: text[name] for name in WORDS} | row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def verdict(word: str, number: int, counted: int, missing: Collection[str]) -> str:
    """Return the verdict on a claim for which this is the word on a number of the data sets that count, or on all."""
    if counted == 0:
        return "no data"
    return f"{word} on {number or counted} of {counted} available (missing: {', '.join(missing)})" if missing else word


def markdown(claims: pd.DataFrame) -> str:
    """Render the claims: a count of verdicts, one row each, and how to build what is missing."""

    def line(*texts):
        return f"| {' | '.join(escape(text) for text in texts)} |"

    lines = ["# The paper's claims, judged", "", f"{len(claims)} claims: {_counts(claims['verdict'])}.", "", NOTE, ""]
    lines += ["| claim | statement | measured | verdict | share |", "| --- | --- | --- | --- | ---: |"]
    for row in claims.to_dict("records"):
        said = f"{row['where']}: {row['statement']}<br><sub>{row['criterion']}</sub>"
        share = "–" if np.isnan(row["share"]) else f"{100 * row['share']:.0f} %"
        lines.append(line(f"`{row['claim']}`", said, row["measured"], row["verdict"], share))
    if lacking := claims[claims["build"] != ""].to_dict("records"):
        lines += ["", "## What is missing", "", MISSING_NOTE, ""]
        lines += ["| claim | missing | to build it |", "| --- | --- | --- |"]
        lines += [line(f"`{row['claim']}`", row["missing"], row["build"]) for row in lacking]
    return "\n".join(lines) + "\n"


NOTE = (
    "Where there are random instances, all of them decide: a claim `holds` in at least 95 % of them, `fails` if it "
    "holds in at most 5 %, and is `mixed` between; a theorem must hold in all, or in as many as it says. The numbers "
    "are those of instance 0, as in the tables, and `share` is the share in which the claim holds. A bound is "
    "`vacuous` where no policy could break it. A verdict has a reservation where data sets are missing. Data that are "
    "not the paper's (another release, or a part) count as missing, and what they show stands apart; a score "
    "that pools them with others is shown, but not judged."
)
MISSING_NOTE = (
    "A data set that was built and is missing nevertheless is not the paper's, or lacks a file that the claim needs: "
    "data/README.md says where to place the files."
)


def _decide(spec: dict, rows: pd.DataFrame, stated: bool = True) -> Judged:
    """Apply the checks of a claim to every instance; their share decides, or that which a theorem asks for."""
    outcomes: dict[int, Outcome] = {}
    lacking = None
    for instance, part in rows.groupby("instance"):
        try:
            outcomes[int(instance)] = check_all(spec["checks"], rows_of(part))
        except NoData as error:
            lacking = lacking or error
    least = spec.get("share")
    if not outcomes or (least is None and 0 not in outcomes):
        raise lacking or NoData("measurement")
    first = outcomes[min(outcomes)]
    instances = {instance: outcome.holds == stated for instance, outcome in outcomes.items()}
    good, count = sum(instances.values()), len(instances)
    text = f"; holds in {good} of {count} instances" if count > 1 else ""
    return Judged(word_for(good / count, least), first.measured + text, instances, first.used)


def word_for(share: float, least: float | None = None) -> str:
    """Return the word for a claim that holds in a share of the instances, of which a theorem needs at least some."""
    if least is not None:
        return "holds" if share >= least else "fails"
    return "holds" if share >= MOST else "fails" if share <= 1 - MOST else "mixed"


def check_all(checks: list[dict], table: Rows) -> Outcome:
    """Apply all checks of a claim to the rows of one instance; the effect is that of the first."""
    outcomes = [PREDICATES[name](table, **arguments) for name, arguments in cells.named(checks)]
    used = [outcome.used for outcome in outcomes if outcome.used is not None]
    text = "; ".join(outcome.measured for outcome in outcomes)
    both = frozenset.intersection(*used) if used else None
    return Outcome(all(outcome.holds for outcome in outcomes), text, both, outcomes[0].effect)


def _judge_each(spec: dict, rows: pd.DataFrame, other: Collection[str]) -> dict:
    """Judge a claim on every data set by itself; on its exceptions it states the opposite."""
    judged: dict[str, Judged] = {}
    lacking = list(spec["unknown"])
    for dataset in spec["datasets"]:
        try:
            stated = dataset not in spec.get("except", [])
            judged[dataset] = _decide(spec, rows[rows["dataset"] == dataset], stated)
        except NoData as error:
            lacking.append(f"`{dataset}` ({f'no {error}' if dataset in spec['here'] else 'not built'})")
    texts: dict[str, list[str]] = {"as claimed": [], "mixed": [], "not as claimed": [], "other data, not counted": []}
    for dataset, (decided, measured, *_) in judged.items():
        word = {"holds": "as claimed", "fails": "not as claimed"}.get(decided, decided)
        if dataset in other:
            texts["other data, not counted"].append(f"`{dataset}` ({measured}, {word})")
        else:
            texts[word].append(f"`{dataset}` ({measured})")
    counted = [dataset for dataset in judged if dataset not in other]
    missing = [*spec["unknown"], *(dataset for dataset in spec["datasets"] if dataset not in counted)]
    wrong, mixed = len(texts["not as claimed"]), len(texts["mixed"])
    said = verdict("fails" if wrong else "mixed" if mixed else "holds", wrong or mixed, len(counted), missing)
    panels = [panel for _, _, panel, _ in judged.values() if len(panel) > 1]
    common = set.intersection(*map(set, panels)) if panels else set()
    agreed = [all(panel[instance] for panel in panels) for instance in common]
    return _row(said, _sentences(texts | {"no data": lacking}), np.mean(agreed) if agreed else np.nan, counted, missing)


def _judge_pool(spec: dict, rows: pd.DataFrame, other: Collection[str]) -> dict:
    """Judge a claim on all problems together, those on data that are not the paper's left aside."""
    ours = rows[~rows["dataset"].isin(list(other))]
    texts, judged = {}, None
    try:
        judged = _decide(spec, ours)
        texts[""] = [judged.measured]
    except NoData as error:
        texts["no data"] = spec["unknown"] or [f"no {error}" if len(ours) else "not built"]
    if len(ours) < len(rows):
        names = ", ".join(f"`{name}`" for name in spec["datasets"] if name in set(rows["dataset"]) & set(other))
        try:
            aside = _decide(spec, rows)
            texts[f"with other data ({names}), not counted"] = [f"{aside.word}, {aside.measured}"]
        except NoData as error:
            texts[f"with other data ({names})"] = [f"no {error}"]
    seen = set() if judged is None else set(ours["dataset"]) if judged.used is None else judged.used
    used = [dataset for dataset in spec["datasets"] if dataset in seen]
    missing = [*spec["unknown"], *(dataset for dataset in spec["datasets"] if dataset not in used)]
    said = "no data" if judged is None else verdict(judged.word, 0, len(used), missing)
    if judged is not None and judged.word == "fails" and len(used) < spec.get("pool", 0):
        said = f"no data ({said})"  # of all together it may be true nevertheless
    return _row(said, _sentences(texts), _share(spec, ours, judged), used, missing)


def _judge_evaluation(spec: dict, rows: pd.DataFrame, other: Collection[str]) -> dict:
    """Judge a claim on scores; a pool cannot be taken apart, so that one with data not the paper's is not judged."""
    missing = [*spec["unknown"], *(dataset for dataset in spec["datasets"] if dataset not in spec["here"])]
    try:
        judged = _decide(spec, rows)
    except NoData as error:
        why = spec["unknown"] or [f"no {error}" if len(rows) else "not built"]
        return _row("no data", _sentences({"no data": why}), missing=missing or spec["datasets"])
    tested = [cell for _, arguments in cells.named(spec["checks"]) for cell in cell_names(arguments)]
    pooled = min(count for cell in tested for _, count in values(rows_of(rows), cell, "n"))
    foreign = [name for name in spec["here"] if name in other]
    said = "no data" if foreign else judged.word
    if not foreign and pooled < spec.get("pool", 0):
        said += f" on {pooled:g} of {spec['pool']} pooled"
    if qualified := _sentences({"missing": missing, "other data": foreign}, ", "):
        said += f" ({qualified})"
    measured = f"{judged.measured}; with other data, not counted: {judged.word}" if foreign else judged.measured
    return _row(said, measured, _share(spec, rows, judged), spec["here"], missing)


def _vacuous(spec: dict, rows: pd.DataFrame, row: dict) -> dict:
    """Say of a bound that holds where it is above what any policy could lose, so that it could not have failed."""
    if not spec.get("vacuous") or not row["verdict"].startswith("holds"):
        return row
    both = [rows[(rows["quantity"] == of) & (rows["method"] == by)] for of, by in (spec["vacuous"].split("@"), WORST)]
    bound, worst = (part.set_index(["problem", "instance"])["value"] for part in both)
    pairs = pd.concat({"bound": bound, "worst": worst}, axis=1).dropna()
    above = pairs["bound"] >= pairs["worst"]
    if not above.any():
        return row
    said = "vacuous" if above.all() else f"vacuous in {above.sum()} of {len(above)} runs"
    least, most = ((pairs["bound"] / pairs["worst"])[above].agg(["min", "max"])).map(cells.number)
    told = f"{row['measured']}; the bound is {least} to {most} times the regret of the worst policy"
    return row | {"verdict": row["verdict"].replace("holds", f"holds, {said}", 1), "measured": told}


def _beside(spec: dict, rows: pd.DataFrame, row: dict) -> dict:
    """Add what other criteria than the paper's would give; they do not decide."""
    texts = []
    for label, checks in spec.get("beside", {}).items():
        try:
            instances = list(_decide(spec | {"checks": checks}, rows).instances.values())
        except NoData:
            continue
        texts.append(f"{label}: holds in {sum(instances)} of {len(instances)} instances")
    return row | {"measured": "; ".join([row["measured"], *texts])}


def _share(spec: dict, rows: pd.DataFrame, judged: Judged | None) -> float:
    """Return the share of instances in which a claim holds, on the data sets of which there are several."""
    if judged is None:
        return np.nan
    several = rows.groupby(rows["dataset"].fillna(""))["instance"].transform("nunique") > 1
    try:
        judged = judged if several.all() and len(rows) else _decide(spec, rows[several])
    except NoData:
        return np.nan
    return float(np.mean(list(judged.instances.values())))


def _counts(verdicts: pd.Series) -> str:
    """Count the verdicts, and among them those with a reservation."""
    texts = []
    for kind, verb in VERDICTS.items():
        alike = verdicts[verdicts.map(verdict_kind) == kind]
        reserved = (~alike.isin([kind, f"holds, {kind}"])).sum()
        if len(alike):
            texts.append(f"{len(alike)} {verb}" + (f" ({reserved} with a reservation)" if reserved else ""))
    return ", ".join(texts)


def _sentences(parts: dict[str, list[str]], comma: str = "; ") -> str:
    filled = {label: comma.join(texts) for label, texts in parts.items() if texts}
    return "; ".join(f"{label}: {text}" if label else text for label, text in filled.items())


def _row(verdict: str, measured: str, share: float = np.nan, available: list = (), missing: list = ()) -> dict:
    return {"measured": measured, "verdict": verdict, "share": share, "available": available, "missing": missing}


def _command(spec: dict, missing: Collection[str], target: str) -> str:
    """Say how to get what a claim lacks: data sets that were not built, or files of the paper's for those that were."""
    if spec["unknown"]:
        return f"not in config.yaml: {', '.join(spec['unknown'])}"
    texts, raw = [], spec["raw"]
    if absent := [dataset for dataset in missing if dataset not in spec["here"]]:
        texts.append(f"`snakemake --cores all {' '.join([*(name for name in absent if name in raw), target])}`")
    if poor := [dataset for dataset in missing if dataset in spec["here"] and dataset in raw]:
        again = f"`snakemake --cores all --forcerun {' '.join(raw[dataset] for dataset in poor)} -- {target}`"
        texts.append(f"with the paper's own files of {', '.join(poor)} in place: {again}")
    return "; ".join(texts)
