"""The schema of every kind of table, as declared in schemas.toml."""

import tomllib
from pathlib import Path

import pyarrow as pa

FILE = Path(__file__).with_suffix(".toml")


def _type(name: str) -> pa.DataType:
    return pa.list_(_type(name.removeprefix("list of "))) if name.startswith("list of ") else pa.type_for_alias(name)


def _schema(columns: dict[str, tuple[str, str]]) -> pa.Schema:
    """Return the schema of columns that are declared by type and meaning."""
    return pa.schema(
        [pa.field(name, _type(kind), metadata={"description": text}) for name, (kind, text) in columns.items()]
    )


SCHEMAS = {kind: _schema(columns) for kind, columns in tomllib.loads(FILE.read_text("utf-8")).items()}
