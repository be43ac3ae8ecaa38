"""Progress of a build: jobs that are done, running and to come, and an estimate of the time left."""

import time
from collections import Counter, defaultdict
from itertools import chain
from statistics import fmean
from typing import NamedTuple

from graphdr.cache import paths, times
from graphdr.core.terminal import age, plural

PRIOR = 10  # seconds at full speed that an estimate starts from, so that the first jobs do not dominate it


class Job(NamedTuple):
    """A job that runs since ``began``, in seconds."""

    rule: str
    wildcards: dict[str, str]
    began: float = 0.0

    @property
    def name(self) -> str:
        return " ".join([self.rule, *self.wildcards.values()])


def recorded_seconds() -> dict[str, list[float]]:
    """Return the wall times of jobs in earlier builds, by stage."""
    seconds = defaultdict(list)
    for job in times.jobs():
        seconds[job.stage].append(job.seconds)
    return seconds


class Build:
    """Counts of jobs by rule, and running jobs by number; all times are in seconds."""

    def __init__(self, total: dict[str, int], seconds: dict[str, list[float]], cores: int) -> None:
        self.total, self.cores = Counter(total), cores
        self.done: Counter[str] = Counter()
        self.seconds = defaultdict(list, seconds)
        self.running: dict[int, Job] = {}
        self.failed: set[int] = set()
        self.began, self.over = time.monotonic(), False

    def start(self, number: int, rule: str, wildcards: dict[str, str]) -> None:
        """Enter a job that starts now, perhaps for a second time."""
        self.failed.discard(number)
        self.running[number] = Job(rule, wildcards, time.monotonic())

    def finish(self, number: int) -> Job:
        """Enter a job as done."""
        job = self.running.pop(number)
        self.done[job.rule] += 1
        self.seconds[job.rule].append(time.monotonic() - job.began)
        return job

    def fail(self, number: int) -> Job | None:
        """Enter a job as failed."""
        self.failed.add(number)
        return self.running.pop(number, None)

    def rest(self, elapsed: float) -> float | None:
        """Estimate the time left from the mean time of each stage and the speed so far; None without any record.

        A stage without a record counts like the others.
        """
        if not any(self.seconds.values()):
            return None
        typical = fmean(chain(*self.seconds.values()))
        mean = {rule: fmean(self.seconds[rule] or [typical]) for rule in self.total}
        done = sum(mean[rule] * count for rule, count in self.done.items())
        left = sum(mean[rule] * count for rule, count in (self.total - self.done).items())
        return (elapsed + PRIOR) * left / (done + PRIOR * self.cores)

    def __str__(self) -> str:
        """Return the progress in one line."""
        elapsed = time.monotonic() - self.began
        rest = None if self.over else self.rest(elapsed)
        left = f", about {age(rest)} left" if rest else ""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"{self.done.total()} of {plural(self.total.total(), 'job')} done in {clock(elapsed)}{left}{failed}"

    def to_come(self) -> str:
        """Return the tables, figures and pages that are still to come."""
        left = self.total - self.done
        parts = [plural(left[f"make_{kind}"], kind) for kind in ("table", "figure") if left[f"make_{kind}"]]
        parts += map(paths.page, paths.PAGES[len(paths.PAGES) - left["make_report"] :])
        return f"Still to come: {', '.join(parts) or 'the rest'} ({plural(left.total(), 'job')})."


def clock(seconds: float) -> str:
    """Format a time as minutes and seconds, with hours if needed."""
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{second:02}" if minutes >= 60 else f"{minutes}:{second:02}"
