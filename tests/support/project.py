"""Small graphs and data, and checkouts to build in."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import yaml

from graphdr.cache import io, manifest, paths
from graphdr.core import forks
from graphdr.graphs.model import Graph, largest_component
from graphdr.graphs.random_graphs import sbm

ROOT = Path(__file__).parents[2]


def draw_sbm(seed: int, n: int = 40, blocks: int = 4, p_in: float = 0.6, p_out: float = 0.05) -> Graph:
    """Draw the largest component of a small stochastic block model."""
    return largest_component(sbm(n, np.random.default_rng(seed), blocks=blocks, p_in=p_in, p_out=p_out))


RAW = {
    "licence": "none",
    "citation": "Nobody.",
    "sources": [{"archive": "toy.zip", "format": "movielens_100k", "members": {"ratings": {"path": "u.data"}}}],
}
TOY = {"label": "Toy", "family": "knn", "raw": RAW}  # a data set of config.yaml


def draw_ratings(users: int = 30, items: int = 36) -> np.ndarray:
    """Draw ratings from 1 to 5 (item by user, nan where there is none) by users who like one kind of item in three."""
    rng = np.random.default_rng(0)
    liked = np.arange(items)[:, None] % 3 == np.arange(users) % 3
    ratings = np.where(liked, rng.integers(3, 6, (items, users)), rng.integers(1, 4, (items, users))).astype(float)
    ratings[rng.random(ratings.shape) > np.where(liked, 0.6, 0.4)] = np.nan
    return ratings


def write_toy(ratings: np.ndarray, **known) -> None:
    """Write the three tables of a data set in which items have ratings and whatever else is known of them."""
    node, source = np.nonzero(~np.isnan(ratings))
    keys = [f"item {number}" for number in range(len(ratings))]
    nodes = {name: pa.nulls(len(keys)) for name in ("group", "subgroup", "text", "features")}
    nodes |= {"node": np.arange(len(keys)), "key": keys, "title": keys}
    nodes |= {"popularity": np.sum(~np.isnan(ratings), axis=1), "reward": np.nanmean(ratings, axis=1)} | known
    io.write("dataset_nodes", nodes, paths.dataset_nodes("toy"))
    links = {"source": source, "node": node, "weight": ratings[node, source]}
    io.write("dataset_links", links, paths.dataset_links("toy"))
    people = [f"user {number}" for number in range(ratings.shape[1])]
    users = {name: pa.nulls(len(people)) for name in ("age", "gender", "occupation", "friends")}
    io.write("dataset_users", users | {"source": np.arange(len(people)), "key": people}, paths.dataset_users("toy"))


# Checkouts with the tiny configuration


def lay_out(folder: Path) -> Path:
    """Lay out a checkout whose configuration is the tiny one; the package stays the installed one."""
    for name in ("workflow", "profiles", "data/paper"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    shutil.copy(ROOT / "data" / "sources.yaml", folder / "data")
    shutil.copy(ROOT / "tests" / "support" / "tiny.yaml", folder / "config.yaml")
    return folder


def tiny() -> dict:
    """Return the tiny configuration."""
    return yaml.safe_load((ROOT / "tests/support/tiny.yaml").read_text(encoding="utf-8"))


def small() -> dict:
    """Return the part of the tiny configuration that is about one experiment, whose files are those of the whole."""
    config = tiny()
    for block in ("datasets", "problems", "experiments", "tables"):
        config[block] = {"rgg": config[block]["rgg"]}
    return config | {"figures": {}, "evaluations": {}, "claims": {}, "simulated_papers": {}}


def lay_out_module(folder: Path, prefix: str, config: dict) -> Path:
    """Lay out a workflow that has this one as a module, as docs/elsewhere.md prints it; return the module's folder."""
    page = (ROOT / "docs/elsewhere.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"```python\n(configfile: .*?)```", page, re.S)
    (folder / prefix).mkdir(parents=True)
    (folder / prefix / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    words = printed.replace("/path/to/graphdr", str(ROOT)).replace("bandits", prefix)
    (folder / "Snakefile").write_text(words, encoding="utf-8")
    return folder / prefix


def once(tmp_path_factory, name: str, build: Callable[[Path], object]) -> Path:
    """Return a folder that the first worker that needs it builds, for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / name
    with open(shared / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            under_way = shared / f"{name}_under_way"
            assert not under_way.exists(), f"{name}: building it failed before; see the first error"
            under_way.mkdir()
            build(under_way)
            under_way.rename(folder)
    return folder


SERVERS: dict[str | None, forks.Server] = {}  # by the mirror: a job has the environment of its server


def job_server(folder: Path) -> forks.Server:
    """Return the process that the jobs of all calls of Snakemake are forks of: one a worker, which it ends with."""
    mirror = os.environ.get("GRAPHDR_MIRROR")
    if mirror not in SERVERS:
        with contextlib.chdir(tempfile.mkdtemp(dir=folder.parent)):  # it notes there what its imports cost
            SERVERS[mirror] = forks.Server.start("graphdr")
    return SERVERS[mirror]


def snakemake(
    folder: Path, *arguments: str, package: Path | None = None, own_server: bool = False
) -> subprocess.CompletedProcess:
    """Call Snakemake in a folder, with another copy of the package if one is given, or a server of its own for jobs."""
    words = ["--cores", "2", *arguments]
    import snakemake.cli  # two seconds, once a worker: a call is a fork that has it already

    own_server = own_server or package is not None or "--dry-run" in words
    server = None if own_server else job_server(folder)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            if server:
                _share(server)
            if package:
                _take(package)
            _become_snakemake(snakemake.cli.main, folder, words, out.fileno(), err.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = [(stream.seek(0), stream.read().decode(errors="replace"))[1] for stream in (out, err)]
    return subprocess.CompletedProcess(words, code, *said)


def _share(server: forks.Server) -> None:
    """Run the jobs of this process on a server, which neither starts nor ends with it."""
    os.environ["GRAPHDR_RUN"] = server.command
    shared = SimpleNamespace(command=server.command, stop=lambda: None)
    forks.Server.start = lambda package: shared


def _take(package: Path) -> None:
    """Forget the package in this process, and let it be imported from elsewhere."""
    for name in [name for name in sys.modules if name.split(".")[0] == "graphdr"]:
        del sys.modules[name]
    sys.path.insert(0, str(package))
    os.environ["PYTHONPATH"] = str(package)


def _become_snakemake(main: Callable, folder: Path, words: list[str], out: int, err: int) -> None:
    """Be the process that ``snakemake WORDS`` would be; does not return."""
    code = 1
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout, sys.stderr = (open(number, "w", buffering=1, closefd=False) for number in (1, 2))  # noqa: SIM115
        os.chdir(folder)
        sys.argv = ["snakemake", *words]
        main()
        code = 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def would_write(folder: Path, *targets: str, package: Path | None = None) -> set[str]:
    """Return the files that a dry run would write, but for entries of the manifest."""
    done = snakemake(folder, "--dry-run", *targets, package=package)
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"^ +output: (.*)$", done.stdout + done.stderr, re.M)
    return {name for line in lines for name in line.split(", ") if not name.startswith(f"{paths.MANIFEST}/")}


def hashes(folder: Path) -> dict[str, str]:
    """Return the hashes of all that was built in a checkout, by file."""
    return manifest.digests(str(folder))
