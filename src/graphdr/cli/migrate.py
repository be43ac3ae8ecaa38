"""Rewrite a configuration with the old names of keys and values to the new ones; comments and layout stay."""

from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from graphdr.core.atomic import write_text
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer
from graphdr.plan import renamed
from graphdr.plan.yaml_files import read_yaml

FACTOR_BLOCKS = ("set", "vary", "cycle")  # of the problems of an experiment
FACTOR_NAMES = ("rows", "x", "along")  # keys whose value is the name of a factor


class Rename(NamedTuple):
    """A name to replace: where it starts in the text, and its line."""

    start: int
    line: int
    old: str
    new: str


def run(options: Namespace, here: Path) -> Answer:
    """Rewrite a configuration and the files that it names; keep the old ones with the suffix ``.old``."""
    answer = {path.as_posix(): [(r.line, r.old, r.new) for r in renames] for path, renames in migrate(options.config)}
    return 0, answer, lambda: _text(options.config, answer)


def migrate(path: Path, block: str | None = None) -> list[tuple[Path, list[Rename]]]:
    """Rewrite a file with a configuration, or with the entries of one block, and return what changed by file."""
    read_yaml(path)  # refuses what is no valid YAML
    text = path.read_bytes().decode()
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(node, yaml.MappingNode):
        raise UserError(f"{path}: a mapping is needed")
    finder = _Finder(path, text)
    if block:
        finder.visit_block(block, node)
    else:
        finder.rename_keys(node, renamed.TOP_KEYS)
    changed = []
    for name, value in _items(node) if block is None else ():
        if isinstance(value, yaml.MappingNode):
            finder.visit_block(name, value)
        elif isinstance(value, yaml.ScalarNode) and Path(path.parent, value.value).is_file():
            changed += migrate(Path(path.parent, value.value), name)
    renames = sorted(set(finder.renames))
    if renames:
        _rewrite(path, text, renames)
        changed.insert(0, (path, renames))
    return changed


def _rewrite(path: Path, text: str, renames: list[Rename]) -> None:
    backup = path.with_name(path.name + ".old")
    if backup.exists():
        raise UserError(f"{backup}: exists already; move it away, so that the old {path.name} can be kept there")
    path.rename(backup)
    for rename in reversed(renames):
        text = text[: rename.start] + rename.new + text[rename.start + len(rename.old) :]
    write_text(text, path.as_posix())


class _Finder:
    """Collect the names to replace in one file."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        self.renames: list[Rename] = []

    def visit_block(self, block: str, node: yaml.MappingNode) -> None:
        """Visit a block at the top level of a configuration."""
        if block in ("protocol", "observed"):
            self.rename_factors(node)
            return
        for _, entry in _items(node):
            if isinstance(entry, yaml.MappingNode):
                self._visit_entry(block, entry)

    def _visit_entry(self, block: str, entry: yaml.MappingNode) -> None:
        if block in ("datasets", "problems"):
            self.rename_factors(entry)
        elif block == "methods":
            self.rename_keys(entry, renamed.METHOD_KEYS)
            self._rename_bases(entry)
        elif block in ("experiments", "studies"):
            self.rename_keys(entry, renamed.EXPERIMENT_KEYS)
            for part in FACTOR_BLOCKS:
                self.rename_factors(_child(_child(entry, "problems"), part))
        elif block in ("tables", "figures"):
            self._rename_factor_names(entry)
            self._rename_problem(_child(entry, "problem"))
        elif block in ("claims", "checks"):
            self.rename_keys(entry, renamed.CLAIM_KEYS)
            for _, criterion in _items(entry):
                self._rename_factor_names(criterion)
        elif block in ("simulated_papers", "pseudo_papers"):
            self.rename_keys(entry, renamed.SIMULATED_PAPER_KEYS)

    def rename_keys(self, node: yaml.Node | None, names: Mapping[str, str]) -> None:
        """Rename the keys of a mapping."""
        keys = [key for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        for key in keys:
            if key.value in names:
                if names[key.value] in [other.value for other in keys]:
                    both = f"{key.value!r} and {names[key.value]!r}"
                    raise UserError(f"{self.path}: line {key.start_mark.line + 1}: both {both} are set; keep one")
                self._add(key, names[key.value])

    def rename_factors(self, node: yaml.Node | None) -> None:
        """Rename the factors of a mapping, and the values of `users`."""
        self.rename_keys(node, renamed.FACTORS)
        users = _child(node, "users")
        for value in users.value if isinstance(users, yaml.SequenceNode) else [users]:
            self._rename_value(value, renamed.HOLDOUT)

    def _rename_bases(self, method: yaml.MappingNode) -> None:
        for key in ("basis", "second_basis", "beside"):
            value = _child(method, key)
            self._rename_value(value, renamed.BASES)
            for old, new in renamed.BASIS_SUFFIXES.items():
                if isinstance(value, yaml.ScalarNode) and value.value.endswith(old):
                    self._add(value, value.value.removesuffix(old) + new)

    def _rename_factor_names(self, node: yaml.Node) -> None:
        """Rename factors where their names are values, and where a check selects by them."""
        for value in node.value if isinstance(node, yaml.SequenceNode) else ():
            self._rename_factor_names(value)
        for key, value in _items(node):
            if key in FACTOR_NAMES:
                self._rename_value(value, renamed.FACTORS)
            if key in ("rows", "where"):
                self.rename_factors(value)
            self._rename_factor_names(value)

    def _rename_problem(self, node: yaml.Node | None) -> None:
        """Rename the factors in the problem of a table: a mapping, or a name with sorted variations."""
        self.rename_factors(node)
        if isinstance(node, yaml.ScalarNode):
            base, *variations = node.value.split("-")
            new = [_variation(part) for part in variations]
            if new != variations:
                self._add(node, "-".join([base, *sorted(new)]))

    def _rename_value(self, node: yaml.Node | None, names: Mapping[str, str]) -> None:
        if isinstance(node, yaml.ScalarNode) and node.value in names:
            self._add(node, names[node.value])

    def _add(self, node: yaml.ScalarNode, new: str) -> None:
        start = self.text.rfind(node.value, node.start_mark.index, node.end_mark.index)  # after an anchor or a quote
        self.renames.append(Rename(start, node.start_mark.line + 1, node.value, new))


def _items(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from ((key.value, value) for key, value in node.value)


def _child(node: yaml.Node | None, name: str) -> yaml.Node | None:
    return dict(_items(node)).get(name)


def _variation(part: str) -> str:
    """Rename the factor of a variation such as ``pool_60`` in the name of a problem."""
    for old, new in renamed.FACTORS.items():
        if part.startswith(f"{old}_"):
            value = part.removeprefix(f"{old}_")
            return f"{new}_{renamed.HOLDOUT.get(value, value) if old == 'users' else value}"
    return part


def _text(config: Path, answer: dict[str, list[tuple[int, str, str]]]) -> list[str]:
    if not answer:
        return [f"{config}: nothing to migrate"]
    lines = []
    for path, renames in answer.items():
        lines += [f"{path}: line {line}: {old} → {new}" for line, old, new in renames]
        lines.append(f"{path}: rewritten; the old file is {path}.old")
    return lines
