"""The settings of figure-graph, its bound by hand, and that its claims are judged by the numbers and nothing else."""

import dataclasses
import math
import xml.etree.ElementTree as ElementTree

import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs.algorithms.specs import GameSpec
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.report import Verdict
from dp_bandit_envs.experiments.running import run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.figures import figure_graph
from dp_bandit_envs.figures.figure_graph import ALGORITHMS, LEVELS, REVEALED, SOCIAL
from dp_bandit_envs.graphs import REAL, as_feedback_graph
from dp_bandit_envs.plots.plot_style import as_bytes

YES, NO, UNDECIDED = Verdict

ROUNDS = np.unique(np.round(np.geomspace(1, 10**4, 30)).astype(int))
TRIALS = 20
# Regret over sqrt(t) in made-up results in which every claim holds; the least bound is 4.35 / sqrt(2) sqrt(t).
FACTORS = {"TS-MaxN": 0.5, "TS-N": 1.0, "UCB-MaxN": 2.0, "UCB-N": 3.0}
ARMS = {
    "erdos-renyi": 500,
    "planted-partition": 500,
    "power-law": 500,
    "karate-club": 34,
    "les-miserables": 77,
    "davis-southern-women": 32,
    "florentine-families": 15,
}
LABELS = [*(figure_graph.label_at(epsilon) for epsilon in LEVELS), "no privacy"]
PAYS, COSTS, EVEN = (100, 90, 80, 70, 60), (100, 110, 120, 130, 115), (100,) * 5


def results(factors=None, costs=None, trials=TRIALS, rounds=ROUNDS, spread=0.05, shared=0.0, panels=None):
    """Make the results of both experiments.

    Args:
        factors: Maps (panel, name), or a name for all panels, to the regret over sqrt(t).
        costs: Maps a level to its mean regret for each number of gains revealed.
        trials: Number of games.
        rounds: The checkpoints of both.
        spread: Noise of each algorithm's own.
        shared: Noise that all algorithms have in the same game.
        panels: Keys of the graphs; None for all.
    """
    graphs, feedback = figure_graph.experiments(horizon=int(rounds[-1]), trials=trials)
    if panels is not None:
        chosen = tuple(panel for panel in graphs.games if panel.key in panels)
        graphs = dataclasses.replace(graphs, games=chosen)
    noise = np.linspace(-1, 1, trials) if trials > 1 else np.zeros(1)

    def games(place):
        return (1 + spread * np.roll(noise, 3 * place) + shared * noise)[:, None]

    arrays, others = {}, {}
    for panel in graphs.games:
        arrays[f"{panel.key}/checkpoints"] = rounds
        for place, name in enumerate(ALGORITHMS):
            given = factors or {}
            factor = given.get((panel.key, name), given.get(name, FACTORS[name]))
            arrays[f"{panel.key}/{name}/pseudo_regret"] = factor * np.sqrt(rounds) * games(place)
    for number, panel in enumerate(feedback.games):
        others[f"{panel.key}/checkpoints"] = rounds
        for label in LABELS:
            mean = (costs or {}).get(label, PAYS)[number]
            others[f"{panel.key}/{label}/pseudo_regret"] = mean * rounds / rounds[-1] * games(number)
    return [Results(graphs, arrays), Results(feedback, others)]


def claims(**given):
    """Judge made-up results on the real graphs, as drawing random ones takes its time."""
    return figure_graph.claims.judged(results(**{"panels": SOCIAL, **given}))


def verdicts(**given):
    return [claim.verdict for claim in claims(**given)]


def on(panel, trials=1, seed=0):
    """Return results without numbers, for what depends on settings only."""
    experiment = figure_graph.experiments(trials=trials, seed=seed)[0]
    return Results(dataclasses.replace(experiment, games=(panel,)), {})


def test_the_second_experiment_reveals_more_and_more_of_a_complete_graph():
    feedback = figure_graph.experiments()[1]
    assert (feedback.name, feedback.horizon, feedback.trials) == ("feedback", 100_000, 60)
    assert feedback.checkpoints == "log"
    assert [panel.key for panel in feedback.games] == [f"revealed-{most}" for most in ("01", "02", "05", "10", "20")]
    for panel, most in zip(feedback.games, (1, 2, 5, 10, 20), strict=True):
        game = feedback.make_game(panel)
        assert (game.n_arms, game.sensitivity) == (20, most)
        game.reset(seed=0)
        _, _, _, _, _ = game.step(7)
        assert {len(game.graph.revealed_by(arm)) for arm in range(20)} == {most}


def test_a_level_is_the_same_epsilon_whatever_a_round_reveals():
    feedback = figure_graph.experiments()[1]
    for panel in feedback.games:
        game = feedback.make_game(panel)
        players = feedback.players(panel)
        assert [player.name for player in players] == [
            *(f"epsilon = {x}" for x in ("0.1", "0.3", "1", "3", "10")),
            "no privacy",
        ]
        for player, epsilon in zip(players, (0.1, 0.3, 1, 3, 10), strict=False):
            player.wrap(game)
            holds = player.guarantee(n_arms=20, horizon=feedback.horizon)
            assert holds.epsilon == pytest.approx(epsilon) and holds.delta == 0
        assert players[-1].guarantee(n_arms=20, horizon=feedback.horizon).model == "none"
    assert [one.name for one in feedback.algorithms] == ["DP-KLUCB"] * 5 + ["KL-UCB"]


@pytest.mark.parametrize("n_arms", [2, 50])
@pytest.mark.parametrize(("graph", "chi"), [("empty", None), ("complete", 1)])
def test_the_bound_by_hand(graph, chi, n_arms):
    """Without edges every arm is a clique of its own; with all of them there is one clique."""
    panel = GameSpec("x", "X", "DPBandit-Graph-v0", {"graph": graph, "n_arms": n_arms})
    rounds = np.array([1, 2, 100, 9999])
    expected = [math.sqrt((n_arms if chi is None else chi) * math.log(n_arms) * t / 2) for t in rounds]
    assert figure_graph.bound(on(panel), panel, rounds) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("key", "chi"),
    [("karate-club", 20), ("les-miserables", 35), ("davis-southern-women", 18), ("florentine-families", 7)],
)
def test_the_bound_of_a_real_graph_counts_its_cliques(key, chi):
    panel = next(panel for panel in figure_graph.experiments()[0].games if panel.key == key)
    graph = nx.convert_node_labels_to_integers(REAL[key][0]())
    cover = as_feedback_graph(graph).clique_cover
    assert sorted(arm for clique in cover for arm in clique) == list(range(ARMS[key]))
    assert all(graph.has_edge(one, other) for clique in cover for one in clique for other in clique if one < other)
    assert len(cover) == chi
    expected = math.sqrt(chi * math.log(ARMS[key]) * 10_000 / 2)
    assert figure_graph.bound(on(panel, trials=9), panel, np.array([10_000])) == pytest.approx([expected])


@pytest.mark.parametrize(("trials", "drawn"), [(3, 3), (25, 20)])
def test_the_bound_of_random_graphs_is_a_mean_over_the_graphs_of_the_games(trials, drawn):
    # A greedy cover may depend on the numbers of arms, which the bound takes as they are given.
    size = {"graph": "erdos-renyi", "n_arms": 40, "degree": 6, "arm_order": "given"}
    panel = GameSpec("erdos-renyi", "E", "DPBandit-Graph-v0", size)
    game = dataclasses.replace(figure_graph.experiments()[0], horizon=100).make_game(panel)
    roots = []
    for trial in range(drawn):
        game.reset(seed=5, options={"trial": trial})
        roots.append(math.sqrt(len(game.graph.clique_cover)))
    assert len(set(roots)) > 1
    expected = sum(roots) / drawn * math.sqrt(math.log(40) * 50)
    assert figure_graph.bound(on(panel, trials, seed=5), panel, np.array([100])) == pytest.approx([expected])


@pytest.mark.thorough
def test_the_claims_hold_where_they_do():
    assert verdicts(panels=None) == [YES] * 4
    less, _, _, feedback = claims()
    assert (less.verdict, less.why) == (YES, "on all graphs")
    assert (feedback.verdict, feedback.why) == (YES, f"at every level with a clear difference ({', '.join(LABELS)})")


@pytest.mark.parametrize(
    ("claim", "factors", "answer"),
    [
        (0, {("karate-club", "UCB-MaxN"): 0.9}, "no, not on karate club"),
        (0, {("karate-club", "TS-N"): 2.0}, "cannot tell from 20 runs: too close on karate club"),
        (1, {("les-miserables", "TS-MaxN"): 1.1}, "no, not on Les Misérables"),
        (1, {("florentine-families", "TS-MaxN"): 1.0}, "cannot tell from 20 runs: too close on Florentine families"),
        (1, {"TS-MaxN": 1.1}, f"no, not on {' and '.join(SOCIAL.values())}"),
        (2, {("florentine-families", "TS-N"): 3.2}, "no, over it on Florentine families"),
        (
            2,
            {("davis-southern-women", "TS-N"): 5.6, ("karate-club", "TS-N"): 6.0},
            "no, over it on karate club and Davis' southern women",
        ),
    ],
)
def test_each_claim_about_graphs_can_fall(claim, factors, answer):
    assert claims(factors=factors)[claim].answer == answer
    # What is said about privacy is another experiment.
    assert verdicts(factors=factors)[3] == YES


@pytest.mark.parametrize(("above", "holds"), [(0.997, YES), (1.003, NO)])
def test_the_bound_is_not_rounded_before_it_is_compared(above, holds):
    factor = math.sqrt(7 * math.log(15) / 2)
    found = claims(factors={"TS-N": above * factor}, panels=["florentine-families"], spread=0.0)[2]
    share = found.numbers["Florentine families"]
    assert found.verdict is holds and share == pytest.approx(above)
    assert f"as printed: {above * math.sqrt(math.log(15)):.2f} (Florentine families)" in found.seen


def test_the_bound_holds_at_every_round_or_not_at_all():
    """A curve that is over the bound in the middle and below it at the end is over it."""
    graphs, feedback = results(panels=["karate-club"])
    graphs.arrays["karate-club/TS-N/pseudo_regret"][:, 15] *= 10
    less, _, bound, _ = figure_graph.claims.judged([graphs, feedback])
    assert bound.answer == "no, over it on karate club"
    assert less.verdict is YES


def test_games_are_paired():
    """Games differ by half, algorithms by a twentieth, and by that in every game."""
    factors = {"TS-MaxN": 0.95, "TS-N": 1.0, "UCB-MaxN": 1.05}
    assert verdicts(factors=factors, spread=0.0, shared=0.5)[:2] == [YES, YES]
    assert verdicts(factors=factors, spread=0.5)[:2] == [UNDECIDED] * 2


def test_the_interval_is_that_of_the_difference():
    """Differences of (1 + noise): 100 for a mean of 1 over sqrt(10,000), and 1.96 standard errors of the noise."""
    found = claims(panels=["karate-club"], spread=0.0, shared=0.3)[0]
    error = np.std(0.3 * 100 * np.linspace(-1, 1, TRIALS), ddof=1) / math.sqrt(TRIALS)
    assert found.numbers["karate club"] == pytest.approx((100, error))
    assert f"100.0 ± {1.96 * error:.1f} (karate club)" in found.seen


PAYS_AT = "it depends on what limits learning. It pays at {}, where chance does"
COSTS_AT = "partial feedback costs at {}, where noise does"


@pytest.mark.parametrize(
    ("costs", "answer"),
    [
        # A level that does not tell is left out, and where none tells there is no verdict.
        (
            {"epsilon = 0.1": EVEN, "epsilon = 0.3": (100, 90, 80, 70, 100)},
            f"yes, at every level with a clear difference ({', '.join(LABELS[2:])})",
        ),
        (dict.fromkeys(LABELS, EVEN), "cannot tell from 20 runs: too close at every level"),
        # Partial feedback is that of ten gains: the most that is not everything.
        (
            {"epsilon = 10": (100, 90, 80, 130, 60), "epsilon = 3": (100, 130, 130, 80, 60)},
            f"no, {PAYS_AT.format(', '.join(LABELS[:4] + LABELS[5:]))}; {COSTS_AT.format('epsilon = 10')}",
        ),
        # Full information alone can cost.
        (
            {"epsilon = 0.3": (100, 90, 80, 70, 150)},
            f"no, {PAYS_AT.format(', '.join(LABELS[:1] + LABELS[2:]))};"
            " full information, not partial feedback, costs at epsilon = 0.3",
        ),
        (dict.fromkeys(LABELS, COSTS), f"no, it pays at no level; {COSTS_AT.format(', '.join(LABELS))}"),
    ],
)
def test_feedback_pays_and_costs_where_it_does(costs, answer):
    assert claims(costs=costs)[3].answer.startswith(answer)


@pytest.mark.parametrize("trials", [1, 4])
def test_few_runs_show_nothing(trials):
    assert verdicts(trials=trials) == [UNDECIDED] * 4


@pytest.mark.thorough
@pytest.mark.slow_cases("rounds0-5", "rounds1-1", "rounds1-5")
@pytest.mark.parametrize("trials", [1, 5])
@pytest.mark.parametrize("rounds", [np.array([1]), np.array([1, 2])])
def test_the_shortest_games_can_be_judged_and_drawn(rounds, trials):
    found = results(rounds=rounds, trials=trials, panels=["karate-club"])
    assert len(figure_graph.claims.judged(found)) == 4
    figures = figure_graph.draw(found)
    for figure in figures.values():
        ElementTree.fromstring(as_bytes(figure, "svg"))
    assert f"$T={rounds[-1]}$" in figures["feedback"].axes[0].get_title(loc="left")
    curves = [line.get_label() for line in figures["graphs"].axes[0].lines]
    assert curves == [*(f"{name} (no privacy)" for name in ALGORITHMS), figure_graph.BOUND]
    assert figures["feedback"].axes[0].get_xticks().tolist() == list(REVEALED)


@pytest.mark.slow
def test_thompson_sampling_is_ahead_and_privacy_decides_what_feedback_is_worth(tmp_path):
    """At a fifth of the length: both orders of TS-N on real graphs, and feedback that costs at one level only."""
    graphs, feedback = figure_graph.experiments(horizon=2000, trials=40)
    played = [run(one, ResultsFolder(tmp_path / one.name, one.configuration()), jobs=2) for one in (graphs, feedback)]
    found = figure_graph.claims.judged(played)
    assert found[0].verdict is YES and found[1].verdict is not NO and found[2].verdict is YES
    assert found[3].verdict is NO
    pays, costs = found[3].why.split("; ")[:2]
    assert "no privacy" in pays and costs.startswith(COSTS_AT.partition("{}")[0] + "epsilon = 0.1")
