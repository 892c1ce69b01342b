"""The settings of figure-modern, and that its claims are judged by the numbers and nothing else."""

import math
import re

import numpy as np
import pytest

from dp_bandit_envs.figures import figure_modern
from dp_bandit_envs.figures.figure_modern import (
    GAMES,
    LOWER_BOUND,
    PRIVATE,
    REFERENCE,
    SWEEP,
    WITHOUT_PRIVACY,
    Pair,
    Played,
)
from dp_bandit_envs.plots.plot_style import BLACK, STYLES, as_bytes
from dp_bandit_envs.runs.experiment import Results
from dp_bandit_envs.runs.run_report import Verdict
from dp_bandit_envs.runs.running import run
from dp_bandit_envs.runs.store import ResultsFolder
from dp_bandit_envs.theory.lower_bounds import lai_robbins, private_lower_bound

YES, NO, UNDECIDED = Verdict

ROUNDS = np.unique(np.round(np.geomspace(1, 10**6, 60)).astype(int))
TRIALS = 20
# How many times its lower bound each algorithm's regret is, in made-up results in which every claim holds.
FACTORS = {
    "DP-UCB-BOUND": 20.0,
    "DP-UCB": 60.0,
    "DP-SE": 50.0,
    "AdaP-UCB": 12.0,
    "AdaP-KLUCB": 10.0,
    "Lazy-DP-TS": 6.0,
    "DP-KLUCB": 1.6,
    "DP-IMED": 1.3,
    "KL-UCB": 1.0,
}


def games_of(experiment, panel, name):
    """Return how many games of a panel an algorithm plays."""
    return sum(
        end - first
        for first, end in experiment.stretches(panel)
        if name in [player.name for player in experiment.players(panel, first)]
    )


def results(changes=None, trials=TRIALS, rounds=ROUNDS, spread=0.02):
    """Make the results of both experiments, regrets proportional to ln t; `changes` maps (part, name) to factors."""
    made = []
    for part, experiment in zip(
        ("time", "epsilon"), figure_modern.experiments(horizon=int(rounds[-1]), trials=trials), strict=True
    ):
        arrays = {}
        for panel in experiment.panels:
            arrays[f"{panel.key}/checkpoints"] = rounds
            means = panel.env_kwargs["means"]
            for place, player in enumerate(experiment.players(panel)):
                epsilon = player.parameters.get("epsilon", math.inf)
                slope = (private_lower_bound(means, 10, epsilon)) / math.log(10)
                factor = (changes or {}).get((part, player.name), FACTORS[player.name])
                factor = factor(epsilon) if callable(factor) else factor
                curve = np.log(rounds) * slope * factor
                # As many games as the experiment plays of it: of the two best, more than of the others.
                games = games_of(experiment, panel, player.name)
                noise = np.linspace(-spread, spread, games) if games > 1 else np.zeros(1)
                arrays[f"{panel.key}/{player.name}/pseudo_regret"] = curve * (1 + np.roll(noise, place))[:, None]
        made.append(Results(experiment, arrays))
    return made


def judged(*parts):
    return figure_modern.claims.judged(parts)


def verdicts(**given):
    return [claim.verdict for claim in judged(*results(**given))]


def test_the_experiments_are_those_of_the_issue():
    over_time, over_epsilon = figure_modern.experiments()
    assert (over_time.horizon, over_time.trials, over_time.checkpoints) == (10**7, 20, "log")
    assert (over_epsilon.horizon, over_epsilon.trials) == (10**6, 20)
    wanted = [[0.25, 0.375, 0.5, 0.625, 0.75], [0.1, 0.1, 0.1, 0.1, 0.8]]
    assert [sorted(panel.env_kwargs["means"]) for panel in over_time.panels] == wanted
    for panel in over_time.panels:
        assert [contestant.name for contestant in panel.contestants] == [*PRIVATE, REFERENCE]
    assert (min(SWEEP), max(SWEEP)) == (0.05, 2)
    assert len(over_epsilon.panels) == 2 * (len(SWEEP) + 1)
    # KL-UCB, which has no epsilon, is played once in each game.
    assert sum(REFERENCE in [one.name for one in panel.contestants] for panel in over_epsilon.panels) == 2


def test_no_algorithm_is_favoured_by_the_numbering_of_arms():
    """Most algorithms begin with arm 0 and break ties for it, so the best arm is neither first nor last."""
    for game in GAMES:
        assert 0 < int(np.argmax(game.means)) < len(game.means) - 1


def test_every_private_algorithm_has_the_panels_epsilon():
    experiment = figure_modern.experiments()[1]
    panels = {panel.key: panel for panel in experiment.panels}
    for game in GAMES:
        for epsilon in SWEEP:
            for player in experiment.players(panels[figure_modern.key(game, epsilon)]):
                guarantee = player.guarantee(n_arms=5, horizon=10**4)
                assert guarantee.epsilon == pytest.approx(epsilon) and guarantee.delta == 0


def test_the_claims_hold_where_they_do():
    assert verdicts() == [YES] * 10


def test_each_claim_can_fall():
    for claim, changes, expected in [
        (0, {("time", "DP-IMED"): 11.0}, NO),
        (0, {("time", "DP-IMED"): 10.0}, UNDECIDED),
        (1, {("time", "AdaP-KLUCB"): 13.0}, NO),
        (2, {("time", "AdaP-UCB"): 55.0}, NO),
        (3, {("epsilon", "DP-KLUCB"): lambda epsilon: 11.0 if epsilon < 0.1 else 1.6}, NO),
        (4, {("epsilon", "AdaP-UCB"): lambda epsilon: 10.0 if epsilon == 1 else 12.0}, UNDECIDED),
        (5, {("epsilon", "DP-SE"): lambda epsilon: 9.0 if epsilon == 0.2 else 50.0}, NO),
        (6, {("time", "KL-UCB"): 0.9}, NO),
        (6, {("time", "Lazy-DP-TS"): 0.9}, NO),
        (7, {("time", "DP-KLUCB"): 2.5}, NO),
        (8, {("epsilon", "DP-IMED"): lambda epsilon: 3.0}, NO),
        (9, {("epsilon", "DP-KLUCB"): lambda epsilon: 4 * epsilon}, NO),
    ]:
        assert verdicts(changes=changes)[claim] == expected


def test_an_algorithm_that_is_told_the_horizon_may_stop():
    """DP-SE's regret does not grow any more after the last elimination; that breaks no bound."""
    over_time, over_epsilon = results()
    for game in GAMES:
        regret = over_time.arrays[f"{figure_modern.key(game, 1.0)}/DP-SE/pseudo_regret"]
        regret[:, 30:] = regret[:, -1:]
    claim = judged(over_time, over_epsilon)[6]
    assert claim.verdict is YES and claim.numbers[Played("DP-SE", "spaced")].value == pytest.approx(50)
    for game in GAMES:
        over_time.arrays[f"{figure_modern.key(game, 1.0)}/DP-SE/pseudo_regret"] /= 60
    claim = judged(over_time, over_epsilon)[6]
    assert claim.numbers[Played("DP-SE", "spaced")].value == pytest.approx(50 / 60)
    assert claim.verdict is NO
    assert re.match(r"below: DP-SE, spaced: 0.83 ± 0.\d+; DP-SE, one-ahead: 0.83 ± 0.\d+\. The bound", claim.why)


def test_steps_do_not_decide_an_order():
    """Two algorithms that double their episodes end at the same regret; the one that gets there later is ahead."""
    over_time, over_epsilon = results({("time", "AdaP-KLUCB"): 12.0})
    for game in GAMES:
        regret = over_time.arrays[f"{figure_modern.key(game, 1.0)}/AdaP-KLUCB/pseudo_regret"]
        regret[:, -15:-1] /= 2
    assert judged(over_time, over_epsilon)[1].verdict is YES


def test_what_is_the_other_way_round_at_the_end_is_said():
    """The figure shows regret at T over epsilon; an average over time must not hide a reversal there."""
    over_time, over_epsilon = results()
    over_epsilon.arrays["spaced-epsilon-0.05/DP-SE/pseudo_regret"][:, -1] /= 10
    over_time.arrays["spaced-epsilon-1/DP-SE/pseudo_regret"][:, -1] /= 10
    claims = judged(over_time, over_epsilon)
    assert claims[5].verdict is NO
    pair = Pair("AdaP-UCB", "DP-SE", "spaced")
    assert claims[5].why.startswith("the other way round: AdaP-UCB to DP-SE, spaced, epsilon = 0.05, at T. All")
    assert [name for name, one in claims[2].numbers.items() if one.errors_at_end < 0] == [pair]
    # Both claims on this order say so, the first although it holds.
    assert claims[2].verdict is YES
    assert all("DP-SE, spaced" in claim.seen for claim in (claims[2], claims[5]))
    assert not any("DP-SE, spaced" in claim.seen.partition(";")[2] for claim in judged(*results()))


@pytest.mark.parametrize("trials", [1, 4])
def test_few_runs_show_nothing(trials):
    assert verdicts(trials=trials) == [UNDECIDED] * 10


@pytest.mark.parametrize(("rounds", "trials"), [(np.array([1]), 1), (np.array([1, 2]), 2), (np.arange(1, 101), 20)])
def test_the_shortest_games_can_be_judged_and_drawn(rounds, trials):
    found = results(rounds=rounds, trials=trials)
    assert len(judged(*found)) == 10
    assert as_bytes(figure_modern.draw(found), "png")


def test_the_lower_bounds_are_linear_in_the_logarithm():
    for game in GAMES:
        bounds = figure_modern.bounds_over_time(game, [1, 10, 100, 10**7], 1.0)
        assert bounds[0] == 0
        assert bounds[1:] == pytest.approx([private_lower_bound(game.means, t, 1.0) for t in (10, 100, 10**7)])
        free = figure_modern.bounds_over_time(game, [10**7], None)
        assert free[0] == pytest.approx(lai_robbins(game.means, 10**7))
        assert np.all(np.diff(figure_modern.bounds_over_epsilon(game, 1000)) <= 0)


@pytest.mark.slow
def test_the_order_and_the_lower_bound_hold_in_play(tmp_path):
    """The first experiment at a fiftieth of its length: every order, and no slope below the bound."""
    over_time = figure_modern.experiments(horizon=200_000, trials=12)[0]
    played = run(over_time, ResultsFolder(tmp_path / "time", over_time.configuration()), jobs=2)
    found = [claim.verdict for claim in judged(played, results()[1])]
    assert found[:3] == [YES] * 3 and found[6:8] == [YES] * 2


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


LABELS_OVER_TIME = [*PRIVATE, "KL-UCB (no privacy)"]
BOUNDS = [WITHOUT_PRIVACY, LOWER_BOUND]


@pytest.fixture(scope="module")
def drawn():
    found = results()
    return found, figure_modern.draw(found)


def test_each_game_has_a_row_time_on_the_left_and_epsilon_on_the_right(drawn):
    _, figure = drawn
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "(a) means .75 to .25; $\\varepsilon=1$",
        "(b) means .75 to .25; $T=10^{6}$",
        "(c) means .8 and four .1; $\\varepsilon=1$",
        "(d) means .8 and four .1; $T=10^{6}$",
    ]
    assert [axes.get_xlabel() for axes in figure.axes] == ["round $t$", r"privacy parameter $\varepsilon$"] * 2
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    for axes in figure.axes:
        assert list(lines(axes)) == [*LABELS_OVER_TIME, *BOUNDS]
        assert [line.get_color() for line in axes.lines[:9]] == [STYLES[name].colour for name in (*PRIVATE, REFERENCE)]
        # The titles say the guarantee, or the axis does.
        assert not axes.texts
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [*LABELS_OVER_TIME, *BOUNDS]


def test_lines_are_means_of_their_own_game_and_the_bounds_are_dashed(drawn):
    (over_time, over_epsilon), figure = drawn
    axes = figure.axes
    for left, right, game in zip(axes[::2], axes[1::2], GAMES, strict=True):
        panel, shown = figure_modern.key(game, 1.0), ROUNDS >= 10
        for name, label in zip((*PRIVATE, REFERENCE), LABELS_OVER_TIME, strict=True):
            mean = over_time.regret(panel, name, "pseudo_regret").mean(axis=0)
            assert lines(left)[label].get_xdata().tolist() == ROUNDS[shown].tolist()
            assert lines(left)[label].get_ydata() == pytest.approx(mean[shown])
        for name in PRIVATE:
            keys = [figure_modern.key(game, epsilon) for epsilon in SWEEP]
            ends = [over_epsilon.regret(key, name, "pseudo_regret")[:, -1].mean() for key in keys]
            assert lines(right)[name].get_ydata() == pytest.approx(ends)
        free = over_epsilon.regret(figure_modern.key(game, None), REFERENCE, "pseudo_regret")[:, -1].mean()
        assert lines(right)["KL-UCB (no privacy)"].get_ydata() == pytest.approx(np.full(len(SWEEP), free))
        assert lines(left)[LOWER_BOUND].get_ydata()[-1] == pytest.approx(private_lower_bound(game.means, 10**6, 1.0))
        assert lines(left)[WITHOUT_PRIVACY].get_ydata()[-1] == pytest.approx(lai_robbins(game.means, 10**6))
        bounds = [private_lower_bound(game.means, 10**6, epsilon) for epsilon in SWEEP]
        assert lines(right)[LOWER_BOUND].get_ydata() == pytest.approx(bounds)
        assert set(lines(right)[WITHOUT_PRIVACY].get_ydata()) == {lai_robbins(game.means, 10**6)}
        for one in (left, right):
            assert (lines(one)[LOWER_BOUND].get_color(), lines(one)[LOWER_BOUND].get_linestyle()) == (BLACK, "--")
        assert right.get_xticks().tolist() == list(SWEEP)
