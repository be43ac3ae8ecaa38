"""The project in whose folder a command runs: its marks, its configuration, and what every job would be today."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from graphdr.cache import paths
from graphdr.core.errors import UserError

if TYPE_CHECKING:
    from graphdr.plan.blocks import Config

MARKERS = {"config.yaml": paths.CONFIGS, "Snakefile": ("Snakefile", "workflow/Snakefile")}  # files and their places


def missing(folder: Path) -> list[str]:
    """Return which files of a project a folder lacks: none in a checkout or where something was built."""
    if (folder / paths.MANIFEST).is_dir():
        return []
    return [name for name, places in MARKERS.items() if not any((folder / place).exists() for place in places)]


def require(folder: Path) -> None:
    """Refuse a folder that is not that of a project."""
    if lacking := missing(folder):
        said = f"not the folder of a project (no {' and no '.join(lacking)}); go there, or give --root PATH"
        raise UserError(f"{folder}: {said}")


def load_config() -> "Config":
    """Read and check the configuration, with what the command line of the last build added."""
    from graphdr.plan import config, overrides

    return config.load(Path(paths.config()), Path(), overrides.recall())


class Plan:
    """What every job would read, write and be told today, by the files that it writes."""

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

    def job(self, path: str, stage: str | None = None):
        """Return the job that writes a file, or None if there is none, or only one of another stage."""
        planned, key = self._keys.get(path, (None, {}))
        return self._job(planned, **key) if planned and stage in (None, planned) else None

    @cache  # noqa: B019 - a plan lives as long as the process
    def _job(self, stage: str, **key: str):
        return self._jobs[stage](self._design, **key)
