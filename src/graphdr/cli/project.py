"""The project that a command is about: its folder, its configuration, and what every job of it would be today."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from graphdr.core.errors import UserError

if TYPE_CHECKING:
    from graphdr.plan.blocks import Config

CONFIG = "config.yaml"
MARKERS = (CONFIG, "Snakefile")  # what is in the folder of a project


def check_root(root: Path) -> Path:
    """Return the folder if it is that of a project."""
    if not root.is_dir():
        raise UserError(f"{root}: no such folder")
    if missing := [name for name in MARKERS if not (root / name).is_file()]:
        raise UserError(
            f"{root}: not the folder of a project (no {' and no '.join(missing)}); go there, or give --root PATH"
        )
    return root


def load_config(path: str = CONFIG) -> "Config":
    """Read and check a configuration."""
    from graphdr.plan import config

    return config.load(Path(path))


class Plan:
    """What every job would read, write and be told today, by the files that it writes."""

    def __init__(self, config: "Config") -> None:
        from graphdr.plan import design, jobs
        from graphdr.raw import fetch

        self._design = design.expand(config, fetch.missing_datasets(config.plain()))
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
