"""Environments of their own for programs that only these trials need, kept below .venv."""

import subprocess
import sys
import sysconfig
from pathlib import Path


def made(name: str, *packages: str, over: bool = False) -> Path:
    """Return the programs of an environment with some packages, made on first use, over this one if asked for."""
    folder = Path(sys.prefix) / name
    if not (folder / "ready").exists():
        print(f"Installing {' and '.join(packages)} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        if over:
            (library,) = folder.glob("lib/python*/site-packages")
            (library / "under.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
        pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        if subprocess.run(pip, check=False, capture_output=True).returncode:
            print(f"skipped: {' and '.join(packages)} cannot be installed here")
            raise SystemExit(0)
        (folder / "ready").touch()
    return folder / "bin"
