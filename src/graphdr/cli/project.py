"""The project of a command: how its folder is recognized, its configuration, and its jobs."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphdr.cache import paths
from graphdr.core.errors import UserError

if TYPE_CHECKING:
    from graphdr.plan.blocks import Config
    from graphdr.plan.job import Job

MARKERS = {"config.yaml": paths.CONFIGS, "Snakefile": ("Snakefile", "workflow/Snakefile")}  # files and their places


def missing(folder: Path) -> list[str]:
    """Return the files of a project that a folder lacks: none in a checkout or where something was built."""
    if (folder / paths.MANIFEST).is_dir():
        return []
    return [name for name, places in MARKERS.items() if not any((folder / place).exists() for place in places)]


def require(folder: Path) -> None:
    """Refuse a folder that is not that of a project."""
    if lacking := missing(folder):
        mistake = f"not the folder of a project (no {' and no '.join(lacking)}); go there, or give --root PATH"
        raise UserError(f"{folder}: {mistake}")


def load_config() -> "Config":
    """Read and check the configuration, including options of the last build."""
    from graphdr.plan import config

    return config.load(Path(paths.config()), Path(), config.recall())


class Plan:
    """All jobs of the present configuration, by the files that they write."""

    def __init__(self) -> None:
        from graphdr.plan import design, jobs
        from graphdr.raw import fetch

        settings = load_config()
        self._design = design.expand(settings, fetch.missing_datasets(settings.plain()))
        self._jobs = jobs.JOBS
        self._keys = {
            path.format(**key): (stage, key)
            for stage in jobs.JOBS
            for key in jobs.keys(self._design, stage)
            for path in jobs.outputs(stage).values()
        }

    def job(self, path: str, stage: str | None = None) -> "Job | None":
        """Return the job that writes a file, if there is one (of a stage)."""
        planned, key = self._keys.get(path, ("", {}))
        return self._job(planned, **key) if planned and stage in (None, planned) else None

    @cache  # noqa: B019 - a plan lives as long as the process
    def _job(self, stage: str, **key: str) -> "Job":
        make: Any = self._jobs[stage]
        job: Job = make(self._design, **key)
        return job
