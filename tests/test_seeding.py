"""Random streams: one seed, one stream for each trial and role, none of them shared."""

import hashlib

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.seeding import ADVERSARY, AGENT, FIRST_WRAPPER, EpisodeStreams, HashedSeed, stream


def draw(generator):
    return generator.integers(2**63)


def gains(env, **reset):
    """Every gain of a new game, as far as arm 0 reveals it."""
    env.reset(**reset)
    return [env.step(0)[1] for _ in range(env.horizon)]


def bandit():
    return BanditEnv(Stochastic(horizon=100), arm_order="given")


@pytest.mark.thorough
def test_a_hundred_thousand_trials_have_distinct_streams():
    """First numbers of 63 bits: that two of 200,000 agree by chance has probability 2e-9."""
    first = {draw(stream(0, trial=trial, role=role)) for trial in range(100_000) for role in (ADVERSARY, AGENT)}
    assert len(first) == 200_000


def test_seeds_trials_roles_episodes_and_names_do_not_stand_in_for_one_another():
    keys = [(s, t, r, e) for s in range(6) for t in range(6) for r in range(6) for e in range(6)]
    assert len({draw(stream(s, trial=t, role=r, episode=e)) for s, t, r, e in keys}) == len(keys)
    keys = [("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", ""), ("1 a", "bc")]
    assert len({draw(stream(1, role=AGENT, player=player, noise_key=part)) for player, part in keys}) == len(keys)


def test_a_stream_is_sfc64_seeded_with_words_of_sha_256():
    """By hand: NumPy's three words, a counter of 1, twelve rounds thrown away, then the sums a + b + counter."""
    digest = hashlib.sha256(b"3 5 1 2 4 EXP3noise").digest()
    words = hashlib.sha256(digest + b"words 0").digest()
    a, b, c = (int.from_bytes(words[start : start + 8], "little") for start in (0, 8, 16))
    counter, mask, outputs = 1, 2**64 - 1, []
    for _ in range(12 + 5):
        outputs.append(a + b + counter & mask)
        counter += 1
        a, b = b ^ b >> 11, c + (c << 3) & mask
        c = ((c << 24 | c >> 40) + outputs[-1]) & mask
    ours = stream(3, trial=5, role=AGENT, episode=2, player="EXP3", noise_key="noise")
    assert [int(ours.bit_generator.random_raw()) for _ in range(5)] == outputs[12:]


@pytest.mark.parametrize("role", [ADVERSARY, AGENT, FIRST_WRAPPER])
def test_no_stream_is_the_seeds_own(role):
    assert all(draw(stream(seed, role=role)) != draw(np.random.default_rng(seed)) for seed in range(100))


def test_an_agent_with_the_environments_seed_cannot_see_the_gains_coming():
    """Correlation of n independent pairs has standard error 1 / sqrt(n): allow five, at lags of up to eight draws.

    False alarm: 3.7e-5 (five standard errors, two sides, 64 correlations).
    """
    rounds = 20_000
    env = BanditEnv(Stochastic(means=[0.5, 0.5], horizon=rounds))
    env.reset(seed=123)
    table = env.adversary.next_gains(rounds)
    for own in (np.random.default_rng(123), env.np_random):
        uniforms = own.random(2 * rounds + 8)
        for lag in range(8):
            for arm in range(2):
                for stride in (1, 2):
                    pairs = uniforms[lag : lag + stride * rounds : stride][:rounds], table[:, arm]
                    assert abs(np.corrcoef(*pairs)[0, 1]) <= 5 / np.sqrt(rounds)


def test_trials_of_one_seed_are_different_games_whatever_was_played_before():
    games = [gains(bandit(), seed=1, options={"trial": trial}) for trial in range(20)]
    assert len({tuple(game) for game in games}) == 20
    env = bandit()
    assert [gains(env, seed=1, options={"trial": trial}) for trial in range(20)] == games
    # Gymnasium: `reset(seed=s)` determines the game. A trial chosen earlier must not linger.
    env = bandit()
    expected = gains(env, seed=6)
    gains(env, seed=5, options={"trial": 3})
    assert gains(env, seed=6) == expected


def test_reset_without_a_seed_goes_on_to_a_new_game_of_the_same_seed():
    first, second = bandit(), bandit()
    games = [gains(first, seed=9)] + [gains(first) for _ in range(4)]
    assert len({tuple(game) for game in games}) == 5
    assert [gains(second, seed=9)] + [gains(second) for _ in range(4)] == games


def test_reset_without_a_seed_stays_in_its_trial_and_the_default_is_number_zero():
    env = bandit()
    gains(env, seed=9, options={"trial": 2})
    generator = stream(9, trial=2, role=ADVERSARY, episode=1)
    assert gains(env) == (generator.random((100, 4))[:, 0] < 0.55).tolist()
    assert gains(bandit(), seed=1) == gains(bandit(), seed=1, options={"trial": 0})
    assert gains(bandit(), seed=1) == gains(bandit(), seed=1, options={})


def test_without_any_seed_the_operating_systems_entropy_is_used_whatever_the_global_seed():
    """100 coins agree by chance with probability below 2^-99."""
    games = {tuple(gains(bandit())) for _ in range(5)}
    assert len(games) == 5
    games = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002 - the old global stream is what must not matter
        games.append(gains(bandit()))
    assert games[0] != games[1]


def test_without_any_seed_no_stream_comes_twice_even_for_the_same_trial():
    """A deployment that names its trial in every reset must not add the same noise to two sets of data."""
    streams = EpisodeStreams(FIRST_WRAPPER)
    assert len({draw(streams.next(None, {"trial": 0})) for _ in range(5)}) == 5


def test_a_failed_reset_leaves_the_next_game_as_it_would_have_been():
    streams, again = EpisodeStreams(AGENT), EpisodeStreams(AGENT)
    for part in (streams, again):
        part.next(1)
    with pytest.raises((TypeError, ValueError)):
        streams.next(None, {"trial": "third"})
    assert draw(streams.next(None)) == draw(again.next(None))


def test_gymnasiums_own_stream_follows_the_seed_too():
    env = gym.make("DPBandit-Stochastic-v0").unwrapped
    env.reset(seed=5)
    assert env.np_random_seed == 5
    assert draw(env.np_random) == draw(np.random.default_rng(5))


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_more_words_than_a_digest_holds_are_new_ones(kind):
    words = HashedSeed(b"seed").generate_state(1000, kind)
    assert words.dtype == kind and words.shape == (1000,)
    assert len(set(words.tolist())) == 1000
    assert HashedSeed(b"seed").generate_state(3, kind).tolist() == words[:3].tolist()
