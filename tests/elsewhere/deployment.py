"""Deploy the last commit with snakedeploy, and unpack an archive of a build elsewhere: ``make test-deploy``."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from tests.elsewhere.environments import made
from tests.support.project import ROOT, hashes, small, would_write
from trust.checkout import contents
from trust.determinism import differences

TABLE = "results/tables/rgg.csv"


def main() -> None:
    """Deploy, build, archive and unpack; the files are the same in all places."""
    if not (ROOT / ".git").exists():
        print("skipped: this is no clone, and snakedeploy deploys a commit")
        return
    programs = made("snakedeploy", "snakedeploy>=0.17")
    with tempfile.TemporaryDirectory(prefix="graphdr-deploy-") as name:
        folder = Path(name)
        # A path with this word is taken for the address of a host, so that the files come from a commit, as from there.
        clone = folder / "github" / "graphdr"
        run(ROOT, "git", "clone", "--quiet", ROOT, clone)
        (clone / "config.yaml").write_text(yaml.safe_dump(small()))
        run(clone, "snakemake", "--cores", "2")
        deployed = deploy(clone, folder / "deployed", programs)
        assert not (unlike := differences(contents(clone), contents(deployed))), f"built otherwise: {unlike}"
        print(f"Deployed by snakedeploy, it builds the same {len(hashes(deployed))} files.", flush=True)
        unpacked = unpack(clone, folder / "unpacked")
        assert would_write(unpacked) == set(), "an archive does not know what was built"
        before = contents(unpacked)
        (unpacked / TABLE).unlink()
        run(unpacked, "snakemake", "--cores", "2")
        assert contents(unpacked) == before, "an archive builds something else"
        print("Unpacked from an archive, nothing runs again, and a lost table is built again as it was.")


def deploy(clone: Path, folder: Path, programs: Path) -> Path:
    """Deploy a clone into an empty folder, with a small configuration, and build there."""
    commit = run(clone, "git", "rev-parse", "HEAD").strip()
    deployer = [programs / "snakedeploy", "deploy-workflow", clone.as_uri(), folder, "--commit", commit]
    run(clone, *deployer)
    snakefile = folder / "workflow/Snakefile"
    hosted, here = 'github("github/graphdr"', f'gitfile("{clone}"'
    words = snakefile.read_text()
    assert hosted in words, words
    snakefile.write_text(words.replace(hosted, here))  # no host in a test
    (folder / "config/config.yaml").write_text(yaml.safe_dump(small()))
    run(folder, "snakemake", "--cores", "2")
    assert "0 of them changed or missing" in run(folder, "graphdr", "verify")
    return folder


def unpack(clone: Path, folder: Path) -> Path:
    """Archive a clone with what was built in it, and unpack that in another folder, all files being touched."""
    run(clone, "make", "--old-file=.venv/.ready", "archive")
    folder.mkdir()
    run(folder, "tar", "-xzf", clone / "graphdr.tar.gz")
    for path in (folder / "graphdr").rglob("*"):
        if ".snakemake" not in path.parts and path.exists():
            os.utime(path)
    shutil.rmtree(clone)
    return folder / "graphdr"


def run(folder: Path, *command: str | Path) -> str:
    """Run a command in a folder, with the programs of this environment first."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": programs, "XDG_CACHE_HOME": str(folder / ".cache")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    main()
