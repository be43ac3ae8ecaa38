"""The configuration of the project in whose folder a command runs, and what every job of it would be today."""

from functools import cache
from pathlib import Path

from graphdr.plan import config, design, jobs
from graphdr.plan.blocks import Config
from graphdr.raw import fetch


def load_config() -> Config:
    """Read and check the configuration."""
    return config.load(Path("config.yaml"))


class Plan:
    """What every job would read, write and be told today, by the files that it writes."""

    def __init__(self) -> None:
        settings = load_config()
        self._design = design.expand(settings, fetch.missing_datasets(settings.plain()))
        self._keys = {
            path.format(**key): (stage, key)
            for stage in jobs.JOBS
            for key in jobs.keys(self._design, stage)
            for path in jobs.outputs(stage).values()
        }

    def job(self, path: str, stage: str | None = None):
        """Return the job that writes a file, or None if there is none, or only one of another stage."""
        planned, key = self._keys.get(path, (None, {}))
        return self._job(planned, **key) if planned and stage in (None, planned) else None

    @cache  # noqa: B019 - a plan lives as long as the process
    def _job(self, stage: str, **key: str):
        return jobs.JOBS[stage](self._design, **key)
