"""What a guarantee covers, step by step, and what it is worth for a record and for a person."""

import math
from collections import Counter

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, algorithm_names, make_algorithm
from dp_bandit_envs.adversaries import (
    Deterministic,
    GainTable,
    MemoryBounded,
    OutcomePools,
    Replay,
    Stochastic,
    Trial,
    VectorTable,
)
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import GainFileError, WrongTypeError
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.accounting import one_laplace
from dp_bandit_envs.privacy.counters import make_counter
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.wrappers import (
    BlockSums,
    CounterSums,
    ExactSums,
    HybridSums,
    IntervalSums,
    MiniBatchAverage,
    RandomizedResponse,
    vector as of_many,
)
from tests.tools.refusals import refused

ALL = "arms and releases"


def game():
    return BanditEnv(Deterministic(3, 100))


def laplace(env, epsilon):
    return LaplaceClipRescale(env, epsilon=epsilon)


def batches(env, size=5):
    return MiniBatchAverage(env, batch_size=size)


def gaussian(env):
    return CounterSums(env, counter="binary", epsilon=1.0, noise="gaussian", delta=1e-6)


# Each stack: its wrappers, then epsilon, delta and model, then what each step says, from the inside out, by hand.
STACKS = {
    "noise on each gain": (
        lambda: laplace(game(), 1.0),
        1.0,
        0.0,
        "local",
        ["epsilon = 1, delta = 1.43e-13 from fast"],
    ),
    # Averages of 5 gains move by 1/5; the averages are stored without noise, so the model is central.
    "noise on averages": (
        lambda: laplace(batches(game()), 0.5),
        0.5,
        0.0,
        "central",
        ["no guarantee", "epsilon = 0.5"],
    ),
    "averages of noisy gains": (
        lambda: batches(laplace(game(), 0.7)),
        0.7,
        0.0,
        "local",
        ["epsilon = 0.7", "post-proc"],
    ),
    "sums of noisy bits": (
        lambda: ExactSums(RandomizedResponse(game(), epsilon=1.5)),
        *(1.5, 0.0, "local", ["epsilon = 1.5: randomized response", "post-proc"]),
    ),
    "a counter": (lambda: HybridSums(game(), epsilon=1.0), 1.0, 0.0, "central", ["epsilon = 1, delta"]),
    "a counter on averages": (
        lambda: HybridSums(batches(game(), 4), epsilon=0.25),
        *(0.25, 0.0, "central", ["no guarantee", "epsilon = 0.25"]),
    ),
    "a counter on noisy gains": (
        lambda: HybridSums(laplace(game(), 0.3), epsilon=2.0),
        *(0.3, 0.0, "local", ["epsilon = 0.3", "post-proc"]),
    ),
    "a Gaussian counter": (
        lambda: gaussian(game()),
        *(1.0, 1e-6, "central", ["epsilon = 1, delta = 1e-06, zCDP rho = 0.02801: "]),
    ),
    "blocks of averages": (
        lambda: BlockSums(batches(batches(game(), 2)), epsilon=0.1),
        *(0.1, 0.0, "central", ["no guarantee", "no guarantee", "epsilon = 0.1, delta = 8.08e-14"]),
    ),
    "no noise": (lambda: ExactSums(batches(game())), math.inf, 0.0, "none", ["no guarantee", "no guarantee"]),
    "a counter without noise": (
        lambda: HybridSums(game(), epsilon=math.inf),
        *(math.inf, 0.0, "none", ["no guarantee: epsilon is inf"]),
    ),
}


@pytest.mark.parametrize(("stack", "epsilon", "delta", "model", "steps"), STACKS.values(), ids=STACKS.keys())
def test_stacks_compose_as_by_hand(stack, epsilon, delta, model, steps):
    guarantee = stack().guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.model) == (epsilon, delta, model)
    assert guarantee.covers == ("nothing" if model == "none" else ALL)
    assert len(guarantee.steps) == len(steps)
    for found, says in zip(guarantee.steps, steps, strict=True):
        assert found.partition(": ")[2].startswith(says)
    outside = Algorithm("mine", Exp3, lambda env: stack()).guarantee_in(game())
    assert outside == guarantee  # an agent without a guarantee of its own adds nothing


ABOVE = [LaplaceClipRescale, RandomizedResponse, HybridSums, BlockSums, IntervalSums]


@pytest.mark.parametrize(
    "inner",
    [
        lambda: laplace(game(), 0.5),
        lambda: RandomizedResponse(game(), epsilon=0.5),
        lambda: batches(laplace(game(), 0.5), 2),
        lambda: laplace(laplace(game(), 0.5), 9.0),
    ],
)
def test_around_a_guarantee_it_stays_whatever_stands_above(inner):
    """Not the smaller one: what the wrapper below withheld, or told as a coin, is protected by its epsilon only."""
    inner = inner()
    assert ExactSums(inner).guarantee == batches(inner, 2).guarantee == inner.guarantee
    for wrap in ABOVE:
        for epsilon in (0.01, 30.0, math.inf):
            found = wrap(inner, epsilon=epsilon).guarantee
            assert (found.epsilon, found.model) == (0.5, "local")
            assert found.theorem.endswith("; the noise added above it is post-processing") or epsilon == math.inf


def test_no_noise_is_no_guarantee_in_any_order_and_noise_above_it_counts_in_full():
    bare = laplace(game(), math.inf)
    stacks = [batches(game(), 2), batches(bare, 2), laplace(bare, math.inf), ExactSums(game())]
    stacks += [laplace(stacks[0], math.inf), batches(stacks[0], 2)]
    stacks += [wrap(game(), epsilon=math.inf) for wrap in ABOVE]
    for env in stacks:
        assert (env.guarantee.model, env.guarantee.epsilon) == ("none", math.inf)
    assert ExactSums(game()).sensitivity == math.inf
    again = laplace(bare, 0.3)
    assert again.guarantee.epsilon == 0.3 and again.noise.scale == pytest.approx(1 / 0.3, rel=2e-9)
    averaged = laplace(batches(bare, 4), 0.5)
    assert (averaged.guarantee.epsilon, averaged.guarantee.model) == (0.5, "central")
    assert averaged.noise.scale == pytest.approx(0.5, rel=2e-9)


@pytest.mark.parametrize(
    ("wrap", "model"),
    [
        (lambda env: RandomizedResponse(env, epsilon=0.7), "local"),
        (lambda env: laplace(env, 0.7), "local"),
        (lambda env: BlockSums(env, epsilon=0.7, ratio=1), "local"),
        (lambda env: BlockSums(env, epsilon=0.7, ratio=2), "central"),
        (lambda env: HybridSums(env, epsilon=0.7), "central"),
    ],
)
def test_single_gains_are_local_only_where_no_batch_keeps_them(wrap, model):
    found, averaged = wrap(game()), wrap(batches(game(), 4))
    assert (found.guarantee.epsilon, found.guarantee.delta, found.guarantee.model) == (0.7, 0.0, model)
    assert (averaged.guarantee.epsilon, averaged.guarantee.model, averaged.horizon) == (0.7, "central", 25)
    assert found.guarantee.neighbours == "replace the gains of all arms in one round"
    assert ("arms compose in parallel" in found.guarantee.theorem) == found.releases_sums


AGENTS_OWN = ["EXP3", "EXP3-tau", "Hedge", "DP-Hedge", "Lazy-Hedge", "DP-Epochs", "Uniform", "Tuned-TS"]


@pytest.mark.thorough
def test_every_row_says_what_it_covers_and_why():
    assert PrivacyGuarantee(1.0).covers == "arms" and PrivacyGuarantee.none("no noise").covers == "nothing"
    for name in algorithm_names():
        guarantee = make_algorithm(name).guarantee(n_arms=4, horizon=2**12)
        nothing, own = guarantee.model == "none", name in AGENTS_OWN
        assert guarantee.covers == ("nothing" if nothing else "arms" if own else ALL)
        assert all(": " in step and "\n" not in step for step in guarantee.steps)
        # What the theorem says is in the steps, and the last step is the agent's where the agent is what hides gains.
        assert guarantee.theorem.split(";")[0] in " ".join(guarantee.steps)
        assert guarantee.steps[-1].startswith("the agent's own randomness") == (own and not nothing)


def test_the_layers_below_an_agents_own_randomness_are_steps_too():
    tau = make_algorithm("EXP3-tau", batch_size=8).guarantee(n_arms=4, horizon=800)
    below, agent = tau.steps
    assert below.startswith("MiniBatchAverage: no guarantee") and below.endswith("from 1 to 0.125")
    assert "100 draws, each with a privacy loss of at most 0.0443" in agent
    # Sigma of a gaussian counter reaches the boundary.
    guarantee = gaussian(game()).guarantee
    assert guarantee.noise_law.gaussian == pytest.approx(gaussian_sigma(1.0, 1e-6) ** -2, rel=1e-6)
    assert guarantee.rho == pytest.approx(guarantee.noise_law.gaussian / 2)
    assert laplace(game(), 1.0).guarantee.noise_law == one_laplace(1.0)
    alone = make_counter("hybrid", epsilon=1.0, delta=1e-6, horizon=64).guarantee
    assert alone.covers == "releases" and alone.noise_law.gaussian == pytest.approx(
        guarantee.noise_law.gaussian, rel=1e-6
    )


# ---- how often a record and a person can serve


LONG = "arm,gain,who\n0,.1,ann\n0,.2,bob\n1,.3,ann\n1,.4,ann\n1,.5,cleo\n"
WIDE = "who,left,right\nann,.1,.2\nbob,.3,.4\nann,.5,.6\nann,.7,.8\n"


def replay(tmp_path, text, **arguments):
    path = tmp_path / "gains.csv"
    path.write_text(text, encoding="utf-8")
    return Replay(path, **arguments)


@pytest.mark.parametrize("horizon", [1, 4, 8, 100])
def test_no_record_serves_in_more_rounds_than_declared_and_one_does_in_all(horizon):
    """Records with values of their own are counted in 20 games: the smaller pool, of 3, has the record used most."""
    adversary = OutcomePools([np.linspace(0, 0.4, 3), np.linspace(0.6, 1, 5)], horizon, persons=1)
    most = 0
    for seed in range(20):
        adversary.begin(np.random.default_rng(seed))
        most = max(most, *Counter(adversary.next_gains(horizon).ravel().tolist()).values())
    assert adversary.data_use == Participation(-(-horizon // 3), -(-horizon // 3)) == Participation(most, most)


@pytest.mark.parametrize("horizon", [2, 5, 9])
def test_no_person_serves_in_more_rounds_than_declared(tmp_path, horizon):
    """Ann has one of two records of arm 0 and two of three records of arm 1."""
    adversary = replay(tmp_path, LONG, horizon=horizon, persons="who")
    anns = {0.1, 0.3, 0.4}
    most = 0
    for seed in range(200):
        adversary.begin(np.random.default_rng(seed))
        gains = adversary.next_gains(horizon)
        most = max(most, sum(bool(anns & set(row)) for row in gains.tolist()))
    by_hand = {2: 2, 5: 5, 9: 9}[horizon]  # min(T, ceil(T / 2) + 2 ceil(T / 3)): 3, 7 and 11 cut to T
    assert adversary.data_use.person == by_hand >= most


def test_the_records_of_a_file_by_hand(tmp_path):
    """A hundred rounds: 34 passes through the smallest pool, of 3; ann has one of its records."""
    lines = "arm,gain,who\n" + "0,1,ann\n0,0,bob\n0,1,bob\n" + "".join(f"1,{i % 2},p{i}\n" for i in range(50))
    assert replay(tmp_path, lines, horizon=100, persons="who").data_use == Participation(34, 68)  # bob's two
    without = "\n".join(line.rpartition(",")[0] for line in lines.splitlines())
    assert replay(tmp_path, without, horizon=100).data_use == Participation(34)
    assert replay(tmp_path, without, horizon=100, persons=2).data_use == Participation(34, 68)
    assert replay(tmp_path, without, horizon=100, persons=5).data_use == Participation(34, 100)


def test_a_row_of_a_table_serves_once(tmp_path):
    assert replay(tmp_path, WIDE, persons="WHO").data_use == Participation(1, 3)
    assert replay(tmp_path, WIDE, persons="who", horizon=3).data_use == Participation(1, 2)
    assert replay(tmp_path, WIDE, persons="who").n_arms == 2
    assert Replay(np.zeros((4, 2))).data_use == Participation(1)
    assert Replay(np.zeros((4, 2)), persons=9).data_use == Participation(1, 4)
    assert VectorTable(np.zeros((4, 2))).data_use == Participation(1)
    assert GainTable(np.zeros((4, 2)), persons=np.array([1, 2, 2, 2])).data_use == Participation(1, 3)
    assert VectorTable(np.zeros((4, 2)), persons=9).data_use == Participation(1, 4)
    assert VectorTable(np.zeros((4, 2)), persons=["a", "b", "a", "a"], horizon=3).data_use == Participation(1, 2)
    # The column of persons changes no gain.
    plain = replay(tmp_path, "\n".join(line.partition(",")[2] for line in WIDE.splitlines()))
    owned = replay(tmp_path, WIDE, persons="who")
    for adversary in (plain, owned):
        adversary.begin(np.random.default_rng(0))
    np.testing.assert_array_equal(plain.next_gains(4), owned.next_gains(4))


def test_each_patient_is_a_record_and_serves_in_up_to_five_rounds():
    """The smallest arm has 522 patients; the trial's length is 2,139."""
    assert Trial().data_use == Participation(5, 5)
    assert Trial(522).data_use == Participation(1, 1)
    assert MemoryBounded(gains=Trial()).data_use == Participation(5, 5)
    # Environments of all kinds say it.
    assert gym.make("DPBandit-Experts-v0", gains=Trial()).unwrapped.data_use == Participation(5, 5)
    assert gym.make_vec("DPBandit-Trial-v0", num_envs=2).unwrapped.data_use == Participation(5, 5)
    assert gym.make("DPBandit-Replay-v0", gains=np.zeros((4, 2)), persons=2).unwrapped.data_use == Participation(1, 2)
    assert Stochastic().data_use is gym.make("DPBandit-Graph-v0").unwrapped.data_use is None  # made-up gains


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        (LONG, "patient"),
        (LONG, "arm"),
        (LONG, ""),
        (WIDE.partition("\n")[2], "ann"),
        (WIDE.replace("bob", " "), "who"),
        (WIDE.replace("left", "who"), "who"),
        (LONG, None),
        ("who,left\nann,.5\n", "who"),
    ],
    ids=["unknown", "the arms", "no name", "no first line", "nobody's", "two", "an extra column", "one arm"],
)
def test_a_wrong_column_of_persons_is_refused(tmp_path, text, persons):
    with pytest.raises(GainFileError, match=r"gains\.csv"):
        replay(tmp_path, text, persons=persons)


def test_other_wrong_persons_are_refused(tmp_path):
    np.save(tmp_path / "gains.npy", np.zeros((4, 2)))
    for gains, persons in ((tmp_path / "gains.npy", "who"), (np.zeros((4, 2)), "who"), (None, 3)):
        with refused(ValueError, "persons"):
            Replay(gains, persons=persons)
    for persons in (0, True, 1.5):
        with refused((ValueError, TypeError), "persons", persons):
            Replay(np.zeros((4, 2)), persons=persons)
    with refused(ValueError, "persons", 3, 2):
        OutcomePools([np.zeros(3), np.zeros(2)], persons=[["a", "b"], ["c", "d"]])


def test_ids_that_would_make_one_person_several_are_refused():
    for kind in [
        GainTable,
        VectorTable,
        lambda table, persons: OutcomePools([[0.0] * 4, [1.0]], 4, persons=[persons, [5.0]]),
    ]:
        for persons in [
            [math.nan, float("nan"), 1.0, 2.0],  # NaN equals nothing, so each would count as a person of its own
            np.array([np.nan, np.nan, 1.0, 2.0]),
            [None, None, "a", "b"],
            [7, "7", 8, 9],
            [["a"], ["a"], ["b"], ["b"]],
        ]:
            with refused((ValueError, TypeError), "persons"):
                kind(np.zeros((4, 2)), persons=persons)


@pytest.mark.parametrize("kind", [GainTable, VectorTable, lambda table, persons: OutcomePools(table, persons=persons)])
def test_persons_are_a_number_or_a_list_and_never_shown(kind):
    """The letters of a name are as many as the rows."""
    for persons in ("anne", {"anne", "bert"}, {"anne": 2}):
        with refused(WrongTypeError, "persons", type(persons).__name__) as caught:
            kind(np.zeros((4, 2)), persons=persons)
        assert "anne" not in str(caught.value)
    with refused(WrongTypeError, "persons", "list") as caught:
        Replay(np.zeros((2, 2)), persons=["anne", "bert"])
    assert "anne" not in str(caught.value)


# ---- what a guarantee for a round is worth for a record and for a person


def test_by_hand():
    """Five rounds of a record, seven of a person: 5 * .2 and 7 * .2; rho 25 and 49 fold."""
    guarantee = PrivacyGuarantee(0.2, rho=0.02, data=Participation(5, 7))
    assert (guarantee.for_record().epsilon, guarantee.for_person().epsilon) == (pytest.approx(1.0), pytest.approx(1.4))
    assert guarantee.for_record().rho == pytest.approx(0.5) and guarantee.for_person().rho == pytest.approx(0.98)
    assert "one record" in guarantee.for_record().neighbours and "one person" in guarantee.for_person().neighbours
    assert guarantee.for_record().data is None and guarantee.for_group(2).data is None
    assert guarantee.for_games(3).for_record().epsilon == pytest.approx(3.0)
    # Unknown units are refused.
    with refused(ValueError, "record"):
        PrivacyGuarantee(1.0).for_record()
    with refused(ValueError, "person", "Replay"):
        PrivacyGuarantee(1.0, data=Participation(5)).for_person()
    # All T rounds of the arm show the same record, so that two records differ by 1 in each of T noisy gains.
    #
    # The noise of scale 1 / epsilon then has likelihood ratios up to e^(T epsilon), which is what a record is promised.
    env = LaplaceClipRescale(BanditEnv(OutcomePools([np.ones(1), np.zeros(4)], 4)), epsilon=0.25)
    scale = env.mechanism.noise(env.inputs).scale
    assert env.guarantee.for_record().epsilon == pytest.approx(4 * 1 / scale) == 1.0


def test_text_says_what_holds_for_a_record_beside_a_round():
    text = str(PrivacyGuarantee(0.001, data=Participation(3335, 6670)))
    assert "for a record, which can serve in up to 3,335 rounds: epsilon = 3.335" in text
    assert "for a person, which can serve in up to 6,670 rounds: epsilon = 6.67" in text
    assert "for a record" not in str(PrivacyGuarantee(0.001))
    assert "person" not in str(PrivacyGuarantee(1.0, data=Participation(1)))
    # A delta that a record uses up leaves nothing.
    lost = PrivacyGuarantee(10.0, delta=1e-6, data=Participation(5))
    assert lost.for_record().model == "none" and "up to 5 rounds: nothing" in str(lost)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: LaplaceClipRescale(env, epsilon=1.0),
        lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=3), epsilon=1.0),
        lambda env: ExactSums(LaplaceClipRescale(env, epsilon=1.0)),
    ],
    ids=["noise", "above batches", "below sums"],
)
def test_every_boundary_knows_the_data_below(wrap):
    assert wrap(gym.make("DPBandit-Trial-v0")).guarantee.for_record().epsilon == 5.0
    assert wrap(gym.make("DPBandit-Stochastic-v0")).guarantee.data is None


def test_vector_boundaries_know_the_data_of_all_games():
    envs = gym.make_vec("DPBandit-Trial-v0", num_envs=2)
    assert of_many.LaplaceClipRescale(envs, epsilon=1.0).guarantee.data == Participation(5, 5)
    pools = [[np.ones(1), np.ones(4)], [np.ones(2), np.ones(4)]]
    games = [lambda each=each: BanditEnv(OutcomePools(each, 4, persons=1)) for each in pools]
    games = gym.vector.SyncVectorEnv(games, autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)
    assert of_many.LaplaceClipRescale(games, epsilon=1.0).guarantee.data == Participation(4, 4)


@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "EXP3-tau", "EXP3", "Uniform", "DP-IMED"])
def test_every_algorithm_knows_the_data_of_its_game(name):
    """Also where the agent's own draws give the guarantee."""
    guarantee = make_algorithm(name).guarantee_in(gym.make("DPBandit-Trial-v0"))
    assert guarantee.data == Participation(5, 5)
    assert guarantee.for_record().epsilon == pytest.approx(5 * guarantee.epsilon)
