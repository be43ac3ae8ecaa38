"""A learner of coba (8.x), for ``coba.Experiment``."""

from collections.abc import Sequence
from copy import deepcopy

from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.sources import Name


class CobaLearner:
    """Play a fitted policy as a learner; coba's actions are the names of arms, and its contexts those of segments.

    A copy of the policy plays and learns, so that every experiment starts with the policy as it was given. Contexts are
    left aside where the policy has no segments.
    """

    def __init__(self, policy: GraphDRLinUCB):
        self.playing = deepcopy(policy)

    @property
    def params(self) -> dict[str, object]:
        """The parameters that are not the default, for coba's table of learners."""
        given, default = self.playing.get_params(deep=False), GraphDRLinUCB().get_params(deep=False)
        plain = {name: value for name, value in given.items() if isinstance(value, str | int | float)}
        return {"family": "GraphDRLinUCB", **{name: plain[name] for name in plain if plain[name] != default[name]}}

    def score(self, context: Name | None, actions: Sequence[Name], action: Name) -> float:
        """Return the probability with which an action would be taken."""
        return float(self.playing.probabilities(actions, segment=self._segment(context))[list(actions).index(action)])

    def predict(self, context: Name | None, actions: Sequence[Name]) -> dict[str, tuple[Name, float]]:
        """Return the action that is taken, and its probability."""
        return {"action_prob": tuple(self.playing.choose(actions, segment=self._segment(context)))}

    def learn(self, context: Name | None, action: Name, reward: float, probability: float) -> None:
        """Learn the reward of an action."""
        self.playing.update(action, reward, segment=self._segment(context))

    def _segment(self, context: Name | None) -> Name | None:
        return None if self.playing.segments is None else context
