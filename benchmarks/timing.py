"""Time contestants in turns, so that a noisy machine hits all of them alike."""

import time
from collections.abc import Callable
from typing import NamedTuple

from graphdr.core.terminal import Status

REPETITIONS = 7
say = Status()  # the measurement under way


class Contestant(NamedTuple):
    """A name, a function to time, and how many rounds one call plays."""

    name: str
    run: Callable[[], object]
    rounds: int = 1


def seconds(run: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def race(contestants: list[Contestant], repetitions: int = REPETITIONS) -> dict[str, float]:
    """Call all contestants in turns; return the best seconds per round of each, after one call that warms up."""
    say(f"timing {', '.join(contestant.name for contestant in contestants)}")
    for contestant in contestants:
        contestant.run()
    laps = [[seconds(c.run) / c.rounds for c in contestants] for _ in range(repetitions)]
    return {c.name: min(times) for c, times in zip(contestants, zip(*laps, strict=True), strict=True)}
