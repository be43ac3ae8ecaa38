"""Configuration options on Snakemake's command line, remembered with the results.

Commands such as ``graphdr ls`` then read the same files and values as the last build.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from graphdr.cache import paths
from graphdr.core.atomic import write_text
from graphdr.core.errors import UserError
from graphdr.plan.blocks import Raw
from graphdr.plan.yaml_files import read_yaml


class Overrides(NamedTuple):
    """Options of Snakemake: ``--configfile``, ``--config`` and ``--replace-workflow-config``."""

    configfiles: tuple[str, ...] = ()
    config: Mapping[str, Any] = {}
    replace: bool = False

    def apply(self, config: Raw) -> Raw:
        """Return the configuration as Snakemake merges it: files in order, then the values of ``--config``."""
        merged = {} if self.replace else config
        for file in self.configfiles:
            merged = _merge(merged, read_yaml(file, "configuration of the last build: "))
        return _merge(merged, self.config)


def remember(overrides: Overrides) -> None:
    """Record the overrides of the build that starts now; if there are none, delete the old record."""
    if overrides == Overrides():
        Path(paths.OVERRIDES).unlink(missing_ok=True)
    else:
        write_text(json.dumps(overrides._asdict(), indent=1, default=str) + "\n", paths.OVERRIDES)


def recall() -> Overrides:
    """Return the overrides of the last build in this folder."""
    path = Path(paths.OVERRIDES)
    if not path.exists():
        return Overrides()
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        return Overrides(tuple(written["configfiles"]), dict(written["config"]), bool(written["replace"]))
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path}: not readable; delete it, and the next build recreates it") from None


def _merge(config: Any, update: Mapping[str, Any]) -> Raw:
    """Update a mapping with another one, mappings inside of it likewise."""
    merged = dict(config) if isinstance(config, Mapping) else {}
    for key, value in update.items():
        merged[key] = _merge(merged.get(key), value) if isinstance(value, Mapping) else value
    return merged
