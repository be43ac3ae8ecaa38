"""A policy to serve: fit it to a graph, ask it for arms or contexts, tell it rewards, save it, and change its arms.

With a ridge and a radius it plays exactly as ``linucb`` does in a simulation, and with a tuned prior as
``GraphPrior`` does. An object is for one thread at a time: nothing is locked. ``snapshot`` serves readers.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from math import isfinite
from numbers import Integral
from operator import attrgetter
from os import PathLike
from typing import IO, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from graphdr.bandit.graph_prior.model import COLUMNS
from graphdr.core.errors import needed_for
from graphdr.graphs import arm_features
from graphdr.graphs.arm_features import IDENTITY
from graphdr.graphs.model import Graph, laplacian
from graphdr.serve import parameters
from graphdr.serve.arms import IGNORE_ADVICE, Arms, Candidates, Context, Segment, UnknownArm, Vectors, for_each
from graphdr.serve.basis import GRAPHDR, SMALLEST, Extender, compute
from graphdr.serve.posterior import Posterior, Prior, first_best, project
from graphdr.serve.round_log import Choice
from graphdr.serve.sources import Name, Segments, as_graph, check_names, new_edges, new_names, with_segments
from graphdr.serve.state import NEEDS_ALL_REWARDS, Delta, State
from graphdr.serve.tuning import GRAPH, RIDGE, WIDE, bordered

UNTUNED = Prior(np.empty((0, 0)))  # until the rewards say more
DRAWS = 1000  # of the posterior behind a probability of Thompson sampling
AT_ONCE = 1_000_000  # numbers that are drawn at a time: memory does not grow with the arms
ONE = np.ones(1)
ONE_OF_TWO = "arms are given by name or as vectors: one of the two"
NOT_FINITE = "estimates are not finite: a reward or a weight was too large; load an earlier file, or fit again"
Offer = Iterable[Name] | Candidates | None

_values = attrgetter(*parameters.FIT_PARAMS, *parameters.PLAY_PARAMS)  # one call: fast


class GraphDRLinUCB(BaseEstimator):
    """A bandit whose arms are the nodes of a graph: neighbours are expected to earn alike.

    The expected reward of arm i is taken as b + u_i^T w + e_i: a mean, a part on the k smoothest eigenvectors of the
    graph, and a part of the arm's own. By default the rewards themselves decide how large each part and the noise are
    (docs/graph_prior.md): nothing is to be set, and rewards may have any unit and any mean. With ``prior="ridge"`` it
    is LinUCB on the k features, which has no part of its own: with ridge and radius given, the paper's GraphDR.

    Parameters
    ----------
    k : int, default=20
        Features of an arm: at most so many, fewer on a small graph. The graph prior uses as many as help.
    basis : str, default="laplacian_low"
        What the features are: a basis of docs/bases.md, or "identity", where no arm says anything about another.
    prior : {"graph", "ridge"}, default="graph"
        How settings are found: part graph, part each arm alone, or ridge regression on the features.
    ridge : float, optional
        The ridge of ``prior="ridge"``; by default found from the rewards.
    radius : float, optional
        Widths added to an estimate, in units of the rewards; by default one standard deviation of their noise.
    laplacian : float, default=0.0
        A penalty on rough directions beside the ridge: V_0 = ridge I + laplacian L.
    intercept : bool, default=True
        Whether rewards have a mean of their own; without one, they should lie around zero.
    explore : "ucb", "ts" or float, default="ucb"
        Take the largest upper bound, or that of a draw from the posterior (Thompson sampling), or the largest upper
        bound but for this share of random rounds, whose propensities are then known.
    forget : float, default=1.0
        What is kept of old rewards with every new one. At 0.999, rewards are remembered for about 1,000 others.
    components, self_loops : str, default="refuse"
        What to do with several components ("largest", "keep") and with nodes joined to themselves ("keep").
    segments : mapping or matrix, optional
        A graph of user segments that share the policy: {name: {name: weight}} or a matrix of weights.
    segment_coupling : float, default=1.0
        The weight of edges between segments, in that of edges between arms.
    random_state : int, Generator, RandomState or None, default=None
        The seed of what is random: first rounds, ``explore``, random bases.

    Attributes
    ----------
    names : list of str or int
        The arms.
    rounds : int
        How many rewards it was told.
    n_features_in_ : int
        The number of nodes that were fitted.

    See Also
    --------
    graphdr.GraphEmbedding : The features alone.
    graphdr.RoundLog : A log of rounds, for estimates of other policies.

    References
    ----------
    The paper of this package; the user guide, docs/serving.md; limits are stated there.

    Examples
    --------
    >>> ring = graphdr.from_edges({"source": list("abcdef"), "target": list("bcdefa")})
    >>> policy = graphdr.GraphDRLinUCB(random_state=0).fit(ring)
    >>> rates = {"a": 0.9, "b": 0.8, "c": 0.3, "d": 0.1, "e": 0.3, "f": 0.8}
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(400):
    ...     arm = policy.recommend(["c", "d", "e", "f"])
    ...     policy.update(arm, float(rng.random() < rates[arm]))
    >>> policy.recommend(["c", "d", "e", "f"])
    'f'
    >>> policy.recommend(["d", "a", "e"])  # never played; a neighbour of f
    'a'
    """

    def __init__(
        self,
        k: int = 20,
        *,
        basis: str = GRAPHDR,
        prior: str = GRAPH,
        ridge: float | None = None,
        radius: float | None = None,
        laplacian: float = 0.0,
        intercept: bool = True,
        explore: str | float = parameters.UCB,
        forget: float = 1.0,
        components: str = "refuse",
        self_loops: str = "refuse",
        segments: Segments | None = None,
        segment_coupling: float = 1.0,
        random_state: parameters.RandomState = None,
    ):
        self.k = k
        self.basis = basis
        self.prior = prior
        self.ridge = ridge
        self.radius = radius
        self.laplacian = laplacian
        self.intercept = intercept
        self.explore = explore
        self.forget = forget
        self.components = components
        self.self_loops = self_loops
        self.segments = segments
        self.segment_coupling = segment_coupling
        self.random_state = random_state

    def fit(self, X: object, y: None = None, *, names: Iterable[Name] | None = None) -> "GraphDRLinUCB":
        """Build a policy that has learned nothing yet.

        Parameters
        ----------
        X : graph, matrix or table
            A graph of this package, networkx or igraph, a symmetric matrix of weights, or a table of edges;
            ``graphdr.from_interactions`` makes a graph of interactions.
        y : None
            Not used; scikit-learn passes it.
        names : iterable of str or int, optional
            Names of the nodes, in place of the source's own.

        Returns
        -------
        GraphDRLinUCB
            Itself.
        """
        parameters.check(self)
        graph, arms = as_graph(X, names=names, components=self.components, self_loops=self.self_loops)
        self._enter(self._build(graph, arms, parameters.generator(self.random_state)))
        return self

    def refit(self, X: object, *, names: Iterable[Name] | None = None) -> "GraphDRLinUCB":
        """Take another graph or other parameters, and keep the rewards of the arms that stay.

        An arm that the new graph lacks is gone, with its rewards. Rewards of contexts cannot be kept.
        """
        self._check_fitted(changes=True)
        parameters.check(self)
        old, before = self._posterior, self._state
        if old.context_v.any() or old.context_right.any():
            raise ValueError("what contexts taught belongs to the old features: fit again")
        graph, arms = as_graph(X, names=names, components=self.components, self_loops=self.self_loops)
        state = self._build(graph, arms, deepcopy(before.rng))  # a mistake below changes nothing
        if list(before.arms.segment) != list(state.arms.segment):
            raise ValueError("a refitted policy has the segments that it had")
        new = state.posterior
        staying = [name for name in arms if name in before.arms.place]
        for segment in before.arms.segment or [None]:
            here, there = before.arms.places(staying, segment), state.arms.places(staying, segment)
            new.pulls[there], new.sums[there] = old.pulls[here], old.sums[here]
        # Squares within arms are summed over all arms: those that stay get their share by degrees of freedom.
        freedom = old.degrees_of_freedom
        new.within = old.within * (new.degrees_of_freedom / freedom if freedom else 1.0)
        state.rounds, state.pending = before.rounds, before.pending
        new.rebuild()
        if self._tuned_prior is not None:
            state.tune(self._tuned_prior, self.forget)
        self._enter(state)
        return self

    def _build(self, graph: Graph, arms: list[Name], rng: np.random.Generator) -> State:
        """Compute the features of a graph and the state of a policy without rewards."""
        nodes, segments = graph.n, list[Name]()
        if self.segments is not None:
            graph, segments = with_segments(graph, self.segments, self.segment_coupling)
        features, roughness, extender = np.empty((graph.n, 0)), np.empty(0), None
        if self.basis != IDENTITY:
            k, seed = min(int(self.k), graph.n - 1), self.random_state
            seed = int(seed) if isinstance(seed, int | np.integer) else int(rng.integers(2**31))
            basis = compute(self.basis, graph, k + 1, seed)
            features = arm_features.select(self.basis, basis.vectors, k)
            roughness = arm_features.roughness(self.basis, basis.values, k)[: features.shape[1]]
            if self.basis == GRAPHDR and not segments:
                extender = Extender.of_fitted(features, basis.values[1 : k + 1], graph.adjacency.sum(axis=1))
        prior, inverse = None, None
        if self.ridge is not None:
            k = features.shape[1]
            precision: np.ndarray = self.ridge * np.eye(k)
            inverse = np.eye(k) / self.ridge
            if self.laplacian:
                inverse = np.linalg.inv(precision + self.laplacian * (features.T @ laplacian(graph) @ features))
                precision = np.linalg.inv(inverse)
            if self.intercept:
                precision, inverse = bordered(precision, WIDE), bordered(inverse, 1.0 / WIDE)
            prior = Prior(precision, residual=0.0 if k else 1.0 / self.ridge)  # without features: full LinUCB
        rows = np.column_stack([np.ones((graph.n, int(self.intercept))), features])
        posterior = Posterior(rows, prior or UNTUNED, inverse)
        roughness = roughness[: COLUMNS[-1]]
        return State(Arms(arms, segments), posterior, roughness, self.intercept, prior, extender, rng, nodes)

    def _enter(self, state: State) -> None:
        """Take the state of a fitted or loaded policy."""
        self._state, self.n_features_in_ = state, state.nodes
        self._checked: tuple[Any, ...] = _values(self)
        self._frozen = False
        self._start: State | None = None  # of a worker's next delta
        self._learned: Delta = ()  # by a worker since its last delta, before it removed arms

    # Checks

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_checked")

    def _check_fitted(self, changes: bool = False) -> None:
        if not hasattr(self, "_checked"):
            raise NotFittedError("this policy is not fitted yet: call fit(graph) first")
        if changes and self._frozen:
            raise ValueError("a snapshot does not change: tell the policy that it was taken of")

    def _check(self, changes: bool = False) -> None:
        """Refuse a policy that is not fitted, or whose parameters were changed to what it cannot play with."""
        self._check_fitted(changes)
        values = _values(self)
        try:
            if values == self._checked:
                return
        except ValueError:  # another matrix of segments
            pass
        for name, value, before in zip(parameters.FIT_PARAMS, values, self._checked, strict=False):
            if value is not before and (name == "segments" or value != before):
                raise ValueError(f"{name} was changed after fit: call fit again, or refit to keep what was learned")
        parameters.check(self)
        self._checked = values

    @property
    def _posterior(self) -> Posterior:
        return self._state.posterior

    @property
    def _tuned_prior(self) -> str | None:
        """The kind of prior that is tuned to the rewards; None where ridge and radius are given."""
        fixed = self.prior == RIDGE and self.ridge is not None and self.radius is not None
        return None if fixed else self.prior

    @property
    def _ready(self) -> bool:
        """Whether there are estimates to play by, which tell arms apart; until then, arms are random."""
        posterior = self._posterior
        has_estimates = posterior.noise is not None and (posterior.residual > 0 or len(posterior.precision) > 1)
        return has_estimates or (self.ridge is not None and self.radius is not None)

    @property
    def _width_factor(self) -> float:
        """The radius, or by default one standard deviation of the noise."""
        if self.radius is not None:
            return self.radius
        assert self._posterior.noise is not None  # else the policy is not ready
        return float(np.sqrt(self._posterior.noise))

    # Arms

    @property
    def rounds(self) -> int:
        """The number of rewards learned."""
        self._check_fitted()
        return self._state.rounds

    @property
    def names(self) -> list[Name]:
        """The arms, in the order of their places."""
        self._check_fitted()
        return [*self._state.arms.names]

    def __len__(self) -> int:
        self._check_fitted()
        return len(self._state.arms.names)

    def __contains__(self, name: object) -> bool:
        self._check_fitted()
        return name in self._state.arms.place

    def add(self, edges: Mapping[Name, Mapping[Name, float] | Iterable[Name]]) -> None:
        """Add arms, each with the weights of its edges to earlier arms; with a wrong one among them, none.

        Their features extend the eigenvectors from their neighbours'. The features and rewards of the other arms stay
        as they are. ``add({name: [neighbour, …]})`` stands for weights of one. Without edges, ``add({name: {}})``, an
        arm shares only the mean with others.
        """
        self._check(changes=True)
        state, posterior, first = self._state, self._posterior, int(self.intercept)
        if state.arms.segment:
            raise ValueError("arms cannot be added to a policy with segments: refit it, with the new ones")
        names = new_names(edges, state.arms.place)
        rows, extender = np.ones((len(names), posterior.rows.shape[1])), state.extender
        if self.basis != IDENTITY:
            if extender is None:
                raise ValueError(f"new arms need basis {GRAPHDR!r} or {IDENTITY!r}; this one is {self.basis!r}")
            joined = new_edges(edges, state.arms.place, isolated=self.prior != RIDGE)
            if np.abs(1.0 - extender.values).min() < SMALLEST and any(len(places) for places, _ in joined):
                raise ValueError(
                    f"an eigenvalue is within {SMALLEST} of 1, where no arm can be joined: fit a smaller k"
                )
            extended, extender = extender.extended(posterior.rows[:, first:], joined)
            rows[:, first:] = extended[len(posterior.rows) :]
            if not (np.isfinite(rows).all() and np.isfinite(extender.degrees).all()):
                raise ValueError("new arms: the weights of their edges are too large for their features to be finite")
        posterior.grow(rows)
        state.arms, state.extender = state.arms.added(names), extender

    def remove(self, names: Iterable[Name]) -> None:
        """Remove arms and free their rows; their rewards still inform the estimates of others."""
        self._check(changes=True)
        state, names = self._state, [*dict.fromkeys(check_names(names))]
        rows = np.concatenate([state.arms.places(names, segment) for segment in state.arms.segment or [None]])
        if self._start is not None:
            self._learned = (*self._learned, state.since(self._start))
        state.posterior.retire(rows)
        state.arms = state.arms.without(names)
        state.extender = None if state.extender is None else state.extender.without(rows)
        if self._start is not None:
            self._start = state.copied()

    # Choosing arms

    def candidates(
        self, names: Iterable[Name] | None = None, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> Candidates:
        """Look up arms or contexts once, to offer them many times; arms added later do not change the result."""
        self._check()
        return self._look_up(names, vectors, segment)

    def recommend(
        self, candidates: Offer = None, n: int = 1, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> Name | int | list[Name | int]:
        """Return the candidate that the policy would play now; for n above one, a list of the n best, the best first.

        It plays the largest upper confidence bound or, with ``explore="ts"``, the largest draw from the posterior; a
        number as ``explore`` is the share of rounds that play at random. Of equal candidates the first wins.

        Parameters
        ----------
        candidates : names of arms or Candidates, optional
            All arms by default. An array of numbers where arms are numbers is fastest.
        n : int
            How many to return, at most as many as there are candidates.
        vectors : sparse or dense matrix, or mappings, optional
            Contexts instead of arms: rows over the arms in the order of ``names``, or mappings such as
            {"film 3": 0.5, "film 9": 0.5}. What is returned is the number of a row.
        segment : name, optional
            The segment that asks, if the policy has segments.

        Returns
        -------
        name or list of names
        """
        offer = self._offered(candidates, vectors, segment)
        if n == 1:
            return self._name(offer, self._best(offer, 1)[0])
        if not (isinstance(n, Integral) and 1 <= n <= len(offer)):
            raise ValueError(f"n is from 1 to the {len(offer)} candidates, not {n!r}")
        return [self._name(offer, place) for place in self._best(offer, n)]

    def choose(self, candidates: Offer = None, *, vectors: Vectors | None = None, segment: Segment = None) -> Choice:
        """Draw a candidate from ``probabilities``; return it with its probability, for a log of rounds.

        It plays as ``recommend`` does, and knows with which probability it did so. ``explore`` decides how large these
        are: UCB without random rounds takes its best with probability one, and such a log says nothing about others.
        """
        offer = self._offered(candidates, vectors, segment)
        shares = self._shares(offer)
        place = int(self._state.rng.choice(len(offer), p=shares))
        return Choice(self._name(offer, place), float(shares[place]))

    def probabilities(
        self, candidates: Offer = None, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> np.ndarray:
        """Return the probability with which each candidate would be chosen now; Thompson sampling counts draws."""
        return self._shares(self._offered(candidates, vectors, segment))

    def recommend_many(
        self,
        sets: Iterable[Iterable[Name] | Candidates] | None = None,
        *,
        vectors: Iterable[Vectors] | None = None,
        segment: Segment = None,
        pending: bool = False,
    ) -> list[Name | int]:
        """Return the best of every candidate set by the present estimates; ``segment`` is one for all, or one each.

        With ``pending``, the rewards of a batch come later: every play counts as made, at its expected reward, for the
        plays after it, so that a batch does not ask the same question many times.
        """
        self._check()
        if (sets is None) == (vectors is None):
            raise ValueError(ONE_OF_TWO)
        items: list[Any] = [*(sets if vectors is None else vectors)]  # type: ignore[misc]
        offers = []
        for item, name in zip(items, for_each(segment, len(items)), strict=True):
            offers.append(self._offered(item, None, name) if vectors is None else self._offered(None, item, name))
        contexts = any(offer.rows is not None for offer in offers)
        if offers and not (contexts or pending) and self._ready and self.explore == parameters.UCB:
            starts = np.concatenate([[0], np.cumsum([*map(len, offers)])])
            places = np.concatenate([offer.places for offer in offers])
            scores = self._posterior.scores(places, self._width_factor)
            _first_maximum(scores)
            names = self._state.arms.names
            return [names[row % len(names)] for row in places[first_best(scores, starts)].tolist()]
        optimist, chosen = self._copied() if pending else self, []
        for offer in offers:
            (place,) = optimist._best(offer, 1)
            chosen.append(self._name(offer, place))
            if pending:
                posterior, played = optimist._posterior_of(offer), offer.places[[place]]
                posterior.learn(played, posterior.expect(played)[0], ONE)
        return chosen

    def expect(
        self, arms: Offer = None, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated reward of every arm or context and its width, before the radius is applied.

        Until settings are found, all arms have the mean of the rewards seen, and an infinite width.
        """
        self._check()
        offer = self._look_up(arms, vectors, segment, all_arms=True)
        if not self._ready:
            seen = self._posterior.statistics
            mean_reward = seen.pulls_and_mean()[1] if seen.pulls.any() or seen.groups else 0.0
            return np.full(len(offer), mean_reward), np.full(len(offer), np.inf)
        mean, width = self._posterior_of(offer).expect(offer.places)
        if not (np.isfinite(mean).all() and np.isfinite(width).all()):
            raise ValueError(NOT_FINITE)
        return mean, width

    def _best(self, offer: Candidates, n: int) -> list[int]:
        """Return the places of the n best candidates in the offer."""
        share = 0.0 if isinstance(self.explore, str) else self.explore
        if not self._ready or (share and self._state.rng.random() < share):
            return self._state.rng.choice(len(offer), n, replace=False).tolist()
        if self.explore == parameters.TS:
            scores = self._draws(offer, 1)[0]
        else:
            scores = self._posterior_of(offer).scores(offer.places, self._width_factor)
        best = _first_maximum(scores)
        return [best] if n == 1 else np.argsort(-scores, kind="stable")[:n].tolist()

    def _shares(self, offer: Candidates) -> np.ndarray:
        """Return the probability of every candidate."""
        if not self._ready:
            return np.full(len(offer), 1.0 / len(offer))
        shares = np.zeros(len(offer))
        if self.explore == parameters.TS:
            step = max(1, AT_ONCE // len(offer))
            for start in range(0, DRAWS, step):
                draws = self._draws(offer, min(step, DRAWS - start))
                _first_maximum(draws.ravel())
                shares += np.bincount(draws.argmax(axis=1), minlength=len(offer))
            return shares / DRAWS
        shares[_first_maximum(self._posterior_of(offer).scores(offer.places, self._width_factor))] = 1.0
        random = 0.0 if isinstance(self.explore, str) else self.explore
        return (1.0 - random) * shares + random / len(offer)

    def _draws(self, offer: Candidates, count: int) -> np.ndarray:
        """Return draws of expected rewards from the posterior (count x candidates)."""
        posterior = self._posterior
        if not (np.isfinite(posterior.inverse).all() and np.isfinite(posterior.mean).all()):
            raise ValueError(NOT_FINITE)
        return self._posterior_of(offer).draws(offer.places, self._width_factor, count, self._state.rng)

    # Learning

    def update(
        self,
        arm: Name | None = None,
        reward: float = np.nan,
        *,
        weight: float = 1.0,
        vector: Vectors | Context | None = None,
        segment: Name | None = None,
        unknown: str = "raise",
    ) -> None:
        """Learn the reward of an arm or a context, whether recommended or not, now or long ago.

        ``weight`` says how many rewards of this value it stands for. With ``unknown="ignore"``, the reward of an arm
        that is not there, such as one that was removed, is skipped; by default it is an error.
        """
        arms, weights = None if arm is None else (arm,), None if weight == 1.0 else (weight,)
        self.update_many(arms, (reward,), weights=weights, vectors=vector, segment=segment, unknown=unknown)

    def update_many(
        self,
        arms: Offer = None,
        rewards: Sequence[float] = (),
        *,
        weights: Sequence[float] | None = None,
        vectors: Vectors | None = None,
        segment: Segment = None,
        unknown: str = "raise",
    ) -> None:
        """Learn many rewards, in their order, each with its weight; with a wrong one among them, none.

        With ``unknown="ignore"``, rewards of arms that are not there are skipped, and of contexts with such an arm.
        """
        self._check(changes=True)
        parameters.check_unknown(unknown)
        items, kept = "arms" if vectors is None else "vectors", None
        if unknown == parameters.IGNORE and vectors is None:
            arms, segment, kept = self._state.arms.known_only(arms, segment, contexts=False)
        elif unknown == parameters.IGNORE:
            vectors, segment, kept = self._state.arms.known_only(vectors, segment, contexts=True)
        try:
            batch = self._look_up(arms, vectors, segment)
        except UnknownArm as error:
            raise ValueError(f"{error}; {IGNORE_ADVICE}") from None
        count = len(batch) if kept is None else len(kept)
        values = _numbers(rewards, count, items, "reward")
        if weights is None:
            sizes = ONE if count == 1 else np.ones(count)
        else:
            sizes = _numbers(weights, count, items, "weight")
            if count and sizes.min() <= 0:
                raise ValueError(f"a weight is {sizes.min()}; weights are positive")
        if kept is not None:
            values, sizes = values[kept], sizes[kept]
        self._state.learn(batch, values, sizes, self._tuned_prior, self.forget)

    def tune(self) -> None:
        """Find the settings from the rewards seen; this happens by itself whenever these have doubled."""
        self._check(changes=True)
        if self._tuned_prior is not None:
            self._state.tune(self._tuned_prior, self.forget)

    # Looking up candidates

    def _name(self, offer: Candidates, place: int) -> Name | int:
        names = self._state.arms.names
        return place if offer.rows is not None else names[int(offer.places[place]) % len(names)]

    def _offered(self, arms: Offer, vectors: Vectors | None = None, segment: Segment = None) -> Candidates:
        """Look up candidates, by default all arms; refuse a set without any."""
        self._check()
        offer = self._look_up(arms, vectors, segment, all_arms=True)
        if not len(offer):
            raise ValueError("no candidates: at least one arm is needed")
        return offer

    def _look_up(self, arms: Offer, vectors: Vectors | None, segment: Segment, all_arms: bool = False) -> Candidates:
        """Return the places of arms or the rows of contexts, unless they were looked up before."""
        kinds = (arms is not None) + (vectors is not None)
        if kinds > 1 or not (kinds or all_arms):
            raise ValueError(ONE_OF_TWO)
        if isinstance(arms, Candidates):
            if arms.token not in self._state.arms.tokens:
                raise ValueError("these candidates were looked up in another policy, or before its arms were changed")
            if segment is not None:
                raise ValueError("candidates that were looked up before have their segment already")
            return arms
        if vectors is None:
            return Candidates(self._state.arms.token, self._state.arms.places(arms, segment))
        if self._tuned_prior is not None:
            raise ValueError(f"vectors need prior={RIDGE!r} with a ridge and a radius")
        posterior = self._posterior
        if posterior.residual:
            raise ValueError("full LinUCB knows arms one by one and takes no vectors: fit a policy with k features")
        contexts = self._state.arms.context_rows(vectors, segment)
        nodes, starts = (part.astype(np.int64, copy=False) for part in (contexts.indices, contexts.indptr))
        rows = project(contexts.data, nodes, starts, posterior.rows)
        return Candidates(self._state.arms.token, np.arange(len(rows), dtype=np.uint32), rows)

    def _posterior_of(self, offer: Candidates) -> Posterior:
        """Return the posterior that the places of candidates belong to."""
        return self._posterior if offer.rows is None else self._posterior.over(offer.rows)

    # Copies

    def _copied(self) -> "GraphDRLinUCB":
        """Return a copy that learns independently, with the same generator."""
        other = copy(self)
        other._state = self._state.copied()
        return other

    def snapshot(self) -> "GraphDRLinUCB":
        """Return a copy that does not learn, for readers in other threads while one writer goes on."""
        self._check()
        other = self._copied()
        other._state.rng, other._frozen = parameters.spawn(self._state.rng), True
        return other

    def worker(self) -> "GraphDRLinUCB":
        """Return a copy that learns on its own, and whose ``delta`` this policy can ``merge``."""
        self._check(changes=True)
        if self.forget < 1:
            raise ValueError(NEEDS_ALL_REWARDS)
        other = self._copied()
        other._state.rng = parameters.spawn(self._state.rng)
        other._start, other._learned = self._state.copied(), ()
        return other

    def delta(self) -> Delta:
        """Return what a worker learned since it was made, or since the last time that it was asked."""
        self._check()
        if self._start is None:
            raise ValueError("only a worker has a delta: make one with worker()")
        if self.forget < 1:
            raise ValueError(NEEDS_ALL_REWARDS)
        delta = (*self._learned, self._state.since(self._start))
        self._start, self._learned = self._state.copied(), ()
        return delta

    def merge(self, *deltas: Delta, unknown: str = "raise") -> None:
        """Learn what workers learned; their arms must be known here; with a wrong one among them, nothing.

        With ``unknown="ignore"``, what workers learned of arms that are not there, such as removed ones, is skipped.
        """
        self._check(changes=True)
        parameters.check_unknown(unknown)
        parts = [part for delta in deltas for part in delta]
        self._state.merge(parts, unknown == parameters.IGNORE)
        self._state.tune_if_due(self._tuned_prior, self.forget)

    # Files

    def save(self, target: str | PathLike[str] | IO[bytes]) -> None:
        """Write all that the policy is to one parquet file, atomically, or into an open file (needs pyarrow)."""
        with needed_for("saving a policy"):
            from graphdr.serve import file

        self._check()
        file.save(self.get_params(deep=False), self._state, self._ready, target)

    @classmethod
    def load(cls, source: str | PathLike[str] | IO[bytes]) -> "GraphDRLinUCB":
        """Read a policy that goes on exactly where the saved one stopped (needs pyarrow)."""
        with needed_for("loading a policy"):
            from graphdr.serve import file

        settings, state = file.load(source)
        policy = cls(**settings)
        policy._enter(state)
        return policy


def _first_maximum(scores: np.ndarray) -> int:
    """Return the place of the first maximum; refuse scores that are not finite."""
    place = int(scores.argmax())  # that of a nan, if there is one
    if not isfinite(scores[place]):
        raise ValueError(NOT_FINITE)
    return place


def _numbers(values: object, count: int, items: str, kind: str) -> np.ndarray:
    """Return finite numbers, one for each arm or vector."""
    try:
        values = np.array(values, float, ndmin=1)
    except (TypeError, ValueError):
        raise ValueError(f"{kind}s are finite numbers, not {values!r}") from None
    if values.shape != (count,):
        raise ValueError(f"{count} {items}, but {kind}s of shape {values.shape}")
    if not (isfinite(values[0]) if count == 1 else np.isfinite(values).all()):  # of one, in a tenth of the time
        raise ValueError(f"a {kind} is {values[~np.isfinite(values)][0]}; {kind}s are finite numbers")
    return values
