"""Read the configuration: write out its short forms, then check types and every reference, before any rule exists.

Configuration options on Snakemake's command line are remembered with the results: commands such as ``graphdr ls`` then
read the same files and values as the last build.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graphdr.cache import paths
from graphdr.core.atomic import write_text
from graphdr.core.errors import QUOTED, UserError, elide, quote
from graphdr.plan import short_forms
from graphdr.plan.blocks import Config, Raw
from graphdr.plan.references import check
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


def read(raw: Any, folder: Path = Path()) -> Config:
    """Write out the short forms of a configuration and check types and references; files are relative to a folder."""
    try:
        config = parse(short_forms.full(raw, folder))
        check(config)
    except UserError as error:
        text = re.sub(rf"\S{{{QUOTED + 1},}}", lambda name: elide(name[0], QUOTED), str(error))  # shorter names
        raise UserError(text) from None
    return config


def load(path: Path, folder: Path | None = None, overrides: Overrides | None = None) -> Config:
    """Read a file with a configuration; the files that it names are relative to ``folder``, or to its own folder."""
    raw = (overrides or Overrides()).apply(read_yaml(path))
    try:
        return read(raw, path.parent if folder is None else folder)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def parse(config: Raw) -> Config:
    """Check the types of a configuration without short forms."""
    try:
        return Config.model_validate(config)
    except ValidationError as error:
        raise UserError(_message(error.errors(include_url=False), config)) from None


def _message(errors: list[ErrorDetails], config: Raw) -> str:
    """Say in one line what is wrong first: the place, the value, and what it should be."""
    first, place = errors[0], _place(errors[0], config)
    if first["type"] == "missing":
        return f"{place}: {first['loc'][-1]!r} is required"
    if first["type"] == "setting":
        return f"{place}.{first['msg']}"
    kinds = [error["msg"] for error in errors if _place(error, config) == place]  # of a union, one error per kind
    noise = r"^(Input|String|List|Dictionary) (?=should )| after validation, not .*"
    texts = [re.sub(noise, "", text) for text in kinds]
    if not texts[0].startswith("should "):
        return f"{place}: {texts[0]}"
    choices = [texts[0], *(text.removeprefix("should be ") for text in texts[1:])]
    return f"{place}: {quote(first['input'])} {' or '.join(choices)}"


def _place(error: ErrorDetails, config: Any) -> str:
    """Return the path to the value, without the parts that name the types of a union."""
    place: list[str] = []
    for part in error["loc"]:
        if not ((isinstance(config, dict) and part in config) or (isinstance(config, list) and isinstance(part, int))):
            break
        config = config[part]  # type: ignore[index]
        place.append(str(part))
    return ".".join(place) or "top level"
