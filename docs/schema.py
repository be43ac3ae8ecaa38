"""Write the schema of config.yaml, for editors, from the types of its blocks; ``make schema`` runs it."""

from pathlib import Path
from typing import Any

import yaml

from graphdr.plan import blocks, short_forms

SCHEMA = Path(short_forms.__file__).with_name("config.schema.yaml")


def schema() -> dict[str, Any]:
    """Return the JSON schema of config.yaml for editors; entries in a short form are not looked into."""
    schema = _stripped(blocks.Config.model_json_schema())
    for name, block in schema["properties"].items():
        if name in short_forms.BLOCKS:
            ((_, entry),) = block.pop("patternProperties").items()
            short = {"type": "object", "anyOf": [{"required": ["like"]}, {"required": ["for"]}]}
            block["propertyNames"] = {"pattern": "^[a-z0-9_{}]+$"}
            block["additionalProperties"] = {"anyOf": [entry, short]}
    for name, text in (("TableView", "caption"), ("FigureView", "title")):
        schema["$defs"][name]["required"].remove(text)  # a single problem has the label of its data set
    grid = schema["$defs"]["ProblemGrid"]["properties"]
    schema["$defs"]["Levels"] = grid["vary"]
    grid["vary"] = grid["cycle"] = {"$ref": "#/$defs/Levels"}
    for name in ("sources", "checks", "studies"):
        schema["properties"][name] = {"type": ["string", "object"]}
    for name in short_forms.BLOCKS:
        schema["properties"][name] = {"anyOf": [{"type": "string"}, schema["properties"][name]]}
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


if __name__ == "__main__":
    write_schema()
