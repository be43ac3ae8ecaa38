"""Try the wheel as its users do, in a clean environment without a checkout: ``make test-wheel``."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
MOST = 15  # packages that the core may bring, itself included
# root writes anywhere
UNPRIVILEGED = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
WORKFLOW = 'pip install "graphdr[workflow]"'


class Clean:
    """A clean environment, and a folder to work in."""

    def __init__(self, folder: Path):
        self.bin, self.here = folder / "venv/bin", folder / "here"
        self.here.mkdir()
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)

    def install(self, wheel: str) -> set[str]:
        """Install a wheel; return all packages that are there now."""
        pip = [self.bin / "python", "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", wheel], check=True, cwd=self.here, stderr=subprocess.DEVNULL)
        listed = subprocess.check_output([*pip, "list", "--format", "json"], stderr=subprocess.DEVNULL)
        return {package["name"] for package in json.loads(listed)} - {"pip", "setuptools"}

    def run(self, program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, without the privileges of root and with few variables."""
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8"} | (variables or {"HOME": str(self.here)})
        command = [*UNPRIVILEGED, self.bin / program, *arguments]
        return subprocess.run(command, cwd=self.here, env=environment, capture_output=True, text=True)

    def mistake(self, *arguments: str) -> str:
        """Ask for what cannot be; return the one line that says so."""
        done = self.run("graphdr", *arguments)
        assert done.returncode in (1, 2), done
        assert not done.stdout, done
        assert re.fullmatch(r"error: [^\n]+\n", done.stderr), done
        return done.stderr


@contextmanager
def closed(*folders: Path) -> Iterator[None]:
    """Let nobody write into some folders, nor into those below them."""
    each = [*folders, *(path for folder in folders for path in folder.rglob("*") if path.is_dir())]
    for path in each:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path in each:
            path.chmod(0o755)


def explains(clean: Clean) -> None:
    """Ask for help, and for what needs other packages; tests/core/test_extras.py has more of these."""
    done = clean.run("graphdr", "--help")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.startswith("usage: graphdr"), done
    assert 'graphdr advise needs pyarrow: pip install "graphdr[files]"' in clean.mistake("advise", "ratings.csv")
    (project := clean.here / "project").mkdir()
    for name in ("config.yaml", "Snakefile"):
        (project / name).touch()
    assert f"graphdr ls needs pyarrow: {WORKFLOW}" in clean.mistake("ls", "--root", "project")


def plays(clean: Clean, **variables: str) -> str:
    """Fit and play a policy; return what was warned of."""
    done = clean.run("python", "plays.py", **variables)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0.8, done.stdout  # one arm in five pays 1: who learns nothing gets 0.2
    return done.stderr


def advises(clean: Clean) -> None:
    """Ask for advice, which is written into the folder where one is."""
    rng = np.random.default_rng(0)
    user, item = np.nonzero(rng.random((120, 60)) < 0.3)
    value = np.clip(np.rint(3 + np.where(user % 3 == item % 3, 1.5, -0.5) + rng.normal(size=len(user))), 1, 5)
    lines = [f"{a},{b},{c:g}\n" for a, b, c in zip(user, item, value, strict=True)]
    (clean.here / "ratings.csv").write_text("user,item,rating\n" + "".join(lines))
    done = clean.run("graphdr", "advise", "ratings.csv", "--rounds", "200", "--splits", "2", "--json")
    assert done.returncode == 0, done.stderr
    folder = clean.here / "results/advise/ratings"
    assert {path.name for path in folder.iterdir()} == {"advice.txt", "advice.json", "advice.html", "runs.parquet"}
    assert json.loads(done.stdout) == json.loads((folder / "advice.json").read_text(encoding="utf-8"))
    assert "graphdr advise needs p" in (refused := clean.mistake("advise", "ratings.csv", "--root", "project"))
    assert WORKFLOW in refused


def main() -> None:
    """Build the wheel and try it, with the core alone and then with the extra for files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "flit_core.wheel", "-o", folder, ROOT], check=True, capture_output=True)
        (wheel,) = folder.glob("*.whl")
        clean = Clean(folder)
        shutil.copy(Path(__file__).with_name("plays.py"), clean.here)
        packages = clean.install(str(wheel))
        assert len(packages) <= MOST, packages
        print(f"The core is {len(packages)} packages: {', '.join(sorted(packages))}.", flush=True)
        explains(clean)
        print("Help and mistakes are as they should be.", flush=True)
        package = Path(clean.run("python", "-c", "import graphdr; print(*graphdr.__path__)").stdout.strip())
        assert (package / "py.typed").is_file()
        with closed(package, clean.here):
            said = plays(clean, TMPDIR=str(clean.here), XDG_CACHE_HOME=str(clean.here))  # and no HOME
        assert said.count("NUMBA_CACHE_DIR") == 1, said
        print("A policy plays where nothing can be written, with one warning.", flush=True)
        assert plays(clean) == ""
        packages = clean.install(f"{wheel}[files]")
        advises(clean)
        print(f"graphdr advise answers with {len(packages)} packages, into the current folder.")


if __name__ == "__main__":
    main()
