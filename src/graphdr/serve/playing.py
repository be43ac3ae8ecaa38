"""Asking a policy and telling it rewards: what the public class inherits, whatever it was fitted to.

Until enough rewards were seen to find its settings, a policy plays at random; then they are found again whenever the
rewards have doubled.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from math import isfinite
from numbers import Integral
from typing import Self

import numpy as np
from sklearn.exceptions import NotFittedError

from graphdr.bandit.graph_prior.model import Columns
from graphdr.bandit.graph_prior.play import FIRST
from graphdr.core.threads import one_thread
from graphdr.serve import knobs, tuning
from graphdr.serve.learned import Learned, Prior, first_best, project
from graphdr.serve.lookup import SKIPS, Lookup, Segment, UnknownArm, Vectors, for_each, is_one, listed
from graphdr.serve.records import Candidates, Choice
from graphdr.serve.sources import Name
from graphdr.serve.tuning import RIDGE

ONE_OF_TWO = "arms are given by name or as vectors: one of the two"
DRAWS = 1000  # of the posterior behind a probability of Thompson sampling
AT_ONCE = 1_000_000  # numbers that are drawn at a time: memory does not grow with the arms
FADES = 0.01  # the share that may be due to be forgotten before it is, and V^-1 is rebuilt
ONE = np.ones(1)
NOT_FINITE = "estimates are not finite: a reward or a weight was too large; load an earlier file, or fit again"
Offer = Iterable[Name] | Candidates | None


class Playing:
    """Recommend, learn, and find settings; a subclass fits or loads what is declared here."""

    prior: str
    ridge: float | None
    radius: float | None
    explore: str | float
    forget: float
    rounds: int
    _arms: Lookup
    _learned: Learned
    _columns: Columns  # that evidence chooses from
    _given: Prior | None  # the prior of a ridge that is given
    _rng: np.random.Generator
    _ready: bool  # settings are known
    _next: int  # rounds after which they are found again
    _due: int  # rewards since the last fading
    _stale: str  # a parameter that was changed after fit
    _frozen: bool

    # Asking

    def candidates(
        self, names: Iterable[Name] | None = None, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> Candidates:
        """Look up arms or contexts once, to offer them many times; arms added later do not change what this holds."""
        return self._look_up(names, vectors, segment)

    def recommend(
        self, candidates: Offer = None, n: int = 1, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> Name | int | list[Name | int]:
        """Return the best candidate, the first of them on a tie; for n above one, a list of the n best.

        Parameters
        ----------
        candidates : names of arms or Candidates, optional
            All arms by default. An array of numbers where arms are numbers is fastest.
        n : int
            How many to return, at most as many as there are candidates.
        vectors : sparse or dense matrix, or mappings, optional
            Contexts instead of arms: rows over the arms in the order of ``names``, or mappings such as
            {"film 3": 0.5, "film 9": 0.5}. They are returned as row numbers.
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
        return [self._name(offer, at) for at in self._best(offer, n)]

    def choose(self, candidates: Offer = None, *, vectors: Vectors | None = None, segment: Segment = None) -> Choice:
        """Draw a candidate from ``probabilities``; return it with its probability, for a log of rounds.

        It plays as ``recommend`` does, and knows with which probability it did so. ``explore`` decides how large these
        are: UCB without random rounds takes its best with probability one, and such a log says nothing about others.
        """
        offer = self._offered(candidates, vectors, segment)
        shares = self._shares(offer)
        at = int(self._rng.choice(len(offer), p=shares))
        return Choice(self._name(offer, at), float(shares[at]))

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
        """Return the best of every candidate set, as far as is known now; ``segment`` is one for all, or one each.

        With ``pending``, the rewards of a batch come later: every play counts as made, at its expected reward, for the
        plays after it, so that a batch does not ask the same question many times.
        """
        if (sets is None) == (vectors is None):
            raise ValueError(ONE_OF_TWO)
        given = [(own, None) for own in sets] if vectors is None else [(None, own) for own in vectors]
        offers = [self._offered(*own, of) for own, of in zip(given, for_each(segment, len(given)), strict=True)]
        if pending:
            return [self._name(offer, at) for offer, at in zip(offers, self._pending(offers), strict=True)]
        if not offers or not self._ready or self.explore != knobs.UCB or any(o.rows is not None for o in offers):
            return [self._name(offer, self._best(offer, 1)[0]) for offer in offers]
        starts = np.concatenate([[0], np.cumsum([*map(len, offers)])])
        places = np.concatenate([offer.places for offer in offers])
        scores = self._learned.scores(places, self._width())
        _best_of(scores)
        best = first_best(scores, starts)
        return [self._arms.names[place % len(self._arms.names)] for place in places[best].tolist()]

    def expect(
        self, arms: Offer = None, *, vectors: Vectors | None = None, segment: Segment = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the estimated reward of every arm or context and its width, before the radius is applied.

        Until settings are found, all arms have the mean of the rewards seen, and an infinite width.
        """
        offer = self._look_up(arms, vectors, segment, all_arms=True)
        if not self._ready:
            return np.full(len(offer), self._learned.mean_reward), np.full(len(offer), np.inf)
        mean, width = self._state(offer).expect(offer.places)
        if not (np.isfinite(mean).all() and np.isfinite(width).all()):
            raise ValueError(NOT_FINITE)
        return mean, width

    def _best(self, offer: Candidates, n: int) -> list[int]:
        """Return where the n best candidates are."""
        share = self.explore if not isinstance(self.explore, str) else 0.0
        if not self._ready or (share and self._rng.random() < share):
            return self._rng.choice(len(offer), n, replace=False).tolist()
        scores = self._drawn(offer, 1)[0] if self.explore == knobs.TS else self._scores(offer)
        best = _best_of(scores)
        return [best] if n == 1 else np.argsort(-scores, kind="stable")[:n].tolist()

    def _shares(self, offer: Candidates) -> np.ndarray:
        if not self._ready:
            return np.full(len(offer), 1.0 / len(offer))
        share = np.zeros(len(offer))
        if self.explore == knobs.TS:
            step = max(1, AT_ONCE // len(offer))
            for start in range(0, DRAWS, step):
                drawn = self._drawn(offer, min(step, DRAWS - start))
                _best_of(drawn.ravel())
                share += np.bincount(drawn.argmax(axis=1), minlength=len(offer))
            return share / DRAWS
        share[_best_of(self._scores(offer))] = 1.0
        random = 0.0 if self.explore == knobs.UCB else self.explore
        return (1.0 - random) * share + random / len(offer)

    def _scores(self, offer: Candidates) -> np.ndarray:
        """Return the upper bounds of candidates."""
        return self._state(offer).scores(offer.places, self._width())

    def _drawn(self, offer: Candidates, count: int) -> np.ndarray:
        """Return draws of expected rewards from the posterior (count x candidates)."""
        if not (np.isfinite(self._learned.inverse).all() and np.isfinite(self._learned.mean).all()):
            raise ValueError(NOT_FINITE)
        return self._state(offer).draws(offer.places, self._width(), count, self._rng)

    def _pending(self, offers: list[Candidates]) -> list[int]:
        hoped = self._copied()
        best = []
        for offer in offers:
            (at,) = hoped._best(offer, 1)
            best.append(at)
            state, place = hoped._state(offer), offer.places[[at]]
            state.learn(place, state.expect(place)[0], ONE)
        return best

    # Telling

    def update(
        self,
        arm: Name | None = None,
        reward: float = np.nan,
        *,
        weight: float = 1.0,
        vector: Vectors | Mapping[Name, float] | None = None,
        segment: Name | None = None,
        unknown: str = "raise",
    ) -> None:
        """Learn the reward of an arm or a context, whether recommended or not, now or long ago.

        ``weight`` says how many rewards of this value it stands for. With ``unknown="ignore"``, the reward of an arm
        that is not there, such as one that was removed, is skipped; by default it is an error.
        """
        arms = None if arm is None else (arm,)
        weights = None if weight == 1.0 else (weight,)
        self.update_many(arms, (reward,), weights=weights, vectors=vector, segment=segment, unknown=unknown)

    def update_many(
        self,
        arms: Iterable[Name] | Candidates | None = None,
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
        self._check_changes()
        if unknown != knobs.RAISE:
            knobs.check_unknown(unknown)
            arms, vectors, segment, rewards, weights = self._of_known(arms, vectors, segment, rewards, weights)
        try:
            offer = self._look_up(arms, vectors, segment)
        except UnknownArm as error:
            raise ValueError(f"{error}; {SKIPS}") from None
        rewards = _checked(rewards, len(offer), vectors, "reward")
        if weights is None:
            weights = ONE if len(rewards) == 1 else np.ones(len(rewards))
        else:
            weights = _checked(weights, len(offer), vectors, "weight")
            if len(weights) and weights.min() <= 0:
                raise ValueError(f"a weight is {weights.min()}; weights are positive")
        start, end = 0, len(rewards)
        while start < end:
            stop = min(end, start + self._until())
            if offer.rows is None:
                self._learned.learn(offer.places[start:stop], rewards[start:stop], weights[start:stop])
            else:
                self._learned.learn_contexts(offer.rows[start:stop], rewards[start:stop], weights[start:stop])
            self.rounds += stop - start
            self._fade(stop - start)
            if self._tuned() and self.rounds >= self._next:
                self.tune()
            start = stop

    def _of_known(self, arms, vectors, segment: Segment, rewards, weights) -> tuple:
        """Return the arguments of ``update_many`` without those of arms that are not there."""
        self._check()
        things = [vectors] if isinstance(vectors, Mapping) else listed(arms if vectors is None else vectors)
        if things is None or (vectors is not None and not all(isinstance(vector, Mapping) for vector in things)):
            return arms, vectors, segment, rewards, weights  # refused later, or without names
        known = np.flatnonzero(self._arms.known(things)).tolist()
        rewards = _checked(rewards, len(things), vectors, "reward")[known]
        if weights is not None:
            weights = _checked(weights, len(things), vectors, "weight")[known]
        if not is_one(segment):
            segments = for_each(segment, len(things))
            segment = [segments[at] for at in known]
        things = [things[at] for at in known]
        arms, vectors = (things, None) if vectors is None else (None, things)
        return arms, vectors, segment, rewards, weights

    def tune(self) -> None:
        """Find the settings from the rewards seen; this happens by itself whenever these have doubled."""
        self._check_changes()
        if not (self._tuned() and len(self._arms.names)):
            return
        seen = self._learned.statistics
        step = FIRST
        if tuning.varied(seen):
            with one_thread():
                prior = tuning.PRIORS[self.prior](seen, self._columns)
                prior = prior if self._given is None else self._given._replace(noise=prior.noise)
                self._learned.take(prior)
            self._ready, step = tuning.tells_arms_apart(prior), max(self.rounds, FIRST)
        self._next = self.rounds + (step if self.forget == 1 else min(step, self._memory()))

    def _tuned(self) -> bool:
        """Tell whether settings are found from the rewards."""
        return self.prior != RIDGE or self.ridge is None or self.radius is None

    def _until(self) -> int:
        """Return how many rewards may be learned before settings are found again or something is forgotten."""
        stop = self._next - self.rounds if self._tuned() else sys.maxsize
        return max(1, stop if self.forget == 1 else min(stop, self._block() - self._due))

    def _memory(self) -> int:
        """Return for how many rewards one is remembered, on average."""
        return int(np.ceil(1.0 / (1.0 - self.forget)))

    def _block(self) -> int:
        return max(1, int(FADES * self._memory()))

    def _fade(self, count: int) -> None:
        if self.forget == 1:
            return
        self._due += count
        if self._due >= self._block():
            self._learned.fade(self.forget**self._due)
            self._due = 0

    def _width(self) -> float:
        """Return the radius: that given, or one standard deviation of the noise."""
        if self.radius is not None:
            return self.radius
        return float(np.sqrt(self._learned.noise))

    # Looking up

    def _name(self, offer: Candidates, at: int) -> Name | int:
        return at if offer.rows is not None else self._arms.names[int(offer.places[at]) % len(self._arms.names)]

    def _offered(self, arms, vectors=None, segment: Segment = None) -> Candidates:
        """Look up candidates, by default all arms; refuse a set without any."""
        offer = self._look_up(arms, vectors, segment, all_arms=True)
        if not len(offer):
            raise ValueError("no candidates: at least one arm is needed")
        return offer

    def _look_up(self, arms, vectors=None, segment: Segment = None, all_arms: bool = False) -> Candidates:
        """Return where arms are, or the rows of contexts, unless that was looked up before."""
        self._check()
        if (arms is None and vectors is None and not all_arms) or (arms is not None and vectors is not None):
            raise ValueError(ONE_OF_TWO)
        if isinstance(arms, Candidates):
            if arms.owner not in self._arms.tokens:
                raise ValueError("these candidates were looked up in another policy, or before its arms were changed")
            if segment is not None:
                raise ValueError("candidates that were looked up before have their segment already")
            return arms
        if vectors is None:
            return Candidates(self._arms.token, self._arms.places(arms, segment))
        if self._tuned():
            raise ValueError(f"vectors need prior={RIDGE!r} with a ridge and a radius")
        if self._learned.residual:
            raise ValueError("full LinUCB knows arms one by one and takes no vectors: fit a policy with k features")
        rows = self._arms.rows(vectors, segment)
        rows = project(rows.data, rows.indices, rows.indptr, self._learned.rows)
        return Candidates(self._arms.token, np.arange(len(rows), dtype=np.uint32), rows)

    def _state(self, offer: Candidates) -> Learned:
        """Return the state that the candidates' places belong to."""
        return self._learned if offer.rows is None else self._learned.over(offer.rows)

    def _copied(self) -> Self:
        """Return a copy that learns on its own, with the same generator; nothing else is changed in place."""
        self._check()
        other = copy(self)
        vars(other)["_learned"] = self._learned.copied()
        return other

    def _check(self, stale: bool = False) -> None:
        """Refuse to play what was not fitted or, unless ``stale`` will do, was changed since."""
        try:
            changed = self._stale
        except AttributeError:
            raise NotFittedError("this policy is not fitted yet: call fit(graph) first") from None
        if changed and not stale:
            raise ValueError(f"{changed} was changed after fit: call fit again, or refit to keep what was learned")

    def _check_changes(self, stale: bool = False) -> None:
        self._check(stale)
        if self._frozen:
            raise ValueError("a snapshot does not change: tell the policy that it was taken of")


def _best_of(scores: np.ndarray) -> int:
    """Return where the first maximum is; refuse scores that are not finite."""
    at = int(scores.argmax())  # the place of a nan, if there is one
    if not isfinite(scores[at]):
        raise ValueError(NOT_FINITE)
    return at


def _checked(values, count: int, vectors: object, what: str) -> np.ndarray:
    """Return as many finite numbers as there are arms or vectors."""
    try:
        values = np.array(values, float, ndmin=1)
    except (TypeError, ValueError):
        raise ValueError(f"{what}s are finite numbers, not {values!r}") from None
    if values.shape != (count,):
        things = "arms" if vectors is None else "vectors"
        raise ValueError(f"{count} {things}, but {what}s of shape {values.shape}")
    if not (isfinite(values[0]) if len(values) == 1 else np.isfinite(values).all()):  # of one, in a tenth of the time
        raise ValueError(f"a {what} is {values[~np.isfinite(values)][0]}; {what}s are finite numbers")
    return values
