"""A job: one call of a stage, with typed inputs, outputs and parameters."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from graphdr.cache import paths
from graphdr.cache.fingerprint import stage_code
from graphdr.core.errors import UserError
from graphdr.core.records import pack, to_json

LONGEST_ARGUMENT = 100_000  # letters: Linux takes 128 KiB, and a shell gets the whole command as one

Record = TypeVar("Record")


@dataclass(frozen=True)
class Job:
    """One call of a stage, with the records that its module declares: ``Input``, ``Output`` and ``Params``."""

    stage: str
    input: Any
    output: Any
    params: Any
    modules: tuple[str, ...] = ()  # that the stage imports by name: an edit of them reruns this job
    optional: Mapping[str, Path] = field(default_factory=dict)  # inputs that are read if they exist, with their places

    def files(self) -> list[str]:
        """Return the input files to build: not those whose contents are part of the job."""
        return [path for path in _flat(self.input) if path not in {*paths.PAPER_FILES, *self.optional}]

    def root(self, first_output: str) -> str:
        """Return the folder of the job's files, from the path of its first output."""
        if not first_output.endswith(self.output[0]):
            advice = "give the module `prefix`, not `replace_prefix`"
            raise UserError(f"{first_output}: not a place for {self.output[0]}; {advice}")
        return os.path.join(".", first_output.removesuffix(self.output[0]))

    def code(self) -> str:
        """Return the fingerprint of the code behind it."""
        return stage_code(self.stage, self.modules)

    def as_argument(self) -> str:
        """Return the call of the stage as an argument of a command: JSON, packed if it is too long."""
        text = self.as_json()
        return text if len(text) < LONGEST_ARGUMENT else pack(text)

    def as_json(self) -> str:
        """Return the call of the stage with sorted keys: equal jobs are equal texts."""
        call = {name: to_json(getattr(self, name)._asdict()) for name in ("input", "output", "params")}
        places = {path: Path(paths.data_file(path)) for path in paths.PAPER_FILES} | dict(self.optional)
        contents = {path: _digest(places[path]) for path in _flat(self.input) if path in places}
        return json.dumps(call | ({"contents": contents} if contents else {}), sort_keys=True)


def make_job(stage: ModuleType, input: Any, params: Any, modules: tuple[str, ...] = (), **wildcards: str) -> Job:
    """Return the call of a stage that writes the files with these wildcards."""
    output = stage.Output(*(path.format(**wildcards) for path in stage.Output()))
    return Job(stage.__name__.rpartition(".")[2], input, output, params, modules)


def fill(record: type[Record], source: object, **others: Any) -> Record:
    """Fill a record: with ``others``, and with the attributes of a source that have the names of its fields."""
    absent = object()
    values = {name: getattr(source, name, absent) for name in record.__annotations__ if name not in others}
    return record(**others, **{name: value for name, value in values.items() if value is not absent})


def _digest(path: Path) -> str:
    """Hash a file, if it is there."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""


def _flat(role: Any) -> list[str]:
    """Return the paths of an input: a path, several, or several by key; an empty one is not there."""
    if isinstance(role, str) or role is None:
        return [role] if role else []
    return [path for part in (role.values() if isinstance(role, Mapping) else role) for path in _flat(part)]
