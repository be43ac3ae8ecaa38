"""Play 100 million interactions end to end: python -m benchmarks.engines [--small | --tiny] [--folder FOLDER].

Every step is a process of its own, which leaves its files and figures in the folder; a step that is done there is not
done again. It takes 8 GB of disk.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from graphdr.graphs.model import Graph

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
WORKERS, NEIGHBOURS, K, CANDIDATES = 2, 10, 20, 100


class Size(NamedTuple):
    """Items, users, interactions, and rounds that a policy plays."""

    items: int
    users: int
    interactions: int
    rounds: int = 20_000


SIZES = {
    "full": Size(1_000_000, 1_000_000, 100_000_000),
    "small": Size(5_000, 5_000, 400_000),
    "tiny": Size(1_500, 1_500, 100_000, rounds=2_000),
}


def generate(folder: Path, size: Size) -> dict:
    """Draw interactions, in no order, to parquet."""
    from benchmarks import interactions

    interactions.write(folder / "interactions", size.items, size.users, size.interactions)
    return {"bytes": sum(path.stat().st_size for path in (folder / "interactions").iterdir())}


def sort(folder: Path, size: Size) -> dict:
    """Sort them by item and by user, on disk, with Dask."""
    import numpy as np

    from graphdr.serve import streamed

    _workers()
    (folder / "sorted").mkdir(exist_ok=True)
    streamed.sort(sorted((folder / "interactions").iterdir()), "user", "item", "value", folder / "sorted")
    rows, columns = streamed.open_matrix(folder / "sorted")
    return {"pairs": rows.nnz, "steps of an exact search": float((np.diff(columns.indptr).astype(float) ** 2).sum())}


def neighbours(folder: Path, size: Size, search: str) -> dict:
    """Find the nearest items: exactly with a part of them in each worker, approximately in one."""
    import numpy as np

    from graphdr.graphs.neighbours import recall
    from graphdr.serve.streamed import open_matrix, search_blocks

    _workers()
    found = search_blocks(folder / "sorted", NEIGHBOURS, search, WORKERS)
    np.save(folder / f"{search}.npy", found)
    return {"recall": recall(open_matrix(folder / "sorted"), found)}


def graph(folder: Path, size: Size) -> dict:
    """Join the exact neighbours, and take the largest component."""
    import numpy as np
    import scipy.sparse as sp

    import graphdr
    from graphdr.graphs.from_data import union

    found = np.load(folder / "exact.npy")
    i, at = np.nonzero(found >= 0)
    made = graphdr.largest_component(union(len(found), i, found[i, at]))
    sp.save_npz(folder / "adjacency.npz", made.adjacency, compressed=False)
    np.save(folder / "origin.npy", made.origin)
    return {"nodes": made.n, "edges": made.adjacency.nnz // 2}


def basis(folder: Path, size: Size, solver: str) -> dict:
    """Compute the k smoothest eigenvectors and the constant one."""
    import graphdr

    found = graphdr.low_eigenpairs(_graph(folder), K + 1, solver=solver)
    return {"residual": float(found.residuals.max()), "values": found.values.round(6).tolist()}


def serve(folder: Path, size: Size) -> dict:
    """Fit a policy to the graph, which computes its basis, and let it learn what items pay."""
    import numpy as np

    import graphdr
    from benchmarks import interactions
    from benchmarks.timing import seconds

    arms = _graph(folder)
    policy, rng = graphdr.GraphDRLinUCB(K, random_state=0), np.random.default_rng(3)
    fit = seconds(lambda: policy.fit(arms))
    pays = interactions.rewards(interactions.tastes(size.items), rng)
    regret = {"policy": 0.0, "random": 0.0}

    def play() -> None:
        for offered in rng.choice(arms.origin, (size.rounds, CANDIDATES)):
            chosen = policy.recommend(offered.tolist())
            policy.update(chosen, pays[chosen] + 0.1 * rng.standard_normal())
            best = pays[offered].max()
            regret["policy"] += best - pays[chosen]
            regret["random"] += best - pays[offered].mean()

    return {"seconds": {"fit": fit, "rounds": seconds(play)}, "rounds": size.rounds, "regret": regret}


def _graph(folder: Path) -> "Graph":
    import numpy as np
    import scipy.sparse as sp

    from graphdr.graphs.model import Graph

    return Graph(sp.csr_array(sp.load_npz(folder / "adjacency.npz")), np.load(folder / "origin.npy"))


STEPS: dict[str, Callable[[Path, Size], dict]] = {
    "generate": generate,
    "sort": sort,
    "neighbours-exact": partial(neighbours, search="exact"),
    "neighbours-approximate": partial(neighbours, search="approximate"),
    "graph": graph,
    "basis-exact": partial(basis, solver="exact"),
    "basis-single": partial(basis, solver="single"),
    "serve": serve,
}


def _workers() -> None:
    """Let Dask run tasks in as many processes as there are workers."""
    import dask

    dask.config.set(scheduler="processes", num_workers=WORKERS)


def run(name: str, folder: Path, size: Size) -> dict:
    """Do one step; return its figures with CPU seconds and the largest memory of a process."""
    import resource

    began = time.perf_counter()
    figures = STEPS[name](folder, size)
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in spent)
    peaks = {who: round(one.ru_maxrss / 1e6, 2) for who, one in zip(("own", "worker"), spent, strict=True)}
    return {"cpu": round(cpu, 1), "elapsed": round(time.perf_counter() - began, 1), "peak GB": peaks, **figures}


def all_steps(folder: Path, size: str) -> None:
    """Do all steps that are not done yet in a folder, each in a fresh process; print the figures of all."""
    folder.mkdir(parents=True, exist_ok=True)
    for step in STEPS:
        kept = folder / f"{step}.json"
        if not kept.exists():
            command = [sys.executable, "-m", "benchmarks.engines", "--step", step, "--folder", str(folder)]
            one_thread = os.environ | dict.fromkeys(THREADS, "1")
            subprocess.run(command + [f"--{size}"] * (size != "full"), env=one_thread, check=True)
        print(f"{step}: {json.loads(kept.read_text())}", flush=True)


def main() -> None:
    """Do all steps, or one that such a process is for."""
    parser = argparse.ArgumentParser(description=__doc__)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--small", action="store_true", help="5,000 items and 400,000 interactions: in minutes")
    sizes.add_argument(
        "--tiny", action="store_true", help="1,500 items and 100,000 interactions, in a folder of its own"
    )
    parser.add_argument("--folder", type=Path, default=Path("results/bench/engines"))
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    size = "tiny" if asked.tiny else "small" if asked.small else "full"
    if asked.step:
        figures = run(asked.step, asked.folder, SIZES[size])
        (asked.folder / f"{asked.step}.json").write_text(json.dumps(figures))
    elif asked.tiny:
        with tempfile.TemporaryDirectory() as folder:
            all_steps(Path(folder), size)
    else:
        all_steps(asked.folder, size)


if __name__ == "__main__":
    main()
