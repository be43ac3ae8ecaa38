"""A policy of river, for ``river.bandit.evaluate`` and ``evaluate_offline``."""

from collections.abc import Sequence
from copy import deepcopy

from river import bandit, stats

from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.sources import Name


class RiverPolicy(bandit.base.Policy):
    """Play a fitted policy; river's arms are its arms, as names or numbers.

    A copy of the policy plays and learns: river clones its policies before each episode, and every clone starts from
    the original ``policy``. ``reward_obj`` and ``burn_in`` are river's.
    """

    def __init__(self, policy: GraphDRLinUCB, reward_obj: stats.base.Univariate | None = None, burn_in: int = 0):
        super().__init__(reward_obj, burn_in=burn_in)
        self.policy = policy
        self.playing = deepcopy(policy)

    def _pull(self, arm_ids: Sequence[Name]) -> Name:
        arm = self.playing.recommend(arm_ids)
        assert not isinstance(arm, list)  # of one arm
        return arm

    def update(self, arm_id: Name, reward: float) -> None:
        """Learn the reward of an arm."""
        super().update(arm_id, reward)
        self.playing.update(arm_id, reward)
