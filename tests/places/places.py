"""Odd places to build in: each function lays one out below a folder and says how Snakemake is called there."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.support.project import ROOT, lay_out
from trust.determinism import installed

NOBODY = pwd.getpwnam("nobody")
PERSONAL = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "NUMBA_CACHE_DIR")


class Place(NamedTuple):
    """A checkout, and what differs there from a usual call: before the interpreter, after it, and around it."""

    checkout: Path
    variables: Mapping[str, str] = {}
    unset: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    umask: int = -1  # that of the caller
    python: str = sys.executable
    other_libraries: bool = False  # for another Python, the lock has others


class Missing(Exception):
    """What a place needs cannot be had here."""


def closed_home(folder: Path) -> Place:
    """Let nobody write into the home folder, and name no other place for caches."""
    home = folder / "home"
    home.mkdir()
    home.chmod(0o555)
    return Place(owned(lay_out(folder / "checkout")), {"HOME": str(home)}, PERSONAL, another_user())


def no_home(folder: Path) -> Place:
    """Unset HOME and all that names a place for caches."""
    return Place(owned(lay_out(folder / "checkout")), {}, PERSONAL, another_user())


def odd_path(folder: Path) -> Place:
    """Build below a path with spaces, quotes and letters beyond ASCII."""
    return Place(lay_out(folder / "Größe, it's 数据 {x} $HOME"))


def closed_umask(folder: Path) -> Place:
    """Make files that nobody else can read."""
    return Place(owned(lay_out(folder / "checkout")), unset=PERSONAL, prefix=another_user(), umask=0o077)


def read_only_source(folder: Path) -> Place:
    """Build elsewhere, from sources that cannot be written, package included."""
    source = lay_out(folder / "source")
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (source, *source.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    work = folder / "work"
    work.mkdir()
    arguments = ("--snakefile", str(source / "Snakefile"), "--configfile", str(source / "config.yaml"))
    arguments = (*arguments, "--replace-workflow-config")
    variables = {"PYTHONPATH": str(source / "src")}
    return Place(owned(work), variables, PERSONAL, another_user(), arguments)


PLACES: dict[str, Callable[[Path], Place]] = {
    "home not writable": closed_home,
    "no home, no caches": no_home,
    "odd path": odd_path,
    "umask 077": closed_umask,
    "read-only source": read_only_source,
    "Python 3.12": lambda folder: other_python(folder, "3.12"),
    "Python 3.13": lambda folder: other_python(folder, "3.13"),
}
LONG = ("Python 3.12", "Python 3.13")  # all packages are installed


@cache
def another_user() -> tuple[str, ...]:
    """Return what makes a call one without privileges, where this is root: by nobody, or else by root without them."""
    if os.geteuid() != 0:
        return ()
    if not shutil.which("setpriv"):
        raise Missing("setpriv is not installed")
    nobody = ("setpriv", f"--reuid={NOBODY.pw_uid}", f"--regid={NOBODY.pw_gid}", "--clear-groups")
    imports = [*nobody, "sh", "-c", 'exec "$0" -c "import graphdr"', sys.executable]
    if subprocess.run(imports, cwd="/", capture_output=True).returncode == 0:
        return nobody
    return ("setpriv", "--bounding-set=-all", "--inh-caps=-all")  # the interpreter is in a folder of root's


def owned(folder: Path) -> Path:
    """Give a folder to the other user."""
    if f"--reuid={NOBODY.pw_uid}" in another_user():
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid, follow_symlinks=False)
    return folder


def other_python(folder: Path, version: str) -> Place:
    """Build with another version of Python that is on this machine, and what the lock has for it."""
    homes = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin"))
    found = [shutil.which(f"python{version}", path=home) for home in (None, *homes)]
    working = [path for path in found if path and not subprocess.run([path, "-V"], capture_output=True).returncode]
    if not working:
        raise Missing(f"there is no python{version} here")
    inside = installed(working[0], folder / "environment")
    if not inside:
        raise Missing(f"the locked packages cannot be installed for {working[0]}")
    variables = {"PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(folder / "compiled")}
    return Place(lay_out(folder / "checkout"), variables, python=inside, other_libraries=True)
