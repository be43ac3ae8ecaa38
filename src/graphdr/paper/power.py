"""What the verdicts can notice: papers that we make ourselves, by other protocols than ours, judged as the paper is."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr.core.markdown import pipe_table
from graphdr.paper.compare import verdict

LEVEL = 0.05
OURS, PAPER = "ours (control)", "the paper itself"
NUMBERS, REGRETS, ERRORS = TESTS = ("numbers", "regrets", "standard errors")


class Papers(NamedTuple):
    """What papers print: the regret of each method with its standard error (papers x methods)."""

    values: np.ndarray
    sems: np.ndarray

    def take(self, rows: Sequence[int]) -> "Papers":
        """Return some of the papers."""
        return Papers(self.values[rows], self.sems[rows])


class Row(NamedTuple):
    """What one test makes of one protocol."""

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
    there = measurements[(measurements["problem"] == problem) & (measurements["quantity"] == "regret")]
    there = there[(there["draw"] == 0) & there["method"].isin(methods)]
    wide = there.pivot(index="instance", columns="method", values=["value", "sem"]).sort_index()
    return Papers(*(wide[name][list(methods)].to_numpy(float) for name in ("value", "sem")))


def contradicted(value: np.ndarray, sem: np.ndarray, panel: Papers) -> np.ndarray:
    """Tell which numbers of one paper differ from ours, those of the first instance, by the rules for the paper."""
    ours = zip(panel.values[0], panel.sems[0], panel.values.T, strict=True)
    words = [verdict(f"{v:.6g}", s, *mine, None) for v, s, mine in zip(value, sem, ours, strict=True)]
    return np.array([word == "differs" for word in words])


def joint_p(vector: np.ndarray, panel: np.ndarray) -> float:
    """Return the p-value of Hotelling's T² that a vector is one more draw of what the panel (draws x entries) shows.

    Entries that go together over the draws, such as regrets on one instance, are counted as going together.
    """
    from scipy.special import fdtrc  # not needed by a build without pseudo-papers

    n, entries = panel.shape
    if n <= entries + 1 or not (np.isfinite(vector).all() and np.isfinite(panel).all()):
        return np.nan
    off = vector - panel.mean(axis=0)
    squared = off @ np.linalg.pinv(np.cov(panel.T), hermitian=True) @ off * n / (n + 1)
    return float(fdtrc(entries, n - entries, squared * (n - entries) / (entries * (n - 1))))


def exchange_p(caught: np.ndarray, control: np.ndarray) -> float:
    """Return the chance of so many caught in all, if papers of both kinds were exchanged at random.

    The counts of a paper stay together. With one count of 0 or 1 per paper it is Fisher's exact test, one-sided.
    """
    pooled = np.concatenate([caught, control]).astype(int)
    ways = np.zeros((len(caught) + 1, pooled.sum() + 1))  # to choose so many papers with so many caught in all
    ways[0, 0] = 1
    for count in pooled:
        ways[1:, count:] += ways[:-1, : ways.shape[1] - count].copy()
    return float(ways[-1, int(caught.sum()) :].sum() / ways[-1].sum())


def together(test: str, papers: Papers, panel: Papers) -> list[float]:
    """Return for every paper the p-value of one of the joint tests: that it is one more draw of the panel."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rows, draws = (np.log(some.values if test == REGRETS else some.sems) for some in (papers, panel))
    return [joint_p(row, draws) for row in rows]


def _caught(papers: Papers, first: int, panel: Papers) -> dict[str, np.ndarray]:
    """Count what each test catches of every paper from an instance on, judged against the panel without its own."""
    caught: dict[str, list[int]] = {test: [] for test in TESTS}
    for instance in range(first, len(papers.values)):
        paper = papers.take([instance])
        others = panel.take([other for other in range(len(panel.values)) if other != instance])
        caught[NUMBERS].append(contradicted(paper.values[0], paper.sems[0], others).sum())
        for test in TESTS[1:]:
            caught[test].append(together(test, paper, others)[0] <= LEVEL)
    return {test: np.array(counts, int) for test, counts in caught.items()}


def power(control: Papers, others: Mapping[str, Papers], size: int, paper: Papers) -> list[Row]:
    """Return what each test catches of every protocol, and what it says of the paper.

    Of the control, our protocol, the first ``size`` instances are the panel behind our tables, the further ones are
    papers. Other protocols share graphs with the panel, so that each of their papers is judged without its own one;
    the first is none, since our numbers are those of instance 0.
    """
    panel, methods = control.take(range(size)), control.values.shape[1]
    ours = _caught(control, size, panel)
    played = {OURS: (ours, panel)} | {name: (_caught(papers, 1, panel), papers) for name, papers in others.items()}
    rows = []
    for protocol, (caught, instances) in played.items():
        for test, counts in caught.items():
            judged, total = len(counts) * (methods if test == NUMBERS else 1), int(counts.sum())
            p = np.nan if protocol == OURS else exchange_p(counts, ours[test])
            paper_p = np.nan if test == NUMBERS else together(test, paper, instances)[0]
            rows.append(Row(protocol, test, len(counts), judged, total, total / max(judged, 1), p, paper_p))
    differing = int(contradicted(paper.values[0], paper.sems[0], panel).sum())
    return [*rows, Row(PAPER, NUMBERS, 1, methods, differing, differing / methods, np.nan, np.nan)]


def noticed(rows: Iterable[Mapping]) -> str:
    """Name the tests that notice a protocol."""
    return ", ".join(row["test"] for row in rows if row["p"] <= LEVEL) or "–"


def sentence(rows: Sequence[Mapping]) -> str:
    """Say in one sentence how much it takes to be contradicted; nothing without pseudo-papers."""
    kept = {row["protocol"]: 100 - 100 * row["share"] for row in rows if row["test"] == NUMBERS}
    others = [share for protocol, share in kept.items() if protocol not in (OURS, PAPER)]
    if not others:
        return ""
    return (
        f"By these rules {kept[OURS]:.0f} % of the numbers of papers that we made by our own protocol are not "
        f"contradicted, and {min(others):.0f} to {max(others):.0f} % of those by {len(others)} other protocols."
    )


def markdown(rows: Iterable[Mapping]) -> list[str]:
    """Lay the power out, a line per protocol, with the tests that notice it."""
    lines = []
    for _, part in groupby(rows, itemgetter("table")):
        protocols = {protocol: list(tests) for protocol, tests in groupby(part, itemgetter("protocol"))}
        (paper,) = protocols.pop(PAPER)
        body = [_line(protocol, tests) for protocol, tests in protocols.items()]
        unseen = [name for name, tests in protocols.items() if noticed(tests) == "–" and name != OURS]
        lines += [HEADING, "", *pipe_table(HEAD, body), "", NOTE, ""]
        shown = f"{100 - 100 * paper['share']:.0f} % of the paper's own {paper['judged']} numbers are not contradicted."
        lines += [shown + (f" No test notices: {'; '.join(unseen)}." if unseen else ""), ""]
    return lines


def _line(protocol: str, rows: Iterable[Mapping]) -> list[str]:
    """Return the cells of a protocol."""
    numbers, *joint = rows
    shares = [f"{100 * (1 - numbers['share']):.0f} % of {numbers['judged']}"]
    shares += [f"{100 * row['share']:.0f} %" for row in joint]
    chances = ["" if np.isnan(row["p"]) else f" (p = {row['p']:.2g})" for row in (numbers, *joint)]
    texts = [share + chance for share, chance in zip(shares, chances, strict=True)]
    of_paper = ["–" if np.isnan(row["paper_p"]) else f"{row['paper_p']:.2g}" for row in joint]
    return [protocol, str(numbers["papers"]), *texts, noticed((numbers, *joint)), *of_paper]


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
