"""The story of a reproduction: which claims of the paper hold, which depend on a setting or on the draw, which fail."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from graphdr.paper.predicates import MOST
from graphdr.paper.verdicts import verdict_kind

SYNTHETIC, REAL = "synthetic", "real"
LONG, LONGER = 90, 150  # letters of numbers that a line still shows, and of these with what they depend on
APART = ("no settings", "not varied")  # words of the multiverse on a claim that no setting was tried on
SETTINGS = {
    "width": "the confidence width",
    "horizon": "the number of rounds",
    "ridge": "the ridge",
    "candidates": "how candidates are drawn",
    "instance": "the random instance",
}  # what a claim may depend on, in words where its name is none


class Line(NamedTuple):
    """One claim in the story: what the paper states, what was found, and the kinds of data behind it."""

    claim: str
    statement: str
    found: str
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

    ``real`` names the data sets with raw files, by which lines are marked; the claims in ``first``, or else those that
    the multiverse tried, come before the others, and among these those that hold at the paper's settings.
    """
    varied = {} if multiverse is None else {row["claim"]: row for row in multiverse.to_dict("records")}
    tried = {name: row for name, row in varied.items() if row["verdict"] not in APART}
    lists: dict[str, list[Line]] = {"holds": [], "depends": [], "fails": [], "vacuous": []}
    ahead = set(first or tried)
    # What holds at the paper's settings alone is what its reader takes for safe: first.
    rows = sorted(claims.to_dict("records"), key=lambda row: (row["claim"] not in ahead, row["verdict"][:5] != "holds"))
    judged = [row for row in rows if not row["verdict"].startswith("no data")]
    for row in judged:
        setting = tried.get(row["claim"])
        found = place(row["verdict"], setting and setting["verdict"], setting is not None and _safe_at_k(setting))
        lists[found].append(_line(row, setting, real))
    return Story(**lists, without_data=len(rows) - len(judged))


def place(verdict: str, varied: str | None = None, at_k: bool = False) -> str:
    """Say where a claim stands with this verdict at the paper's settings, and this one over all settings, if any.

    The paper discusses its k: a claim that holds ``at_k`` with every setting that it does not discuss is a safe one.
    """
    if verdict_kind(verdict) == "vacuous":
        return "vacuous"
    depends = varied is not None and varied.startswith("depends")
    if verdict.startswith("holds"):
        if at_k:
            return "holds"
        return "depends" if depends or varied == "fails" else "holds"
    return "depends" if depends or verdict.startswith("mixed") else "fails"


class Best(NamedTuple):
    """Who has the least regret on a data set, each method at its own best setting, and how far ours is behind."""

    dataset: str
    method: str
    setting: dict[str, float]
    regrets: dict[str, float]  # by method
    behind: tuple[float, float, float]  # of ours, with its interval

    @property
    def is_tie(self) -> bool:
        """Tell whether ours may be as good: the interval of what it is behind reaches zero."""
        return self.behind[1] <= 0


def winners(calibrated: pd.DataFrame, controls: Collection[str], ours: str) -> list[Best]:
    """Return the best method on every data set; ``calibrated`` is the table, whose rows are data sets with methods."""
    names = calibrated["row"].str.split(" ", n=1, expand=True)
    table = calibrated.assign(dataset=names[0], method=names[1])
    wide = table.pivot_table(index=["dataset", "method"], columns="column", values="value", sort=False)
    found = []
    for dataset in dict.fromkeys(table["dataset"]):
        rows = wide.loc[dataset]
        rows = rows[~rows.index.isin(list(controls))]
        best, mine = rows["regret"].idxmin(), rows.loc[ours]
        setting = rows.loc[best, ["alpha", "ridge", "k"]].dropna().astype(float).to_dict()
        behind = tuple(float(mine[name]) for name in ("behind", "behind_low", "behind_high"))
        found.append(Best(dataset, str(best), setting, rows["regret"].to_dict(), behind))
    return found


def best_of(found: list[Best], ours: str, labels: Mapping[str, str]) -> str:
    """Say in one sentence who has the least regret where, each method at its best."""
    by_method: dict[str, list[str]] = {}
    for best in found:
        near = f" (a tie with {labels.get(ours, ours)})" if best.method != ours and best.is_tie else ""
        by_method.setdefault(best.method, []).append(labels.get(best.dataset, best.dataset) + near)
    parts = [f"{labels.get(method, method)} on {', '.join(names)}" for method, names in by_method.items()]
    return f"Least regret with each method at its own best setting: {'; '.join(parts)}."


def _line(row: Mapping, setting: Mapping | None, real: Collection[str] | None) -> Line:
    names = [name for name in row["available"].split(", ") if name]
    kinds = {REAL if name in real else SYNTHETIC for name in names} if real is not None else ()
    found = _found(row)
    if setting:
        both = f"{_varied(setting)}; at the paper's: {found}"
        found = both if len(both) <= LONGER else _varied(setting)
    return Line(row["claim"], row["statement"], found, tuple(sorted(kinds, reverse=True)))


def _found(row: Mapping) -> str:
    """Return the numbers that decided, or how often the claim holds where these are many."""
    text = re.sub(r"; with other data.*", "", row["measured"])
    listed = text.startswith(("as claimed: ", "mixed: ", "not as claimed: "))
    if not listed and len(text) <= LONG:
        return text
    parts = []
    if counted := re.search(r"^(holds|mixed|fails).* on (\d+) of (\d+) available", row["verdict"]):
        word, number, total = counted.groups()
        parts.append(f"{word} on {number} of {total} data sets")
    if not np.isnan(row["share"]):
        again = parts and row["verdict"].startswith("holds")
        parts.append(f"{'in' if again else 'holds in'} {100 * row['share']:.0f} % of the random instances")
    if vacuous := re.search(r"vacuous in \d+ of \d+ runs", row["verdict"]):
        parts.append(vacuous[0])
    return ", ".join(parts) or f"{text[: LONG - 1]}…"


def _safe_at_k(setting: Mapping) -> bool:
    """Tell whether a claim holds in nearly all settings with the paper's k."""
    return setting.get("share_at_k", np.nan) >= MOST


def _paper_k(setting: Mapping) -> str:
    k = setting.get("paper_k", np.nan)
    return "the paper's k" if np.isnan(k) else f"k = {k:.0f}, the paper's"


def _varied(setting: Mapping) -> str:
    levels = f" ({setting['levels']})" if setting.get("levels") else ""
    share = f"{100 * setting['share']:.0f} % of {setting['settings']} settings"
    factor = setting["verdict"].removeprefix("depends on ")
    if factor == setting["verdict"]:
        return f"holds in {share}"
    if _safe_at_k(setting):
        at_k, over_k = f"{100 * setting['share_at_k']:.0f} %", levels if factor == "k" else ""
        return f"holds in {at_k} of the settings with {_paper_k(setting)}, in {share} over all k{over_k}"
    return f"depends on {SETTINGS.get(factor, factor)}: holds in {share}{levels}"
