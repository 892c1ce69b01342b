"""What a game and a comparison show at a prompt: one line, one picture, one short table."""

import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, compare, make_algorithm, play
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.privacy.guarantee import shown_epsilon
from dp_bandit_envs.text import aligned_table
from tests.tools.refusals import refused


def coins(**options):
    return gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=300, **options)


@pytest.mark.parametrize(
    ("environment", "algorithm", "name", "level"),
    [
        (coins, "DP-KLUCB", "DP-KLUCB", "eps 1"),
        (coins, make_algorithm("DP-KLUCB", epsilon=0.5, label="mine"), "mine", "eps 0.5"),
        (coins, "EXP3", "EXP3", str(shown_epsilon(make_algorithm("EXP3").guarantee(n_arms=2, horizon=300)))),
        (coins, Exp3(), "Exp3", "no privacy"),
        (coins, Algorithm("of mine", Exp3), "of mine", "no privacy"),
        (lambda: LaplaceClipRescale(coins(), epsilon=0.25), Exp3(), "Exp3", "eps 0.25"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_game_is_one_line_with_name_rounds_regret_and_guarantee(environment, algorithm, name, level):
    game = play(environment(), algorithm, seed=0)
    assert repr(game) == f"Game({name}: 300 rounds, pseudo-regret {game.pseudo_regret[-1]:.1f}, {level})"


def test_the_external_regret_is_shown_where_means_are_unknown():
    game = play(BanditEnv(GainTable([[0.0, 1.0]])), Exp3(), seed=0)
    assert repr(game) == f"Game(Exp3: 1 round, external regret {game.external_regret[-1]:.1f}, no privacy)"


def test_what_was_collected_is_shown_where_no_regret_is_known():
    game = play(coins(), "UCB", seed=0)
    unknown = np.full(300, np.nan)
    object.__setattr__(game, "pseudo_regret", None)
    object.__setattr__(game, "external_regret", unknown)
    assert repr(game) == f"Game(UCB: 300 rounds, collected {game.gains.sum():.1f}, no privacy)"


def test_the_guarantee_is_that_of_the_algorithm_in_the_game():
    algorithm = make_algorithm("EXP3-tau")
    assert play(coins(), algorithm, seed=0).guarantee == algorithm.guarantee_in(coins())


def test_a_pickled_game_has_its_guarantee_and_no_environment():
    game = play(coins(), Algorithm("mine", lambda: Exp3(), lambda env: LaplaceClipRescale(env, epsilon=0.25)), seed=0)
    again = pickle.loads(pickle.dumps(game))
    assert repr(again) == repr(game) and again.guarantee == game.guarantee
    assert again.find_guarantee is None


def test_plot_draws_each_round_of_a_short_game_and_the_last_of_a_long_one():
    game = play(coins(), "DP-KLUCB", seed=0)
    (axes,) = game.plot().axes
    line = axes.lines[0]
    assert axes.get_ylabel() == "pseudo-regret (gain)"
    assert line.get_xdata().tolist() == list(range(1, 301))
    np.testing.assert_array_equal(line.get_ydata(), game.pseudo_regret)
    long = play("Stochastic", "Uniform", horizon=5000, seed=0)
    drawn = long.plot("collected").axes[0].lines[0]
    assert len(drawn.get_xdata()) == 1000 and drawn.get_xdata()[[0, -1]].tolist() == [1, 5000]
    assert drawn.get_ydata()[-1] == long.collected[-1]


def test_plot_refuses_what_is_unknown():
    game = play(BanditEnv(GainTable([[0.0, 1.0]])), Exp3(), seed=0)
    with refused(ValueError, "pseudo_regret", "unknown", "'external_regret'"):
        game.plot("pseudo_regret")
    with refused(ValueError, "unknown measure 'regret'", "external_regret"):
        game.plot("regret")


SMALL = {"horizon": 60, "trials": 3, "seed": 0, "progress": False}


def test_a_comparison_prints_a_short_aligned_table():
    compared = compare("Stochastic", ["Uniform", "DP-KLUCB"], epsilon=[0.1, 2], **SMALL)
    about, head, *lines = str(compared).splitlines()
    assert about == "External regret after the last round, Stochastic, 3 trials, seed 0"
    assert head.split() == ["algorithm", "guarantee", "mean", "±", "s.e."]
    assert [line.split("  ")[0] for line in lines] == ["Uniform", "DP-KLUCB (epsilon=0.1)", "DP-KLUCB (epsilon=2)"]
    assert len({len(line) for line in (head, *lines)}) == 1
    mean = compared.entries[0].values("external_regret")[:, -1].mean()
    assert lines[0].split()[1:4] == ["eps", "0", f"{mean:.1f}"]


def test_environments_and_trials_have_a_column_where_they_differ():
    compared = compare(["Stochastic", "Switching"], "UCB", **SMALL)
    assert str(compared).splitlines()[1].split() == ["environment", "algorithm", "guarantee", "mean", "±", "s.e."]
    both = compare("Stochastic", "UCB", **SMALL) + compare("Stochastic", "EXP3", **{**SMALL, "trials": 2})
    lines = [line.split() for line in str(both).splitlines()]
    assert lines[1][2] == "trials" and [lines[2][3], lines[3][-4]] == ["3", "2"]


def test_one_trial_has_no_error():
    assert "±" not in str(compare("Stochastic", "UCB", **{**SMALL, "trials": 1})).splitlines()[-1]


def test_columns_are_aligned():
    assert aligned_table([["a", "number"], ["longer", "7"]]) == "a       number\nlonger       7"
