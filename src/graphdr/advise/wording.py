"""Advice in words: the answer in a few sentences that its numbers bear, and notes on what was done."""

import tomllib
from pathlib import Path

import numpy as np

from graphdr.advise.findings import Findings, Paper, Screen, Size
from graphdr.advise.logs import LOGGED
from graphdr.advise.paper.decision import Advice
from graphdr.advise.simulation.field import FIELD, Settings
from graphdr.advise.simulation.splits import Source
from graphdr.advise.simulation.verdict import DOES_NOT, HELPS, PRACTICAL, RELIABLE, UNKNOWN, UNSURE, Saving, Verdict
from graphdr.advise.simulation.worlds import NEIGHBOURS

TEXTS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
WORDS = TEXTS["glossary"]
ALONE = ("full", "alone")  # methods that learn every item by itself
UNITS = {"users": "users", "time": "users", "rewards": "rewards"}


def short(name: str) -> str:
    """Return the name of a method without what is said about it."""
    return FIELD[name].label.partition(" (")[0]


def percent(share: float) -> str:
    """Spell a share."""
    return f"{100 * share:.0f} %".replace("-0 %", "0 %").replace("-", "−")


def span(share: Saving) -> str:
    """Spell a share with its interval."""
    return f"{percent(share.estimate)} ({percent(share.low)} to {percent(share.high)})"


def compared(share: Saving) -> str:
    """Spell what is saved of the regret of another method or, where that is less than nothing, lost."""
    if share.high < 0:
        more = f"{percent(-share.estimate)} ({percent(-share.high)} to {percent(-share.low)})"
        return f"has {more} more regret than"
    return f"saves {span(share)} of the regret of"


def settings(given: Settings) -> str:
    """Spell the settings of a method."""
    said = [f"k = {given.k}" if given.k else "", f"width {given.width:g}" if given.width else ""]
    said += [f"ridge {given.ridge:g}"] if given.ridge else []
    return ", ".join(text for text in said if text) or "found"


def answer(findings: Findings) -> list[str]:
    """Return the recommendation in a few sentences."""
    verdict = findings.verdict
    said = [outcome(verdict), noise(verdict, findings.size), use(verdict), sharing(verdict)]
    said.append(saving(verdict, findings.game.horizon))
    said.append(more_data(verdict, findings) if verdict.outcome == UNKNOWN else certainty(verdict, findings))
    return [*(text for text in said if text), *([_by_log(findings)] if findings.log else [])]


def certainty(verdict: Verdict, findings: Findings) -> str:
    """Say how sure the outcome is, and of what."""
    if verdict.sure == UNSURE:
        return ""
    text = TEXTS["certainty"][verdict.sure]
    if findings.size.split_by == "nothing":
        return f"{text} {TEXTS['certainty']['simulated']}"
    if verdict.reliability is None:
        return text
    signal = f"{percent(verdict.reliability)} of their variance is signal"
    return f"{text} Means of held-out rewards stand for the true rewards here; {signal}."


def outcome(verdict: Verdict) -> str:
    """Say which of the three outcomes it is."""
    return TEXTS["outcomes"]["nothing" if verdict.reason == "nothing" else verdict.outcome]


def noise(verdict: Verdict, size: Size) -> str:
    """Say that the means which stand for the true rewards are mostly noise, where that leaves the outcome open."""
    if verdict.reason != "noise":
        return ""
    if size.rare:
        value, count = size.rare
        few = f"Only {count:,} of {size.rewards:,} rewards are {value:g}"
    else:
        few = f"The items have few rewards, {size.rewards:,} in all"
    signal = f"{percent(verdict.reliability)} of their variance is signal"
    return f"{few}: the item means, which stand for the true rewards here, are mostly noise ({signal})."


def use(verdict: Verdict) -> str:
    """Say which method to use."""
    name = FIELD[verdict.method].label
    with_settings = f", with {settings(verdict.settings)}" if verdict.settings.width else ""
    if verdict.reason == "nothing":
        return "Bring more rewards, or simulate more rounds (--rounds)."
    near = f"{short(verdict.best_without)} needs no graph"
    if verdict.outcome == UNKNOWN:
        if verdict.method == verdict.best_graph:
            why = "it has the least regret so far"
            if verdict.reason == "without":
                why += f"; {near}, and is not clearly worse"
        else:
            unclear = verdict.reason in ("without", "noise") and verdict.saves.low <= 0
            why = "it needs no graph" + (", and nothing is clearly better" if unclear else "")
        return f"Until that is known use {name}{with_settings}: {why}."
    if verdict.outcome == DOES_NOT and verdict.method == verdict.best_graph:
        if verdict.reason == "without":
            why = f"it has the least regret, by little; {near}, and is as good for all that matters"
        else:
            unclear = ", and is not clearly worse" if verdict.saves.low <= 0 else ""
            why = f"it has the least regret, if not by what the graph says; {near}{unclear}"
        return f"Use {name}{with_settings}: {why}."
    return f"Use {name}{with_settings}."


def saving(verdict: Verdict, horizon: int) -> str:
    """Say what the graph saves against the best method without it, and when."""
    best, other = short(verdict.best_graph), short(verdict.best_without)
    if verdict.reason == "nothing":
        return ""
    who = best if verdict.outcome == HELPS else f"the best method with the graph, {best},"
    text = f"Over {horizon:,} rounds {who} {compared(verdict.saves)} the best method without a graph, {other}"
    if verdict.outcome == HELPS:
        after = f"; it is ahead for good after about {verdict.pays_after:,} rounds" if verdict.pays_after else ""
        return f"{text}{after}."
    if verdict.reason == "shuffled":
        control = f"It {compared(verdict.over_shuffled)} its own copy on a shuffled graph"
        return f"{text}. {control}, a graph that knows nothing about the rewards."
    if verdict.reason == "longest":
        return f"{text}. It {compared(verdict.over_longest)} a policy that learns nothing and plays the longest row."
    if verdict.reason == "noise":
        return f"{text}: noise hides what a graph knows, so that it may save more."
    if verdict.saves.high < 0:
        return f"{text}."
    if verdict.outcome != UNKNOWN:
        return f"{text}: not more than the {percent(PRACTICAL)} that would matter."
    return f"{text}: that may be nothing, and may be worth it."


def sharing(verdict: Verdict) -> str:
    """Say what it gains to learn about items from each other without the graph."""
    if verdict.best_without in ALONE or verdict.sharing.low <= 0:
        return ""
    gain = f"{short(verdict.best_without)} saves {span(verdict.sharing)} of the regret of full LinUCB"
    return (
        f"To learn about items from each other helps even without a graph: {gain}, which learns every item by itself."
    )


def more_data(verdict: Verdict, findings: Findings) -> str:
    """Say what would decide."""
    times, size = verdict.times_the_data, findings.size
    if verdict.reason == "noise":
        return _more_rewards(times, size)
    if verdict.reason != "without":
        return ""
    if times is None:
        return "No realistic amount of data would decide: the saving is too near to the limit."
    shown = (
        "that it saves something"
        if verdict.saves.estimate > PRACTICAL / 2
        else f"that it saves less than {percent(PRACTICAL)}"
    )
    if size.split_by == "nothing":
        return f"If it is as it seems, --splits {np.ceil(times * findings.game.splits):.0f} would show {shown}."
    unit = UNITS[size.split_by]
    enough = f"about {times * size.sample:,.0f} in all would show {shown}"
    return f"You have {size.sample:,} {unit}; if it is as it seems, {enough} (more --splits narrow it a little)."


def _more_rewards(times: float | None, size: Size) -> str:
    """Say how many rewards would make the item means reliable enough to give a graph up."""
    if times is None:
        return "Bring many times as many rewards: so far the item means hardly differ by more than their noise."
    enough = f"about {times * size.rewards:,.0f} rewards of these items"
    return f"What would decide: {enough}, with which {percent(RELIABLE)} of that variance would be signal."


def screen(found: Screen) -> str:
    """Say what the quick look says."""
    if found.speaks_for_graph:
        verdict = "the graph tells something about the rewards"
    else:
        verdict = "nothing shows that the graph tells anything about the rewards"
    factor = f"(ln B = {found.log_bayes:+.1f})"
    return f"First look: {verdict} {factor}. Only the simulation says whether that is worth anything."


def paper(advice: Advice, outcome: str) -> Paper:
    """Say what the paper's protocol would advise."""
    from graphdr.advise.paper.wording import SHORT

    name = SHORT[advice.method] + (f" with k = {advice.k}" if advice.k else "")
    text = f"use the graph, through {name}." if advice.use_graph else f"use {name}, without the graph."
    differs = outcome == UNKNOWN or advice.use_graph != (outcome == HELPS)
    return Paper(advice.use_graph, advice.method, advice.k, text, differs)


def under_paper(paper: Paper | None) -> str:
    """Say what the paper's protocol would advise, and whether that is another answer."""
    if paper is None:
        why = "it takes the largest component alone, which has less than half of the items or equal rewards"
        return f"The protocol of the paper (docs/advise.md) cannot be played: {why}."
    protocol = "For comparison: the protocol of the paper (docs/advise.md) would have said"
    return f"{protocol}: {paper.answer} {'That is another answer.' if paper.differs else 'That agrees on the graph.'}"


def _by_log(findings: Findings) -> str:
    """Say what the log says of the method that is advised."""
    if not findings.log.estimates:
        reason = findings.log.warnings[0]
        return f"{reason[0].upper()}{reason[1:]}."
    label = short(findings.verdict.method)
    rows = [row for row in findings.log.estimates if row[:3] == (label, LOGGED, "doubly_robust")]
    if not rows or not rows[0].ess:
        return f"The log says nothing of {label}: it never shows what that would have played."
    gain = rows[0]
    sign = "more" if gain.low > 0 else "less" if gain.high < 0 else "not clearly more or less"
    spread = f"{gain.value:+.3g} per round, {gain.low:+.3g} to {gain.high:+.3g}"
    who = f"the policy of {label}, without exploration,"
    return f"By the log {who} would have earned {sign} than what was played ({spread})."


def between(ends: tuple[int, int]) -> str:
    """Spell the fewest and the most."""
    low, high = ends
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def notes(source: Source, size: Size) -> list[str]:
    """Say what became of the items, how they were joined, and how the data were split."""
    data = source.data
    by = "interactions" if data.interactions else "neighbours" if data.edges else "rewards"
    said = []
    if size.played[0] < size.items:
        most = f"the {size.taken:,} of most {by} (--nodes N or --nodes all)" if size.taken < size.items else "all"
        lost = " but those that have too few rewards" if size.played[0] < size.taken else ""
        count = between(size.played)
        said.append(f"{count} of your {size.items:,} items are played, and the answer is about these: {most}{lost}")
    if size.components[1] > 1:
        said.append(f'the graph has {between(size.components)} components; all are kept, as with components="keep"')
    said.append(TEXTS["splits"][source.split.by])
    if data.interactions is None and data.features is None:
        said.append(TEXTS["alone"])
    if data.edges is None:
        nearest = f"{NEIGHBOURS} nearest by cosine between the users' values"
        if data.interactions is None:
            nearest = f"nearest by cosine between their features, {NEIGHBOURS} or as many as connect them"
        said.append(f"the graph joins each item to its {nearest}")
    return said
