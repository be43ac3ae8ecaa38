"""The graph prior as a policy: UCB or Thompson sampling with weights that the rewards seen decide.

``bandit.graph_prior`` has the model, its evidence and the kernels; docs/graph_prior.md derives them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit.environment import RandomNumbers, Rounds
from graphdr.bandit.method import (
    BASIS,
    BASIS_NAMES,
    COUNT,
    ArmFeatures,
    BanditProblem,
    Choices,
    GraphInputs,
    Method,
    from_problem,
    setting,
)
from graphdr.core.errors import UserError, required
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import Basis
from graphdr.theory.gaussian import thompson_bound, ucb_bound


@dataclass(frozen=True, kw_only=True)
class GraphPrior(Method):
    """Play the largest upper bound of a graph prior; there is nothing to set.

    The reward of an arm is part graph, part its own. The rewards seen decide how much of each, how large the noise is
    and how many columns matter. With a second basis every refit takes the first, the second or both.

    Parameters
    ----------
    basis : str
        Whose columns describe the arms.
    second_basis : str, optional
        Another one.
    components : int, optional
        Columns that it looks at, at most.

    Examples
    --------
    >>> graph = graphdr.largest_component(graphdr.sbm(60, graphdr.stream(0, "graph"), blocks=3, p_in=0.5, p_out=0.05))
    >>> low = graphdr.low_eigenpairs(graph, 24)
    >>> theta = graphdr.smooth_reward(low.vectors[:, 1:4], graphdr.stream(0, "theta"))
    >>> spec = graphdr.RoundsSpec(horizon=2000, arms=5, noise=0.1)
    >>> rounds = graphdr.draw_rounds(0, spec, graph.n, instance=0, seed=0)
    >>> features, roughness = graphdr.graded_features("laplacian_low", low)
    >>> problem = graphdr.BanditProblem(theta, features, roughness=roughness)
    >>> prior = graphdr.simulate(problem, graphdr.GraphPrior(), rounds, np.random.default_rng(0))
    >>> full = graphdr.simulate(graphdr.BanditProblem(theta), graphdr.LinUCB(), rounds)
    >>> bool(5 * prior.regret[-1] < full.regret[-1])
    True
    """

    policy: str = "graph_prior"
    citation: ClassVar[str] = "this package"
    space: ClassVar[str] = BASIS
    streams: ClassVar[tuple[str, ...]] = ("random",)
    basis: str = setting(BASIS_NAMES, "laplacian_low")
    second_basis: str | None = setting(BASIS_NAMES)
    components: int | None = from_problem(COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.second_basis == self.basis:
            raise ValueError(f"second_basis: {self.second_basis!r} is the first basis already; leave it out")

    def features(self, inputs: GraphInputs) -> ArmFeatures:
        features, roughness = self._graded(self.basis, required(inputs.basis, "basis"))
        second = None
        if self.second_basis is not None and inputs.second_basis is not None:
            second = self._graded(self.second_basis, inputs.second_basis)
        return ArmFeatures(features, roughness=roughness, second_basis=second)

    def _graded(self, name: str, basis: Basis) -> tuple[np.ndarray, np.ndarray]:
        """Return no more columns than ``components``, though more may be stored, and how rough each is."""
        features, roughness = arm_features.graded(name, basis)
        return features[:, : self.components], roughness[: self.components]

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        from graphdr.bandit.graph_prior import play
        from graphdr.bandit.graph_prior.public import check_columns

        if problem.features is None or problem.roughness is None:
            raise UserError("the graph prior needs features and their roughness: see graphdr.graded_features")
        check_columns(len(problem.theta), problem.features, problem.roughness)
        if problem.second_basis is not None:
            check_columns(len(problem.theta), *problem.second_basis)
        columns, normals, bound = rng.columns(rounds), None, ucb_bound
        if "thompson" in self.streams:
            normals, bound = rng.generator("thompson"), thompson_bound
        played = play.play(problem, rounds, columns, normals)
        return Choices(played.arms, play.describe(problem, rounds, played, bound))


@dataclass(frozen=True, kw_only=True)
class GraphPriorThompson(GraphPrior):
    """Play the best candidate under rewards drawn from a graph prior."""

    policy: str = "graph_prior_thompson"
    streams: ClassVar[tuple[str, ...]] = ("random", "thompson")
