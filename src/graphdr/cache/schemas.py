"""The schema of every kind of table, as declared in schemas.toml."""

import tomllib
from pathlib import Path

import pyarrow as pa

FILE = Path(__file__).with_suffix(".toml")


def _type(name: str) -> pa.DataType:
    return pa.list_(_type(name.removeprefix("list of "))) if name.startswith("list of ") else pa.type_for_alias(name)


SCHEMAS = {
    kind: pa.schema([pa.field(name, _type(type_), metadata={"description": text}) for name, (type_, text) in columns])
    for kind, columns in ((kind, table.items()) for kind, table in tomllib.loads(FILE.read_text("utf-8")).items())
}
