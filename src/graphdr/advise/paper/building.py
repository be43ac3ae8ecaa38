"""A folder of its own for every data set, laid out as a project, and the call of Snakemake that builds there."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from graphdr.cache import paths
from graphdr.core.atomic import update, writing
from graphdr.core.errors import UserError

LINKS = ("Snakefile", "workflow", "profiles")
LOG = "build.log"
PROGRESS = re.compile(r"^\d+ of \d+ jobs? done in ")


def own_folder(root: Path, name: str) -> Path:
    """Return the folder of an advice; a link there could lead to another project, whose files would be overwritten."""
    folder = root / paths.ADVICE / name
    if folder.is_symlink():
        raise UserError(f"{folder}: a link; remove it, or give another --name: advise writes to folders of its own")
    return folder


def lay_out(root: Path, name: str, config: dict, raw: Mapping[str, bytes]) -> Path:
    """Lay out the folder: links to the workflow, the configuration, the raw files; what is the same stays as it is."""
    import yaml

    folder = own_folder(root, name)
    with writing(folder):
        raw_folder = folder / Path(paths.receipt(name)).parent
        raw_folder.mkdir(parents=True, exist_ok=True)
        for link in LINKS:
            if not (folder / link).exists():  # also one that points nowhere, as after a move
                (folder / link).unlink(missing_ok=True)
                (folder / link).symlink_to(os.path.relpath(root / link, folder))
        for role, data in raw.items():
            update(data, raw_folder / f"{name}.{role}")
        update(yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode(), folder / "config.yaml")
    return folder


def build(folder: Path, target: str, say: Callable[[str], None]) -> None:
    """Build one file with Snakemake in the folder, telling the progress; a failure is the one line of its stage."""
    command = [sys.executable, "-m", "snakemake", "--cores", "all", "--logger-graphdr-every", "0", "--", target]
    environment = {name: value for name, value in os.environ.items() if name != "GRAPHDR_MIRROR"}
    lines = []
    with (
        writing(folder),
        _fresh(folder / LOG) as log,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace",
        ) as process,
    ):  # fmt: skip
        for line in process.stdout:
            log.write(line)
            lines.append(line.rstrip())
            if PROGRESS.match(line):
                say(f"building: {lines[-1]}")
    if process.returncode:
        raise UserError(_why(folder, lines))


def _fresh(path: Path) -> TextIO:
    """Open a new file in place of what has its name; a link there is removed, never followed."""
    path.unlink(missing_ok=True)
    return path.open("x", encoding="utf-8")


def _why(folder: Path, lines: list[str]) -> str:
    said = [line for line in lines if line.startswith(("error: ", "config error: "))]
    if said:
        return said[0].partition("error: ")[2]
    if any("LockException" in line or "cannot be locked" in line for line in lines):
        return f"{folder}: another build runs there; if none does: cd {folder} && snakemake --unlock"
    return f"{folder}: the build failed; {folder / LOG} says why"
