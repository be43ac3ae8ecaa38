"""Read the configuration: write out its short forms, then check types and every reference, before any rule exists."""

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graphdr.core.errors import UserError
from graphdr.plan import short_forms
from graphdr.plan.blocks import Config
from graphdr.plan.references import check

SCHEMA = Path(__file__).with_name("config.schema.yaml")
LONGEST = 60  # characters of a wrong value that a message repeats


def read(raw: Any, folder: Path = Path()) -> Config:
    """Write out the short forms of a configuration and check types and references; files are relative to a folder."""
    config = parse(short_forms.full(raw, folder))
    check(config)
    return config


def load(path: Path) -> Config:
    """Read a file with a configuration; a mistake names the file."""
    raw = short_forms.read_yaml(path)
    try:
        return read(raw, path.parent)
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
    texts = [re.sub(r" after validation, not .*", "", text) for text in kinds]
    texts = [re.sub(r"^(Input|String|List|Dictionary) should ", "should ", text) for text in texts]
    if not texts[0].startswith("should "):
        return f"{place}: {texts[0]}"
    value = repr(first["input"])
    value = value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
    return f"{place}: {value} {' or '.join([texts[0], *(text.removeprefix('should be ') for text in texts[1:])])}"


def _place(error: ErrorDetails, config: Any) -> str:
    """Return the path to the value, without what only tells the kinds of a union apart."""
    place: list[str] = []
    for part in error["loc"]:
        if (isinstance(config, dict) and part in config) or (isinstance(config, list) and isinstance(part, int)):
            config = config[part]  # type: ignore[index]
            place.append(str(part))
        else:
            break
    return ".".join(place) or "top level"


def schema() -> dict[str, Any]:
    """Return the JSON schema of config.yaml for editors; entries in a short form are not looked into."""
    schema = _stripped(Config.model_json_schema())
    for name, block in schema["properties"].items():
        if name in short_forms.BLOCKS:
            ((_, entry),) = block.pop("patternProperties").items()
            short = {"type": "object", "anyOf": [{"required": ["like"]}, {"required": ["for"]}]}
            block["propertyNames"] = {"pattern": "^[a-z0-9_{}]+$"}
            block["additionalProperties"] = {"anyOf": [entry, short]}
    for name, text in (("Table", "caption"), ("Figure", "title")):
        schema["$defs"][name]["required"].remove(text)  # a single problem has the label of its data set
    for name in ("sources", "checks"):
        schema["properties"][name] = {"type": ["string", "object"]}
    sets = {name: {"type": "object", "additionalProperties": {"type": "array"}} for name in short_forms.SETS}
    schema["properties"]["sets"] = {"type": "object", "additionalProperties": False, "properties": sets}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def write_schema(path: Path = SCHEMA) -> None:
    """Write the schema down."""
    text = yaml.safe_dump(schema(), sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)
    path.write_text(f"# Written from graphdr.plan.blocks by `make schema`.\n{text}", encoding="utf-8")


def _stripped(part: Any) -> Any:
    """Leave out titles and the defaults of keys that can be missing."""
    if isinstance(part, dict):
        left_out = {"title"} if isinstance(part.get("title"), str) else set()
        left_out |= {"default"} if part.get("default", "") is None else set()
        return {key: _stripped(value) for key, value in part.items() if key not in left_out}
    return [_stripped(value) for value in part] if isinstance(part, list) else part
