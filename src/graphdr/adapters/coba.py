"""A learner of coba (8.x), for ``coba.Experiment``."""

from collections.abc import Sequence
from copy import deepcopy

from graphdr.serve.policy import GraphDRLinUCB
from graphdr.serve.sources import Name


class CobaLearner:
    """Play a fitted policy as a learner; coba's actions are names of arms, and its contexts are names of segments.

    A copy of the policy plays and learns, so that every experiment starts from the same policy. A policy without
    segments ignores contexts.
    """

    def __init__(self, policy: GraphDRLinUCB):
        self.playing = deepcopy(policy)

    @property
    def params(self) -> dict[str, object]:
        """The parameters that are not the default, for coba's table of learners."""
        default = GraphDRLinUCB().get_params(deep=False)
        changed: dict[str, object] = {"family": "GraphDRLinUCB"}
        for name, value in self.playing.get_params(deep=False).items():
            if isinstance(value, str | int | float) and value != default[name]:
                changed[name] = value
        return changed

    def score(self, context: Name | None, actions: Sequence[Name], action: Name) -> float:
        """Return the probability with which an action would be taken."""
        return float(self.playing.probabilities(actions, segment=self._segment(context))[list(actions).index(action)])

    def predict(self, context: Name | None, actions: Sequence[Name]) -> dict[str, tuple[Name, float]]:
        """Return the action that is taken, and its probability."""
        choice = self.playing.choose(actions, segment=self._segment(context))
        return {"action_prob": (choice.arm, choice.propensity)}

    def learn(self, context: Name | None, action: Name, reward: float, probability: float) -> None:
        """Learn the reward of an action."""
        self.playing.update(action, reward, segment=self._segment(context))

    def _segment(self, context: Name | None) -> Name | None:
        return None if self.playing.segments is None else context
