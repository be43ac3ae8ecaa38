"""Rewrite a configuration with the old names of keys and values to the new ones; comments and layout stay."""

import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import yaml

from graphdr.core.atomic import write_text
from graphdr.core.errors import UserError
from graphdr.core.terminal import Answer
from graphdr.plan import renamed
from graphdr.plan.yaml_files import read_yaml


def _holdout(value: str) -> str:
    return renamed.HOLDOUT.get(value, value)


def _factor(name: str) -> str:
    return renamed.FACTORS.get(name, name)


def _basis(name: str) -> str:
    for old, new in renamed.BASIS_SUFFIXES.items():
        if name.endswith(old):
            return name.removesuffix(old) + new
    return renamed.BASES.get(name, name)


def _problem(name: str) -> str:
    """Rename the factors in a problem's name, such as ``sbm-pool_60``, whose variations are sorted."""
    base, *variations = name.split("-")
    new = []
    for part in variations:
        old = next((old for old in renamed.FACTORS if part.startswith(f"{old}_")), None)
        value = part.removeprefix(f"{old}_")
        new.append(part if old is None else f"{_factor(old)}_{_holdout(value) if old == 'users' else value}")
    return name if new == variations else "-".join([base, *sorted(new)])


# Where a mapping of factors is; like all places, a pattern of the keys that lead there.
FACTORS_AT = (
    r"protocol|observed|(datasets|problems)/[^/]+|(experiments|studies)/[^/]+/problems/(set|vary|cycle)"
    r"|(tables|figures)/[^/]+/problem|(tables|figures|claims|checks)/.+/(rows|where)"
)
KEYS: dict[str, Mapping[str, str]] = {  # new names of a mapping's keys, by its place
    "": renamed.TOP_KEYS,
    r"methods/[^/]+": renamed.METHOD_KEYS,
    r"(experiments|studies)/[^/]+": renamed.EXPERIMENT_KEYS,
    r"(claims|checks)/[^/]+": renamed.CLAIM_KEYS,
    r"(simulated|pseudo)_papers/[^/]+": renamed.SIMULATED_PAPER_KEYS,
    FACTORS_AT: renamed.FACTORS,
}
VALUES: dict[str, Callable[[str], str]] = {  # new names of texts, by their place
    rf"({FACTORS_AT})/users": _holdout,
    r"methods/[^/]+/(basis|second_basis|beside)": _basis,
    r"(tables|figures|claims|checks)/.+/(rows|x|along)": _factor,
    r"(tables|figures)/[^/]+/problem": _problem,
}


Rename = tuple[int, int, str, str]  # where a name starts in the text, its line, the name, and the new one


def run(options: Namespace, here: Path) -> Answer:
    """Rewrite a configuration and the files that it names; keep the old ones with the suffix ``.old``."""
    answer = {path.as_posix(): [rename[1:] for rename in renames] for path, renames in migrate(options.config)}

    def text() -> list[str]:
        lines = []
        for path, renames in answer.items():
            lines += [f"{path}: line {line}: {old} → {new}" for line, old, new in renames]
            lines.append(f"{path}: rewritten; the old file is {path}.old")
        return lines or [f"{options.config}: nothing to migrate"]

    return 0, answer, text


def migrate(path: Path, block: str = "") -> list[tuple[Path, list[Rename]]]:
    """Rewrite a file with a configuration, or with the entries of one block, and return what changed by file."""
    read_yaml(path)  # refuses what is no valid YAML
    text = path.read_bytes().decode()
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(node, yaml.MappingNode):
        raise UserError(f"{path}: a mapping is needed")
    renames = sorted(set(_renames(node, block, path, text)))
    changed = []
    for key, value in () if block else node.value:
        if isinstance(value, yaml.ScalarNode) and Path(path.parent, value.value).is_file():
            changed += migrate(Path(path.parent, value.value), key.value)
    if not renames:
        return changed
    backup = path.with_name(path.name + ".old")
    if backup.exists():
        raise UserError(f"{backup}: exists already; move it away, so that the old {path.name} can be kept there")
    path.rename(backup)
    for start, _, old, new in reversed(renames):
        text = text[:start] + new + text[start + len(old) :]
    write_text(text, path.as_posix())
    return [(path, renames), *changed]


def _renames(node: yaml.Node, place: str, path: Path, text: str) -> Iterator[Rename]:
    """Yield the names to replace in a node and below it; ``place`` are the keys that lead to it, with slashes."""
    renamed_nodes = []
    if isinstance(node, yaml.SequenceNode):
        for part in node.value:
            yield from _renames(part, place, path, text)
    elif isinstance(node, yaml.MappingNode):
        names = next((names for pattern, names in KEYS.items() if re.fullmatch(pattern, place)), {})
        keys = {key.value for key, _ in node.value}
        for key, value in node.value:
            new = names.get(key.value, key.value)
            if new != key.value and new in keys:
                both = f"{key.value!r} and {new!r}"
                raise UserError(f"{path}: line {key.start_mark.line + 1}: both {both} are set; keep one")
            renamed_nodes.append((key, new))
            yield from _renames(value, f"{place}/{key.value}".lstrip("/"), path, text)
    elif isinstance(node, yaml.ScalarNode):
        rename = next((rename for pattern, rename in VALUES.items() if re.fullmatch(pattern, place)), str)
        renamed_nodes.append((node, rename(node.value)))
    for scalar, new in renamed_nodes:
        if new != scalar.value:
            start = text.rfind(scalar.value, scalar.start_mark.index, scalar.end_mark.index)  # after an anchor or quote
            yield start, scalar.start_mark.line + 1, scalar.value, new
