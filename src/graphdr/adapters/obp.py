"""A policy in the form of the Open Bandit Pipeline (obp), for its replays, and rounds for its estimators."""

from collections.abc import Iterable, Sequence
from copy import deepcopy

import numpy as np

from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.sources import Name


class ObpPolicy:
    """Play a fitted policy; action i of obp is the arm ``names[i]``, and all arms are offered in every round.

    A copy of the policy plays and learns, and ``initialize`` starts again from the original.
    """

    policy_name = "graphdr"

    def __init__(self, policy: GraphDRLinUCB, len_list: int = 1):
        self.policy, self.len_list = policy, len_list
        self.names = policy.names
        self.n_actions = len(self.names)
        self._action = {name: action for action, name in enumerate(self.names)}
        self.initialize()

    @property
    def policy_type(self) -> object:
        """The name of a policy without contexts in the installed version of obp."""
        try:
            from obp.policy.policy_type import PolicyType
        except ImportError:  # obp up to 0.3
            return "contextfree"
        return PolicyType.CONTEXT_FREE

    def initialize(self) -> None:
        """Start again from the original policy."""
        self.playing, self.n_trial = deepcopy(self.policy), 0

    def select_action(self) -> np.ndarray:
        """Return the best ``len_list`` actions, the best first."""
        best = self.playing.recommend(n=self.len_list)
        return np.array([self._action[name] for name in (best if isinstance(best, list) else [best])])

    def update_params(self, action: int, reward: float) -> None:
        """Learn the reward of an action."""
        self.n_trial += 1
        self.playing.update(self.names[action], reward)

    def bandit_feedback(self, choices: Iterable[tuple[Name, float]], rewards: Sequence[float]) -> dict[str, object]:
        """Return logged rounds as obp's estimators take them, from the results of ``choose`` and their rewards."""
        arms, propensities = zip(*choices, strict=True)
        rounds = len(arms)
        return {
            "n_rounds": rounds,
            "n_actions": self.n_actions,
            "context": np.ones((rounds, 1)),  # obp asks for one
            "action": np.array([self._action[name] for name in arms]),
            "reward": np.asarray(rewards, float),
            "pscore": np.array(propensities, float),
            "position": np.zeros(rounds, int),
        }
