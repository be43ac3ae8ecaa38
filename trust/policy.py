"""``python -m trust.policy``: a served policy plays a million rounds, is killed again and again, and loses nothing.

A child process plays and saves; the parent kills it at random moments, also while it saves, and starts it again from
its file. What a round offers and pays depends on its number alone, so that in the end the policy must know exactly what
one knows that was never killed.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphdr.core.rng import stream
from graphdr.graphs import random_graphs
from graphdr.graphs.model import largest_component
from graphdr.serve.file import ARRAYS, SCALARS
from graphdr.serve.policy import GraphDRLinUCB

MODES = {
    "found": {"prior": "graph"},
    "given": {"prior": "ridge", "ridge": 1.0, "radius": 0.5, "explore": 0.05},
}
NODES, K, CANDIDATES = 1000, 20, 20
STEPS = 10  # lines that a child prints between two saves
ALLOWED = 1e-6  # of V^-1, in parts of its largest entry
PATIENCE = 600  # seconds for a line of a child


class Plan(NamedTuple):
    """How long a policy plays, how often it is saved, and how often it is killed."""

    rounds: int
    every: int
    kills: int


FULL, TINY = Plan(1_000_000, 10_000, 30), Plan(20_000, 10_000, 3)


def fitted(mode: str) -> GraphDRLinUCB:
    """Fit a policy to a graph of communities."""
    graph = random_graphs.sbm(NODES, stream(0, "soak"), blocks=5, p_in=0.05, p_out=0.002)
    return GraphDRLinUCB(K, random_state=0, **MODES[mode]).fit(largest_component(graph))


def play(policy: GraphDRLinUCB, rounds: int) -> None:
    """Play the next rounds; those of a thousand have one generator, so that any of them can be played again."""
    names = np.array(policy.names)
    rates = 0.3 + 0.2 * np.sin(np.arange(len(names)) / len(names) * 2 * np.pi)
    rate = dict(zip(policy.names, rates.tolist(), strict=True))
    for start in range(policy.rounds, policy.rounds + rounds, 1000):
        rng = stream(0, "rounds", start=start)
        sets, draws = rng.choice(names, (1000, CANDIDATES)).tolist(), rng.random(1000).tolist()
        for candidates, draw in zip(sets, draws, strict=True):
            arm = policy.recommend(candidates)
            policy.update(arm, float(draw < rate[arm]))


def child(mode: str, path: Path, plan: Plan) -> None:
    """Play on from the file, or from the start; save now and then, and say what is being done."""
    policy = GraphDRLinUCB.load(path) if path.exists() else fitted(mode)
    print(f"begin {policy.rounds}", flush=True)
    while policy.rounds < plan.rounds:
        for _ in range(STEPS):
            play(policy, plan.every // STEPS)
            print(f"at {policy.rounds}", flush=True)
        print(f"saving {policy.rounds}", flush=True)
        policy.save(path)
        print(f"saved {policy.rounds}", flush=True)


def tormented(mode: str, path: Path, plan: Plan, rng: random.Random) -> tuple[int, list[str]]:
    """Let a child play all rounds and kill it on the way; return the number of kills, and all errors."""
    killed, expected = 0, {0}  # rounds that the file may hold: two values while it is being saved
    wrong: list[str] = []
    while expected != {plan.rounds} and not wrong:
        command = [sys.executable, "-m", "trust.policy", "--child", mode, str(path), *map(str, plan)]
        lines, left = (STEPS + 2) * (plan.rounds - max(expected)) // plan.every, plan.kills - killed
        until = rng.randint(1, max(1, 2 * lines // (left + 1))) if left else sys.maxsize
        process, alive = subprocess.Popen(command, stdout=subprocess.PIPE, text=True), True
        assert process.stdout is not None
        try:
            for number, line in enumerate(process.stdout):
                event, rounds = line.split()
                if event == "begin" and int(rounds) not in expected:
                    wrong.append(f"{mode}: {rounds} rounds were found, but {max(expected)} were saved")
                if event == "saving":
                    expected = {*expected, int(rounds)}
                elif event != "at":
                    expected = {int(rounds)}
                if alive and (number >= until or (event == "saving" and left and rng.random() < 0.1)):
                    time.sleep(0.02 * rng.random())
                    process.kill()
                    alive = False  # its earlier lines are still to be read
            code = process.wait(PATIENCE)
        finally:  # never leave a child behind
            process.kill()
            process.stdout.close()
            process.wait()
        killed += code == -signal.SIGKILL
        if code not in (0, -signal.SIGKILL):
            wrong.append(f"{mode}: the child ended with {code}")
    return killed, wrong


def drift(policy: GraphDRLinUCB) -> float:
    """Return how far V^-1 and the mean are from those of a fresh inverse, in parts of their largest entries."""
    fresh = policy._posterior.copied()
    fresh.rebuild()
    pairs = (policy._posterior.inverse, fresh.inverse), (policy._posterior.mean, fresh.mean)
    return max(float(np.abs(updated - exact).max() / np.abs(exact).max()) for updated, exact in pairs)


def differing(policy: GraphDRLinUCB, other: GraphDRLinUCB) -> list[str]:
    """Return the names of all saved values that are not equal to the last digit in both policies."""
    mine, theirs = policy._posterior, other._posterior
    names = [name for name in (*ARRAYS, *SCALARS) if not np.array_equal(getattr(mine, name), getattr(theirs, name))]
    generators = [one._state.rng.bit_generator.state for one in (policy, other)]
    same = generators[0] == generators[1] and policy.rounds == other.rounds
    return names if same else [*names, "rounds or generator"]


def check(mode: str, folder: Path, plan: Plan, seed: int) -> list[str]:
    """Torment one policy, leave another alone, and return what is wrong."""
    begin, path = time.monotonic(), folder / f"{mode}.parquet"
    killed, wrong = tormented(mode, path, plan, random.Random(f"{seed} {mode}"))
    if wrong:
        return wrong
    wrong += [f"{mode}: it was never killed"] * (not killed)
    policy, undisturbed = GraphDRLinUCB.load(path), fitted(mode)
    play(undisturbed, plan.rounds)
    wrong += [f"{mode}: {name} is not that of a policy never killed" for name in differing(policy, undisturbed)]
    away = drift(policy)
    wrong += [f"{mode}: V^-1 is {away:.1e} away from a fresh inverse"] * (not away <= ALLOWED)
    text = f"{policy.rounds:,} rounds, {killed} kills, V^-1 within {away:.1e} of a fresh inverse"
    print(f"{mode}: {text}, {time.monotonic() - begin:.0f} s", flush=True)
    return wrong


def main(arguments: list[str] | None = None) -> int:
    """Torment a policy in every mode; the exit code is 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="trust.policy", description=__doc__)
    parser.add_argument("--rounds", type=int, help=f"by default {FULL.rounds:,}")
    parser.add_argument("--every", type=int, help=f"rounds between two saves, by default {FULL.every:,}")
    parser.add_argument("--kills", type=int, help=f"by default {FULL.kills}")
    parser.add_argument("--tiny", action="store_true", help=f"by default {TINY.rounds:,} rounds and {TINY.kills} kills")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    options = parser.parse_args(arguments)
    changes = {name: getattr(options, name) for name in Plan._fields if getattr(options, name) is not None}
    plan = (TINY if options.tiny else FULL)._replace(**changes)
    if plan.every % (1000 * STEPS) or plan.rounds % plan.every:
        parser.error(f"saves are a multiple of {1000 * STEPS} rounds apart, and rounds a multiple of that")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: terminated"))  # which ends the child, too
    with tempfile.TemporaryDirectory(prefix="graphdr-policy-") as folder:
        wrong = [text for mode in MODES for text in check(mode, Path(folder), plan, options.seed)]
    for text in wrong:
        print(f"WRONG: {text}")
    print("nothing was lost" if not wrong else f"{len(wrong)} WRONG")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), Plan(*map(int, sys.argv[4:])))
    else:
        sys.exit(main())
