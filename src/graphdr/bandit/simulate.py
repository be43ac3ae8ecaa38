"""Simulate a policy on a bandit problem; the stages, advice, trials and benchmarks all play through here."""

from collections.abc import Sequence

import numpy as np

from graphdr.bandit.environment import OneGenerator, RandomNumbers, Rounds
from graphdr.bandit.linucb import EVERY, regret
from graphdr.bandit.method import BanditProblem, Choices, Method, Policy, Run
from graphdr.bandit.residuals import residual_leverage, residual_width
from graphdr.core.errors import required
from graphdr.theory.results import RunResult


class Defaults:
    """Settings of methods that have none of their own, outside of a configuration."""

    alpha = 1.0
    ridge = 1.0
    delta = 0.05
    k_grid: tuple[int, ...] = (1, 2, 3, 5, 8, 12, 20)


def simulate(
    problem: BanditProblem,
    policy: Policy,
    rounds: Rounds,
    rng: RandomNumbers | np.random.Generator | None = None,
    *,
    checkpoint: int = EVERY,
) -> RunResult:
    """Play a policy through all rounds of a problem.

    The regret is against the best candidate of every round.

    Parameters
    ----------
    problem : BanditProblem
        Expected rewards, and what the policy knows of the arms.
    policy : Policy
        A method such as ``graphdr.LinUCB``, or any object with ``play(problem, rounds, rng)``.
    rounds : Rounds
        Candidates and noise, as ``graphdr.draw_rounds`` returns them.
    rng : Generator or RandomNumbers, optional
        The random numbers of the policy. Without them, those of a fixed seed.
    checkpoint : int, default=100
        Results are kept for every so many rounds.

    Returns
    -------
    RunResult
        The regret at the checkpoints, the arms, and what else was measured.

    Examples
    --------
    >>> graph = graphdr.largest_component(graphdr.sbm(60, graphdr.stream(0, "graph"), blocks=3, p_in=0.5, p_out=0.05))
    >>> arms = graphdr.arm_features("laplacian_low", graphdr.low_eigenpairs(graph, 4).vectors, k=3)
    >>> theta = graphdr.smooth_reward(arms, graphdr.stream(0, "theta"))
    >>> spec = graphdr.RoundsSpec(horizon=2000, arms=5, noise=0.1)
    >>> rounds = graphdr.draw_rounds(0, spec, graph.n, instance=0, seed=0)
    >>> reduced = graphdr.simulate(graphdr.BanditProblem(theta, features=arms), graphdr.LinUCB(), rounds)
    >>> full = graphdr.simulate(graphdr.BanditProblem(theta), graphdr.LinUCB(), rounds)
    >>> bool(5 * reduced.regret[-1] < full.regret[-1])
    True
    """
    if rng is None:
        rng = np.random.default_rng(0)
    numbers = OneGenerator(rng) if isinstance(rng, np.random.Generator) else rng
    return simulate_many(policy, [Run(problem, rounds, numbers, checkpoint)])[0]


def simulate_many(policy: Policy, runs: Sequence[Run]) -> list[RunResult]:
    """Play runs of one shape: as many features, rounds and candidates per round. LinUCB plays them side by side.

    The radius of a theorem is that of the first run.
    """
    if isinstance(policy, Method):
        policy = policy.resolve(Defaults)
        choices = policy.play_many(runs)
    else:
        played = [policy.play(run.problem, run.rounds, run.rng) for run in runs]
        choices = [part if isinstance(part, Choices) else Choices(np.asarray(part)) for part in played]
    ridge = getattr(policy, "ridge", None) or 1.0
    return [measure(run, chosen, ridge) for run, chosen in zip(runs, choices, strict=True)]


def measure(run: Run, choices: Choices, ridge: float = 1.0) -> RunResult:
    """Measure the regret along the arms chosen and, if the problem has a residual, SRL, CRW and widths."""
    problem, arms, every = run.problem, run.rounds.arms, run.checkpoint
    losses = regret(problem.theta, arms, choices.arms, every)
    checkpoints = every * np.arange(1, 1 + len(losses))
    pilot = choices.srl_pilot, choices.crw_pilot
    result = RunResult(checkpoints, losses, None, None, None, *pilot, choices.arms, choices.fit)
    if problem.residual is None:
        return result
    srl, widths = choices.srl, choices.widths
    if srl is None:  # the kernel that played did not follow this residual
        features, v0_inverse = required(problem.features, "features"), problem.v0_inverse
        if v0_inverse is None:
            v0_inverse = np.eye(features.shape[1]) / ridge
        srl, widths = residual_leverage(features, v0_inverse, choices.arms, problem.residual, every)
    return result._replace(srl=srl, crw=residual_width(problem.residual, arms, every), widths=widths)
