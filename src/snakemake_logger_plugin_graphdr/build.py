"""How far a build is: jobs that are done, run now and are still to come, and how long that will take."""

import time
from collections import Counter, defaultdict
from itertools import chain
from statistics import fmean

from graphdr.cache import paths, times
from graphdr.core.terminal import age, plural

PRIOR = 10  # seconds at full speed that an estimate starts from, so that the first jobs do not upset it

Job = tuple[str, dict[str, str], float]  # rule, wildcards and start


def recorded_seconds() -> dict[str, list[float]]:
    """Return how long jobs took in earlier builds, by stage."""
    seconds = defaultdict(list)
    for job in times.jobs():
        seconds[job["stage"]].append(job["seconds"])
    return seconds


class Build:
    """Jobs by rule and by number; all times are in seconds."""

    def __init__(self, total: dict[str, int], seconds: dict[str, list[float]], cores: int):
        self.total, self.done, self.cores = Counter(total), Counter(), cores
        self.seconds = defaultdict(list, seconds)
        self.running: dict[int, Job] = {}
        self.failed: set[int] = set()
        self.began, self.over = time.monotonic(), False

    def start(self, number: int, rule: str, wildcards: dict[str, str]) -> None:
        """Enter a job that runs from now on, perhaps once more."""
        self.failed.discard(number)
        self.running[number] = rule, wildcards, time.monotonic()

    def finish(self, number: int) -> Job:
        """Enter a job as done, with the time that it took."""
        rule, _, began = job = self.running.pop(number)
        self.done[rule] += 1
        self.seconds[rule].append(time.monotonic() - began)
        return job

    def fail(self, number: int) -> Job | None:
        """Enter a job as failed."""
        self.failed.add(number)
        return self.running.pop(number, None)

    def rest(self, elapsed: float) -> float | None:
        """Estimate the time that is left: that of the jobs to come, at the speed so far; None without any record.

        A stage that was never seen is taken to be like the others.
        """
        if not any(self.seconds.values()):
            return None
        typical = fmean(chain(*self.seconds.values()))
        work = {rule: fmean(self.seconds[rule] or [typical]) for rule in self.total}
        done, left = (sum(work[rule] * n for rule, n in jobs.items()) for jobs in (self.done, self.total - self.done))
        return (elapsed + PRIOR) * left / (done + PRIOR * self.cores)

    def __str__(self) -> str:
        """Say how far the build is, or was when it ended."""
        elapsed = time.monotonic() - self.began
        rest = None if self.over else self.rest(elapsed)
        left = f", about {age(rest)} left" if rest else ""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{self.done.total()} of {plural(self.total.total(), 'job')} done in {clock(elapsed)}{left}{failed}"

    def to_come(self) -> str:
        """Say what a reader still waits for."""
        left = self.total - self.done
        parts = [plural(left[f"make_{kind}"], kind) for kind in ("table", "figure") if left[f"make_{kind}"]]
        parts += map(paths.page, paths.PAGES[len(paths.PAGES) - left["make_report"] :])
        return f"Still to come: {', '.join(parts) or 'the rest'} ({plural(left.total(), 'job')})."


def name_of(rule: str, wildcards: dict[str, str]) -> str:
    """Name a job by its rule and wildcards."""
    return " ".join([rule, *wildcards.values()])


def clock(seconds: float) -> str:
    """Spell a time as minutes and seconds, with hours where there are any."""
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{second:02}" if minutes >= 60 else f"{minutes}:{second:02}"
