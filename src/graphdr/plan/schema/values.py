"""Types of values in the configuration, and the base class of all blocks."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from graphdr.core.errors import quote
from graphdr.plan import renamed

ABSENT: Any = None  # the default of a key that a block may leave out

Raw = dict[str, Any]  # parsed YAML
Item = TypeVar("Item")


def mistake(text: str) -> PydanticCustomError:
    """Return the error of a value, in plain words."""
    return PydanticCustomError("mistake", "{text}", {"text": text})


def unknown_key(noun: str, key: object, keys: Sequence[str]) -> PydanticCustomError:
    """Return the error of a key that a block does not have, with its new name if it was renamed."""
    for new in renamed.new_keys(key):
        if new in keys:
            return mistake(f"no {noun} {key!r}; it is called {new!r} now: run graphdr migrate FILE")
    return mistake(f"no {noun} {quote(key)}; there are: {', '.join(keys)}")


def _as_written(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    check(value)  # a whole number stays an integer: it is part of names and of parameters
    return value


def _distinct(items: list[Item]) -> list[Item]:
    for place, item in enumerate(items):
        if item in items[:place]:
            raise mistake(f"{quote(item)} is there twice")
    return items


def _drawable(style: list[str]) -> list[str]:
    marked = style if len(style) == 4 else [*style, ""]
    if not re.fullmatch(r"(#[0-9a-f]{6} ){2}[0-9 ]* .?", " ".join(marked)):
        raise mistake("a light and a dark colour like '#0072b2', dashes like '7 3' and, if any, a marker are needed")
    return style


NAMES = {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string"}}
NAME_OR_NAMES = {"anyOf": [{"type": "string"}, NAMES]}
COLUMNS = {"type": ["string", "array"], "items": {"type": ["string", "object"]}}

Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, WithJsonSchema({"type": ["string", "object"]})]  # with a short form that is a mapping
Distinct = Annotated[list[Item], Field(min_length=1), AfterValidator(_distinct)]
Names = Annotated[Distinct[str], WithJsonSchema(NAME_OR_NAMES)]
OneOrMore = Annotated[str | Annotated[list[str], Field(min_length=1)], WithJsonSchema(NAME_OR_NAMES)]
Pair = Annotated[dict[str, str], Field(min_length=1, max_length=1)]
Columns = Annotated[list[Pair], Field(min_length=1), WithJsonSchema(COLUMNS)]
Style = Annotated[list[str], AfterValidator(_drawable)]
Natural = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False), WrapValidator(_as_written)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), WrapValidator(_as_written)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), WrapValidator(_as_written)]
PositiveShare = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), WrapValidator(_as_written)]
OpenShare = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False), WrapValidator(_as_written)]


class Block(BaseModel):
    """A block of the configuration. It refuses keys that it does not have, and never changes."""

    model_config = {"extra": "forbid", "frozen": True, "strict": True}
    noun: ClassVar[str] = "key"  # what messages call a key of the block

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, block: Any) -> Any:
        keys = sorted(info.alias or name for name, info in cls.model_fields.items())
        for key in block if isinstance(block, dict) else ():
            if key not in keys:
                raise unknown_key(cls.noun, key, keys)
        return block

    def plain(self) -> Raw:
        """Return the keys that the block sets, without defaults, as a mapping."""
        return self.model_dump(exclude_unset=True, by_alias=True)


def as_list(names: str | list[str] | None) -> list[str]:
    """Return names as a list: one name, several or none."""
    return [names] if isinstance(names, str) else names or []
