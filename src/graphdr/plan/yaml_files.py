"""YAML files within bounds: aliases are counted before they are written out, and a key stands once in its mapping."""

from pathlib import Path
from typing import Any

import yaml

from graphdr.core.errors import UserError, join_names, quote
from graphdr.raw import bounded

MOST_VALUES = 200_000  # config.yaml has some thousands
DEEPEST = 50  # lists and mappings in each other; config.yaml has less than ten
SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: str | Path, where: str = "") -> Any:
    """Read a YAML file that is named somewhere."""
    try:
        text = bounded.contents(Path(path)).decode()
        depth = 0
        for event in yaml.parse(text, Loader=SafeLoader):  # one at a time: the rest of a refused text is never parsed
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise UserError(f"{path}: lists or mappings are nested more than {DEEPEST} levels deep")
        loader = SafeLoader(text)
        try:
            document = loader.get_single_node()
            if document is None:
                return None
            _count(path, document, {})
            return loader.construct_document(document)
        finally:
            loader.dispose()
    except UserError as error:
        raise UserError(f"{where}{error}") from None
    except (ValueError, yaml.YAMLError) as error:
        problem = join_names([getattr(error, "problem", None) or error])  # the message may hold the whole text
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise UserError(f"{where}{path}: cannot be read ({line}{problem})") from None


def _count(path: str | Path, node: yaml.Node, counts: dict[int, int]) -> int:
    """Return how many values a node stands for; refuse too many, and a key that stands twice in one mapping."""
    line = node.start_mark.line + 1
    if counts.setdefault(id(node), 0):  # an alias is the node that it stands for
        return counts[id(node)]
    parts = node.value if isinstance(node, yaml.SequenceNode) else []
    if isinstance(node, yaml.MappingNode):
        parts = [part for pair in node.value for part in pair]
        _check_keys(path, [key for key, _ in node.value])
    count = 1
    for part in parts:
        if counts.get(id(part)) == 0:
            raise UserError(f"{path}: the list or mapping in line {line} is part of itself")
        count += _count(path, part, counts)
        if count > MOST_VALUES:
            raise UserError(f"{path}: more than {MOST_VALUES:,} values, with its aliases written out")
    counts[id(node)] = count
    return count


def _check_keys(path: str | Path, keys: list[yaml.Node]) -> None:
    """Refuse a key that stands twice: YAML's loader would silently take the last."""
    lines: dict[str, int] = {}
    for key in keys:
        line = key.start_mark.line + 1
        if isinstance(key.value, str) and key.value in lines:
            where = f"in lines {lines[key.value]} and {line}"
            raise UserError(f"{path}: the key {quote(key.value)} stands twice, {where}; keep one of them")
        lines[str(key.value)] = line
