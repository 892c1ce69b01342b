"""Runs every example small; each draws a picture, and returns the number that it prints beside what theory predicts."""

import importlib.util
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("[0-9]*.py"))


def run(number, *, constants=None, **arguments):
    path = EXAMPLES[number - 1]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(constants or {})
    plt.close("all")  # other tests of this process may have left some open
    returned = module.main(**arguments)
    (figure,) = [plt.figure(open_one) for open_one in plt.get_fignums()]
    plt.close("all")
    assert all(axes.has_data() for axes in figure.axes)
    return returned


def test_all_are_short_and_known_here():
    assert [path.name[:2] for path in EXAMPLES] == ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10"]
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 100 for path in EXAMPLES)


def test_first_game_stays_below_its_bound(capsys):
    assert run(1, horizon=4000) < 1
    assert "theory promises" in capsys.readouterr().out


def test_private_trial_helps_patients_more_than_chance_and_less_than_without_privacy(capsys):
    better = run(2, trials=60, seed=0)
    chance, free, stochastic, private, exp3 = better.values()
    assert chance < private < free
    assert private < stochastic
    # DP-EXP3-Lap hardly learns in 2,139 rounds; it must not do harm: chance has sd sqrt(T 3/16) = 20 a trial.
    assert exp3 > chance - 5 * 20 / 60**0.5
    assert "epsilon = 1" in capsys.readouterr().out


def test_your_own_agent_runs_beside_exp3(capsys):
    assert run(3, horizon=3000, trials=2) > 0
    assert "EpsilonGreedy" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_model_learns_through_the_boundary_and_from_many_games_at_once(capsys):
    pytest.importorskip("stable_baselines3")
    # Untrained, it plays each arm about a quarter of the time.
    assert run(4, steps=2000) > 0.6
    pytest.importorskip("stable_baselines3")
    assert run(5, steps=16_000, games=32) > 0.6


@pytest.mark.thorough
def test_talk_helps_and_thompson_sampling_needs_no_look_at_the_graph(capsys):
    regret = run(6, horizon=500, trials=10)
    assert len(regret) == 8
    for name in ("TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN"):
        assert regret[f"{name} with talk"] < 0.8 * regret[f"{name} alone"]
    assert regret["TS-N with talk"] < 0.8 * regret["UCB-MaxN with talk"]
    # Alone, nobody else reveals the arm that was drawn; UCB draws no coins of its own.
    assert regret["UCB-N alone"] == regret["UCB-MaxN alone"]
    assert regret["TS-N alone"] == pytest.approx(regret["TS-MaxN alone"], rel=0.4)
    # sqrt(20 ln 34 500 / 2)
    assert regret["TS-N with talk"] < 132.8
    assert "20 cliques hold all 34 members: theory promises TS-N at most 133" in capsys.readouterr().out


@pytest.mark.thorough
def test_which_private_learner_pays_depends_on_who_writes_the_answers(capsys):
    pytest.importorskip("statsmodels")
    worse = run(7, trials=8)
    free, epochs, gaussian, lazy, own, paper, chance = worse.values()
    # The order of an independent prototype: 60, 55, 286, 460, 590, 1184, 1374, with errors up to 26.
    assert max(free, epochs) < 140 < gaussian < lazy < own < paper < chance
    assert 240 < gaussian < 330 and 500 < own < 680 and 1100 < paper < 1300 and 1300 < chance < 1450
    assert "78 rules" in capsys.readouterr().out


def test_naive_noise_gives_gains_away_and_secure_noise_does_not(capsys):
    """Of 200 releases, each gives its gain away with chance .81 and .70; standard errors .028 and .033: allow five.

    At epsilon 1, fast draws do so with probability 2e-16. False alarm: 1e-6 (five standard errors, one side, twice).
    """
    pytest.importorskip("opendp")
    shares = run(8, games=200)
    assert list(shares) == ["naive at 1", "fast at 1", "fast at 40", "secure at 1", "secure at 40"]
    assert shares["naive at 1"] > 0.8 - 5 * 0.028 and shares["fast at 40"] > 0.70 - 5 * 0.033
    assert shares["fast at 1"] == shares["secure at 1"] == shares["secure at 40"] == 0
    assert "nothing with fast draws" in capsys.readouterr().out


def test_noise_once_a_batch_costs_less_than_noise_in_every_gain(capsys):
    """In 2^11 rounds about a fifth of the bound, and less than .6 of AS-EXP2's regret in a mean of two games."""
    of_bound, of_other = run(9, horizon=2**11, trials=2, constants={"EPSILONS": (1.0,), "ARMS": (10,)})
    assert 0 < of_bound < 1 and of_other < 0.6
    assert "theory promises" in capsys.readouterr().out


@pytest.mark.thorough
def test_samples_fall_with_epsilon_and_stay_above_the_lower_bound(capsys):
    """Measured at epsilon 0.3 and 1: AdaP-TT 31 and 24 times the bound, DP-TT 10 and 7, CTB-TT 3.4 and 2.9."""
    ratios = run(10, epsilons=(0.3, 1.0), trials=30)
    for ratio in ratios.values():
        assert 1 < ratio[1] < ratio[0]
    assert (ratios["DP-TT"] < 0.5 * ratios["AdaP-TT"]).all()
    assert ratios["CTB-TT"][1] < 3.3
    assert "over what theory says" in capsys.readouterr().out
