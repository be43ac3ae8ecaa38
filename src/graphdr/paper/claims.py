"""Judge the paper's claims: apply their checks to every instance and data set, and derive the verdicts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr.cache.io import SCHEMAS
from graphdr.core.markdown import escape
from graphdr.paper.predicates import PREDICATES, Check, NoData, Outcome, Rows, cell_names, rows_of, values
from graphdr.paper.verdicts import VERDICTS, on_datasets, verdict_kind, word_for
from graphdr.scores import cells

Frames = Mapping[str, pd.DataFrame]
TEXTS = ("where", "statement", "criterion")  # of a claim, from the paper or the configuration
WORST = ("regret", "worst")  # quantity and method of the policy with the highest regret
COLUMNS = ("claim", *TEXTS, "measured", "verdict", "share", "available", "missing", "build")


@dataclass(frozen=True)
class ClaimSpec:
    """How a claim is judged, and on which data sets; see the block ``claims`` of config.yaml."""

    checks: list[Check]
    datasets: list[str]
    built: list[str] = field(default_factory=list)  # those of the data sets that are built
    raw: dict[str, str] = field(default_factory=dict)  # receipts of those that have raw files
    experiments: list[str] = field(default_factory=list)
    evaluation: str | None = None  # instead of experiments
    where: str | None = None
    statement: str | None = None
    criterion: str | None = None
    each: str | None = None  # judge every data set by itself
    exceptions: list[str] = field(default_factory=list)  # data sets on which the claim states the opposite
    share: float | None = None  # of the instances in which a theorem must hold
    min_problems: int | None = None  # fewer problems or data sets cannot refute the claim
    vacuous: str | None = None  # cell of a bound, which says nothing above the regret of the worst policy
    alternatives: dict[str, list[Check]] = field(default_factory=dict)  # other criteria, which do not decide


class Judgement(NamedTuple):
    """The verdict on a claim, the numbers behind it, and the data sets that counted or are missing."""

    verdict: str
    measured: str
    share: float = np.nan  # of the random instances in which the claim holds
    available: Sequence[str] = ()
    missing: Sequence[str] = ()


class Decision(NamedTuple):
    """A claim on one set of problems: its verdict, the numbers of instance 0, and whether it holds by instance."""

    word: str
    measured: str
    instances: dict[int, bool]
    used: frozenset[str] | None


def factors(claims: Mapping[str, ClaimSpec]) -> set[str]:
    """Return the names of all factors and facts that some check sorts or selects by."""
    checks = [arguments for spec in claims.values() for _, arguments in cells.named(spec.checks)]
    return {name for arguments in checks for name in [arguments.get("along"), *arguments.get("where", {})] if name}


def tidy(experiments: Frames, evaluations: Frames, problems: Mapping[str, Mapping[str, object]]) -> pd.DataFrame:
    """Join the measurements of experiments and evaluations with the data sets and factors of their problems.

    The column ``n`` of the measurements, the number of values behind a mean, becomes ``count``: ``n`` is a factor.
    """
    parts = [frame.assign(experiment=name, evaluation="") for name, frame in experiments.items()]
    parts += [frame.assign(experiment="", evaluation=name) for name, frame in evaluations.items()]
    nothing = pd.DataFrame(columns=[*SCHEMAS["measurements"].names, "experiment", "evaluation"])
    table = pd.concat(parts or [nothing], ignore_index=True)
    table = table[table["draw"] == 0].rename(columns={"n": "count"})
    columns = {}
    for factor in sorted({"dataset", *(factor for problem in problems.values() for factor in problem)}):
        columns[factor] = table["problem"].map({name: problem.get(factor) for name, problem in problems.items()})
    return table.assign(**columns)


def judge(
    spec: ClaimSpec, table: pd.DataFrame, other: Collection[str], labels: Mapping[str, str] | None = None
) -> Judgement:
    """Judge one claim; ``other`` are data sets that are not the paper's."""
    if spec.evaluation:
        rows = table[table["evaluation"] == spec.evaluation]
        judgement = _judge_evaluation(spec, rows, other)
    else:
        rows = table[table["experiment"].isin(spec.experiments) & table["dataset"].isin(spec.datasets)]
        judgement = (_judge_each if spec.each else _judge_together)(spec, rows, other)
        judgement = _mark_vacuous(spec, rows[rows["dataset"].isin(judgement.available)], judgement)
    texts = [judgement.measured, *_alternatives(spec, rows)]
    return judgement._replace(measured=cells.humanize("; ".join(texts), labels or {}))


def judge_all(
    paper: pd.DataFrame,
    claims: Mapping[str, ClaimSpec],
    table: pd.DataFrame,
    other: Collection[str],
    target: str,
    labels: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Judge all claims, those of the paper first and in its order; ``target`` is the page that shows them."""
    texts = paper.set_index("claim").to_dict("index")
    rows = []
    for name in [*texts, *(name for name in claims if name not in texts)]:
        text = dict.fromkeys(TEXTS, "") | texts.get(name, {})
        if name in claims:
            spec = claims[name]
            text |= {key: getattr(spec, key) for key in TEXTS if getattr(spec, key) is not None}
            judgement = judge(spec, table, other, labels)
            build = _command(spec, judgement.missing, target)
        else:
            judgement = Judgement("no data", "no check in config.yaml")
            build = f"not in config.yaml: claims.{name}"
        available, missing = ", ".join(judgement.available), ", ".join(judgement.missing)
        row = judgement._asdict() | {"available": available, "missing": missing, "build": build}
        rows.append({"claim": name} | {key: text[key] for key in TEXTS} | row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def markdown(claims: pd.DataFrame) -> str:
    """Render the claims: a count of verdicts, one row each, and how to build what is missing."""
    lines = ["# The paper's claims, judged", "", f"{len(claims)} claims: {_counts(claims['verdict'])}.", "", NOTE, ""]
    lines += ["| claim | statement | measured | verdict | share |", "| --- | --- | --- | --- | ---: |"]
    for row in claims.to_dict("records"):
        statement = f"{row['where']}: {row['statement']}<br><sub>{row['criterion']}</sub>"
        share = "–" if np.isnan(row["share"]) else f"{100 * row['share']:.0f} %"
        lines.append(_line(f"`{row['claim']}`", statement, row["measured"], row["verdict"], share))
    lacking = claims[claims["build"] != ""].to_dict("records")
    if lacking:
        lines += ["", "## What is missing", "", MISSING_NOTE, ""]
        lines += ["| claim | missing | to build it |", "| --- | --- | --- |"]
        lines += [_line(f"`{row['claim']}`", row["missing"], row["build"]) for row in lacking]
    return "\n".join(lines) + "\n"


def _line(*texts: str) -> str:
    return f"| {' | '.join(escape(text) for text in texts)} |"


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


def check_all(checks: Sequence[Check], table: Rows) -> Outcome:
    """Apply all checks of a claim to the rows of one instance; the effect is that of the first check."""
    outcomes = [PREDICATES[name](table, **arguments) for name, arguments in cells.named(checks)]
    used = [outcome.used for outcome in outcomes if outcome.used is not None]
    text = "; ".join(outcome.measured for outcome in outcomes)
    common = frozenset.intersection(*used) if used else None
    return Outcome(all(outcome.holds for outcome in outcomes), text, common, outcomes[0].effect)


def _decide(spec: ClaimSpec, rows: pd.DataFrame, stated: bool = True) -> Decision:
    """Check a claim, or its opposite if not ``stated``, on every instance; the share in which it holds decides."""
    outcomes: dict[int, Outcome] = {}
    lacking: NoData | None = None
    for instance, part in rows.groupby("instance"):
        try:
            outcomes[int(instance)] = check_all(spec.checks, rows_of(part))
        except NoData as error:
            lacking = lacking or error
    if not outcomes or (spec.share is None and 0 not in outcomes):
        raise lacking or NoData("measurement")
    first = outcomes[min(outcomes)]
    instances = {instance: outcome.holds == stated for instance, outcome in outcomes.items()}
    good, count = sum(instances.values()), len(instances)
    text = f"; holds in {good} of {count} instances" if count > 1 else ""
    return Decision(word_for(good / count, spec.share), first.measured + text, instances, first.used)


def _judge_each(spec: ClaimSpec, rows: pd.DataFrame, other: Collection[str]) -> Judgement:
    """Judge a claim on every data set by itself; on its exceptions it states the opposite."""
    decisions: dict[str, Decision] = {}
    lacking = []
    for dataset in spec.datasets:
        try:
            stated = dataset not in spec.exceptions
            decisions[dataset] = _decide(spec, rows[rows["dataset"] == dataset], stated)
        except NoData as error:
            lacking.append(f"`{dataset}` ({f'no {error}' if dataset in spec.built else 'not built'})")
    texts: dict[str, list[str]] = {"as claimed": [], "mixed": [], "not as claimed": [], "other data, not counted": []}
    for dataset, decision in decisions.items():
        word = {"holds": "as claimed", "fails": "not as claimed"}.get(decision.word, decision.word)
        if dataset in other:
            texts["other data, not counted"].append(f"`{dataset}` ({decision.measured}, {word})")
        else:
            texts[word].append(f"`{dataset}` ({decision.measured})")
    counted = [dataset for dataset in decisions if dataset not in other]
    missing = [dataset for dataset in spec.datasets if dataset not in counted]
    wrong, mixed = len(texts["not as claimed"]), len(texts["mixed"])
    word = "fails" if wrong else "mixed" if mixed else "holds"
    verdict = on_datasets(word, wrong or mixed, len(counted), missing)
    measured = _sentences(texts | {"no data": lacking})
    return Judgement(verdict, measured, _share_of_all(decisions.values()), counted, missing)


def _share_of_all(decisions: Iterable[Decision]) -> float:
    """Return the share of instances in which a claim holds on all data sets that have several instances."""
    several = [decision.instances for decision in decisions if len(decision.instances) > 1]
    common = set.intersection(*map(set, several)) if several else set()
    holds = [all(instances[instance] for instances in several) for instance in common]
    return float(np.mean(holds)) if holds else np.nan


def _judge_together(spec: ClaimSpec, rows: pd.DataFrame, other: Collection[str]) -> Judgement:
    """Judge a claim on all problems together, without those on data that are not the paper's."""
    ours = rows[~rows["dataset"].isin(list(other))]
    texts: dict[str, list[str]] = {}
    decision = None
    try:
        decision = _decide(spec, ours)
        texts[""] = [decision.measured]
    except NoData as error:
        texts["no data"] = [f"no {error}" if len(ours) else "not built"]
    if len(ours) < len(rows):
        excluded = set(rows["dataset"]) & set(other)
        names = ", ".join(f"`{name}`" for name in spec.datasets if name in excluded)
        try:
            with_other = _decide(spec, rows)
            texts[f"with other data ({names}), not counted"] = [f"{with_other.word}, {with_other.measured}"]
        except NoData as error:
            texts[f"with other data ({names})"] = [f"no {error}"]
    if decision is None:
        return Judgement("no data", _sentences(texts), missing=spec.datasets)
    seen = set(ours["dataset"]) if decision.used is None else decision.used
    used = [dataset for dataset in spec.datasets if dataset in seen]
    missing = [dataset for dataset in spec.datasets if dataset not in used]
    verdict = on_datasets(decision.word, 0, len(used), missing)
    if decision.word == "fails" and len(used) < (spec.min_problems or 0):
        verdict = f"no data ({verdict})"  # the claim may hold on all together
    return Judgement(verdict, _sentences(texts), _share(spec, ours, decision), used, missing)


def _judge_evaluation(spec: ClaimSpec, rows: pd.DataFrame, other: Collection[str]) -> Judgement:
    """Judge a claim on scores; a score over problems of other data than the paper's is shown, but not judged."""
    missing = [dataset for dataset in spec.datasets if dataset not in spec.built]
    try:
        decision = _decide(spec, rows)
    except NoData as error:
        reason = f"no {error}" if len(rows) else "not built"
        return Judgement("no data", f"no data: {reason}", missing=missing or spec.datasets)
    tested = [cell for _, arguments in cells.named(spec.checks) for cell in cell_names(arguments)]
    table = rows_of(rows)
    scored = min(count for cell in tested for _, count in values(table, cell, "n"))
    foreign = [name for name in spec.built if name in other]
    verdict = "no data" if foreign else decision.word
    if not foreign and scored < (spec.min_problems or 0):
        verdict += f" on {scored:g} of {spec.min_problems} pooled"
    if reservation := _sentences({"missing": missing, "other data": foreign}, ", "):
        verdict += f" ({reservation})"
    measured = f"{decision.measured}; with other data, not counted: {decision.word}" if foreign else decision.measured
    return Judgement(verdict, measured, _share(spec, rows, decision), spec.built, missing)


def _mark_vacuous(spec: ClaimSpec, rows: pd.DataFrame, judgement: Judgement) -> Judgement:
    """Mark a bound that holds as vacuous where it is above the regret of the worst policy."""
    if not spec.vacuous or not judgement.verdict.startswith("holds"):
        return judgement
    columns = {}
    for name, (quantity, method) in {"bound": spec.vacuous.split("@"), "worst": WORST}.items():
        part = rows[(rows["quantity"] == quantity) & (rows["method"] == method)]
        columns[name] = part.set_index(["problem", "instance"])["value"]
    pairs = pd.concat(columns, axis=1).dropna()
    above = pairs["bound"] >= pairs["worst"]
    if not above.any():
        return judgement
    word = "vacuous" if above.all() else f"vacuous in {above.sum()} of {len(above)} runs"
    ratios = (pairs["bound"] / pairs["worst"])[above]
    low, high = cells.number(ratios.min()), cells.number(ratios.max())
    measured = f"{judgement.measured}; the bound is {low} to {high} times the regret of the worst policy"
    verdict = judgement.verdict.replace("holds", f"holds, {word}", 1)
    return judgement._replace(verdict=verdict, measured=measured)


def _alternatives(spec: ClaimSpec, rows: pd.DataFrame) -> list[str]:
    """Say in how many instances other criteria than the paper's hold; they do not decide."""
    texts = []
    for label, checks in spec.alternatives.items():
        try:
            instances = _decide(replace(spec, checks=checks), rows).instances
        except NoData:
            continue
        texts.append(f"{label}: holds in {sum(instances.values())} of {len(instances)} instances")
    return texts


def _share(spec: ClaimSpec, rows: pd.DataFrame, decision: Decision) -> float:
    """Return the share of instances in which a claim holds, on the data sets that have several instances."""
    several = rows.groupby(rows["dataset"].fillna(""))["instance"].transform("nunique") > 1
    if not several.all() or rows.empty:
        try:
            decision = _decide(spec, rows[several])
        except NoData:
            return np.nan
    return float(np.mean(list(decision.instances.values())))


def _counts(verdicts: pd.Series) -> str:
    """Count the verdicts, and those of them that have a reservation."""
    kinds = verdicts.map(verdict_kind)
    texts = []
    for kind, verb in VERDICTS.items():
        alike = verdicts[kinds == kind]
        reserved = (~alike.isin([kind, f"holds, {kind}"])).sum()
        if len(alike):
            texts.append(f"{len(alike)} {verb}" + (f" ({reserved} with a reservation)" if reserved else ""))
    return ", ".join(texts)


def _sentences(parts: Mapping[str, Sequence[str]], comma: str = "; ") -> str:
    joined = {label: comma.join(texts) for label, texts in parts.items() if texts}
    return "; ".join(f"{label}: {text}" if label else text for label, text in joined.items())


def _command(spec: ClaimSpec, missing: Collection[str], target: str) -> str:
    """Say how to get missing data sets: build them, or put the paper's files in place and build again."""
    texts = []
    absent = [dataset for dataset in missing if dataset not in spec.built]
    if absent:
        targets = [*(name for name in absent if name in spec.raw), target]
        texts.append(f"`snakemake --cores all {' '.join(targets)}`")
    foreign = [dataset for dataset in missing if dataset in spec.built and dataset in spec.raw]
    if foreign:
        receipts = " ".join(spec.raw[dataset] for dataset in foreign)
        again = f"`snakemake --cores all --forcerun {receipts} -- {target}`"
        texts.append(f"with the paper's own files of {', '.join(foreign)} in place: {again}")
    return "; ".join(texts)
