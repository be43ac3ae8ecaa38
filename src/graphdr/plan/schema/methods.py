"""Methods that play problems."""

import dataclasses
from typing import Any

from pydantic import (
    GetJsonSchemaHandler,
    InstanceOf,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError

from graphdr.bandit import method as bandit
from graphdr.bandit.registry import POLICIES
from graphdr.core.errors import quote
from graphdr.plan.schema.values import ABSENT, Block, Raw, Style, unknown_key


def settings_of(policy: type[bandit.Method]) -> dict[str, Raw]:
    """Return the settings of a policy, each with the values that it may have as a JSON schema."""
    return {field.name: field.metadata["schema"] for field in dataclasses.fields(policy) if field.metadata}


SHOWN = ("label", "note", "style", "control")  # keys of a method that say how it is shown
SETTINGS: dict[str, Raw] = {}  # of all policies; LinUCB takes the most values
for _policy in (*POLICIES.values(), POLICIES["linucb"]):
    SETTINGS |= settings_of(_policy)


def parse_method(settings: Raw) -> bandit.Method:
    """Build the method that an entry describes; the message of a ValueError starts with the key that is wrong."""
    policy = settings.get("policy", "linucb")
    if not isinstance(policy, str) or policy not in POLICIES:
        raise ValueError(f"policy: no policy {quote(policy)}; there are: {', '.join(POLICIES)}")
    allowed = settings_of(POLICIES[policy])
    for key in settings:
        if key not in allowed and key != "policy":
            raise ValueError(f"{key}: the policy {policy!r} does not take it; it takes: {', '.join(allowed) or 'none'}")
    if "basis" in allowed and "basis" not in settings:
        raise ValueError(f"basis: the policy {policy!r} needs one; there are: {', '.join(allowed['basis']['enum'])}")
    return POLICIES[policy](**settings)


class Method(Block):
    """A policy with its settings, and how it is shown."""

    label: str
    note: str = ABSENT
    style: Style = ABSENT
    control: bool = False  # shown, but never as the best
    method: InstanceOf[bandit.Method]
    written: Raw  # the settings of the method, as they stand in the configuration

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, block: Any) -> Any:
        if not isinstance(block, dict) or "method" in block:
            return block
        shown = {key: value for key, value in block.items() if key in SHOWN}
        settings = {key: value for key, value in block.items() if key not in SHOWN}
        keys = sorted({*SHOWN, "policy", *SETTINGS})
        for key in settings:
            if key not in keys:
                raise unknown_key("key", key, keys)
        try:
            return shown | {"method": parse_method(settings), "written": settings}
        except ValueError as error:
            raise PydanticCustomError("setting", "{text}", {"text": str(error)}) from None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> Raw:
        schema = handler.resolve_ref_schema(handler(core_schema))
        for key in ("method", "written"):
            schema["required"].remove(key)
            del schema["properties"][key]
        # Names are checked when they are parsed. The schema does not list them, so that a new one changes no file.
        names: Raw = {name: {"type": "string"} for name in ("policy", "basis", "second_basis")}
        schema["properties"] |= SETTINGS | names
        return schema

    @model_serializer(mode="wrap")
    def _flat(self, serialize: SerializerFunctionWrapHandler) -> Raw:
        """Write an entry as the configuration has it."""
        shown = serialize(self)
        return {key: value for key, value in shown.items() if key not in ("method", "written")} | self.written

    def with_settings(self, settings: Raw) -> "Method":
        """Return the same entry with other settings of its method."""
        return self.model_copy(update={"method": dataclasses.replace(self.method, **settings)})

    @property
    def look(self) -> dict[str, str]:
        """Return the style by the names of its parts, nothing if there is none."""
        return dict(zip(("light", "dark", "dash", "marker"), self.style or [], strict=False))
