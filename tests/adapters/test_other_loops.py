"""Our algorithms with river's and MABWiser's methods; their real loops are in tests/neighbours/."""

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, BanditEnv, Exp3, LaplaceClipRescale, Ledger, make_algorithm, play
from dp_bandit_envs.adapters import as_mabwiser, as_river_policy
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.errors import BudgetSpentError, StepOutsideGameError
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.boundary_games import PLANTED, find_planted
from tests.tools.refusals import refused

TABLE = np.random.default_rng(0).random((60, 3))
NAMES = ["red", "green", "blue"]
BATCHED = Algorithm("batched", Exp3, lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=4), epsilon=1.0))
ALGORITHMS = [make_algorithm("DP-EXP3-Lap"), make_algorithm("DP-SE"), BATCHED]


def policy_of(name="DP-EXP3-Lap", **options):
    return as_river_policy(name, n_arms=3, horizon=60, **options)


def object_of(name="DP-EXP3-Lap", **options):
    return as_mabwiser(name, options.pop("arms", NAMES), horizon=60, **options)


def arms_of_play(algorithm, trial=0):
    return play(BanditEnv(GainTable(TABLE)), algorithm, seed=4, trial=trial).arms.tolist()


def pulled(policy, table=TABLE):
    arms = []
    for row in table:
        arm = policy.pull(NAMES)
        arms.append(NAMES.index(arm))
        policy.update(arm, row[arms[-1]])
    return arms


def predicted(mab, table=TABLE):
    arms = []
    for row in table:
        arm = mab.predict()
        arms.append(mab.arms.index(arm))
        mab.partial_fit([arm], [row[arms[-1]]])
    return arms


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda one: one.name)
def test_the_arms_are_those_of_play(algorithm):
    assert pulled(policy_of(algorithm, seed=4)) == arms_of_play(algorithm)
    assert predicted(object_of(algorithm, seed=4)) == arms_of_play(algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda one: one.name)
def test_clones_and_fits_are_further_games_with_noise_of_their_own(algorithm):
    policy, mab = policy_of(algorithm, seed=4), object_of(algorithm, seed=4)
    pulled(policy)
    predicted(mab)
    mab.fit()
    assert pulled(policy.clone()) == predicted(mab) == arms_of_play(algorithm, trial=1)
    assert pulled(policy.clone()) == arms_of_play(algorithm, trial=2)


def test_a_fit_before_any_reward_spends_nothing():
    ledger = Ledger(epsilon=1.5)
    mab = object_of(ledger=ledger)
    mab.fit()
    mab.predict()
    mab.fit([], [])
    predicted(mab)
    assert ledger.spent.games == 1
    mab.fit()
    with refused(BudgetSpentError, "1.5"):
        mab.predict()


def test_a_ledger_counts_every_clone():
    ledger = Ledger(epsilon=2.0)
    policy = policy_of(ledger=ledger)
    for _ in range(2):
        pulled(policy.clone())
    with refused(BudgetSpentError, "2"):
        pulled(policy.clone())


def test_rewards_of_a_batch_may_come_together_but_no_more():
    one, other = object_of(BATCHED, seed=4), object_of(BATCHED, seed=4)
    arm = one.predict()
    for reward in (0.1, 0.2, 0.3, 0.4):
        one.partial_fit([arm], [reward])
    other.predict()
    other.partial_fit([arm] * 4, np.array([0.1, 0.2, 0.3, 0.4]))
    assert predicted(one, TABLE[:40]) == predicted(other, TABLE[:40])
    arm = other.predict()
    with refused(StepOutsideGameError, "reward"):
        other.partial_fit([arm] * 5, [0.5] * 5)


@pytest.mark.parametrize("make", [policy_of, object_of])
def test_nothing_private_can_be_seen(make):
    one = make()
    (pulled if make is policy_of else predicted)(one, np.full((30, 3), PLANTED))
    assert not list(find_planted([vars(one), repr(one), str(vars(one)), one.guarantee]))
    assert one.guarantee.epsilon == 1.0 and "eps 1" in repr(one)


@pytest.mark.parametrize(
    ("arm_ids", "words"),
    [(["a", "b"], ["n_arms", "'b'"]), (["a", "a", "b"], ["different"]), (["b", "a", "c"], ["same"])],
)
def test_other_arms_are_refused_by_a_policy(arm_ids, words):
    policy = policy_of()
    policy.pull(["a", "b", "c"])
    with refused(ValueError, *words):
        policy.pull(arm_ids)


def test_a_policy_takes_the_reward_of_its_arm_only():
    policy = policy_of()
    with refused(StepOutsideGameError, "reward"):
        policy.update("red", 0.5)
    others = [name for name in NAMES if name != policy.pull(NAMES)]
    with refused(ValueError, "arm"):
        policy.update(others[0], 0.5)
    with refused(ValueError, "'yellow'", "arm_id"):
        policy.update("yellow", 0.5)
    with refused(ValueError, "clone"):
        policy.clone({"seed": 3})


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda mab: mab.fit(["red"], [1.0]), ValueError, ["predict()", "fit()"]),
        (lambda mab: mab.partial_fit(["red"], []), ValueError, ["decisions", 1, 0]),
        (lambda mab: mab.partial_fit(["yellow"], [1.0]), ValueError, ["decisions", "'yellow'"]),
        (lambda mab: mab.partial_fit(["red"], [1.0]), StepOutsideGameError, ["reward"]),
        (lambda mab: mab.predict([[1.0]]), ValueError, ["contexts", "list"]),
        (lambda mab: mab.partial_fit([], [], [[1.0]]), ValueError, ["contexts", "list"]),
        (lambda mab: object_of(arms=["a", "a"]), ValueError, ["arms", "'a'"]),
        (lambda mab: object_of(arms=1), ValueError, ["arms", 1]),
    ],
)
def test_what_a_mabwiser_object_refuses(call, error, words):
    with refused(error, *words):
        call(object_of())
