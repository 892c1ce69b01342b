"""With one seed, releases that differ in anything have different noise; otherwise it would cancel in a difference."""

import itertools
import math
import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import LaplaceClipRescale, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.adversaries.replay import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.privacy import mechanisms
from dp_bandit_envs.privacy.mechanism import noise_key
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.seeding import ADVERSARY, AGENT, FIRST_WRAPPER, EpisodeStreams, stream
from dp_bandit_envs.wrappers import HybridSums, MiniBatchAverage, PrivacyBoundary, vector
from tests.tools.boundary_games import game
from tests.tools.one_noise import as_one_player
from tests.tools.refusals import refused

ROUNDS = 60
ZEROS = np.zeros((ROUNDS, 2))


def draws(env, **reset):
    """Return the noise of the releases of a game without gains, divided by its scale."""
    env.reset(**{"seed": 2**100, **reset})
    _, scale, bound = env.noise
    steps = [env.step(0)[0]["gain"][0] for _ in range(env.horizon)]
    return (np.array(steps) * (1 + 2 * bound) - bound) / scale


def laplace(epsilon=1.0, table=ZEROS, batch_size=1):
    """Return a game whose bound is so wide that every release is the noise itself."""
    inner = game(table)
    if batch_size > 1:
        inner = MiniBatchAverage(inner, batch_size=batch_size)
    return LaplaceClipRescale(inner, epsilon=epsilon, outside="clip", bound=40 / epsilon)


def shared(one, other):
    """Return how many of the first draws agree to within a thousandth of their scale (by chance: 0.05 %)."""
    number = min(len(one), len(other))
    return int((np.abs(one[:number] - other[:number]) < 1e-3).sum())


class Keeps:
    """An agent that keeps its generator and what it sees of arm 0."""

    def begin(self, *, n_arms, horizon, rng):
        self.rng, self.seen = rng, []

    def select_arm(self):
        return 0

    def update(self, arm, observation):
        self.seen.append(observation["gain"][0])


def test_the_same_wrapper_with_the_same_seed_has_the_same_noise():
    """Otherwise the tests below would see nothing."""
    assert shared(draws(laplace()), draws(laplace())) == ROUNDS


def noise_of_many(seed, mode):
    """Return the noise of a vector of 40 games without gains in 20 rounds, one row for each game."""
    many = {
        "native": lambda: BanditVectorEnv(40, GainTable(ZEROS)),
        "sync": lambda: gym.vector.SyncVectorEnv([lambda: game(ZEROS)] * 40),
    }
    envs = vector.LaplaceClipRescale(many[mode](), epsilon=1.0, outside="clip", bound=40.0)
    envs.reset(seed=seed)
    steps = [envs.step(np.zeros(40, int))[0]["gain"][:, 0] for _ in range(20)]
    return np.transpose(steps)


@pytest.mark.parametrize("mode", ["native", "sync"])
def test_vectors_share_noise_unless_their_seeds_are_as_far_apart_as_they_have_games(mode):
    """Game i of seed s is that of seed s + i, as everywhere in Gymnasium; so pages say how far apart to take seeds."""
    first = noise_of_many(0, mode)
    assert len({game.tobytes() for game in first}) == 40
    assert np.array_equal(first[1:], noise_of_many(1, mode)[:-1])
    for apart in (40, 41, 1000):
        other = noise_of_many(apart, mode)
        assert not (first[:, np.newaxis] == other).all(axis=-1).any()


@pytest.mark.parametrize(
    "other",
    [
        laplace(epsilon=2.0),
        laplace(epsilon=np.nextafter(1.0, 2.0)),
        laplace(table=np.zeros((ROUNDS + 1, 2))),
        laplace(table=np.zeros((ROUNDS, 3))),
        laplace(batch_size=2),
        laplace(batch_size=3),
    ],
    ids=["epsilon", "epsilon by one bit", "horizon", "arms", "batch of 2", "batch of 3"],
)
def test_wrappers_that_differ_have_different_noise(other):
    """False alarm: 1e-6 for five agreements or more in 60 draws (each by chance with 0.0005)."""
    assert shared(draws(laplace()), draws(other)) < 5
    assert shared(draws(laplace(batch_size=2)), draws(laplace(batch_size=3))) < 5


def test_players_of_one_trial_have_different_noise():
    """False alarm: 1e-6."""
    names = [make_algorithm("EXP3"), make_algorithm("EXP3", exploration_rate=0.1), make_algorithm("HTINF")]
    players = ["", *(algorithm.player for algorithm in names)]
    games = [draws(laplace(), options={"player": player}) for player in players]
    for one, other in itertools.combinations(games, 2):
        assert shared(one, other) < 5


def test_algorithms_of_one_trial_share_gains_and_no_coins():
    """Uniform plays by coins only: under one name it plays the same arms, under two it does not."""
    uniform = make_algorithm("Uniform")
    given = {"horizon": 200, "trials": 2, "checkpoints": 200, "seed": 5}
    found = simulate(
        "DPBandit-Stochastic-v0", {"a": uniform, "b": uniform, "c": as_one_player(uniform), "d": Uniform}, **given
    )
    assert np.array_equal(found["a"].pulls, found["b"].pulls)
    for other in ("c", "d"):
        assert (found["a"].pulls != found[other].pulls).any(axis=1).all()
    best = [outcome.external_regret + outcome.collected for outcome in found.values()]
    assert all(np.allclose(each, best[0]) for each in best)  # of the same gains
    # The outer one's noise is found by taking away what the inner one handed on.
    options = {"epsilon": 1.0, "bound": 30.0, "outside": "clip"}  # nothing reaches +-30 in 6 draws
    inner = draws(LaplaceClipRescale(game(np.zeros((6, 2))), **options), seed=7)
    stacked = LaplaceClipRescale(LaplaceClipRescale(game(np.zeros((6, 2))), **options), **options)
    outer = draws(stacked, seed=7) - (inner + 30) / 61
    assert np.abs(inner - outer).min() > 1e-6


def test_a_game_without_a_seed_never_goes_on_with_an_earlier_one():
    """Neither with its next episode nor with any other; and no two such games are alike."""
    env = LaplaceClipRescale(BanditEnv(GainTable(ZEROS)), epsilon=0.01, outside="clip", bound=4000.0)
    games = []
    for seed in (0, None, None, 0, None):
        agent = Keeps()
        play(env, agent, seed=seed)
        games.append((tuple(agent.seen), agent.rng.random()))
    assert games[0] == games[3]
    for place in (0, 1):
        assert len({each[place] for each in games}) == 4
    label = env._noise_key
    guesses = [
        stream(0, role=FIRST_WRAPPER, episode=episode, player=player, noise_key=part).laplace(0.0, 100.0, ROUNDS)
        for episode in range(4)
        for player in ("", Keeps.__qualname__)
        for part in ("", label)
    ]
    for seen, _ in (games[1], games[2], games[4]):
        noise = np.array(seen) * 8001 - 4000
        assert all(shared(noise / 100, guess / 100) < 5 for guess in guesses)


@pytest.mark.parametrize("name", MECHANISMS)
def test_labels_hold_every_parameter(name):
    """Each attribute of a mechanism changed by itself gives another label."""
    from dp_bandit_envs import wrappers

    kind = getattr(wrappers, name)
    example = MECHANISMS[name].example
    env = kind(game(ZEROS), **example)
    assert env._noise_key == kind(game(ZEROS), **example)._noise_key
    attributes = vars(env.mechanism)
    labels = {env._noise_key}
    for attribute, value in attributes.items():
        changed = env.mechanism
        vars(changed)[attribute] = "changed" if value != "changed" else "otherwise"
        from dp_bandit_envs.privacy.mechanism import noise_key

        labels.add(noise_key(changed, env.inputs))
    assert len(labels) == 1 + len(attributes)


@pytest.mark.parametrize("lower", [{"epsilon": 1.0, "bound": 20.0}, {"epsilon": np.inf, "bound": 2.0}])
def test_noise_above_different_mechanisms_is_different(lower):
    """With the same noise on what each makes of the gains, a difference gave every gain: at epsilon 0.01 and 1 here.

    Noisy sums with a grid of a quarter, and gains rescaled to about a half below one of them and kept below the other.
    """
    hidden = np.random.default_rng(1).integers(0, 2, (ROUNDS, 2)).astype(float)
    released = []
    for arguments in ({"epsilon": np.inf}, lower):
        env = HybridSums(LaplaceClipRescale(game(hidden), outside="clip", **arguments), epsilon=0.01)
        env.reset(seed=5)
        released.append([env.step(0)[0]["sum"][0] for _ in range(ROUNDS)])
    steps = np.diff(np.subtract(*released))
    # Noise of scale 200 or more in each; without it no step is larger than 1 and two steps of the grid.
    assert (np.abs(steps) > 2).sum() > ROUNDS / 2


def test_batches_below_change_the_noise_by_their_sizes_only():
    """So that the streams of algorithms on batches depend on nothing else; a class derived from them is named."""

    class Derived(mechanisms.MiniBatchAverage):
        """A mechanism that might do anything, and that holds a number which is nobody's business above."""

        def __init__(self, *, batch_size):
            super().__init__(batch_size=batch_size)
            self.kept = 0.7310585786300049

    batches = MiniBatchAverage(game(ZEROS), batch_size=2)
    derived = PrivacyBoundary(game(ZEROS), Derived(batch_size=2))
    assert batches.outputs.lower_noise_keys == () and len(derived.outputs.lower_noise_keys) == 1
    assert "0.731" not in repr(derived.outputs)


def test_an_agents_generator_does_not_tell_the_seed():
    """Nothing in it is the seed or leads to NumPy's `SeedSequence`, which can be inverted."""
    agent, seed = Keeps(), 2**127 + 12345
    play(BanditEnv(Stochastic(2, 5)), agent, seed=seed, trial=3)
    bits = agent.rng.bit_generator
    assert isinstance(bits, np.random.SFC64)
    assert not isinstance(bits.seed_seq, np.random.SeedSequence)
    assert set(vars(bits.seed_seq)) == {"_digest", "_spawned"}
    text = pickle.dumps((bits, bits.state, bits.seed_seq)) + repr((bits.state, vars(bits.seed_seq))).encode()
    for base in (str(seed), f"{seed:x}", seed.to_bytes(16, "little"), seed.to_bytes(16, "big")):
        assert (base.encode() if isinstance(base, str) else base) not in text
    # An agent may spawn generators of its own.
    spawned = [stream(*key, role=AGENT).spawn(2) for key in ((1,), (1,), (2,))]
    numbers = [[child.random() for child in children] for children in spawned]
    assert numbers[0] == numbers[1]
    assert len({*numbers[0], *numbers[2]}) == 4
    twice = stream(1, role=AGENT)
    assert [twice.spawn(1)[0].random(), twice.spawn(1)[0].random()] == numbers[0]


def test_two_keys_never_read_the_same():
    """The words of trial 2 * 2^32, role 2, are those of trial 0, role 2, episode 2."""
    for seed, trial in ((0, 2**32), (0, 2 * 2**32), (2**128, 0), (-1, 0)):
        with refused(ValueError, "seed", "[0, 2^128)", "trial", "[0, 2^32)", seed, trial):
            stream(seed, trial=trial, role=2)
    with refused(ValueError, "trial", "[0, 2^32)", 2**33):
        EpisodeStreams(2).next(1, {"trial": 2**33})
    for wrapped in (
        LaplaceClipRescale(BanditEnv(Stochastic(2, 5)), epsilon=1.0),
        vector.LaplaceClipRescale(gym.make_vec("DPBandit-Stochastic-v0", 2, horizon=5), epsilon=1.0),
    ):
        with refused(ValueError, "trial", "[0, 2^32)", 2**33):
            wrapped.reset(options={"trial": 2**33})


def test_noise_does_not_repeat_the_stream_of_gains_or_of_the_agent():
    """Six draws, to within a hundredth of their scale: wide enough for a wrapper that rounds noisy values to a grid.

    False alarm: 1e-11 (each draw is that close with a chance below 0.01: five times 0.01^6).
    """
    env = LaplaceClipRescale(game(np.zeros((6, 2))), epsilon=1.0, bound=30.0)
    own, label = draws(env, seed=7), noise_key(env.mechanism, env.inputs)

    def repeats(generator):
        return np.abs(own - generator.laplace(0.0, 1.0, 6)).max() < 0.01

    assert repeats(stream(7, role=FIRST_WRAPPER, noise_key=label))  # the test would see a repetition
    for role in (ADVERSARY, AGENT, FIRST_WRAPPER + 1):
        assert not repeats(stream(7, role=role)) and not repeats(stream(7, role=role, noise_key=label))
    assert not repeats(stream(7, trial=1, role=FIRST_WRAPPER, noise_key=label))
    assert not repeats(stream(7, role=FIRST_WRAPPER, noise_key=label, player="somebody"))
    assert not repeats(np.random.default_rng(7))


def test_noise_is_not_correlated_with_the_gains_of_the_same_seed():
    """Correlation of n independent pairs has standard error 1 / sqrt(n): allow five.

    False alarm: 1.2e-6 (five standard errors, two sides, two numbers).
    """
    rounds = 4000
    env = LaplaceClipRescale(BanditEnv(Stochastic(2, rounds, means=[0.5, 0.5])), epsilon=1.0, bound=40.0)
    env.reset(seed=3)
    below = BanditEnv(Stochastic(2, rounds, means=[0.5, 0.5]))
    below.reset(seed=3)
    gains, draws = np.empty(rounds), np.empty(rounds)
    for t in range(rounds):
        gains[t] = below.step(0)[1]
        draws[t] = env.step(0)[1] * 81 - 40 - gains[t]
    assert abs(np.corrcoef(gains, draws)[0, 1]) < 5 / math.sqrt(rounds)
    assert abs(np.abs(draws).mean() - 1) < 5 / math.sqrt(rounds)  # they are the noise indeed
