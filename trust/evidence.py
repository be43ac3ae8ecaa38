"""Freeze what a change must leave alone, and compare: tables, advice, the arms of served policies, speed.

python -m trust.evidence freeze FOLDER      write the evidence of this checkout: tables of results/ and of the tiny
                                            configuration, 30 answers of `graphdr advise`, arms of served policies
python -m trust.evidence compare OLD NEW    compare two such folders; the exit code is 1 if anything differs
python -m trust.evidence time OLD NEW       run `make bench` in two checkouts in turns; compare the medians
python -m trust.evidence --tiny             freeze a small part twice, and compare

--renamed OLD=NEW: a name that changed, in values and paths; --dropped KEY: what an answer no longer has.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from graphdr import GraphDRLinUCB
from graphdr.graphs.random_graphs import sbm
from trust import same_values
from trust.checkout import ROOT, lay_out, snakemake

ROUNDS = 100_000
SLOWER = 1.10  # a median may grow by so much
REPEATS = 5  # of the benchmarks, in turns
BENCHMARKS = ("kernels", "methods")
BRIEF = ("--json", "--rounds", "500", "--splits", "2")


# Tables


def freeze_tables(folder: Path) -> None:
    """Copy the tables of this checkout's results, and build those of the tiny configuration."""
    for path in sorted(ROOT.glob("results/**/*.parquet")):
        copy_to(path, folder / "built" / path.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as name:
        checkout = lay_out(Path(name), with_films=True)
        done = snakemake(checkout, os.environ, "all")
        if done.returncode:
            raise SystemExit(f"error: the tiny configuration was not built\n{done.stderr}")
        for path in sorted(checkout.glob("results/**/*.parquet")):
            copy_to(path, folder / "tiny" / path.relative_to(checkout))


def copy_to(source: Path, target: Path) -> None:
    """Copy a file, with the folders that it needs."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


# Answers of advise


def write_inputs(folder: Path) -> None:
    """Write the files that advice is asked about: ratings, edges, rewards, features and a log."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        kind = rng.integers(4, size=60)
        quality = 0.6 * rng.standard_normal(4)[kind] + 0.6 * rng.standard_normal(60)
        write_ratings(folder / f"ratings{seed}.csv", rng, quality, kind)
        write_graph(folder, seed, rng, quality, kind)


def write_ratings(path: Path, rng: np.random.Generator, quality: np.ndarray, kind: np.ndarray) -> None:
    """Write who rated which item how, with times."""
    lines = ["user,item,rating,time"]
    for user in range(80):
        taste = rng.standard_normal(4)
        for item in rng.choice(len(quality), 15, replace=False):
            rating = np.clip(np.round(3 + quality[item] + 0.5 * taste[kind[item]] + rng.standard_normal()), 1, 5)
            lines.append(f"u{user},i{item},{rating:.0f},{rng.integers(10**6)}")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def write_graph(folder: Path, seed: int, rng: np.random.Generator, quality: np.ndarray, kind: np.ndarray) -> None:
    """Write edges between items of a kind, rewards and clicks on items, features, and a log of uniform play."""
    n = len(quality)
    pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < (0.35 if kind[i] == kind[j] else 0.02)]
    pairs += [(i, i - 1) for i in range(1, n)]
    edges = [f"i{i},i{j}" for i, j in dict.fromkeys(pairs)]
    (folder / f"edges{seed}.csv").write_text("\n".join(["source,target", *edges, ""]), encoding="utf-8")
    pulls = np.repeat(np.arange(n), 20)
    rewards = [f"i{item},{quality[item] + rng.standard_normal():.4f}" for item in pulls]
    (folder / f"rewards{seed}.csv").write_text("\n".join(["node,reward", *rewards, ""]), encoding="utf-8")
    rates = 1 / (1 + np.exp(2.5 - quality))
    clicks = [f"i{item},{int(rng.random() < rates[item])}" for item in pulls]
    (folder / f"clicks{seed}.csv").write_text("\n".join(["node,reward", *clicks, ""]), encoding="utf-8")
    numbers = np.eye(4)[kind] + 0.2 * rng.standard_normal((n, 4))
    features = [f"i{item}," + ",".join(f"{x:.3f}" for x in row) for item, row in enumerate(numbers)]
    (folder / f"features{seed}.csv").write_text("\n".join(["item,a,b,c,d", *features, ""]), encoding="utf-8")
    log = ["candidates,action,reward,propensity"]
    for _ in range(2000):
        offered = rng.choice(n, 5, replace=False)
        arm = rng.choice(offered)
        log.append(f"{' '.join(f'i{item}' for item in offered)},i{arm},{int(rng.random() < rates[arm])},0.2")
    (folder / f"log{seed}.csv").write_text("\n".join([*log, ""]), encoding="utf-8")


def questions(inputs: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield a name and the arguments of each question."""
    for seed in range(3):
        ratings, edges, rewards, clicks, features, log = (
            str(inputs / f"{name}{seed}.csv") for name in ("ratings", "edges", "rewards", "clicks", "features", "log")
        )
        yield f"ratings{seed}", [ratings]
        yield f"popular{seed}", [ratings, "--candidates", "popularity"]
        yield f"few-nodes{seed}", [ratings, "--nodes", "40"]
        yield f"log1p{seed}", [ratings, "--transform", "log1p"]
        yield f"graph{seed}", ["--edges", edges, "--rewards", rewards]
        yield f"clicks{seed}", ["--edges", edges, "--rewards", clicks]
        yield f"both{seed}", [ratings, "--features", features]
        yield f"features{seed}", ["--features", features, "--rewards", rewards]
        yield f"log{seed}", ["--features", features, "--log", log]
        yield f"graph-log{seed}", ["--edges", edges, "--rewards", clicks, "--log", log]


def freeze_answers(folder: Path, count: int | None = None) -> None:
    """Ask `graphdr advise` every question, and keep its answer as JSON, or its message."""
    inputs = folder / "inputs"
    write_inputs(inputs)
    for name, arguments in list(questions(inputs.resolve()))[:count]:
        with tempfile.TemporaryDirectory() as elsewhere:
            call = [sys.executable, "-m", "graphdr", "advise", *arguments, *BRIEF]
            done = subprocess.run(call, cwd=elsewhere, capture_output=True, text=True, check=False)
        answer = json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()}
        path = folder / "answers" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(answer, indent=1, sort_keys=True), encoding="utf-8")


# Arms of served policies


def freeze_arms(folder: Path, rounds: int = ROUNDS) -> None:
    """Play policies of every mode, and keep the arms."""
    folder = folder / "arms"
    folder.mkdir(parents=True, exist_ok=True)
    for mode, play in MODES.items():
        np.save(folder / f"{mode}.npy", play(rounds))


class Service:
    """60 arms in four groups whose click rates differ, and the rounds in which they are offered."""

    def __init__(self, rounds: int):
        rng = np.random.default_rng(0)
        self.graph = sbm(60, rng, blocks=4, p_in=0.5, p_out=0.05)
        self.rates = np.linspace(0.1, 0.5, 4)[np.arange(60) // 15] + 0.02 * rng.standard_normal(60)
        self.offers = rng.permuted(np.tile(np.arange(60), (rounds, 1)), axis=1)[:, :8]
        self.draws = rng.random(rounds)

    def click(self, t: int, arm: int) -> float:
        """Return what an arm earns in a round."""
        return float(self.draws[t] < self.rates[arm])


def plain(rounds: int, **parameters: Any) -> np.ndarray:
    """Play one policy without contexts."""
    service = Service(rounds)
    policy = GraphDRLinUCB(random_state=0, **parameters).fit(service.graph, names=range(60))
    arms = np.empty(rounds, np.int64)
    for t, offer in enumerate(service.offers):
        arms[t] = policy.recommend(offer)
        policy.update(arms[t], service.click(t, arms[t]))
    return arms


def segments(rounds: int) -> np.ndarray:
    """Play a policy that two segments of users share."""
    service = Service(rounds)
    pair = {"young": {"old": 1.0}, "old": {"young": 1.0}}
    policy = GraphDRLinUCB(10, segments=pair, random_state=0).fit(service.graph, names=range(60))
    arms = np.empty(rounds, np.int64)
    for t, offer in enumerate(service.offers):
        segment = "young" if t % 3 else "old"
        arms[t] = policy.recommend(offer, segment=segment)
        policy.update(arms[t], service.click(t, arms[t]), segment=segment)
    return arms


def contexts(rounds: int) -> np.ndarray:
    """Offer mixtures of two arms."""
    service = Service(rounds)
    policy = GraphDRLinUCB(10, prior="ridge", ridge=1.0, radius=0.3, random_state=0).fit(service.graph, names=range(60))
    chosen = np.empty(rounds, np.int64)
    for t, offer in enumerate(service.offers):
        vectors = np.zeros((4, 60))
        vectors[np.arange(4), offer[:4]] = vectors[np.arange(4), offer[4:]] = 0.5
        chosen[t] = policy.recommend(vectors=vectors)
        rate = vectors[chosen[t]] @ service.rates
        policy.update(vector=vectors[[chosen[t]]], reward=float(service.draws[t] < rate))
    return chosen


def merged(rounds: int) -> np.ndarray:
    """Let two workers learn in turns, merge them now and then, and change the arms meanwhile."""
    service = Service(rounds)
    policy = GraphDRLinUCB(10, random_state=0).fit(service.graph, names=range(60))
    workers = [policy.worker(), policy.worker()]
    arms = np.empty(rounds, np.int64)
    for t, offer in enumerate(service.offers):
        worker = workers[t % 2]
        arms[t] = worker.recommend(offer)
        worker.update(arms[t], service.click(t, arms[t]))
        if t % 500 == 499:
            policy.merge(*(each.delta() for each in workers))
            workers = [policy.worker(), policy.worker()]
    return arms


def turnover(rounds: int) -> np.ndarray:
    """Remove an arm now and then and add it again, saving and loading the policy in between."""
    service = Service(rounds)
    policy = GraphDRLinUCB(10, random_state=0).fit(service.graph, names=range(60))
    arms = np.empty(rounds, np.int64)
    with tempfile.TemporaryDirectory() as name:
        for t, offer in enumerate(service.offers):
            if t % 1000 == 999:
                gone = int(offer[0])
                neighbours = [int(arm) for arm in service.graph.adjacency[[gone]].indices if arm in policy]
                policy.remove([gone])
                policy.save(Path(name, "policy.parquet"))
                policy = GraphDRLinUCB.load(Path(name, "policy.parquet"))
                policy.add({gone: neighbours})
            arms[t] = policy.recommend(offer)
            policy.update(arms[t], service.click(t, arms[t]))
    return arms


MODES: dict[str, Callable[[int], np.ndarray]] = {
    "ucb": plain,
    "thompson": lambda rounds: plain(rounds, explore="ts"),
    "epsilon": lambda rounds: plain(rounds, explore=0.1),
    "forgetting": lambda rounds: plain(rounds, forget=0.999),
    "forgetting-thompson": lambda rounds: plain(rounds, forget=0.999, explore="ts"),
    "ridge": lambda rounds: plain(rounds, k=10, prior="ridge"),
    "linucb": lambda rounds: plain(rounds, k=10, prior="ridge", ridge=1.0, radius=0.3),
    "penalty": lambda rounds: plain(rounds, k=10, prior="ridge", ridge=1.0, radius=0.3, laplacian=2.0),
    "full": lambda rounds: plain(rounds, basis="identity"),
    "segments": segments,
    "contexts": contexts,
    "merge": merged,
    "turnover": turnover,
}


# Comparing


def compare(old: Path, new: Path, renamed: list[str], dropped: list[str]) -> int:
    """Print what differs between two folders of evidence; return how much."""
    bad = 0
    for part in ("built", "tiny"):
        if (old / part).is_dir():
            print(f"{part}: ", end="")
            bad += same_values.compare(old / part, new / part, renamed)
    bad += compare_files(old, new, "answers", lambda path: answer(path, renamed, dropped))
    bad += compare_files(old, new, "arms", lambda path: np.load(path).tolist())
    return bad


def answer(path: Path, renamed: list[str], dropped: list[str]) -> Any:
    """Read an answer, with its names as they are now and without keys that were dropped."""
    content = json.loads(path.read_text(encoding="utf-8"))
    for key in dropped:
        content.pop(key, None)
    return json.loads(same_values.renamer(dict(pair.split("=", 1) for pair in renamed))(json.dumps(content)))


def compare_files(old: Path, new: Path, kind: str, read: Callable[[Path], Any]) -> int:
    """Print which files of one kind differ; return how many do."""
    paths = sorted((old / kind).iterdir())
    different = []
    for path in paths:
        twin = new / kind / path.name
        if not twin.exists() or read(path) != read(twin):
            different.append(path.stem)
    print(f"{kind}: {len(paths)} compared, {len(different)} differ{': ' * bool(different)}{', '.join(different)}")
    return len(different)


def compare_times(old: Path, new: Path) -> int:
    """Run the benchmarks of two checkouts in turns; print the ratio of the medians; return how many are too slow."""
    seconds: dict[tuple[str, ...], dict[Path, list[float]]] = {}
    for _ in range(REPEATS):
        for checkout in (old, new):
            call = [str(checkout / ".venv/bin/python"), "-m", "benchmarks", *BENCHMARKS]
            subprocess.run(call, cwd=checkout, check=True, capture_output=True)
            for name in BENCHMARKS:
                for row in pq.read_table(checkout / "results/bench" / f"{name}.parquet").to_pylist():
                    row.pop("note", None)  # it quotes times, which differ in every run
                    key = (name, *(str(value) for value in row.values() if not isinstance(value, float)))
                    times = [value for value in row.values() if isinstance(value, float)]
                    seconds.setdefault(key, {}).setdefault(checkout, []).append(times[0])
    slow = 0
    for key, times in seconds.items():
        if len(times) == 2:
            ratio = float(np.median(times[new]) / np.median(times[old]))
            slow += ratio > SLOWER
            print(f"{' '.join(key):60} {ratio:.3f}{' too slow' if ratio > SLOWER else ''}")
    print(f"{len(seconds)} measurements, {slow} slower by more than {SLOWER - 1:.0%}")
    return slow


def try_it() -> int:
    """Freeze two answers and a few hundred rounds twice: nothing differs, but for what is then changed."""
    with tempfile.TemporaryDirectory() as name:
        old, new = Path(name, "old"), Path(name, "new")
        for folder in (old, new):
            freeze_answers(folder, count=2)
            freeze_arms(folder, rounds=300)
        alike = compare(old, new, [], [])
        arms = np.load(new / "arms/ucb.npy")
        arms[-1] += 1
        np.save(new / "arms/ucb.npy", arms)
        changed = compare(old, new, [], [])
    print("ok" if (alike, changed) == (0, 1) else f"WRONG: {alike} differ in a repetition, {changed} after a change")
    return int((alike, changed) != (0, 1))


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m trust.evidence", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", nargs="?", choices=("freeze", "compare", "time"))
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--dropped", action="append", default=[], metavar="KEY")
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    if arguments.tiny:
        return try_it()
    if arguments.action == "freeze" and len(arguments.folders) == 1:
        (folder,) = arguments.folders
        freeze_tables(folder)
        freeze_answers(folder)
        freeze_arms(folder)
        return 0
    if arguments.action == "compare" and len(arguments.folders) == 2:
        return min(compare(*arguments.folders, arguments.renamed, arguments.dropped), 1)
    if arguments.action == "time" and len(arguments.folders) == 2:
        return min(compare_times(*arguments.folders), 1)
    parser.error("give freeze FOLDER, compare OLD NEW or time OLD NEW")


if __name__ == "__main__":
    sys.exit(main())
