"""The power of the verdicts: judge simulated papers, by our protocol and by others, as the paper is judged."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.terminal import pipe_table
from graphdr.paper.compare import Ours, verdict

LEVEL = 0.05
OURS, PAPER = "ours (control)", "the paper itself"
NUMBERS, REGRETS, ERRORS = TESTS = ("numbers", "regrets", "standard errors")

Line = Mapping[str, Any]  # a stored row: that of a table, with the fields of ``Row``


class Papers(NamedTuple):
    """The numbers that papers print: the regret of each method with its standard error (papers x methods)."""

    values: np.ndarray
    sems: np.ndarray

    def take(self, rows: Any) -> "Papers":
        """Return some of the papers."""
        return Papers(self.values[rows], self.sems[rows])


class Row(NamedTuple):
    """The result of one test on one protocol, as stored; ``paper_p`` is its p-value for the paper itself."""

    protocol: str
    test: str
    papers: int
    judged: int
    caught: int
    share: float
    p: float
    paper_p: float


def by_instance(measurements: pd.DataFrame, problem: str, methods: Sequence[str]) -> Papers:
    """Return the regrets of all instances of a problem, each instance as one paper."""
    rows = measurements[(measurements["problem"] == problem) & (measurements["quantity"] == "regret")]
    rows = rows[(rows["draw"] == 0) & rows["method"].isin(methods)]
    wide = rows.pivot(index="instance", columns="method", values=["value", "sem"]).sort_index()
    return Papers(*(wide[name][list(methods)].to_numpy(float) for name in ("value", "sem")))


def contradicted(paper: Papers, instances: Papers) -> int:
    """Count the numbers of one paper that differ from ours, those of the first instance, by the rules for the paper."""
    count = 0
    for method, (value, sem) in enumerate(zip(paper.values[0], paper.sems[0], strict=True)):
        ours = Ours(instances.values[0, method], instances.sems[0, method], instances.values[:, method])
        count += verdict(f"{value:.6g}", sem, ours, None) == "differs"
    return count


def joint_p(vector: np.ndarray, draws: np.ndarray) -> float:
    """Return the p-value of Hotelling's T² that a vector is one more of the draws (draws x entries).

    Correlations between the entries, such as the regrets on one instance, are taken into account.
    """
    from scipy.special import fdtrc  # not needed by a build without simulated papers

    n, entries = draws.shape
    if n <= entries + 1 or not (np.isfinite(vector).all() and np.isfinite(draws).all()):
        return np.nan
    off = vector - draws.mean(axis=0)
    squared = off @ np.linalg.pinv(np.cov(draws.T), hermitian=True) @ off * n / (n + 1)
    return float(fdtrc(entries, n - entries, squared * (n - entries) / (entries * (n - 1))))


def exchange_p(caught: np.ndarray, control: np.ndarray) -> float:
    """Return the probability of so many caught in all, if papers of both kinds were exchanged at random.

    The counts of a paper stay together. With one count of 0 or 1 per paper it is Fisher's exact test, one-sided.
    """
    counts = np.concatenate([caught, control]).astype(int)
    ways = np.zeros((len(caught) + 1, counts.sum() + 1))  # to choose so many papers with so many caught in all
    ways[0, 0] = 1
    for count in counts:
        ways[1:, count:] += ways[:-1, : ways.shape[1] - count].copy()
    return float(ways[-1, int(caught.sum()) :].sum() / ways[-1].sum())


def paper_p(test: str, paper: Papers, instances: Papers) -> float:
    """Return the p-value of one of the joint tests that a paper is one more of the instances."""
    with np.errstate(divide="ignore", invalid="ignore"):
        vector, draws = (np.log(part.values if test == REGRETS else part.sems) for part in (paper, instances))
    return joint_p(vector[0], draws)


def _caught(papers: Papers, first: int, instances: Papers) -> dict[str, np.ndarray]:
    """Count what each test catches of every paper from ``first`` on, judged against all instances but its own."""
    counts = []
    for number in range(first, len(papers.values)):
        paper, others = papers.take([number]), instances.take(np.arange(len(instances.values)) != number)
        joint = [paper_p(test, paper, others) <= LEVEL for test in (REGRETS, ERRORS)]
        counts.append([contradicted(paper, others), *joint])
    return dict(zip(TESTS, np.array(counts, int).reshape(-1, len(TESTS)).T, strict=True))


def power(control: Papers, others: Mapping[str, Papers], size: int, paper: Papers) -> list[Row]:
    """Return what each test catches of every protocol, and its p-value for the paper.

    The first ``size`` instances of the control, which has our protocol, are those behind our tables; the further ones
    are simulated papers. Other protocols share graphs with these instances, so that each of their papers is judged
    without its own graph. Their first instance is left out, because our numbers are those of instance 0.
    """
    shown, methods = control.take(np.arange(size)), control.values.shape[1]
    ours = _caught(control, size, shown)
    rows = []
    for protocol, instances in {OURS: shown, **others}.items():
        caught = ours if protocol == OURS else _caught(instances, 1, shown)
        for test, counts in caught.items():
            judged, total = len(counts) * (methods if test == NUMBERS else 1), int(counts.sum())
            p = np.nan if protocol == OURS else exchange_p(counts, ours[test])
            p_of_paper = np.nan if test == NUMBERS else paper_p(test, paper, instances)
            rows.append(Row(protocol, test, len(counts), judged, total, total / max(judged, 1), p, p_of_paper))
    differing = contradicted(paper, shown)
    return [*rows, Row(PAPER, NUMBERS, 1, methods, differing, differing / methods, np.nan, np.nan)]


def sentence(rows: Sequence[Line]) -> str:
    """Say in one sentence how many numbers of simulated papers are contradicted; nothing without such papers."""
    kept = {row["protocol"]: 100 - 100 * row["share"] for row in rows if row["test"] == NUMBERS}
    others = [share for protocol, share in kept.items() if protocol not in (OURS, PAPER)]
    if not others:
        return ""
    return (
        f"By these rules {kept[OURS]:.0f} % of the numbers of papers that we made by our own protocol are not "
        f"contradicted, and {min(others):.0f} to {max(others):.0f} % of those by {len(others)} other protocols."
    )


def markdown(rows: Iterable[Line]) -> list[str]:
    """Render the power, a line per protocol, with the tests that notice it."""
    lines: list[str] = []
    for _, part in groupby(rows, itemgetter("table")):
        body, unseen, kept = [], [], ""
        for protocol, tests in groupby(part, itemgetter("protocol")):
            numbers, *joint = tests
            share = f"{100 * (1 - numbers['share']):.0f} %"
            if protocol == PAPER:
                kept = f"{share} of the paper's own {numbers['judged']} numbers are not contradicted."
                continue
            shares = [f"{share} of {numbers['judged']}", *(f"{100 * row['share']:.0f} %" for row in joint)]
            chances = ["" if np.isnan(row["p"]) else f" (p = {row['p']:.2g})" for row in (numbers, *joint)]
            texts = [share + chance for share, chance in zip(shares, chances, strict=True)]
            by = ", ".join(row["test"] for row in (numbers, *joint) if row["p"] <= LEVEL) or "–"
            of_paper = ["–" if np.isnan(row["paper_p"]) else f"{row['paper_p']:.2g}" for row in joint]
            body.append([protocol, str(numbers["papers"]), *texts, by, *of_paper])
            if by == "–" and protocol != OURS:
                unseen.append(protocol)
        unnoticed = f" No test notices: {'; '.join(unseen)}." if unseen else ""
        lines += [HEADING, "", *pipe_table(HEAD, body), "", NOTE, "", kept + unnoticed, ""]
    return lines


HEADING = "## What these verdicts can notice"
HEAD = ["protocol", "pseudo-papers", "numbers not contradicted", "caught by regrets", "caught by standard errors"]
HEAD += ["noticed by", "the paper's p: regrets", "the paper's p: standard errors"]
NOTE = (
    "A pseudo-paper prints the main table from one random instance of a protocol. It is judged as the paper is, "
    "against our other instances. *Numbers not contradicted*: the share that does not come out as `differs`. *Caught "
    "by regrets*: the share of pseudo-papers whose regrets of all methods, taken together, are unlike those of our "
    "instances (p of at most 5 % in Hotelling's T² of their logarithms); one paper is caught with about this chance. "
    "*Caught by standard errors*: the same for the printed ± of these regrets. In brackets: the chance of as many "
    "caught if pseudo-papers were exchanged with those of our own protocol; a test notices a protocol where this is at "
    "most 5 %, which is not adjusted for the number of protocols and tests. *The paper's p*: the same T² asks whether "
    "the paper could be one more instance of that protocol. T² takes logarithms as normal: with so few instances, very "
    "small p say little more than that the paper is further out than all of them."
)
