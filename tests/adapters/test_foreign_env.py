"""Another package's bandit as an environment here."""

import math

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, BanditEnv, Exp3, LaplaceClipRescale, Ledger, make_algorithm, play, simulate
from dp_bandit_envs.adapters import from_function, from_gymnasium
from dp_bandit_envs.adapters.outside_game import RewardRange
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.errors import BoundaryError, BudgetSpentError, StepOutsideGameError, WrongTypeError
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.wrappers import HybridSums, MiniBatchAverage
from tests.tools.boundary_games import PLANTED, everything_in, find_planted
from tests.tools.refusals import refused

TABLE = np.random.default_rng(0).random((60, 3)) * 8 - 3
RANGE = {"low": -3.0, "high": 5.0}


class Foreign(gym.Env):
    """Pays the rows of a table, and shows and says more than anybody should know."""

    def __init__(self, table=TABLE, start=0, length=10**9):
        self.table, self.start, self.length = table, start, length
        self.action_space = gym.spaces.Discrete(table.shape[1], start=start)
        self.observation_space = gym.spaces.Box(-9, 9, (table.shape[1],))
        self.round, self.resets = 0, []

    def reset(self, *, seed=None, options=None):
        """Begin; a seed goes back to the first row."""
        super().reset(seed=seed)
        if seed is not None:
            self.round = 0
        self.resets.append(seed)
        return self.table[0].astype(np.float32), {}

    def step(self, action):
        row = self.table[self.round]
        self.round += 1
        return row.astype(np.float32), row[action - self.start], self.round % self.length == 0, False, {"row": row}


class Noisy(Foreign):
    """Pays normal rewards from its own generator."""

    def step(self, action):
        return self.table[0], self.np_random.normal(action, 1.0), False, False, {}


def adapted(env=None, **options):
    return from_gymnasium(Foreign() if env is None else env, **{"horizon": 60, **RANGE, **options})


def test_it_plays_as_the_same_gains_do_here_from_whatever_number_arms_are_counted():
    """The second route: the table, scaled by hand, in an environment of ours."""
    scaled = BanditEnv(GainTable((TABLE + 3) / 8))
    for algorithm in ("DP-EXP3-Lap", "DP-UCB", "EXP3"):
        one, other = (play(env, make_algorithm(algorithm), seed=3) for env in (adapted(), scaled))
        assert one.arms.tolist() == other.arms.tolist() and one.gains.tolist() == other.gains.tolist()
    one, other = (play(adapted(Foreign(start=start)), Exp3(), seed=3) for start in (0, 5))
    assert one.arms.tolist() == other.arms.tolist() and one.gains.tolist() == other.gains.tolist()


def test_regret_is_unknown_unless_means_are_given():
    game = play(adapted(), Uniform(), seed=1)
    assert np.isnan(game.external_regret).all() and np.isnan(game.policy_regret).all()
    assert game.pseudo_regret is None
    # Means -3, 1 and 5 are gains 0, 0.5 and 1.
    game = play(adapted(means=[-3, 1, 5]), Uniform(), seed=1)
    assert game.pseudo_regret.tolist() == np.cumsum(np.array([1, 0.5, 0])[game.arms]).tolist()


def test_simulate_plays_it_like_play_and_its_randomness_comes_from_the_seed_of_the_game():
    simulation = simulate(adapted, ["DP-EXP3-Lap"], trials=2, seed=3, checkpoints=3)
    outcome = simulation.outcomes["DP-EXP3-Lap"]
    assert outcome.engine == "play"
    alone = play(adapted(), make_algorithm("DP-EXP3-Lap"), seed=3, trial=1)
    assert outcome.collected[1].tolist() == alone.collected[[19, 39, 59]].tolist()
    games = [play(from_gymnasium(Noisy(), horizon=50, low=-9, high=9), Exp3(), seed=seed) for seed in (1, 1, 2)]
    assert games[0].gains.tolist() == games[1].gains.tolist() != games[2].gains.tolist()


def test_an_episode_that_ends_is_followed_by_another_and_no_flag_shows_it():
    foreign = Foreign(length=7)
    env = adapted(foreign)
    env.reset(seed=1)
    flags = [env.step(0)[2:4] for _ in range(60)]
    assert flags == [(False, False)] * 59 + [(True, False)]
    # Rounds 7, 14, ..., 56 end an episode.
    assert len(foreign.resets) == 1 + 8 and foreign.resets[1:] == [None] * 8


def test_clipped_rewards_count_as_the_nearer_end():
    table = np.array([[-7.0, 0.0], [7.0, 0.0], [math.inf, 0.0], [1.0, 0.0]])
    env = from_gymnasium(Foreign(table), horizon=4, low=-1, high=3, clip=True)
    env.reset(seed=1)
    assert [env.step(0)[1] for _ in range(4)] == [0.0, 1.0, 1.0, 0.5]
    # No reward, however large, ends a game that clips: whether it goes on would show it.
    rewards = RewardRange.checked(-1, 3, True)
    assert [rewards.gain_of(10**400), rewards.gain_of(-(10**400))] == [1.0, 0.0]


NO_NUMBERS = (math.nan, f"{PLANTED}x", None)


@pytest.mark.parametrize(
    ("reward", "clip"),
    [*((reward, clip) for reward in NO_NUMBERS for clip in (True, False)), (5 + PLANTED, False), (-3 - PLANTED, False)],
)
def test_a_reward_that_is_none_ends_the_game_without_being_shown(reward, clip):
    class Wrong(Foreign):
        def step(self, action):
            return TABLE[0], reward, False, False, {}

    for env, error in (
        (adapted(Wrong(), clip=clip), ValueError),
        (LaplaceClipRescale(adapted(Wrong()), epsilon=1.0), BoundaryError),
    ):
        env.reset(seed=1)
        with pytest.raises(error) as caught:
            env.step(0)
        assert str(PLANTED)[2:9] not in everything_in(caught.value)
        with pytest.raises(StepOutsideGameError):
            env.step(0)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: LaplaceClipRescale(env, epsilon=1.0),
        lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=4), epsilon=1.0),
        lambda env: HybridSums(env, epsilon=1.0),
    ],
)
def test_behind_a_wrapper_nothing_but_released_values_is_seen(wrap):
    planted = Foreign(np.full((60, 3), PLANTED * 8 - 3))
    env = wrap(adapted(planted))
    assert env.guarantee.epsilon == 1.0
    out, ended = [env.reset(seed=1)], False
    while not ended:
        out.append(env.step(1))
        ended = out[-1][2]
    assert len(out) > 5 and not list(find_planted(out)) and not list(find_planted(vars(env)))


def test_without_the_wrapper_the_planted_reward_is_seen():
    env = adapted(Foreign(np.full((60, 3), PLANTED * 8 - 3)))
    env.reset(seed=1)
    assert list(find_planted(env.step(1)))


def test_a_ledger_counts_its_games():
    ledger = Ledger(epsilon=2.5)
    first = from_function(lambda counts, sums, rng: 0)
    private = Algorithm("first", first, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    env = adapted(ledger=ledger, persons=3)
    for _ in range(2):
        play(env, private, seed=None)
    assert ledger.spent.epsilon == 2.0
    with refused(BudgetSpentError, "2.5"):
        play(env, private, seed=None)
    assert env.data_use == Participation(1, 3)


def test_it_passes_gymnasiums_checker():
    from gymnasium.utils.env_checker import check_env

    check_env(adapted(Foreign(np.tile(TABLE, (40, 1)))), skip_render_check=True)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"low": 5.0}, ValueError, ["low", "high"]),
        ({"high": math.inf}, ValueError, ["low", "high", "inf"]),
        ({"low": math.nan}, ValueError, ["low", "nan"]),
        ({"low": "0"}, WrongTypeError, ["low", "'0'"]),
        ({"clip": "yes"}, WrongTypeError, ["clip", "'yes'"]),
        ({"means": [1.0, 2.0]}, ValueError, ["means", 3]),
        ({"means": [1.0, 2.0, 6.0]}, ValueError, ["means", "[-3, 5]"]),
        ({"persons": 0}, ValueError, ["persons", 0]),
        ({"ledger": 1.0}, WrongTypeError, ["ledger", "float"]),
        ({"is_real": "no"}, WrongTypeError, ["is_real", "'no'"]),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, words):
    with refused(error, *words):
        adapted(**arguments)


class Points(Foreign):
    """Has actions that are no arms."""

    def __init__(self):
        super().__init__()
        self.action_space = gym.spaces.Box(0, 1, (3,))


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (Foreign, ["class", "Foreign"]),
        ("CartPole-v1", ["str", "gymnasium.make"]),
        (Points(), ["Discrete", "Box"]),
        (BanditEnv(GainTable(np.eye(3))), ["play"]),
    ],
)
def test_other_things_are_refused(env, words):
    with refused(WrongTypeError, *(word for word in words if word != "Box")) as caught:
        adapted(env)
    assert all(word in str(caught.value) for word in words)


def test_records_of_a_foreign_environment_do_not_serve_again_unseen_and_are_real():
    """Five records served T / 5 times each were read to .02 behind a guarantee that counted one."""
    short = {"env": Foreign(length=5), "horizon": 12, "is_real": True}
    game = LaplaceClipRescale(adapted(**short), epsilon=1.0)
    game.reset()
    for _ in range(5):
        game.step(0)
    with pytest.raises(BoundaryError):
        game.step(0)
    counted = adapted(**short, records=3)
    assert LaplaceClipRescale(counted, epsilon=1.0).guarantee.for_record().epsilon == pytest.approx(3.0)
    counted.reset()
    for _ in range(12):
        counted.step(0)
    with refused(ValueError, "persons"):
        adapted(**short, records=3, persons=2)
    assert adapted(persons=2).adversary.is_real and not adapted().adversary.is_real
