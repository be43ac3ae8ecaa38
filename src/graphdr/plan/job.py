"""A job: one call of a stage, with typed inputs, outputs and parameters."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from graphdr.cache import paths
from graphdr.cache.fingerprint import stage_code
from graphdr.core.errors import UserError
from graphdr.core.packed import pack

LONGEST_ARGUMENT = 100_000  # letters: Linux takes 128 KiB, and a shell gets the whole command as one

Input = TypeVar("Input", bound=tuple[Any, ...])
Output = TypeVar("Output", bound=tuple[Any, ...])
Params = TypeVar("Params", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Job(Generic[Input, Output, Params]):
    """One call of a stage, with what its module declares: ``Input``, ``Output`` and ``Params``."""

    stage: str
    input: Input
    output: Output
    params: Params
    modules: tuple[str, ...] = ()  # that the stage imports by name: an edit of them reruns this job

    def files(self) -> list[str]:
        """Return all input files, but for those that come with the project: they count by what is in them."""
        return [path for path in _flat(self.input) if path not in paths.COMMITTED]

    def root(self, placed: str) -> str:
        """Return the folder below which the files of the job are, from where its first output was placed."""
        if not placed.endswith(self.output[0]):
            advice = "give the module `prefix`, not `replace_prefix`"
            raise UserError(f"{placed}: not a place for {self.output[0]}; {advice}")
        return os.path.join(".", placed.removesuffix(self.output[0]))

    def code(self) -> str:
        """Return the fingerprint of the code behind it."""
        return stage_code(self.stage, self.modules)

    def as_argument(self) -> str:
        """Return all that the stage is called with as an argument of a command: JSON, packed if it is too long."""
        text = self.as_json()
        return text if len(text) < LONGEST_ARGUMENT else pack(text)

    def as_json(self) -> str:
        """Return all that the stage is called with, keys sorted: equal jobs are equal texts."""
        told = {name: getattr(self, name)._asdict() for name in ("input", "output", "params")}
        if brought := [path for path in _flat(self.input) if path in paths.COMMITTED]:
            told["committed"] = {path: digest(paths.committed(path)) for path in brought}
        return json.dumps(told, sort_keys=True)


AnyJob = Job[Any, Any, Any]


def at(output: Output, **wildcards: str) -> Output:
    """Fill in the wildcards of what a stage writes."""
    return type(output)(*(path.format(**wildcards) for path in output))


def fill(params: type[Params], spec: Any, **others: Any) -> Params:
    """Make parameters of what a block or record has by the same names, and of others."""
    return params(**{name: getattr(spec, name) for name in params.__annotations__ if hasattr(spec, name)} | others)


def digest(path: str | Path) -> str:
    """Hash a file, if it is there."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16] if Path(path).is_file() else ""


def _flat(role: Any) -> list[str]:
    """Return the paths of an input: a path, several, or several by key; an empty one is not there."""
    if isinstance(role, str) or role is None:
        return [role] if role else []
    return [path for part in (role.values() if isinstance(role, Mapping) else role) for path in _flat(part)]
