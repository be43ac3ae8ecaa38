"""LinUCB on the columns of a basis, with a penalty, a radius and a k of its own; one LinUCB for every segment of users.

Algorithm 1 of the paper. With a penalty in node space it is Laplacian-regularised LinUCB or SpectralUCB.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from graphdr.bandit import linucb, linucb_batched
from graphdr.bandit.arm_set import ArmSet
from graphdr.bandit.linucb_core import UNROLLED
from graphdr.bandit.method import (
    BASIS_NAMES,
    COUNT,
    COUNTS,
    DIMENSION,
    FLAG,
    NUMBER,
    POSITIVE,
    SHARE,
    ArmFeatures,
    BasisMethod,
    Choices,
    GraphInputs,
    Run,
    from_problem,
    penalised_inverse,
    setting,
)
from graphdr.bandit.radii import CONSTANT, RADII, SPECTRAL, Radius, RadiusInputs, constant, facts_behind, of_theorem
from graphdr.bandit.residuals import residual_width
from graphdr.core.errors import required
from graphdr.graphs.arm_features import ADAPTIVE, IDENTITY
from graphdr.graphs.filters import CUT
from graphdr.theory.constants import OF_PILOT, Constants

ADAPTIVE_DIMENSION = {"anyOf": [*DIMENSION["anyOf"], {"enum": [ADAPTIVE]}]}


@dataclass(frozen=True, kw_only=True)
class LearningMethod(BasisMethod):
    """A method on k columns with a width alpha and a ridge."""

    k: int | str | None = from_problem(DIMENSION)
    alpha: float | None = from_problem(NUMBER)
    ridge: float | None = from_problem(POSITIVE)
    noise_units: bool = setting(FLAG, False)  # alpha is in standard deviations of the noise, ridge in variances

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.basis == IDENTITY and self.k is not None:
            raise ValueError(f"k: the basis {IDENTITY!r} has no dimension to choose")

    @property
    def inherited(self) -> tuple[str, ...]:
        return tuple(name for name in super().inherited if name != "k" or self.basis != IDENTITY)


@dataclass(frozen=True, kw_only=True)
class PenalisedMethod(LearningMethod):
    """A learning method with V_0 = ridge I + laplacian L, restricted to its columns."""

    laplacian: float = setting(NUMBER, 0)

    def features(self, inputs: GraphInputs) -> ArmFeatures:
        arms = super().features(inputs)
        if not self.laplacian:
            return arms
        laplacian = required(inputs.laplacian, "laplacian")
        inverse = penalised_inverse(arms.features, laplacian, self.laplacian, *self.numbers("ridge"))
        return arms._replace(v0_inverse=inverse)


@dataclass(frozen=True, kw_only=True)
class LinUCB(PenalisedMethod):
    """Play the candidate of the largest x^T theta-hat + radius ||x|| in the norm of V^-1 (Algorithm 1).

    Parameters
    ----------
    basis : str, default="identity"
        Whose columns describe the arms; "identity" is node space.
    filter, rho : str and float
        How the prior variance of a column falls with its roughness, and how fast.
    laplacian : float, default=0
        V starts as ridge I + laplacian L.
    radius : str, default="constant"
        A rule of ``bandit.radii``: alpha in every round, the radius of a theorem, or that of SpectralUCB.
    k : int or str, optional
        The number of columns, a fact that has it, or "adaptive": found while playing, among ``k_grid``.
    alpha, ridge : float, optional
        The width, and what V starts from; 1 in ``simulate``.
    delta, pilot : float and int, optional
        The chance that a theorem's radius fails with, and the pulls per node of its pilot.
    noise_units : bool, default=False
        Whether alpha is in standard deviations of the noise, and the ridge in its variances.

    Examples
    --------
    >>> graphdr.LinUCB(basis="laplacian_low", k=5, alpha=0.5).tunable
    ('alpha', 'ridge')
    """

    policy: str = "linucb"
    citation: ClassVar[str] = "Li, Chu, Langford and Schapire. A contextual-bandit approach. WWW 2010."
    radius: str = setting({"enum": list(RADII)}, CONSTANT)
    k: int | str | None = from_problem(ADAPTIVE_DIMENSION)
    delta: float | None = from_problem(SHARE)
    pilot: int | None = from_problem(COUNT)
    k_grid: tuple[int, ...] | None = from_problem(COUNTS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plays_grid and self.laplacian:
            raise ValueError("laplacian: a method with an adaptive k takes no penalty")
        plain = self.basis == "laplacian_low" and not self.laplacian and self.filter == CUT and not self.noise_units
        if self.by_theorem and not (plain and not isinstance(self.k, str)):
            needed = "the basis 'laplacian_low' without filter, penalty, own k or noise_units"
            raise ValueError(f"radius: {self.radius!r} needs {needed}")
        if self.radius == SPECTRAL and (self.filter != CUT or self.noise_units):
            advice = "leave filter and noise_units out"
            raise ValueError(f"radius: {self.radius!r} takes the eigenvalues from a penalty; {advice}")

    @property
    def by_theorem(self) -> bool:
        """Whether its radius is a theorem's."""
        return of_theorem(self.radius)

    @property
    def facts(self) -> tuple[str, ...]:
        return *super().facts, *facts_behind(self.radius)

    @property
    def inherited(self) -> tuple[str, ...]:
        adaptive = self.k == ADAPTIVE
        needed = {"delta": adaptive or self.radius != CONSTANT, "pilot": self.by_theorem, "k_grid": adaptive}
        return tuple(name for name in super().inherited if needed.get(name, True))

    @property
    def tunable(self) -> tuple[str, ...]:
        if self.by_theorem:
            return ()
        return tuple(name for name in super().tunable if self.radius == CONSTANT or name != "alpha")

    @property
    def batchable(self) -> bool:
        return self.radius == CONSTANT and super().batchable

    def play_many(self, runs: Sequence[Run]) -> list[Choices]:
        if self.plays_grid:
            from graphdr.bandit import adaptive_k

            grid, constants = required(self.k_grid, "k_grid"), self.numbers("alpha", "ridge", "delta")
            return [Choices(adaptive_k.play(run.problem, run.rounds, grid, *constants).arms) for run in runs]
        radius = RADII[self.radius](self._radius_inputs(runs[0]))
        choices = play_with_radius(runs, radius, *self.numbers("ridge"))
        if self.radius not in OF_PILOT:
            return choices
        # The kernel followed the residual of a pilot; what the true one did is measured afterwards.
        residual, of_pilot = required(radius.residual, "residual"), []
        for run, chosen in zip(runs, choices, strict=True):
            crw = residual_width(residual, run.rounds.arms, run.checkpoint)
            of_pilot.append(Choices(chosen.arms, srl_pilot=chosen.srl, crw_pilot=crw))
        return of_pilot

    def _radius_inputs(self, run: Run) -> RadiusInputs:
        """Return what the radius of runs that are played together depends on; those of a theorem share their inputs."""
        rounds, problem = len(run.rounds.arms), run.problem
        if self.radius == CONSTANT:
            return RadiusInputs(rounds, alpha=self.alpha)
        if self.radius != SPECTRAL:
            return required(problem.radius_inputs, "radius_inputs")
        ridge, delta = self.numbers("ridge", "delta")
        if problem.v0_inverse is None:
            spectrum = np.full(required(problem.features, "features").shape[1], ridge)
        else:
            spectrum = np.sort(1.0 / np.linalg.eigvalsh(problem.v0_inverse))
        constants = Constants(len(spectrum), problem.noise, delta, ridge)
        return RadiusInputs(rounds, constants, spectrum=spectrum)


@dataclass(frozen=True, kw_only=True)
class PerSegment(LearningMethod):
    """Play one LinUCB for every segment of users: LinUCB on features of which each segment has its own copy."""

    policy: str = "per_segment"
    citation: ClassVar[str] = LinUCB.citation
    basis: str = setting(BASIS_NAMES, "laplacian_low")

    def on_arm_set(self, nodes: ArmFeatures, arm_set: ArmSet) -> ArmFeatures:
        features = repeat_columns(required(nodes.features, "features"), arm_set.blocks)
        return super().on_arm_set(nodes._replace(features=features), arm_set)

    def play_many(self, runs: Sequence[Run]) -> list[Choices]:
        radius = constant(RadiusInputs(len(runs[0].rounds.arms), alpha=self.alpha))
        return play_with_radius(runs, radius, *self.numbers("ridge"))


def repeat_columns(features: np.ndarray, blocks: int) -> np.ndarray:
    """Give every block of rows columns of its own."""
    n, k = features.shape
    wide = np.zeros((blocks, n // blocks, blocks, k))
    wide[np.arange(blocks), :, np.arange(blocks)] = features.reshape(blocks, -1, k)
    return wide.reshape(n, blocks * k)


def play_with_radius(runs: Sequence[Run], radius: Radius, ridge: float = 1.0) -> list[Choices]:
    """Play LinUCB on runs of one shape with a radius per round; keep the leverage of residuals.

    With inflation, the residual of the radius, if it has one, takes the place of that of the problem.
    """
    widths = np.array(radius.radius, float)  # a copy that can be written: kernels are compiled for one kind of array
    features, checkpoint = runs[0].problem.features, runs[0].checkpoint
    if features is None:
        return [Choices(_choose_nodes(run, widths, ridge)) for run in runs]
    near = features.shape[1] <= UNROLLED and features.nbytes <= linucb.FAR
    games, traces = [_game(run, radius, ridge) for run in runs], []
    for start in range(0, len(runs), linucb_batched.LANES):
        group = games[start : start + linucb_batched.LANES]
        if near and len(group) >= linucb_batched.FEWEST and all(game[4].ndim == 1 for game in group):
            traces += linucb_batched.side_by_side(group, widths, radius.inflation, checkpoint)
            continue
        for x, v0_inverse, theta, arms, noise, residual in group:
            follow = radius.inflation, residual, checkpoint
            traces.append(linucb.projected(x, v0_inverse, theta, arms, noise, widths, *follow))
    return [Choices(arms, srl=srl, widths=summed) for arms, srl, summed in traces]


def _choose_nodes(run: Run, radius: np.ndarray, ridge: float) -> np.ndarray:
    v0_inverse, theta = run.problem.v0_inverse, run.problem.theta
    if v0_inverse is None:
        return linucb.one_hot(float(ridge), theta, *run.rounds, radius)
    _check_shape(v0_inverse, len(theta))
    return linucb.node_space(v0_inverse, theta, *run.rounds, radius)[0]


def _game(run: Run, radius: Radius, ridge: float) -> tuple[np.ndarray, ...]:
    """Return features, V_0^-1, expected rewards, candidates, their noise, and the residual to follow or nothing."""
    problem = run.problem
    features = required(problem.features, "features")
    v0_inverse = np.eye(features.shape[1]) / ridge if problem.v0_inverse is None else problem.v0_inverse
    _check_shape(v0_inverse, features.shape[1])
    residual = problem.residual
    if radius.inflation and radius.residual is not None:
        residual = radius.residual
    return features, v0_inverse, problem.theta, *run.rounds, linucb.NOTHING if residual is None else residual


def _check_shape(v0_inverse: np.ndarray, dimension: int) -> None:
    if v0_inverse.shape != (dimension, dimension):
        raise ValueError(f"V_0 has shape {v0_inverse.shape}, the arms have dimension {dimension}")
