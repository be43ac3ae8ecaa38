"""The answer in a few sentences, and notes on what was done."""

import tomllib
from pathlib import Path

import numpy as np

from graphdr.advise.findings import Findings, Screen, Size
from graphdr.advise.logs import LOGGED, ByLog
from graphdr.advise.simulation.methods import METHODS, Settings
from graphdr.advise.simulation.problems import NEIGHBOURS
from graphdr.advise.simulation.splits import Source
from graphdr.advise.simulation.verdict import DOES_NOT, HELPS, PRACTICAL, RELIABLE, UNKNOWN, UNSURE, Saving, Verdict

TEXTS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
WORDS = TEXTS["glossary"]
ALONE = ("full", "alone")  # methods that learn every item by itself
UNITS = {"users": "users", "time": "users", "rewards": "rewards"}


def short(name: str) -> str:
    """Return the label of a method without its explanation in brackets."""
    return METHODS[name].label.partition(" (")[0]


def percent(share: float) -> str:
    """Spell a share."""
    return f"{100 * share:.0f} %".replace("-0 %", "0 %").replace("-", "−")


def span(share: Saving) -> str:
    """Spell a share with its interval."""
    return f"{percent(share.estimate)} ({percent(share.low)} to {percent(share.high)})"


def compared(share: Saving) -> str:
    """Spell how much less, or more, regret there is than that of another method."""
    if share.high < 0:
        more = f"{percent(-share.estimate)} ({percent(-share.high)} to {percent(-share.low)})"
        return f"has {more} more regret than"
    return f"saves {span(share)} of the regret of"


def settings(values: Settings) -> str:
    """Spell the settings of a method."""
    texts = []
    if values.k:
        texts.append(f"k = {values.k}")
    if values.width:
        texts.append(f"width {values.width:g}")
    if values.ridge:
        texts.append(f"ridge {values.ridge:g}")
    return ", ".join(texts) or "found"


def answer(findings: Findings) -> list[str]:
    """Return the recommendation in a few sentences."""
    verdict = findings.verdict
    sentences = [outcome(verdict), noise(verdict, findings.size), use(verdict), sharing(verdict)]
    sentences.append(saving(verdict, findings.simulation.horizon))
    sentences.append(more_data(verdict, findings) if verdict.outcome == UNKNOWN else certainty(verdict, findings))
    if findings.log:
        sentences.append(_by_log(findings.log, short(verdict.method)))
    return [sentence for sentence in sentences if sentence]


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
    if verdict.reason != "noise" or verdict.reliability is None:
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
    name = METHODS[verdict.method].label
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
            close = verdict.reason in ("without", "noise") and verdict.saves.low <= 0
            why = "it needs no graph" + (", and nothing is clearly better" if close else "")
        return f"Until that is known use {name}{with_settings}: {why}."
    if verdict.outcome == DOES_NOT and verdict.method == verdict.best_graph:
        if verdict.reason == "without":
            why = f"it has the least regret, by little; {near}, and is as good for all that matters"
        else:
            unclear = ", and is not clearly worse" if verdict.saves.low <= 0 else ""
            why = f"it has the least regret, but the gain does not come from the graph; {near}{unclear}"
        return f"Use {name}{with_settings}: {why}."
    return f"Use {name}{with_settings}."


def saving(verdict: Verdict, horizon: int) -> str:
    """Say what the graph saves against the best method without it, and when."""
    best, other = short(verdict.best_graph), short(verdict.best_without)
    if verdict.reason == "nothing":
        return ""
    subject = best if verdict.outcome == HELPS else f"the best method with the graph, {best},"
    text = f"Over {horizon:,} rounds {subject} {compared(verdict.saves)} the best method without a graph, {other}"
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
        return f"If it is as it seems, --splits {np.ceil(times * findings.simulation.splits):.0f} would show {shown}."
    unit = UNITS[size.split_by]
    enough = f"about {times * size.sample:,.0f} in all would show {shown}"
    return f"You have {size.sample:,} {unit}; if it is as it seems, {enough} (more --splits narrow it a little)."


def _more_rewards(times: float | None, size: Size) -> str:
    """Say how many rewards would make the item means reliable enough to give a graph up."""
    if times is None:
        return "Bring many times as many rewards: so far the item means hardly differ by more than their noise."
    enough = f"about {times * size.rewards:,.0f} rewards of these items"
    return f"What would decide: {enough}, with which {percent(RELIABLE)} of that variance would be signal."


def screen(look: Screen) -> str:
    """Spell the first look."""
    if look.speaks_for_graph:
        verdict = "the graph tells something about the rewards"
    else:
        verdict = "nothing shows that the graph tells anything about the rewards"
    factor = f"(ln B = {look.log_bayes:+.1f})"
    return f"First look: {verdict} {factor}. Only the simulation says whether that is worth anything."


def _by_log(log: ByLog, label: str) -> str:
    """Say what the recommended method would have earned in the rounds of the log."""
    if not log.estimates:
        reason = log.warnings[0]
        return f"{reason[0].upper()}{reason[1:]}."
    rows = [row for row in log.estimates if row[:3] == (label, LOGGED, "doubly_robust")]
    if not rows or not rows[0].ess:
        return f"The log says nothing of {label}: it never shows what that would have played."
    gain = rows[0]
    sign = "more" if gain.low > 0 else "less" if gain.high < 0 else "not clearly more or less"
    spread = f"{gain.value:+.3g} per round, {gain.low:+.3g} to {gain.high:+.3g}"
    policy = f"the policy of {label}, without exploration,"
    return f"By the log {policy} would have earned {sign} than what was played ({spread})."


def between(ends: tuple[int, int]) -> str:
    """Spell the lowest and the highest count."""
    low, high = ends
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def notes(source: Source, size: Size) -> list[str]:
    """Say which items are played, how they are joined, and how the data are split."""
    data = source.data
    by = "interactions" if data.interactions else "neighbours" if data.edges else "rewards"
    texts = []
    if size.played[0] < size.items:
        most = f"the {size.taken:,} of most {by} (--nodes N or --nodes all)" if size.taken < size.items else "all"
        lost = " but those that have too few rewards" if size.played[0] < size.taken else ""
        count = between(size.played)
        texts.append(f"{count} of your {size.items:,} items are played, and the answer is about these: {most}{lost}")
    if size.components[1] > 1:
        texts.append(f'the graph has {between(size.components)} components; all are kept, as with components="keep"')
    texts.append(TEXTS["splits"][source.split.by])
    if data.interactions is None and data.features is None:
        texts.append(TEXTS["alone"])
    if data.edges is None:
        nearest = f"{NEIGHBOURS} nearest by cosine between the users' values"
        if data.interactions is None:
            nearest = f"nearest by cosine between their features, {NEIGHBOURS} or as many as connect them"
        texts.append(f"the graph joins each item to its {nearest}")
    return texts
