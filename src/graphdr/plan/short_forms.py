"""Write out the short forms of config.yaml: files that it names, templates, entries like others, and named sets."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_origin

from graphdr.cache.paths import data_file
from graphdr.core.errors import UserError, no_such
from graphdr.plan.blocks import Config, Raw, as_list
from graphdr.plan.yaml_files import read_yaml

NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?")
LARGEST_WHOLE = 2**53  # beyond, not every whole number is a float
TEXTS = (
    "label", "note", "style", "tex", "caption", "title", "sha256", "citation", "licence", "terms", "release",
    "where", "statement", "criterion",
)  # fmt: skip
BLOCKS = [name for name, info in Config.model_fields.items() if get_origin(info.annotation) is dict]
ATTACHED = {"checks": "claims", "studies": "experiments"}  # further entries of a block, whose own keys win
SETS = ("problems", "methods", "facts", "scores", "columns")  # what a set can hold
LISTS = {  # where the name of a set, or of a template, can stand for its members
    "experiments": ("methods", "facts"),
    "evaluations": ("experiments", "scores"),
    "tables": ("methods", "columns", "experiment", "evaluation"),
    "figures": ("methods", "experiment", "evaluation"),
    "claims": ("dataset", "except", "experiment", "evaluation"),
}
VARIABLE = re.compile(r"\{(\w+)\}")
SPELLING = str.maketrans({".": "_", "-": "m", "+": None, "[": None, "]": None, ",": "_", " ": None, "/": "_"})


def full(raw: Any, folder: Path = Path()) -> Raw:
    """Return the configuration without short forms; names of files are relative to ``folder``."""
    config = _mapping("top level", typed(raw))
    for block in (*BLOCKS, *ATTACHED, "sources"):
        if isinstance(named := config.get(block), str):
            config[block] = typed(read_yaml(data_file(named, folder), f"{block}: "))
        for name, entry in _mapping(block, config.get(block, {})).items():
            _mapping(f"{block}.{name}", entry)
    datasets = config.get("datasets", {})
    for name, source in config.pop("sources", {}).items():
        if name not in datasets:
            raise no_such("sources", "dataset", name, datasets)
        datasets[name]["raw"] = source | _mapping(f"datasets.{name}.raw", datasets[name].get("raw", {}))
    for key, block in ATTACHED.items():
        if attached := config.pop(key, {}):
            entries = config.get(block, {})
            config[block] = entries | {name: entry | entries.get(name, {}) for name, entry in attached.items()}
    sets = _sets(config)
    for block in BLOCKS:
        if block in config:
            entries, templates = _written_out(block, config[block], sets["problems"])
            sets[block] = sets.get(block, {}) | templates  # in a list, a template stands for its entries
            config[block] = {name: _like(block, name, entries) for name in entries}
    for block, places in LISTS.items():
        for name, entry in config.get(block, {}).items():
            for place in places:
                _replace(entry, place, sets.get(place) or sets.get(f"{place}s", {}))
            if isinstance(problems := entry.get("problems"), dict):
                _replace(problems, "of", sets["problems"])
            if block in ("tables", "figures"):
                _show(block, name, entry, config, sets)
    return config


def typed(value: Any, name: str = "") -> Any:
    """Turn text that spells a number into that number, since values of ``--config`` and 1e5 of YAML arrive as text.

    A whole number is an integer, however it is spelled.
    """
    if isinstance(value, dict):
        return {key: typed(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [typed(part, name) for part in value]
    if isinstance(value, str) and name not in TEXTS and NUMBER.fullmatch(value):
        value = int(value) if value.lstrip("+-").isdigit() else float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE:
        return int(value)
    return value


def problem_name(base: str, changes: Mapping[str, Any]) -> str:
    """Join a base and its variations; the result is only ever used as a key."""
    return "-".join([base, *(f"{factor}_{value}".translate(SPELLING) for factor, value in sorted(changes.items()))])


def _mapping(where: str, value: Any) -> Raw:
    if not isinstance(value, dict):
        raise UserError(f"{where}: a mapping is needed")
    return value


def _sets(config: Raw) -> dict[str, dict[str, list[Any]]]:
    sets = _mapping("sets", config.pop("sets", {}))
    for kind, members in sets.items():
        if kind not in SETS:
            raise no_such("sets", "kind of set", kind, SETS)
        for name, names in _mapping(f"sets.{kind}", members).items():
            if not isinstance(names, list):
                raise UserError(f"sets.{kind}.{name}: a list of its members is needed")
            if name in config.get(kind, {}):
                raise UserError(f"sets.{kind}.{name}: {kind}.{name} has the same name")
    return {kind: sets.get(kind, {}) for kind in SETS}


def _written_out(block: str, entries: Raw, problems: Mapping[str, Any]) -> tuple[Raw, dict[str, list[str]]]:
    """Return the entries with every template replaced by one entry per value, and the names made from each template.

    An entry with the name of a made one changes it.
    """
    written: Raw = {}
    templates: dict[str, list[str]] = {}
    for key, entry in entries.items():
        if "for" not in entry:
            written[key] = _merged(written.get(key, {}), entry)
            continue
        where, templates[key] = f"{block}.{key}", []
        body = {name: value for name, value in entry.items() if name != "for"}
        for row in _rows(f"{where}.for", entry["for"], problems):
            name = str(_fill(where, key, row))
            if name == key or any(name in names for names in templates.values()):
                raise UserError(f"{where}: two entries have the name {name!r}")
            written[name] = _merged(_fill(where, body, row), written.get(name, {}))
            templates[key].append(name)
    return written, templates


def _merged(base: Raw, entry: Raw) -> Raw:
    """Return an entry with the keys that it lacks taken from a base, also inside a mapping."""
    inner = {
        key: base[key] | value
        for key, value in entry.items()
        if isinstance(value, dict) and isinstance(base.get(key), dict)
    }
    return base | entry | inner


def _rows(where: str, variables: Any, problems: Mapping[str, Any]) -> list[Raw]:
    """Return the values of a template's variables, one mapping per entry; a name stands for a set of problems."""
    columns = {}
    for name, values in variables.items() if isinstance(variables, dict) else ():
        if isinstance(values, str) and values not in problems:
            raise no_such(f"{where}.{name}", "set of problems", values, problems)
        columns[name] = problems[values] if isinstance(values, str) else values
    if not columns or not all(isinstance(values, list) and values for values in columns.values()):
        raise UserError(f"{where}: every variable needs a list of values")
    if len({len(values) for values in columns.values()}) > 1:
        raise UserError(f"{where}: all lists must be of the same length")
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _fill(where: str, value: Any, row: Mapping[str, Any]) -> Any:
    """Replace the {variables} in a value; a text that is nothing but a variable becomes its value."""
    if isinstance(value, dict):
        return {_fill(where, key, row): _fill(where, part, row) for key, part in value.items()}
    if isinstance(value, list):
        return [_fill(where, part, row) for part in value]
    if not isinstance(value, str):
        return value
    for name in VARIABLE.findall(value):
        if name not in row:
            raise no_such(where, "variable", name, row)
    whole = VARIABLE.fullmatch(value)
    return row[whole[1]] if whole else VARIABLE.sub(lambda match: str(row[match[1]]), value)


def _like(block: str, name: str, entries: Mapping[str, Raw], seen: tuple[str, ...] = ()) -> Raw:
    """Return an entry with the keys that it lacks taken from the entry that it is like."""
    entry = entries[name]
    if "like" not in entry:
        return entry
    where, model = f"{block}.{name}.like", str(entry["like"])
    if model not in entries:
        raise no_such(where, f"entry of {block}", model, entries)
    if model in (name, *seen):
        raise UserError(f"{where}: {model!r} is like {name!r} itself")
    base = _like(block, model, entries, (*seen, name))
    return _merged(base, {key: value for key, value in entry.items() if key != "like"})


def _show(block: str, name: str, entry: Raw, config: Raw, sets: Mapping[str, Any]) -> None:
    """Write out a table or figure: its problem, rows, columns and title."""
    where = f"{block}.{name}"
    if block == "tables" and "evaluation" not in entry and name in config.get("experiments", {}):
        entry.setdefault("experiment", [name])
    if isinstance(variation := entry.get("problem"), dict):
        if not isinstance(variation.get("of"), str):
            raise UserError(f"{where}.problem: the problem that it is a variation `of` is needed")
        changes = {str(factor): value for factor, value in variation.items() if factor != "of"}
        entry["problem"] = problem_name(variation["of"], changes)
    if isinstance(problem := entry.get("problem"), str):
        dataset = str(config.get("problems", {}).get(problem, {}).get("dataset"))
        label = config.get("datasets", {}).get(dataset, {}).get("label", problem)
        entry.setdefault("caption" if block == "tables" else "title", label)
    if isinstance(rows := entry.get("rows"), dict) and len(rows) == 1:
        ((entry["rows"], entry["heading"]),) = rows.items()
    if isinstance(columns := entry.get("columns"), list):
        parts = [_columns(f"{where}.columns", column, sets["problems"]) for column in columns]
        entry["columns"] = [column for part in parts for column in part]


def _columns(where: str, column: Any, problems: Mapping[str, Any]) -> list[Any]:
    """Write out a template of columns, and name a cell by itself after its method or predictor, else its quantity."""
    if isinstance(column, str):
        return [{column.rpartition("@")[2].partition(".")[0]: column}]
    if not isinstance(column, dict) or "for" not in column:
        return [column]
    cells = [{name: cell} for name, cell in column.items() if name != "for"]
    return [_fill(where, cell, row) for row in _rows(f"{where}.for", column["for"], problems) for cell in cells]


def _replace(entry: Raw, place: str, sets: Mapping[str, list[Any]]) -> None:
    """Replace the names of sets in a list by their members; a single name is a list, too."""
    if isinstance(entry.get(place), str | list):
        entry[place] = [
            member
            for name in as_list(entry[place])
            for member in (sets.get(name, [name]) if isinstance(name, str) else [name])
        ]
