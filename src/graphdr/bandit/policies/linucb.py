"""LinUCB on the columns of a basis, with a penalty, a radius and a k of its own; one LinUCB for every segment of users.

Algorithm 1 of the paper. With a penalty in node space it is Laplacian-regularised LinUCB or SpectralUCB.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from graphdr.bandit import linucb, linucb_batched
from graphdr.bandit.arm_set import ArmSet
from graphdr.bandit.environment import RandomNumbers, Rounds
from graphdr.bandit.linucb_core import UNROLLED
from graphdr.bandit.method import (
    BASIS_NAMES,
    COUNTS,
    DIMENSION,
    FLAG,
    NUMBER,
    POSITIVE,
    SHARE,
    ArmFeatures,
    BanditProblem,
    BasisMethod,
    Choices,
    GraphInputs,
    Leverage,
    Run,
    penalised_inverse,
    setting,
)
from graphdr.bandit.radii import CONSTANT, RADII, SPECTRAL, Radius, RadiusInputs, facts_behind, of_theorem
from graphdr.bandit.residuals import residual_width
from graphdr.core.errors import required
from graphdr.graphs.arm_features import ADAPTIVE, IDENTITY
from graphdr.graphs.filters import CUT
from graphdr.theory.constants import OF_PILOT, Constants

ADAPTIVE_DIMENSION = {"anyOf": [*DIMENSION["anyOf"], {"enum": [ADAPTIVE]}]}


@dataclass(frozen=True, kw_only=True)
class LearningMethod(BasisMethod):
    """A method on k columns with a width alpha and a ridge."""

    k: int | str | None = setting(DIMENSION)
    alpha: float | None = setting(NUMBER)
    ridge: float | None = setting(POSITIVE)
    noise_units: bool = setting(FLAG, False)  # alpha is in standard deviations of the noise, ridge in variances

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.basis == IDENTITY and self.k is not None:
            raise ValueError(f"k: the basis {IDENTITY!r} has no dimension to choose")

    @property
    def facts(self) -> tuple[str, ...]:
        return (self.k,) if isinstance(self.k, str) and self.k != ADAPTIVE else ()

    @property
    def inherited(self) -> tuple[str, ...]:
        return ("alpha", "ridge") if self.basis == IDENTITY else ("alpha", "ridge", "k")

    @property
    def tunable(self) -> tuple[str, ...]:
        dimension = () if self.basis == IDENTITY or self.k is not None else ("k",)
        return "alpha", "ridge", *dimension, *self._tunable_filter


@dataclass(frozen=True, kw_only=True)
class PenalisedMethod(LearningMethod):
    """A learning method with V_0 = ridge I + laplacian L, restricted to its columns."""

    laplacian: float = setting(NUMBER, 0)

    @property
    def uses_laplacian(self) -> bool:
        return bool(self.laplacian)

    def feature_settings(self) -> Self:
        settings = super().feature_settings()
        return replace(settings, ridge=self.ridge) if self.laplacian else settings

    def features(self, inputs: GraphInputs) -> ArmFeatures:
        arms = super().features(inputs)
        if not self.laplacian:
            return arms
        inverse = penalised_inverse(
            arms.features, required(inputs.laplacian, "laplacian"), self.laplacian, required(self.ridge, "ridge")
        )
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
    k: int | str | None = setting(ADAPTIVE_DIMENSION)
    delta: float | None = setting(SHARE)
    pilot: int | None = setting({"type": "integer", "minimum": 1})
    k_grid: tuple[int, ...] | None = setting(COUNTS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plays_grid:
            self._needs_nested_basis()
            if self.laplacian:
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
    def uses_pilot(self) -> bool:
        return self.by_theorem

    @property
    def plays_grid(self) -> bool:
        return self.k == ADAPTIVE

    @property
    def batchable(self) -> bool:
        return self.radius == CONSTANT and super().batchable

    @property
    def inherited(self) -> tuple[str, ...]:
        further = ("delta", "pilot") if self.by_theorem else ("delta",) if self.radius == SPECTRAL else ()
        return *super().inherited, *(("delta", "k_grid") if self.plays_grid else further)

    @property
    def tunable(self) -> tuple[str, ...]:
        if self.by_theorem:
            return ()
        return tuple(name for name in super().tunable if self.radius == CONSTANT or name != "alpha")

    @property
    def dimension(self) -> int:
        return max(required(self.k_grid, "k_grid")) if self.plays_grid else super().dimension

    def feature_settings(self) -> Self:
        return replace(super().feature_settings(), radius=CONSTANT, delta=None, pilot=None)

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        return self.play_many([Run(problem, rounds, rng)])[0]

    def play_many(self, runs: Sequence[Run]) -> list[Choices]:
        if self.plays_grid:
            from graphdr.bandit import adaptive_k

            return [Choices(adaptive_k.play(run.problem, run.rounds, self).arms) for run in runs]
        radius = self._radius(runs[0])
        choices = play_with_radius(runs, radius, required(self.ridge, "ridge"))
        if self.radius not in OF_PILOT:
            return choices
        residual = required(radius.residual, "residual")
        return [_of_pilot(run, chosen, residual) for run, chosen in zip(runs, choices, strict=True)]

    def _radius(self, run: Run) -> Radius:
        """Return the radius of runs that are played together; those of a theorem share their inputs."""
        inputs = run.problem.radius_inputs
        if self.radius == CONSTANT:
            inputs = RadiusInputs(len(run.rounds.arms), alpha=self.alpha)
        elif self.radius == SPECTRAL:
            inputs = self._spectrum(run)
        return RADII[self.radius](required(inputs, "radius_inputs"))

    def _spectrum(self, run: Run) -> RadiusInputs:
        """Collect what the radius of SpectralUCB uses: the eigenvalues of V_0."""
        ridge = required(self.ridge, "ridge")
        if run.problem.v0_inverse is None:
            spectrum = np.full(required(run.problem.features, "features").shape[1], float(ridge))
        else:
            spectrum = np.sort(1.0 / np.linalg.eigvalsh(run.problem.v0_inverse))
        constants = Constants(len(spectrum), run.problem.noise, required(self.delta, "delta"), ridge)
        return RadiusInputs(len(run.rounds.arms), constants, spectrum=spectrum)


@dataclass(frozen=True, kw_only=True)
class PerSegment(LearningMethod):
    """Play one LinUCB for every segment of users: LinUCB on features of which each segment has its own copy."""

    policy: str = "per_segment"
    basis: str = setting(BASIS_NAMES, "laplacian_low")

    def on_arm_set(self, nodes: ArmFeatures, arm_set: ArmSet) -> ArmFeatures:
        features = repeat_columns(required(nodes.features, "features"), arm_set.blocks)
        return super().on_arm_set(nodes._replace(features=features), arm_set)

    def play(self, problem: BanditProblem, rounds: Rounds, rng: RandomNumbers) -> Choices:
        return self.play_many([Run(problem, rounds, rng)])[0]

    def play_many(self, runs: Sequence[Run]) -> list[Choices]:
        radius = np.full(len(runs[0].rounds.arms), float(required(self.alpha, "alpha")))
        return play_with_radius(runs, Radius(radius, 0.0, None), required(self.ridge, "ridge"))


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
    problems = [_checked(run.problem, radius, ridge) for run in runs]
    if len({problem.residual is None for problem in problems}) > 1:
        raise ValueError("runs played together have all a residual or none")
    widths = np.array(radius.radius, float)  # a copy that can be written: kernels are compiled for one kind of array
    if problems[0].features is None:
        return [
            Choices(_choose_nodes(problem, run.rounds, widths, ridge))
            for run, problem in zip(runs, problems, strict=True)
        ]
    choices = []
    for start in range(0, len(runs), linucb_batched.LANES):
        lanes = slice(start, start + linucb_batched.LANES)
        choices += _play_lanes(runs[lanes], problems[lanes], widths, radius.inflation)
    return choices


def _play_lanes(
    runs: Sequence[Run], problems: list[BanditProblem], radius: np.ndarray, inflation: float
) -> list[Choices]:
    """Play at most LANES runs: side by side if they are enough, and few and near features."""
    group: list[Any] = []
    for run, problem in zip(runs, problems, strict=True):
        residual = linucb.NOTHING if problem.residual is None else problem.residual
        group.append((problem.features, problem.v0_inverse, problem.theta, *run.rounds, residual))
    checkpoint, features = runs[0].checkpoint, required(problems[0].features, "features")
    many = len(runs) >= linucb_batched.FEWEST and all(run.rounds.noise.ndim == 1 for run in runs)
    if many and features.shape[1] <= UNROLLED and features.nbytes <= linucb.FAR:
        traces = linucb_batched.side_by_side(group, radius, float(inflation), checkpoint)
    else:
        traces = []
        for x, v0_inverse, theta, arms, noise, residual in group:
            traces.append(linucb.projected(x, v0_inverse, theta, arms, noise, radius, inflation, residual, checkpoint))
    return [Choices(arms, leverage=Leverage(srl, widths)) for arms, srl, widths in traces]


def _choose_nodes(problem: BanditProblem, rounds: Rounds, radius: np.ndarray, ridge: float) -> np.ndarray:
    if problem.v0_inverse is None:
        return linucb.one_hot(float(ridge), problem.theta, *rounds, radius)
    return linucb.node_space(problem.v0_inverse, problem.theta, *rounds, radius)[0]


def _checked(problem: BanditProblem, radius: Radius, ridge: float) -> BanditProblem:
    """Return the problem with the residual that the radius follows, and V_0^-1 where it has features."""
    if radius.inflation and radius.residual is not None:
        problem = replace(problem, residual=radius.residual)
    dimension = len(problem.theta) if problem.features is None else problem.features.shape[1]
    if problem.v0_inverse is not None and problem.v0_inverse.shape != (dimension, dimension):
        raise ValueError(f"V_0 has shape {problem.v0_inverse.shape}, the arms have dimension {dimension}")
    if problem.features is None and (problem.residual is not None or radius.inflation):
        raise ValueError("one-hot arms leave no residual: residual and inflation need features")
    if problem.features is None or problem.v0_inverse is not None:
        return problem
    return replace(problem, v0_inverse=np.eye(dimension) / ridge)


def _of_pilot(run: Run, chosen: Choices, residual: np.ndarray) -> Choices:
    """Name the leverage that was kept that of a pilot's residual; that of the true one is measured afterwards."""
    crw = residual_width(residual, run.rounds.arms, run.checkpoint)
    return Choices(chosen.arms, pilot_leverage=Leverage(required(chosen.leverage, "leverage").srl, crw=crw))
