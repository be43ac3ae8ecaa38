"""Play the peers, each with its model nearest to LinUCB; run inside an environment that has them; print JSON."""

import json
import sys
import time
from collections.abc import Callable
from importlib import metadata

import numpy as np

K, N, M, ROUNDS, REPETITIONS = 10, 1500, 20, 200, 3
Round = Callable[[int], None]


class Game:
    """Features, rewards and candidate sets that all peers share."""

    def __init__(self):
        rng = np.random.default_rng(1)
        self.features = rng.standard_normal((N, K)) / np.sqrt(K)
        self.theta = self.features @ rng.standard_normal(K) / np.sqrt(K)
        self.arms = [rng.choice(N, M, replace=False).tolist() for _ in range(ROUNDS)]
        self.noise = 0.1 * rng.standard_normal(ROUNDS)

    def reward(self, t: int, arm: int) -> float:
        """Return the reward of an arm in a round."""
        return float(self.theta[arm] + self.noise[t])


def coba(game: Game) -> Round:
    """One shared model over the features of the candidates."""
    from coba.learners import LinUCBLearner

    learner = LinUCBLearner(alpha=1.0, features=["a"])
    rows = [tuple(row) for row in game.features.tolist()]

    def play(t):
        actions = [rows[arm] for arm in game.arms[t]]
        action, probability = learner.predict(None, actions)[:2]
        learner.learn(None, action, game.reward(t, game.arms[t][actions.index(action)]), probability)

    return play


def river(game: Game) -> Round:
    """One model per candidate position, the same context for all."""
    from river.bandit import LinUCBDisjoint

    policy = LinUCBDisjoint(alpha=1.0, seed=1)
    contexts = [dict(enumerate(row)) for row in game.features.tolist()]
    positions = list(range(M))

    def play(t):
        context = contexts[game.arms[t][0]]
        position = policy.pull(positions, context=context)
        policy.update(position, context, game.reward(t, game.arms[t][position]))

    return play


def contextualbandits(game: Game) -> Round:
    """One model per candidate position, the same context for all."""
    from contextualbandits.online import LinUCB

    policy = LinUCB(nchoices=M, alpha=1.0, random_state=1)

    def play(t):
        context = game.features[game.arms[t][:1]]
        position = int(np.ravel(policy.predict(context))[0])
        reward = np.array([game.reward(t, game.arms[t][position])])
        policy.partial_fit(context, np.array([position]), reward)

    return play


def mabwiser(game: Game) -> Round:
    """One model per candidate position, the same context for all."""
    from mabwiser.mab import MAB, LearningPolicy

    policy = MAB(arms=list(range(M)), learning_policy=LearningPolicy.LinUCB(alpha=1.0))
    policy.fit([0], [game.reward(0, game.arms[0][0])], game.features[game.arms[0][:1]])

    def play(t):
        context = game.features[game.arms[t][:1]]
        position = policy.predict(context)
        policy.partial_fit([position], [game.reward(t, game.arms[t][position])], context)

    return play


def _text(row: list[float]) -> str:
    """Write a feature vector as Vowpal Wabbit reads it."""
    return "|a " + " ".join(f"{at}:{value:.6g}" for at, value in enumerate(row))


def vw_adf(game: Game) -> Round:
    """A shared model over the features of the candidates, explored by its own rule, through text."""
    from vowpalwabbit import Workspace

    workspace = Workspace("--cb_explore_adf --epsilon 0.05 --quiet")
    lines = [_text(row) for row in game.features.tolist()]

    def play(t):
        rows = [lines[arm] for arm in game.arms[t]]
        shares = workspace.predict(rows)
        at = int(np.argmax(shares))
        rows[at] = f"0:{-game.reward(t, game.arms[t][at])}:{shares[at]} {rows[at]}"
        workspace.learn(rows)

    return play


def vw_parsed(game: Game) -> Round:
    """A shared linear model without widths: predict parsed candidates, learn one."""
    from vowpalwabbit import Workspace

    workspace = Workspace("--quiet")
    parsed = [workspace.parse(_text(row)) for row in game.features.tolist()]

    def play(t):
        arm = max(game.arms[t], key=lambda candidate: workspace.predict(parsed[candidate]))
        example = parsed[arm]
        example.set_label_string(str(game.reward(t, arm)))
        workspace.learn(example)

    return play


PEERS = {
    "coba LinUCB": ("coba", coba),
    "river LinUCBDisjoint": ("river", river),
    "contextualbandits LinUCB": ("contextualbandits", contextualbandits),
    "MABWiser LinUCB": ("mabwiser", mabwiser),
    "Vowpal Wabbit cb_explore_adf, text": ("vowpalwabbit", vw_adf),
    "Vowpal Wabbit regression, parsed": ("vowpalwabbit", vw_parsed),
}


def measure(make: Callable[[Game], Round], game: Game) -> float:
    """Return the best microseconds per round over fresh learners; the first rounds of each warm up."""
    best = float("inf")
    for _ in range(REPETITIONS):
        play = make(game)
        for t in range(10):
            play(t)
        begin = time.perf_counter()
        for t in range(10, ROUNDS):
            play(t)
        best = min(best, (time.perf_counter() - begin) / (ROUNDS - 10))
    return 1e6 * best


def report(name: str, game: Game) -> dict:
    """Return what a peer took, or the first line of what went wrong."""
    package, make = PEERS[name]
    try:
        note = f"{package} {metadata.version(package)}: {make.__doc__}"
        return {"name": name, "microseconds": measure(make, game), "note": note}
    except Exception as error:
        first = (str(error) or repr(error)).splitlines()[0]
        return {"name": name, "microseconds": None, "note": f"failed: {type(error).__name__}: {first}"}


if __name__ == "__main__":
    shared = Game()
    json.dump([report(name, shared) for name in sys.argv[1:] or PEERS], sys.stdout)
