"""The story of the reproduction: which claims of the paper hold, which depend on a setting or instance, which fail."""

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from graphdr.paper.verdicts import MOST, verdict_kind

SYNTHETIC, REAL = "synthetic", "real"
SECTIONS = ("holds", "depends", "fails", "vacuous")
LONG, LONGER = 90, 150  # letters of measured numbers in a line, and of these with the settings they depend on
UNVARIED = ("no settings", "not varied")  # verdicts of the multiverse on claims for which no setting was tried
SETTINGS = {  # labels of factors whose name is not a word
    "width": "the confidence width",
    "horizon": "the number of rounds",
    "ridge": "the ridge",
    "candidates": "how candidates are drawn",
    "instance": "the random instance",
}

Row = Mapping[str, Any]  # of the judged claims, or of the multiverse


class Line(NamedTuple):
    """One claim in the story: the paper's statement, the result, and the kinds of data behind it."""

    claim: str
    statement: str
    result: str
    kinds: tuple[str, ...]


class Story(NamedTuple):
    """The claims that hold, depend and fail; bounds that could not fail; and the number of claims without data."""

    holds: list[Line]
    depends: list[Line]
    fails: list[Line]
    vacuous: list[Line]
    without_data: int


def tell(
    claims: pd.DataFrame,
    multiverse: pd.DataFrame | None = None,
    real: Collection[str] | None = None,
    first: Collection[str] = (),
) -> Story:
    """Sort the judged claims into a story; the multiverse says in which settings each holds.

    ``real`` names the data sets with raw files. The claims in ``first``, or else those that the multiverse varied, come
    before the others, and among these the claims that hold at the paper's settings.
    """
    rows = [] if multiverse is None else multiverse.to_dict("records")
    varied = {row["claim"]: row for row in rows if row["verdict"] not in UNVARIED}
    ahead = set(first or varied)
    lists: dict[str, list[Line]] = {name: [] for name in (*SECTIONS, "no data")}
    judged = claims.to_dict("records")
    for row in sorted(judged, key=lambda row: (row["claim"] not in ahead, row["verdict"][:5] != "holds")):
        setting = varied.get(row["claim"])
        section = place(row["verdict"], setting["verdict"], _safe_at_k(setting)) if setting else place(row["verdict"])
        lists[section].append(_line(row, setting, real))
    return Story(without_data=len(lists.pop("no data")), **lists)


def place(verdict: str, varied: str | None = None, at_k: bool = False) -> str:
    """Choose the section of a claim by its verdict at the paper's settings and, if varied, that over all settings.

    The paper discusses its k: a claim that holds ``at_k`` with every setting that the paper does not discuss is safe.
    """
    if (kind := verdict_kind(verdict)) in ("vacuous", "no data"):
        return kind
    depends = varied is not None and varied.startswith("depends")
    if verdict.startswith("holds"):
        return "depends" if not at_k and (depends or varied == "fails") else "holds"
    return "depends" if depends or verdict.startswith("mixed") else "fails"


class Best(NamedTuple):
    """The method with the lowest regret on a data set, each at its best setting, and how far ours is behind."""

    dataset: str
    method: str
    setting: dict[str, float]
    regrets: dict[str, float]  # by method
    behind: tuple[float, float, float]  # of ours, with its interval

    @property
    def is_tie(self) -> bool:
        """Tell whether ours may be as good: the interval of its distance includes zero."""
        return self.behind[1] <= 0


def winners(calibrated: pd.DataFrame, controls: Collection[str], ours: str) -> list[Best]:
    """Return the best method on every data set; the rows of the table ``calibrated`` are data sets with methods."""
    names = calibrated["row"].str.split(" ", n=1, expand=True)
    table = calibrated.assign(dataset=names[0], method=names[1])
    wide = table.pivot_table(index=["dataset", "method"], columns="column", values="value", sort=False)
    winners = []
    for dataset in dict.fromkeys(table["dataset"]):
        rows = wide.loc[dataset]
        rows = rows[~rows.index.isin(list(controls))]
        best = rows["regret"].idxmin()
        setting = rows.loc[best, ["alpha", "ridge", "k"]].dropna().astype(float).to_dict()
        behind, low, high = rows.loc[ours, ["behind", "behind_low", "behind_high"]].astype(float)
        winners.append(Best(dataset, str(best), setting, rows["regret"].to_dict(), (behind, low, high)))
    return winners


def best_of(winners: list[Best], ours: str, labels: Mapping[str, str]) -> str:
    """Say in one sentence which method has the lowest regret on which data sets, each method at its best."""
    by_method: dict[str, list[str]] = {}
    for best in winners:
        tie = f" (a tie with {labels.get(ours, ours)})" if best.method != ours and best.is_tie else ""
        by_method.setdefault(best.method, []).append(labels.get(best.dataset, best.dataset) + tie)
    parts = [f"{labels.get(method, method)} on {', '.join(names)}" for method, names in by_method.items()]
    return f"Least regret with each method at its own best setting: {'; '.join(parts)}."


def _line(row: Row, setting: Row | None, real: Collection[str] | None) -> Line:
    kinds = set()
    if real is not None:
        kinds = {REAL if name in real else SYNTHETIC for name in row["available"].split(", ") if name}
    result = _measured(row)
    if setting:
        varied = _varied(setting)
        both = f"{varied}; at the paper's: {result}"
        result = both if len(both) <= LONGER else varied
    return Line(row["claim"], row["statement"], result, tuple(sorted(kinds, reverse=True)))


def _measured(row: Row) -> str:
    """Return the numbers that decided or, if these are too many, how often the claim holds."""
    text, verdict = re.sub(r"; with other data.*", "", row["measured"]), row["verdict"]
    if len(text) <= LONG and not text.startswith(("as claimed: ", "mixed: ", "not as claimed: ")):
        return text
    parts = []
    if counted := re.search(r"^(holds|mixed|fails).* on (\d+ of \d+) available", verdict):
        parts.append(f"{counted[1]} on {counted[2]} data sets")
    if not np.isnan(row["share"]):
        again = parts and verdict.startswith("holds")
        parts.append(f"{'in' if again else 'holds in'} {100 * row['share']:.0f} % of the random instances")
    parts += re.findall(r"vacuous in \d+ of \d+ runs", verdict)
    return ", ".join(parts) or f"{text[: LONG - 1]}…"


def _safe_at_k(setting: Row) -> bool:
    """Tell whether a claim holds in nearly all settings with the paper's k."""
    return bool(setting.get("share_at_k", np.nan) >= MOST)


def _varied(setting: Row) -> str:
    """Say in how many settings a claim holds, and on which factor it depends."""
    _, depends, factor = setting["verdict"].partition("depends on ")
    levels = f" ({setting['levels']})" if setting.get("levels") else ""
    share = f"{100 * setting['share']:.0f} % of {setting['settings']} settings"
    if not depends:
        return f"holds in {share}"
    if not _safe_at_k(setting):
        return f"depends on {SETTINGS.get(factor, factor)}: holds in {share}{levels}"
    k = setting.get("paper_k", np.nan)
    paper_k = "the paper's k" if np.isnan(k) else f"k = {k:.0f}, the paper's"
    over_k = levels if factor == "k" else ""
    return f"holds in {100 * setting['share_at_k']:.0f} % of the settings with {paper_k}, in {share} over all k{over_k}"
