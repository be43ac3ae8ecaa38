"""The answer in a few sentences, and notes on what was done. The sentences are in ``words.toml``."""

import tomllib
from pathlib import Path

import numpy as np

from graphdr.advise.findings import Findings, Screen, Size
from graphdr.advise.logs import LOGGED, ByLog
from graphdr.advise.simulation.methods import METHODS, Settings
from graphdr.advise.simulation.problems import NEIGHBOURS, Source
from graphdr.advise.simulation.verdict import HELPS, PRACTICAL, RELIABLE, UNKNOWN, Saving, Verdict

TEXTS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
WORDS = TEXTS["glossary"]
ALONE = ("full", "alone")  # methods that learn every item by itself


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
    names = {"k = ": values.k, "width ": values.width, "ridge ": values.ridge}
    return ", ".join(f"{name}{value:g}" for name, value in names.items() if value) or "found"


def answer(findings: Findings) -> list[str]:
    """Return the recommendation in a few sentences."""
    verdict, size, times = findings.verdict, findings.size, findings.verdict.times_the_data or 0.0
    with_settings = f", with {settings(verdict.settings)}" if verdict.settings.width else ""
    saves_something = verdict.saves.estimate > PRACTICAL / 2
    values = {
        "use": METHODS[verdict.method].label + with_settings,
        "best": short(verdict.best_graph),
        "other": short(verdict.best_without),
        "simulation": findings.simulation,
        "verdict": verdict,
        "saves": compared(verdict.saves),
        "over_shuffled": compared(verdict.over_shuffled),
        "over_longest": compared(verdict.over_longest),
        "sharing": span(verdict.sharing),
        "sure": TEXTS["sure"].get(verdict.sure),
        "reliability": percent(verdict.reliability or 0.0),
        "reliable": percent(RELIABLE),
        "practical": percent(PRACTICAL),
        "size": size,
        "unit": "rewards" if size.split_by == "rewards" else "users",
        "more_rewards": times * size.rewards,
        "more_data": times * size.sample,
        "more_splits": np.ceil(times * findings.simulation.splits),
        "shown": "saves something" if saves_something else f"saves less than {percent(PRACTICAL)}",
    }
    chosen = _choose_sentences(verdict, size)
    texts = [TEXTS[part][sentence].format(**values) for part, sentence in chosen.items() if sentence]
    return [*texts, _by_log(findings.log, short(verdict.method))] if findings.log else texts


def _choose_sentences(verdict: Verdict, size: Size) -> dict[str, str | None]:
    """Choose the sentence of every part of an answer; None leaves the part out."""
    shares = verdict.best_without not in ALONE and verdict.sharing.low > 0
    chosen: dict[str, str | None] = {
        "outcomes": verdict.outcome,
        "noise": None,
        "use": _use(verdict),
        "sharing": "helps" if shares else None,
        "saving": _saving(verdict),
    }
    if verdict.reason == "nothing":
        return chosen | {"outcomes": "nothing", "use": "nothing", "saving": None}
    if verdict.reason == "noise":
        chosen["noise"] = "one of two values is rare" if size.rare else "few rewards"
        return chosen | {"more": "rewards" if verdict.times_the_data else "hopeless rewards"}
    by_simulation = size.split_by == "nothing"
    if verdict.outcome != UNKNOWN:
        means = "it" if verdict.reliability is None else "reliability"
        chosen["certainty"] = "simulated" if by_simulation else means
    elif verdict.reason == "without":
        enough = "splits" if by_simulation else "data"
        chosen["more"] = enough if verdict.times_the_data else "hopeless"
    return chosen


def _use(verdict: Verdict) -> str:
    """Choose the sentence on the method to use: whether it is the best, and whether the graph is the reason."""
    sees_graph, unclear = verdict.method == verdict.best_graph, verdict.saves.low <= 0
    if verdict.outcome == UNKNOWN and sees_graph:
        return "best so far, by little" if verdict.reason == "without" else "best so far"
    if verdict.outcome == UNKNOWN:
        return "no graph, nothing is better" if unclear else "no graph"
    if verdict.outcome == HELPS or not sees_graph:
        return "it"
    if verdict.reason == "without":
        return "best by little"
    return "not for the graph, by little" if unclear else "not for the graph"


def _saving(verdict: Verdict) -> str:
    """Choose the sentence on what the graph saves."""
    if verdict.outcome == HELPS:
        return "ahead" if verdict.pays_after else "helps"
    if verdict.reason in TEXTS["saving"]:  # shuffled, longest or noise
        return verdict.reason
    if verdict.saves.high < 0:
        return "worse"
    return "open" if verdict.outcome == UNKNOWN else "little"


def _by_log(log: ByLog, label: str) -> str:
    """Say what the recommended method would have earned in the rounds of the log."""
    if not log.estimates:
        reason = log.warnings[0]
        return f"{reason[0].upper()}{reason[1:]}."
    gain = next((row for row in log.estimates if row[:3] == (label, LOGGED, "doubly_robust")), None)
    if gain is None or not gain.ess:
        return f"The log says nothing of {label}: it never shows what that would have played."
    sign = "more" if gain.low > 0 else "less" if gain.high < 0 else "not clearly more or less"
    spread = f"{gain.value:+.3g} per round, {gain.low:+.3g} to {gain.high:+.3g}"
    policy = f"the policy of {label}, without exploration,"
    return f"By the log {policy} would have earned {sign} than what was played ({spread})."


def screen(look: Screen) -> str:
    """Spell the first look."""
    tells = "the graph tells something" if look.speaks_for_graph else "nothing shows that the graph tells anything"
    factor = f"(ln B = {look.log_bayes:+.1f})"
    return f"First look: {tells} about the rewards {factor}. Only the simulation says whether that is worth anything."


def between(ends: tuple[int, int]) -> str:
    """Spell the lowest and the highest count."""
    low, high = ends
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def notes(source: Source, size: Size) -> list[str]:
    """Say which items are played, how they are joined, and how the data are split."""
    data = source.data
    texts = []
    if size.played[0] < size.items:
        by = "interactions" if data.interactions else "neighbours" if data.edges else "rewards"
        most = f"the {size.taken:,} of most {by} (--nodes N or --nodes all)" if size.taken < size.items else "all"
        lost = " but those that have too few rewards" if size.played[0] < size.taken else ""
        count = between(size.played)
        texts.append(f"{count} of your {size.items:,} items are played, and the answer is about these: {most}{lost}")
    chosen = [TEXTS["splits"][source.split.by]]
    if size.components[1] > 1:
        chosen.insert(0, TEXTS["notes"]["components"])
    if data.interactions is None and data.features is None:
        chosen.append(TEXTS["notes"]["alone"])
    if data.edges is None:
        chosen.append(TEXTS["notes"]["neighbours_by_values" if data.interactions else "neighbours_by_features"])
    values = {"components": between(size.components), "neighbours": NEIGHBOURS}
    return texts + [text.format(**values) for text in chosen]
