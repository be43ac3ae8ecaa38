"""Estimates from logs: files read or refused in one line, intervals that cover the truth, and a page that runs."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom

from graphdr.advise import logs, reading
from graphdr.core.errors import UserError
from graphdr.core.rng import stream
from graphdr.raw.dialect import TextFormat
from graphdr.raw.sheets import run_all
from graphdr.scores import offpolicy
from tests.support import shop_log
from tests.support.project import ROOT
from trust import cases

# Files

ROUNDS = 64
ARMS = [f"item {number}" for number in range(9)]


def table() -> pd.DataFrame:
    """Draw a wide log: three of nine arms a round, one of them played."""
    rng = np.random.default_rng(0)
    offered = [list(rng.choice(ARMS, 3, replace=False)) for _ in range(ROUNDS)]
    played = [own[rng.integers(3)] for own in offered]
    paid = rng.standard_normal(ROUNDS).round(3)
    names = ("round", "action", "reward", "propensity", "candidates")
    return pd.DataFrame(dict(zip(names, (np.arange(ROUNDS), played, paid, 1 / 3, offered), strict=True)))


WIDE = table()
JOINED = WIDE.assign(candidates=WIDE["candidates"].str.join("|"))
LONG = WIDE.explode("candidates").rename(columns={"candidates": "item"}).reset_index(drop=True)
LONG["played"] = (LONG["item"] == LONG.pop("action")).astype(int)
SPARSE = LONG.assign(
    reward=LONG["reward"].where(LONG["played"] == 1), propensity=LONG["propensity"].where(LONG["played"] == 1)
)


def csv(frame: pd.DataFrame, sep=",") -> bytes:
    return frame.to_csv(index=False, sep=sep).encode()


def parquet(frame: pd.DataFrame) -> bytes:
    return frame.to_parquet(index=False)


FORMS = {
    "wide.csv": csv(JOINED),
    "utf16.csv": csv(JOINED, "\t").decode().encode("utf-16"),
    "excel.csv": b"\xef\xbb\xbfsep=;\n" + csv(JOINED, ";").replace(b".", b","),
    "double_spaced.csv": csv(JOINED).replace(b"\n", b"\r\r\n"),
    "bars.csv": csv(JOINED.assign(candidates=WIDE["candidates"].str.join(";")), "|"),
    "semicolons.csv": csv(JOINED).replace(b"|", b";"),
    "unnumbered.csv": csv(JOINED.drop(columns="round")),
    "renamed.csv": csv(JOINED.set_axis(["Impression ID", "Item-ID", "Clicked", "pScore", "Slate"], axis=1)),
    "quoted.csv": WIDE.assign(candidates=WIDE["candidates"].str.join(",")).to_csv(index=False, quoting=1).encode(),
    "quoted_semicolons.csv": csv(JOINED.assign(candidates=WIDE["candidates"].str.join(";")), ";"),
    "line_breaks.csv": csv(JOINED.assign(remark='two\nlines, a "quote"')),
    "more.csv": csv(JOINED.assign(user="u", reward_before=0, affinity="b")),
    "lists.parquet": parquet(WIDE),
    "texts.parquet": parquet(JOINED),
    "categories.parquet": parquet(
        JOINED.astype({"action": "category", "reward": "float32"}).astype({"reward": "float64"})
    ),
    "long.csv": csv(LONG),
    "sparse.csv": csv(SPARSE),
    "sparse.parquet": parquet(SPARSE),
    "flags.csv": csv(SPARSE.assign(played=LONG["played"] == 1)),
    "action_flag.csv": csv(SPARSE.rename(columns={"item": "candidate", "played": "action"})),
    "as_on_the_page.csv": csv(SPARSE.rename(columns={"item": "candidate"})),
    "two_words.csv": csv(SPARSE.rename(columns={"item": "action", "played": "is_chosen"})),
    "shuffled.csv": csv(SPARSE.sample(frac=1, random_state=0)),
}


@pytest.fixture
def write(put):
    """Return a function that writes a log and returns its path."""
    return lambda data, name="log.csv": put(**{name: data})[name]


def plain(log: logs.Log) -> list:
    """Return what a log says of each round, whatever the order of rounds and candidates."""
    sets = np.split(np.array(log.arms)[log.candidates], log.starts[1:-1])
    played = np.array(log.arms)[log.played]
    facts = zip(map(sorted, sets), played, log.rewards.round(6), log.propensities.round(6), strict=True)
    return sorted(map(repr, facts))


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_log_is_the_same_log(write, name):
    wanted = zip(
        map(sorted, WIDE["candidates"]), WIDE["action"], WIDE["reward"], WIDE["propensity"].round(6), strict=True
    )
    found = logs.read(write(FORMS[name], name))
    assert plain(found) == sorted(repr((own, np.str_(arm), np.float64(y), np.float64(p))) for own, arm, y, p in wanted)


def test_columns_may_be_given(write):
    path = write(csv(JOINED.rename(columns={"reward": "gain", "propensity": "reward"})))
    found = logs.read(path, {"reward": "gain", "propensity": "reward"})
    assert_array_equal(found.rewards, WIDE["reward"])
    assert_allclose(found.propensities, 1 / 3)


def test_a_log_is_read_as_the_user_says_that_it_is_written_and_without_candidates_all_arms_are_offered(write):
    frame = JOINED.assign(action=WIDE["action"].str.replace("item", "ж"), candidates=None).drop(columns="candidates")
    found = logs.read(write(csv(frame, "~").decode().encode("cp1251")), text_format=TextFormat("cp1251", "~"))
    assert found.candidates is None
    assert [found.arms[place] for place in found.played] == frame["action"].tolist()


def test_how_a_log_was_read_is_noted(write):
    german = csv(JOINED.assign(remark="é"), ";").decode().encode("latin-1")
    assert logs.read(write(german)).notes == ("log.csv: encoding Latin-1 (--encoding); separated by ; (--separator)",)
    assert logs.read(write(csv(JOINED))).notes == ()


def test_mistakes_of_a_log_and_of_other_files_are_one_report(write, tmp_path):
    log, data = write(changed(0, propensity=2)), tmp_path / "data.csv"
    data.write_text("user,item,value\na,b,1\na,c,x\n")
    readers = (lambda: reading.read(reading.Request(interactions=data)), lambda: logs.read(log))
    with pytest.raises(UserError, match=r"data\.csv, line 3: .*\. Also .*log\.csv, line 2: propensity 2 is not a"):
        run_all(*readers)
    write(csv(JOINED))
    with pytest.raises(UserError, match=r"^\S*data\.csv, line 3"):
        run_all(*readers)


def test_all_mistakes_of_a_log_are_one_line_and_each_line_has_one(write):
    frame = JOINED.astype(object)
    frame.loc[[3, 4, 9], "propensity"], frame.loc[4, "reward"], frame.loc[6, "action"] = 2, "x", ""
    with pytest.raises(UserError) as caught:
        logs.read(write(csv(frame)))
    assert str(caught.value).partition("log.csv: ")[2] == (
        "3 problems: (1) line 8: arm is missing (2) line 6: reward 'x' is not a finite number of at most 1e+100 "
        "(3) line 5: propensity 2 is not a probability from 1e-12 to 1, 1 more such: line 11"
    )
    frame = SPARSE.astype(object)
    frame.loc[UNPLAYED[3], "played"], frame.loc[0, "round"] = "x", ""
    with pytest.raises(
        UserError, match=r"2 problems: \(1\) line 2: round is missing \(2\) line \d+: played 'x' is neither"
    ):
        logs.read(write(csv(frame)))


def changed(row: int, **values) -> bytes:
    """Return the wide log with other values in one row: line row + 2 of the file."""
    frame = JOINED.astype(object)
    for name, value in values.items():
        frame.loc[row, name] = value
    return csv(frame)


def flagged(*rows: int, value=1) -> bytes:
    frame = SPARSE.astype(object)
    frame.loc[list(rows), ["played", "reward", "propensity"]] = [value, 1.0, 0.5]
    return csv(frame)


UNPLAYED = [int(place) for place in np.flatnonzero(LONG["played"] == 0)]
REFUSED = {
    r"log.csv: no column 'propensity', the probability .* there are: 'round', 'action', 'reward', 'candidates'$": csv(
        JOINED.drop(columns="propensity")
    ),
    r"log.csv: no column 'arm', what was played": csv(JOINED.drop(columns="action")),
    r"log.csv: no column 'round', which rows belong together": csv(LONG.drop(columns="round")),
    r"log.csv: reward may be any of the columns 'click', 'payoff'; say which": csv(
        JOINED.rename(columns={"reward": "click"}).assign(payoff=1)
    ),
    r"log.csv, line 9: propensity is missing": changed(7, propensity=""),
    r"log.csv, line 10: propensity 'nan' is not a finite number": changed(8, propensity="nan"),
    r"log.csv, line 9: propensity 0 is zero: such an arm cannot have been played": changed(7, propensity=0),
    r"log.csv, line 9: propensity -0.1 is not a probability": changed(7, propensity=-0.1),
    r"log.csv, line 9: propensity 1.5 is not a probability": changed(7, propensity=1.5),
    r"log.csv, line 9: propensity 1e-13 is not a probability from 1e-12 to 1": changed(7, propensity=1e-13),
    r"log.csv, line 9: propensity 'high' is not a finite number": changed(7, propensity="high"),
    r"log.csv, line 9: reward 'inf' is not a finite number": changed(7, reward=np.inf),
    r"log.csv, line 9: reward 1e\+101 is not a finite number of at most 1e\+100": changed(7, reward="1e101"),
    r"log.csv, line 9: reward is missing": changed(7, reward=""),
    r"log.csv, line 9: arm is missing": changed(7, action=""),
    r"log.csv, line 9: arm 'x' is not among its candidates": changed(7, action="x"),
    r"log.csv, line 9: candidate 'x' twice in its round": changed(7, candidates="x|y|x"),
    r"log.csv, line 9: an empty name among the candidates": changed(7, candidates="x||y"),
    r"log.csv, line 9: no candidates": changed(7, candidates=""),
    r"log.csv, line 9: round '6' again; a long file needs a column 'played'": changed(7, round=6),
    r"log.csv, line 9: number of fields is 6; expected 5": changed(7, round="1,2").replace(b'"', b""),
    r"log.csv, line 16: propensity is missing": csv(
        JOINED.assign(remark="two\nlines", propensity=JOINED["propensity"].where(JOINED["round"] != 7))
    ),
    r"log.csv: 59 rounds are too few for an estimate; at least 60": csv(JOINED[:59]),
    r"log.csv: no rows below the header": csv(JOINED[:0]),
    r"log.csv: not a readable parquet file": parquet(WIDE)[:-9],
    r"log.csv, row 8: propensity 2 is not a": parquet(WIDE.assign(propensity=[*[0.5] * 7, 2.0, *[0.5] * 56])),
    r"log.csv, row 8: reward is missing": parquet(WIDE.assign(reward=[*[0.5] * 7, None, *[0.5] * 56])),
    r"log.csv, row 1: reward 'item .*' is not a finite number": parquet(WIDE.assign(reward=WIDE["candidates"])),
    r"log.csv: column 'action' is of type 'list<.*; expected texts or numbers": parquet(
        WIDE.assign(action=WIDE["candidates"])
    ),
    rf"log.csv, line {UNPLAYED[1] + 2}: round '0' has a second arm that was played": flagged(UNPLAYED[1]),
    r"log.csv, line \d+: round '2' has no arm that was played": csv(
        SPARSE.assign(played=SPARSE["played"] * (SPARSE["round"] != 2))
    ),
    rf"log.csv, line {UNPLAYED[3] + 2}: played '2' is neither 0 nor 1": flagged(UNPLAYED[3], value=2),
    r"log.csv, line 194: candidate 'item \d' twice in its round": csv(pd.concat([SPARSE, SPARSE[:1]])),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_mistake_is_one_line_that_says_where(write, message):
    with pytest.raises(UserError, match=message) as caught:
        logs.read(write(REFUSED[message]))
    assert "\n" not in str(caught.value)


def test_files_and_columns_that_are_not_there_are_one_line(write, tmp_path):
    with pytest.raises(UserError, match=r"none\.csv: cannot be read \(No such file"):
        logs.read(tmp_path / "none.csv")
    for message, columns in (
        ("columns: no role 'rewards'; there are: arm, ", {"rewards": "reward"}),
        ("columns: one column is given for two roles: 'reward'", {"reward": "reward", "propensity": "reward"}),
        ("log.csv: no column 'gain'; there are: 'round', 'action', ", {"reward": "gain"}),
    ):
        with pytest.raises(UserError, match=message):
            logs.read(write(csv(JOINED)), columns)


def read_or_refused(path: Path) -> logs.Log | None:
    """Read a log and evaluate it, with numbers that are finite or none at all; or return None for one refused line."""
    try:
        log = logs.read(path)
        rows = logs.evaluate(log, {"graph": np.eye(len(log.arms))[:, :2], "full": None}, log.arms)
    except UserError as error:
        assert cases.one_line(error, r"log\.csv(, (line|row) \d+)?: \S"), str(error)
        return None
    assert all(np.isfinite(row.value) and row.sem >= 0 for row in rows if row.ess)
    assert logs.text(rows)
    return log


ODD = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.parametrize("name", ["wide.csv", "sparse.csv", "unnumbered.csv"])
@ODD
@given(data=st.data())
def test_odd_files_are_read_or_refused_in_one_line(write, name, data):
    read_or_refused(write(data.draw(cases.odd_files(FORMS[name]))))


@pytest.mark.parametrize("name", ["lists.parquet", "sparse.parquet"])
@ODD
@given(at=st.integers(0, 10**6), byte=st.binary(min_size=1, max_size=3))
def test_odd_parquet_files_are_read_or_refused_in_one_line(write, name, at, byte):
    data = FORMS[name]
    at %= len(data)
    read_or_refused(write(data[:at] + byte + data[at + 1 :]))


CELLS = st.none() | st.integers(-2, 2) | st.sampled_from([0.5, 1.5, np.nan, np.inf, -0.0, 1e-300]) | st.text(max_size=3)
COLUMN = st.sampled_from(
    [pa.string(), pa.float64(), pa.int64(), pa.bool_(), pa.list_(pa.string()), pa.date32(), pa.null()]
)


@ODD
@given(name=st.sampled_from(list(WIDE)), cell=CELLS, row=st.integers(0, ROUNDS - 1), kind=st.none() | COLUMN)
def test_odd_columns_of_a_parquet_file_are_read_or_refused_in_one_line(write, name, cell, row, kind):
    frame = WIDE.assign(**{name: WIDE[name].astype(object)})
    frame.at[row, name] = cell
    if kind is None:
        frame[name] = frame[name].astype(str)
    else:
        frame[name] = pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.nulls(ROUNDS, kind)]))
    read_or_refused(write(parquet(frame)))


# Estimates, against slow twins

N, OFFERED, CONTEXTS = 40, 5, 200
FIXED = np.random.default_rng(0)  # one problem for all logs: only rounds, draws and noise vary
SETS = np.array([np.sort(FIXED.choice(N, OFFERED, replace=False)) for _ in range(CONTEXTS)])
REDUCED, MISPLACED = (np.linalg.qr(FIXED.standard_normal((N, 4)))[0] for _ in range(2))
THETA = 0.5 + REDUCED @ [2.0, -1.0, 1.0, 0.5] + 0.1 * FIXED.standard_normal(N)
SCORES = np.exp(0.7 * FIXED.standard_normal((CONTEXTS, OFFERED)))
LOGGING = SCORES / SCORES.sum(axis=1, keepdims=True)
REDUCERS = {"reduced": REDUCED, "full": None, "misplaced": MISPLACED}
NODES = [str(node) for node in range(N)]


def simulate(seed: int, rounds: int) -> logs.Log:
    """Draw a log of rounds whose contexts, arms and rewards are independent."""
    rng = np.random.default_rng(seed)
    context = rng.integers(CONTEXTS, size=rounds)
    column = np.argmax(rng.random((rounds, 1)) < np.cumsum(LOGGING[context], axis=1), axis=1)
    arm = SETS[context, column]
    paid = THETA[arm] + 0.5 * rng.standard_normal(rounds)
    starts = np.arange(rounds + 1) * OFFERED
    return logs.Log("log", NODES, paid, LOGGING[context, column], arm, SETS[context].ravel(), starts)


def learned(arms: np.ndarray, paid: np.ndarray, own: np.ndarray | None) -> np.ndarray:
    """Return the ridge estimate of all arms, round by round and not by sums over arms."""
    own = np.eye(N) if own is None else own
    ridge = np.sum(own**2) / N
    design, centred = own[arms], paid - paid.mean()
    return paid.mean() + own @ np.linalg.solve(design.T @ design + ridge * np.eye(own.shape[1]), design.T @ centred)


def policies(log: logs.Log, blocks: int, reducers=REDUCERS) -> dict[str, list[np.ndarray]]:
    """Return the estimates by which every block but the first is judged."""
    ends = -(-np.arange(1, blocks) * len(log.rewards) // blocks)
    return {
        label: [learned(log.played[:end], log.rewards[:end], own) for end in ends] for label, own in reducers.items()
    }


def found(rows: list[logs.Row]) -> dict:
    return {(row.policy, row.against, row.estimator): row for row in rows}


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("rounds", [300, 307])
def test_every_estimate_has_its_slow_twin(rounds, epsilon):
    log, blocks = simulate(1, rounds), 4
    rows = found(logs.evaluate(log, REDUCERS, NODES, blocks=blocks, epsilon=epsilon))
    first = -(-rounds // blocks)
    judged = slice(first, None)
    sets = log.candidates.reshape(-1, OFFERED)
    column = np.argmax(sets == log.played[:, None], axis=1)
    block = [t * blocks // rounds - 1 for t in range(rounds)]
    for label, estimates in policies(log, blocks).items():
        model = np.array([estimates[max(block[t], 0)][sets[t]] for t in range(rounds)])
        target = epsilon / OFFERED + (1 - epsilon) * np.eye(OFFERED)[np.argmax(model, axis=1)]
        of_played = target[np.arange(rounds), column]
        simple = log.rewards[judged], log.propensities[judged]
        wanted = {
            "ips": offpolicy.ips(*simple, of_played[judged]),
            "snips": offpolicy.snips(*simple, of_played[judged]),
            "doubly_robust": offpolicy.doubly_robust(*simple, target[judged], column[judged], model[judged]),
        }
        for name, estimate in wanted.items():
            row = rows[label, None, name]
            assert_allclose([row.value, row.sem, row.ess], [estimate.value, estimate.sem, estimate.ess], rtol=1e-9)
            assert_allclose([row.low, row.high], [estimate.low, estimate.high], rtol=1e-9)
            assert row.rounds == rounds - first
        assert_allclose(rows[label, None, "ips"].weight, np.mean(of_played[judged] / log.propensities[judged]))


def test_the_logged_policy_earns_its_mean_and_random_play_that_of_all_candidates():
    log = simulate(2, 1000)
    rows = found(logs.evaluate(log, REDUCERS, NODES))
    last = log.rewards[200:]
    for name in logs.ESTIMATORS:
        row = rows["logged", None, name]
        assert_allclose([row.value, row.sem], [last.mean(), last.std(ddof=1) / np.sqrt(800)])
        assert row.ess == pytest.approx(800)
    uniform = offpolicy.snips(last, log.propensities[200:], np.full(800, 1 / OFFERED))
    assert_allclose(rows["random", None, "snips"].value, uniform.value)


@pytest.mark.parametrize("name", logs.ESTIMATORS)
def test_differences_are_those_of_the_values_and_paired(name):
    rows = found(logs.evaluate(simulate(3, 2000), REDUCERS, NODES, against=["full", "logged", "misplaced"]))
    for (label, other, estimator), row in rows.items():
        if other and estimator == name:
            one, two = rows[label, None, name], rows[other, None, name]
            assert_allclose(row.value, one.value - two.value, rtol=1e-9, atol=1e-12)
            assert row.ess == min(one.ess, two.ess)
    paired, one, two = (rows[key] for key in (("reduced", "full", name), ("reduced", None, name), ("full", None, name)))
    assert paired.sem < 0.9 * np.hypot(one.sem, two.sem)  # most rounds are judged alike


def test_all_arms_offered_by_name_or_by_default_are_the_same():
    rng = np.random.default_rng(5)
    arm = rng.integers(N, size=4000)
    short = logs.Log("log", NODES, THETA[arm] + rng.standard_normal(4000), np.full(4000, 1 / N), arm)
    listed = short._replace(candidates=np.tile(np.arange(N), 4000), starts=np.arange(4001) * N)
    one, two = (logs.evaluate(log, REDUCERS, NODES) for log in (short, listed))
    for mine, theirs in zip(one, two, strict=True):
        assert_allclose(mine[3:], theirs[3:])


def test_names_join_a_log_to_the_graph_and_what_was_played_decides_no_tie():
    """A file that lists the arm played first must not make a policy without any knowledge play it."""
    log = simulate(7, 400)
    order = np.random.default_rng(0).permutation(N)
    named = log._replace(arms=[NODES[node] for node in order], played=np.argsort(order)[log.played])
    named = named._replace(candidates=np.argsort(order)[log.candidates])
    assert logs.evaluate(named, REDUCERS, NODES) == logs.evaluate(log, REDUCERS, range(N))
    sets = log.candidates.reshape(-1, OFFERED)
    played_first = np.argsort(sets != log.played[:, None], axis=1, kind="stable")
    moved = log._replace(candidates=np.take_along_axis(sets, played_first, axis=1).ravel())
    flat = {"flat": np.ones((N, 1)), "full": None}
    assert logs.evaluate(moved, flat, NODES) == logs.evaluate(log, flat, NODES)


# Intervals


def truths(log: logs.Log, blocks: int) -> dict[str, float]:
    """Return what each policy is worth over all contexts, the learned ones as a mean over the rounds judged."""
    size = np.bincount(np.arange(len(log.rewards)) * blocks // len(log.rewards))[1:]
    values = {}
    for label, estimates in policies(log, blocks).items():
        best = [SETS[np.arange(CONTEXTS), np.argmax(estimate[SETS], axis=1)] for estimate in estimates]
        values[label] = float(size @ THETA[np.array(best)].mean(axis=1) / size.sum())
    return values | {"logged": np.sum(LOGGING * THETA[SETS]) / CONTEXTS, "random": THETA[SETS].mean()}


def test_intervals_cover_the_value_of_learned_policies_and_their_differences():
    """Over 150 logs; with half of the variance they would not."""
    simulations, blocks, errors = 150, 4, {}
    for seed in range(simulations):
        log = simulate(seed, 1000)
        truth = truths(log, blocks)
        for row in logs.evaluate(log, REDUCERS, NODES, blocks=blocks):
            wanted = truth[row.policy] - (truth[row.against] if row.against else 0.0)
            covers = row.low <= wanted <= row.high
            errors.setdefault(row[:3], []).append((covers, (row.value - wanted) / row.sem))
    low, high = (end / simulations for end in binom.interval(0.999, simulations, 0.95))
    assert len(errors) == 30
    for key, each in errors.items():
        covers, ratio = map(np.array, zip(*each, strict=True))
        assert low <= covers.mean() <= high, key
        assert np.mean(np.abs(ratio) * np.sqrt(2) <= 1.96) < low, key


# Refusals and doubts


def test_what_cannot_be_evaluated_is_refused_in_one_line():
    log = simulate(0, 100)
    for message, arguments, options in (
        (
            "log: 3 of its 40 arms are not among the 37 items, the first is '37'",
            ({"full": None}, NODES[:37]),
            {},
        ),
        ("1 of the 40 items have the name of another", ({"full": None}, [*NODES[:39], "0"]), {}),
        ("arms: the features of 'a' are not 40 rows", ({"a": REDUCED[:39]}, NODES), {}),
        ("arms: the features of 'a' are not 40 rows", ({"a": REDUCED * np.nan}, NODES), {}),
        ("arms: the features of 'a' are not 40 rows", ({"a": 0 * REDUCED}, NODES), {}),
        ("arms: 'logged' is the name of a policy that is always", ({"logged": None}, NODES), {}),
        ("ridge: 0 is not a finite number above 0", (REDUCERS, NODES), {"ridge": 0}),
        ("blocks: 1 is not a whole number from 2 to 50", (REDUCERS, NODES), {"blocks": 1}),
        ("epsilon: 1.5 is not a probability", (REDUCERS, NODES), {"epsilon": 1.5}),
        ("level: 95 is no level", (REDUCERS, NODES), {"level": 95}),
        ("against: no policy 'none'; there are: full, logged, ", (REDUCERS, NODES), {"against": ["none"]}),
    ):
        with pytest.raises(UserError, match=message):
            logs.evaluate(log, *arguments, **options)
    with pytest.raises(UserError, match="log: 59 rounds are too few"):
        logs.evaluate(simulate(0, 59), REDUCERS, NODES)
    with pytest.raises(UserError, match="propensities: 1 are not probabilities above 0"):
        logs.evaluate(log._replace(propensities=np.append(log.propensities[:99], 1.2)), REDUCERS, NODES)


def test_few_effective_rounds_are_said_and_without_any_there_is_no_estimate():
    rng = np.random.default_rng(0)
    arm = rng.integers(N, size=2000)
    rows = logs.evaluate(logs.Log("log", NODES, THETA[arm], np.full(2000, 1 / N), arm), REDUCERS, NODES)
    assert [line.partition(":")[0] for line in logs.warnings(rows)] == list(REDUCERS)
    assert re.search(r"reduced: \d+ effective rounds of 1,600 ", "\n".join(logs.text(rows)))
    half = np.arange(50) % 2  # arm 0 always pays and is played in the first half only
    log = logs.Log("log", NODES, np.append(1.0 - half, half), np.full(100, 0.5), np.append(half, 1 + half))
    rows = logs.evaluate(log, {"full": None}, NODES, blocks=2)
    assert {row.ess for row in rows if row.policy == "full"} == {0.0}
    assert all(np.isnan([row.value, row.low, row.high]).all() for row in rows if row.policy == "full")
    assert "full: no estimate, for it would have played no arm that was logged" in logs.text(rows)


def test_propensities_that_cannot_be_right_are_said():
    log = simulate(0, 3000)
    assert logs.warnings(logs.evaluate(log, REDUCERS, NODES)) == []
    halved = logs.evaluate(log._replace(propensities=log.propensities / 2), REDUCERS, NODES)
    assert logs.warnings(halved)[0].startswith("random: its weights are 2.0")
    best = SETS[:, 0][np.arange(1000) % CONTEXTS]  # a policy that never tries anything else
    sure = logs.Log("log", NODES, THETA[best], np.ones(1000), best, np.resize(SETS, 1000 * OFFERED), log.starts[:1001])
    assert logs.warnings(logs.evaluate(sure, REDUCERS, NODES))[0].startswith("random: its weights are 0.20")


@pytest.mark.parametrize(("what", "field"), [("arm played", "played"), ("reward", "rewards")])
def test_sorted_rounds_are_refused_and_taken_in_a_random_order(what, field):
    log = simulate(0, 1000)
    order = np.argsort(getattr(log, field), kind="stable")
    sets = log.candidates.reshape(-1, OFFERED)[order].ravel()
    log = logs.Log("log", NODES, log.rewards[order], log.propensities[order], log.played[order], sets, log.starts)
    with pytest.raises(UserError, match=f"log: its rounds are sorted by the {what}; they must be in the order of time"):
        logs.evaluate(log, REDUCERS, NODES)
    one, again, other = (logs.evaluate(log, REDUCERS, NODES, rng=stream(seed, "blocks")) for seed in (0, 0, 1))
    assert one == again != other


# The page

PAGE = (ROOT / "docs" / "logs.md").read_text(encoding="utf-8")
DIGITS = r"-?\d[\d,]*\.?\d*"


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(DIGITS, text)]


def test_the_examples_of_the_page_print_what_they_show(workdir, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shop_log.write(workdir, pages=200)
    assert all(f"`{name}`" in PAGE for name in logs.Row._fields)
    assert set(re.findall(r"`(\w+)`", re.search(r"^\| wide \|.*$", PAGE, re.M)[0])) == set(JOINED)
    examples, scope = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE, re.S), {}
    assert len(examples) == 3
    for code, shown in examples:
        exec(code, scope)
        printed = capsys.readouterr().out
        assert printed.startswith("Mean reward a round")
        if shown:
            assert re.sub(DIGITS, "0", printed).split() == re.sub(DIGITS, "0", shown).split()
            close = {"rtol": 0.05, "atol": 0.02}  # another machine may round a tie otherwise
            assert_allclose(numbers(printed), numbers(shown), **close)
