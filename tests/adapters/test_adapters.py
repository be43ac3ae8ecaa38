"""The adapters in the hands of coba, river and obp: their own runs play every round as the policy does by itself."""

import re
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from graphdr import GraphDRLinUCB, ips, largest_component, sbm

ROUNDS = 600
GRAPH = largest_component(sbm(60, np.random.default_rng(0), blocks=3, p_in=0.4, p_out=0.03))
NAMES = [f"item {node}" for node in range(GRAPH.n)]
RATES = np.where(np.arange(GRAPH.n) < 20, 0.7, 0.2)
DRAWN = np.random.default_rng(1)
OFFERED = [DRAWN.choice(GRAPH.n, 8, replace=False).tolist() for _ in range(ROUNDS)]
PAID = (DRAWN.random((ROUNDS, GRAPH.n)) < RATES).astype(float)  # what every arm would pay in every round
EXPLORE = ["ucb", "ts", 0.1]


def fitted(explore="ucb", names=NAMES, **parameters) -> GraphDRLinUCB:
    return GraphDRLinUCB(explore=explore, random_state=5, **parameters).fit(GRAPH, names=names)


def assert_learned(arms: list[int]) -> None:
    """Not every comparison of arms is one of learners: this one found the better block."""
    assert np.mean(RATES[arms[ROUNDS // 2 :]]) > 1.5 * RATES.mean()


# coba


class Rounds:
    """An environment of coba: the rounds above, their candidates by name."""

    params = {"rounds": "ours"}  # noqa: RUF012

    def __init__(self, names=NAMES, contexts=(None,)):
        self.names, self.contexts = names, contexts

    def read(self):
        from coba.primitives import SimulatedInteraction

        for t, offered in enumerate(OFFERED):
            context = self.contexts[t % len(self.contexts)]
            actions = [self.names[node] for node in offered]
            yield SimulatedInteraction(context, actions, [PAID[t, node] for node in offered])


def experiment(*learners, environment=None):
    """Run coba's own experiment and return its rows, learner by learner."""
    import coba
    from coba.context import CobaContext, NullLogger

    CobaContext.logger = NullLogger()
    record = ["reward", "action", "probability"]
    evaluator = coba.SequentialCB(record=record)
    result = coba.Experiment([environment or Rounds()], list(learners), evaluator).run(quiet=True)
    columns = ["learner_id", "action", "reward", "probability"]
    rows = zip(*(result.interactions[column] for column in columns), strict=True)
    by_learner = [[] for _ in learners]
    for learner, *row in rows:
        by_learner[learner].append(tuple(row))
    return by_learner


def chosen(policy: GraphDRLinUCB, names=NAMES, segments=(None,)) -> list[tuple]:
    """Drive a policy directly; return arms, rewards and propensities."""
    rows = []
    for t, offered in enumerate(OFFERED):
        segment = segments[t % len(segments)]
        arm, propensity = policy.choose([names[node] for node in offered], segment=segment)
        reward = PAID[t, names.index(arm)]
        policy.update(arm, reward, segment=segment)
        rows.append((arm, reward, propensity))
    return rows


@pytest.mark.parametrize("explore", EXPLORE)
def test_an_experiment_of_coba_is_the_policy_round_by_round(explore):
    from coba.learners import RandomLearner

    from graphdr.adapters.coba import CobaLearner

    policy = fitted(explore)
    ours, random = experiment(CobaLearner(policy), RandomLearner())
    assert policy.rounds == 0
    assert ours == chosen(policy)
    assert_learned([NAMES.index(arm) for arm, _, _ in ours])
    assert np.mean([reward for _, reward, _ in ours]) > np.mean([reward for _, reward, _ in random])


def test_coba_may_number_its_actions():
    """It then turns 0 and 1 into 0.0 and 1.0, to tell actions from probabilities."""
    from graphdr.adapters.coba import CobaLearner

    numbers = list(range(GRAPH.n))
    policy = fitted(0.1, numbers)
    (ours,) = experiment(CobaLearner(policy), environment=Rounds(numbers))
    assert ours == chosen(policy, numbers)


def test_contexts_of_coba_are_segments_of_the_policy():
    from graphdr.adapters.coba import CobaLearner

    policy = fitted(0.1, segments={"young": {"old": 1.0}, "old": {}}, segment_coupling=0.1)
    (ours,) = experiment(CobaLearner(policy), environment=Rounds(contexts=("young", "old", "old")))
    assert ours == chosen(policy, segments=("young", "old", "old"))


def test_a_learner_scores_and_names_itself():
    from coba.safety import SafeLearner

    from graphdr.adapters.coba import CobaLearner

    policy = fitted(0.1)
    chosen(policy)
    learner = SafeLearner(CobaLearner(policy))
    assert learner.has_score
    assert [learner.score(None, NAMES[:5], arm) for arm in NAMES[:5]] == policy.probabilities(NAMES[:5]).tolist()
    assert learner.full_name == "GraphDRLinUCB(explore=0.1,random_state=5)"


# river


@pytest.mark.parametrize("explore", EXPLORE)
def test_an_evaluation_of_river_is_the_policy_round_by_round(explore):
    import gymnasium as gym
    from river import bandit

    from graphdr.adapters.river import RiverPolicy

    class Shop(gym.Env):
        """The rounds above, with all arms offered in each."""

        action_space = gym.spaces.Discrete(GRAPH.n)

        def reset(self, seed=None):
            self.t = 0
            return 0, {}

        def step(self, action):
            self.t += 1
            return 0, PAID[self.t - 1, action], False, self.t == ROUNDS, {}

    policy = fitted(explore, range(GRAPH.n))
    trace = list(bandit.evaluate([RiverPolicy(policy), bandit.RandomPolicy(seed=1)], Shop(), n_episodes=2, seed=3))
    assert policy.rounds == 0
    by_hand = []
    for t in range(ROUNDS):
        by_hand.append(policy.recommend(range(GRAPH.n)))
        policy.update(by_hand[-1], PAID[t, by_hand[-1]])
    for episode in (0, 1):  # a clone begins with nothing learned
        arms = [step["arm"] for step in trace if step["episode"] == episode and not step["policy_idx"]]
        assert arms == by_hand
    assert_learned(by_hand)


def test_a_replay_of_river_is_the_policy_told_the_rounds_in_which_both_agree():
    from river import bandit

    from graphdr.adapters.river import RiverPolicy

    logged = np.random.default_rng(2).integers(8, size=ROUNDS)
    arms = [[NAMES[node] for node in offered] for offered in OFFERED]
    history = [
        (own, None, own[at], PAID[t, OFFERED[t][at]]) for t, (own, at) in enumerate(zip(arms, logged, strict=True))
    ]
    policy = fitted()
    served = RiverPolicy(policy)
    total, used = bandit.evaluate_offline(served, history)
    agreed = []
    for offered, _, arm, reward in history:
        if policy.recommend(offered) == arm:
            policy.update(arm, reward)
            agreed.append(reward)
    assert (total.get(), used) == (sum(agreed), len(agreed))
    assert used > 30
    assert "item" in repr(served)  # river's table of arms


def test_river_may_burn_in_first():
    from graphdr.adapters.river import RiverPolicy

    served = RiverPolicy(fitted(), burn_in=1)
    pulled = []
    for _ in range(5):
        pulled.append(served.pull(NAMES[:5]))
        served.update(pulled[-1], 1.0)
    assert pulled == NAMES[:5]
    assert served.playing.rounds == 5


# obp


@pytest.mark.parametrize("len_list", [1, 3])
def test_a_policy_in_the_form_of_obp_is_the_policy_round_by_round(len_list):
    from graphdr.adapters.obp import ObpPolicy

    policy = fitted()
    adapted = ObpPolicy(policy, len_list)
    assert (adapted.n_actions, adapted.len_list) == (GRAPH.n, len_list)
    for again in range(2):
        alone = deepcopy(policy)
        for t in range(100):
            actions = adapted.select_action()
            best = alone.recommend(n=len_list)
            assert [NAMES[action] for action in actions] == ([best] if len_list == 1 else best)
            adapted.update_params(actions[0], PAID[t, actions[0]])
            alone.update(NAMES[actions[0]], PAID[t, actions[0]])
        assert adapted.n_trial == 100
        adapted.initialize()
        assert policy.rounds == adapted.playing.rounds == 0, again


def test_a_replay_of_obp_is_the_policy_told_the_rounds_in_which_both_agree():
    simulator = pytest.importorskip("obp.simulator", reason="obp 0.3.3 is not installed, or does not import, here")
    from graphdr.adapters.obp import ObpPolicy

    policy, rng = fitted(), np.random.default_rng(4)
    actions = rng.integers(GRAPH.n, size=4000)
    rewards = (rng.random(4000) < RATES[actions]).astype(float)
    adapted = ObpPolicy(policy)
    feedback = adapted.bandit_feedback([(NAMES[action], 1 / GRAPH.n) for action in actions], rewards)
    played = simulator.run_bandit_simulation(feedback, adapted)[:, :, 0].argmax(axis=1)
    by_hand = []
    for action, reward in zip(actions, rewards, strict=True):
        by_hand.append(NAMES.index(policy.recommend()))
        if by_hand[-1] == action:
            policy.update(NAMES[action], reward)
    assert played.tolist() == by_hand
    assert adapted.n_trial == policy.rounds > 30


def test_the_exported_rounds_are_what_estimators_of_obp_take():
    ope = pytest.importorskip("obp.ope", reason="obp 0.3.3 is not installed, or does not import, here")
    from graphdr.adapters.obp import ObpPolicy

    policy = fitted(0.2)
    policy.update_many(NAMES, RATES)
    policy = policy.snapshot()
    choices = [policy.choose() for _ in range(ROUNDS)]
    rewards = [PAID[t, NAMES.index(choice.arm)] for t, choice in enumerate(choices)]
    feedback = ObpPolicy(policy).bandit_feedback(choices, rewards)
    assert {"n_rounds", "n_actions", "context", "action", "reward", "pscore", "position"} == set(feedback)
    target = np.full((ROUNDS, GRAPH.n, 1), 1 / GRAPH.n)
    estimators = [ope.InverseProbabilityWeighting(), ope.ReplayMethod()]
    judge = ope.OffPolicyEvaluation(bandit_feedback=feedback, ope_estimators=estimators)
    theirs = judge.estimate_policy_values(action_dist=target)["ipw"]
    ours = ips(rewards, [propensity for _, propensity in choices], np.full(ROUNDS, 1 / GRAPH.n))
    assert np.isclose(theirs, ours.value, rtol=1e-12)
    assert abs(theirs - RATES.mean()) < 4 * ours.sem


# The page


def test_the_examples_of_the_page_run():
    page = Path("docs/adapters.md").read_text(encoding="utf-8")
    scope = {}
    for code in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(code, scope)
    earned = [0.0, 0.0]
    for learner, reward in zip(*(scope["result"].interactions[name] for name in ("learner_id", "reward")), strict=True):
        earned[learner] += reward
    assert earned[0] > 1.3 * earned[1]
    assert scope["used"] > 30
