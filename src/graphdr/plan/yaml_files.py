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
        _check_size(path, text)
        loader = SafeLoader(text)
        try:
            document = loader.get_single_node()
            _check_keys(path, document)
            return None if document is None else loader.construct_document(document)
        finally:
            loader.dispose()
    except UserError as error:
        raise UserError(f"{where}{error}") from None
    except (ValueError, yaml.YAMLError) as error:
        raise UserError(f"{where}{path}: cannot be read ({_problem(error)})") from None


def _problem(error: ValueError | yaml.YAMLError) -> str:
    """Describe what is wrong with a text, with its line if known; the message of YAML may hold the whole text."""
    problem = join_names([getattr(error, "problem", None) or error])
    mark = getattr(error, "problem_mark", None)
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark else problem


def _check_keys(path: str | Path, document: yaml.Node | None) -> None:
    """Refuse a key that stands twice in one mapping: YAML's loader would silently take the last."""
    waiting, seen = [document], set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.CollectionNode) and id(node) not in seen:
            seen.add(id(node))  # an alias is the node that it stands for
            if isinstance(node, yaml.MappingNode):
                _check_mapping(path, node)
                waiting += [value for _, value in node.value]
            else:
                waiting += node.value


def _check_mapping(path: str | Path, mapping: yaml.MappingNode) -> None:
    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        line = key.start_mark.line + 1
        if isinstance(key.value, str) and key.value in lines:
            where = f"in lines {lines[key.value]} and {line}" if lines[key.value] != line else f"in line {line}"
            raise UserError(f"{path}: the key {quote(key.value)} stands twice, {where}; keep one of them")
        lines[str(key.value)] = line


def _check_size(path: str | Path, text: str) -> None:
    """Refuse a text whose aliases stand for too many values, or that is nested too deeply, before it is built."""
    sizes: dict[str, int] = {}  # values behind every anchor
    open_: list[tuple[str | None, int]] = [(None, 0)]  # collections that are not closed, with the values in them
    for event in yaml.parse(text, Loader=SafeLoader):  # one at a time: the rest of a refused text is never parsed
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, 1))
            if len(open_) > DEEPEST:
                raise UserError(f"{path}: lists or mappings are nested more than {DEEPEST} levels deep")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, count = open_.pop()
        elif isinstance(event, yaml.AliasEvent):
            if any(anchor == event.anchor for anchor, _ in open_):
                raise UserError(f"{path}: *{join_names([event.anchor])} is part of itself")
            anchor, count = None, sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.ScalarEvent):
            anchor, count = event.anchor, 1
        else:
            continue
        if anchor:
            sizes[anchor] = count
        outer, before = open_.pop()
        open_.append((outer, before + count))
        if before + count > MOST_VALUES:
            raise UserError(f"{path}: more than {MOST_VALUES:,} values, with its aliases written out")
