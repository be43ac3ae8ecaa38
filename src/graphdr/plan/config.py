"""Read the configuration: write out its short forms, then check types and every reference, before any rule exists."""

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graphdr.core.errors import QUOTED, UserError, elide, quote
from graphdr.plan import short_forms
from graphdr.plan.blocks import Config, Raw
from graphdr.plan.overrides import Overrides
from graphdr.plan.references import check
from graphdr.plan.yaml_files import read_yaml

NO_OVERRIDES = Overrides()


def read(raw: Any, folder: Path = Path()) -> Config:
    """Write out the short forms of a configuration and check types and references; files are relative to a folder."""
    try:
        config = parse(short_forms.full(raw, folder))
        check(config)
    except UserError as error:
        raise UserError(_with_short_names(str(error))) from None
    return config


def load(path: Path, folder: Path | None = None, overrides: Overrides = NO_OVERRIDES) -> Config:
    """Read a file with a configuration; the files that it names are relative to ``folder``, or to its own folder."""
    raw = overrides.apply(read_yaml(path))
    try:
        return read(raw, path.parent if folder is None else folder)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def _with_short_names(message: str) -> str:
    """Shorten the names in a message, which may be of any length."""
    return re.sub(rf"\S{{{QUOTED + 1},}}", lambda name: elide(name[0], QUOTED), message)


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
