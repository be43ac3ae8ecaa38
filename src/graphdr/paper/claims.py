"""Judge the paper's claims: apply their checks to every instance and data set, and derive the verdicts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr.cache.io import SCHEMAS
from graphdr.core.terminal import escape
from graphdr.paper.predicates import PREDICATES, Check, NoData, Outcome, Rows, cell_names, values
from graphdr.paper.verdicts import VERDICTS, verdict_kind, word_for
from graphdr.scores import cells

OTHER = "other data, not counted"
# What is said of a data set on which a claim is judged by itself, by verdict and in the order of the text.
BY_DATASET = {"holds": "as claimed", "mixed": "mixed", "fails": "not as claimed", "other": OTHER, "no data": "no data"}
TEXTS = ("where", "statement", "criterion")  # of a claim, from the paper or the configuration
WORST = "regret@worst"  # the policy with the highest regret
COLUMNS = ("claim", *TEXTS, "measured", "verdict", "share", "available", "missing", "build")

Frames = Mapping[str, pd.DataFrame]


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
    """A claim on one set of problems: its verdict, the numbers of instance 0, and whether it holds by instance.

    Without data, the numbers are what is lacking, and there are no instances.
    """

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
        if spec.vacuous and judgement.verdict.startswith("holds"):
            judgement = _mark_vacuous(spec.vacuous, rows[rows["dataset"].isin(judgement.available)], judgement)
    texts = [judgement.measured]
    for label, checks in spec.alternatives.items():
        if instances := _decide(replace(spec, checks=checks), rows).instances:
            texts.append(f"{label}: {_count(instances)}")
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
    for name in dict.fromkeys([*texts, *claims]):
        row = {"claim": name} | dict.fromkeys(TEXTS, "") | texts.get(name, {})
        judgement = Judgement("no data", "no check in config.yaml")
        row["build"] = f"not in config.yaml: claims.{name}"
        if name in claims:
            spec = claims[name]
            row |= {key: text for key in TEXTS if (text := getattr(spec, key)) is not None}
            judgement = judge(spec, table, other, labels)
            row["build"] = _command(spec, judgement.missing, target)
        row |= judgement._asdict()
        rows.append(row | {name: ", ".join(row[name]) for name in ("available", "missing")})
    return pd.DataFrame(rows, columns=list(COLUMNS))


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
            outcomes[int(instance)] = check_all(spec.checks, Rows(part.to_dict("records")))
        except NoData as error:
            lacking = lacking or error
    if not outcomes or (spec.share is None and 0 not in outcomes):
        return Decision("no data", f"no {lacking or 'measurement'}", {}, None)
    first = outcomes[min(outcomes)]
    instances = {instance: outcome.holds == stated for instance, outcome in outcomes.items()}
    text = f"{first.measured}; {_count(instances)}" if len(instances) > 1 else first.measured
    return Decision(word_for(sum(instances.values()) / len(instances), spec.share), text, instances, first.used)


def _count(instances: Mapping[int, bool]) -> str:
    return f"holds in {sum(instances.values())} of {len(instances)} instances"


def _judge_each(spec: ClaimSpec, rows: pd.DataFrame, other: Collection[str]) -> Judgement:
    """Judge a claim on every data set by itself; on its exceptions it states the opposite."""
    texts: dict[str, list[str]] = {label: [] for label in BY_DATASET.values()}
    counted, several = [], []
    for dataset in spec.datasets:
        decision = _decide(spec, rows[rows["dataset"] == dataset], dataset not in spec.exceptions)
        label, text = BY_DATASET[decision.word], decision.measured
        if decision.word == "no data":
            text = text if dataset in spec.built else "not built"
        elif dataset in other:
            label, text = OTHER, f"{text}, {label}"
        else:
            counted.append(dataset)
        texts[label].append(f"`{dataset}` ({text})")
        if len(decision.instances) > 1:
            several.append(decision.instances)
    wrong, mixed = len(texts["not as claimed"]), len(texts["mixed"])
    missing = [dataset for dataset in spec.datasets if dataset not in counted]
    verdict = _on_datasets("fails" if wrong else "mixed" if mixed else "holds", wrong or mixed, len(counted), missing)
    # The share of the instances in which the claim holds on all data sets that have several.
    common = set.intersection(*map(set, several)) if several else set()
    holds = [all(instances[instance] for instances in several) for instance in common]
    return Judgement(verdict, _sentences(texts), float(np.mean(holds)) if holds else np.nan, counted, missing)


def _judge_together(spec: ClaimSpec, rows: pd.DataFrame, other: Collection[str]) -> Judgement:
    """Judge a claim on all problems together, without those on data that are not the paper's."""
    ours = rows[~rows["dataset"].isin(list(other))]
    decision = _decide(spec, ours)
    texts = {"": [decision.measured]}
    if decision.word == "no data":
        texts = {"no data": [decision.measured if len(ours) else "not built"]}
    if len(ours) < len(rows):
        excluded = set(rows["dataset"]) & set(other)
        label = f"with other data ({', '.join(f'`{name}`' for name in spec.datasets if name in excluded)})"
        with_other = _decide(spec, rows)
        if with_other.word == "no data":
            texts[label] = [with_other.measured]
        else:
            texts[f"{label}, not counted"] = [f"{with_other.word}, {with_other.measured}"]
    if decision.word == "no data":
        return Judgement("no data", _sentences(texts), missing=spec.datasets)
    seen = set(ours["dataset"]) if decision.used is None else decision.used
    used = [dataset for dataset in spec.datasets if dataset in seen]
    missing = [dataset for dataset in spec.datasets if dataset not in used]
    verdict = _on_datasets(decision.word, 0, len(used), missing)
    if decision.word == "fails" and len(used) < (spec.min_problems or 0):
        verdict = f"no data ({verdict})"  # the claim may hold on all together
    return Judgement(verdict, _sentences(texts), _share(spec, ours, decision), used, missing)


def _judge_evaluation(spec: ClaimSpec, rows: pd.DataFrame, other: Collection[str]) -> Judgement:
    """Judge a claim on scores; a score over problems of other data than the paper's is shown, but not judged."""
    missing = [dataset for dataset in spec.datasets if dataset not in spec.built]
    verdict, measured, *_ = decision = _decide(spec, rows)
    if verdict == "no data":
        reason = measured if len(rows) else "not built"
        return Judgement("no data", f"no data: {reason}", missing=missing or spec.datasets)
    table = Rows(rows.to_dict("records"))
    tested = [cell for _, arguments in cells.named(spec.checks) for cell in cell_names(arguments)]
    scored = min(count for cell in tested for _, count in values(table, cell, "n"))
    foreign = [name for name in spec.built if name in other]
    if foreign:
        verdict, measured = "no data", f"{measured}; with other data, not counted: {verdict}"
    elif scored < (spec.min_problems or 0):
        verdict += f" on {scored:g} of {spec.min_problems} pooled"
    if reservation := _sentences({"missing": missing, "other data": foreign}, ", "):
        verdict += f" ({reservation})"
    return Judgement(verdict, measured, _share(spec, rows, decision), spec.built, missing)


def _on_datasets(word: str, number: int, counted: int, missing: Collection[str]) -> str:
    """Return the verdict that holds on a number (or all, if 0) of the counted data sets, with what is missing."""
    if counted == 0:
        return "no data"
    return f"{word} on {number or counted} of {counted} available (missing: {', '.join(missing)})" if missing else word


def _mark_vacuous(bound: str, rows: pd.DataFrame, judgement: Judgement) -> Judgement:
    """Mark a bound that holds as vacuous where it is above the regret of the worst policy."""
    runs = rows.assign(cell=rows["quantity"] + "@" + rows["method"]).set_index(["problem", "instance"])
    pairs = pd.concat({cell: runs.loc[runs["cell"] == cell, "value"] for cell in (bound, WORST)}, axis=1).dropna()
    ratios = pairs[bound] / pairs[WORST]
    above = ratios[pairs[bound] >= pairs[WORST]]
    if above.empty:
        return judgement
    word = "vacuous" if len(above) == len(pairs) else f"vacuous in {len(above)} of {len(pairs)} runs"
    low, high = cells.number(above.min()), cells.number(above.max())
    measured = f"{judgement.measured}; the bound is {low} to {high} times the regret of the worst policy"
    return judgement._replace(verdict=judgement.verdict.replace("holds", f"holds, {word}", 1), measured=measured)


def _share(spec: ClaimSpec, rows: pd.DataFrame, decision: Decision) -> float:
    """Return the share of instances in which a claim holds, on the data sets that have several instances."""
    several = rows.groupby(rows["dataset"].fillna(""))["instance"].transform("nunique") > 1
    if not several.all() or rows.empty:
        decision = _decide(spec, rows[several])
    return float(np.mean(list(decision.instances.values()))) if decision.instances else np.nan


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


# The page


def markdown(claims: pd.DataFrame) -> str:
    """Render the claims: a count of verdicts, one row each, and how to build what is missing."""
    counts = []
    for kind, verb in VERDICTS.items():
        alike = [verdict for verdict in claims["verdict"] if verdict_kind(verdict) == kind]
        reserved = sum(verdict not in (kind, f"holds, {kind}") for verdict in alike)
        if alike:
            counts.append(f"{len(alike)} {verb}" + (f" ({reserved} with a reservation)" if reserved else ""))
    lines = ["# The paper's claims, judged", "", f"{len(claims)} claims: {', '.join(counts)}.", "", NOTE, ""]
    lines += ["| claim | statement | measured | verdict | share |", "| --- | --- | --- | --- | ---: |"]
    for row in claims.to_dict("records"):
        statement = f"{row['where']}: {row['statement']}<br><sub>{row['criterion']}</sub>"
        share = "–" if np.isnan(row["share"]) else f"{100 * row['share']:.0f} %"
        lines.append(_line(f"`{row['claim']}`", statement, row["measured"], row["verdict"], share))
    lacking = [row for row in claims.to_dict("records") if row["build"]]
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
