"""Read the configuration: write out its short forms, then check types and every reference, before any rule exists."""

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graphdr.core.errors import UserError
from graphdr.plan import short_forms
from graphdr.plan.blocks import Config
from graphdr.plan.overrides import Overrides
from graphdr.plan.references import check
from graphdr.plan.yaml_files import read_yaml

NO_OVERRIDES = Overrides()
LONGEST = 60  # characters of a wrong value that a message repeats


def read(raw: Any, folder: Path = Path()) -> Config:
    """Write out the short forms of a configuration and check types and references; files are relative to a folder."""
    config = parse(short_forms.full(raw, folder))
    check(config)
    return config


def load(path: Path, folder: Path | None = None, overrides: Overrides = NO_OVERRIDES) -> Config:
    """Read a file with a configuration; files are relative to a folder or to its own, and a mistake names the file."""
    raw = overrides.apply(read_yaml(path))
    try:
        return read(raw, path.parent if folder is None else folder)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def parse(config: dict[str, Any]) -> Config:
    """Check the types of a configuration without short forms."""
    try:
        return Config.model_validate(config)
    except ValidationError as error:
        raise UserError(_message(error.errors(include_url=False), config)) from None


def _message(errors: list[ErrorDetails], config: dict[str, Any]) -> str:
    """Say in one line what is wrong first: the place, the value, and what it should be."""
    first, place = errors[0], _place(errors[0], config)
    if first["type"] == "missing":
        return f"{place}: {first['loc'][-1]!r} is required"
    kinds = [error["msg"] for error in errors if _place(error, config) == place]  # of a union, one error per kind
    noise = r"^(Input|String|List|Dictionary) (?=should )| after validation, not .*"
    texts = [re.sub(noise, "", text) for text in kinds]
    if not texts[0].startswith("should "):
        return f"{place}: {texts[0]}"
    value = repr(first["input"])
    value = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    return f"{place}: {value} {' or '.join([texts[0], *(text.removeprefix('should be ') for text in texts[1:])])}"


def _place(error: ErrorDetails, config: Any) -> str:
    """Return the path to the value, without what only tells the kinds of a union apart."""
    place: list[str] = []
    for part in error["loc"]:
        if not ((isinstance(config, dict) and part in config) or (isinstance(config, list) and isinstance(part, int))):
            break
        config = config[part]  # type: ignore[index]
        place.append(str(part))
    return ".".join(place) or "top level"
