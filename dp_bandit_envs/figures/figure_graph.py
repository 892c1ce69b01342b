"""Thompson sampling and UCB on feedback graphs, and whether feedback is worth the extra noise that privacy needs."""

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.report import Note, Numbers, Study, View, regret_panel
from dp_bandit_envs.figures.judging import (
    DECISIVE_ERRORS,
    NO,
    UNDECIDED,
    YES,
    Claims,
    Estimate,
    Judgement,
    all_ahead,
    clearly_above,
    in_standard_errors,
    warn_if_smaller,
    with_names,
)
from dp_bandit_envs.graphs import REAL
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.plots.curves_figure import PLAIN, ROUND, Curve, Panel, Reference, curves_figure
from dp_bandit_envs.privacy.guarantee import NO_PRIVACY
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.seeding import GRAPH, stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HORIZON = 10_000
TRIALS = 210
N_ARMS = 500
DEGREE = 10
ALGORITHMS = ("TS-N", "TS-MaxN", "UCB-N", "UCB-MaxN")
RANDOM = {"erdos-renyi": "Erdos-Renyi", "planted-partition": "planted partition", "power-law": "power law"}
SOCIAL = {
    "karate-club": "karate club",
    "les-miserables": "Les Misérables",
    "davis-southern-women": "Davis' southern women",
    "florentine-families": "Florentine families",
}
PRIVATE = "DP-KLUCB"
FREE = "KL-UCB"
LEVELS = (0.1, 0.3, 1.0, 3.0, 10.0)
PRIVATE_ARMS = 20
REVEALED = (1, 2, 5, 10, 20)
PRIVATE_HORIZON = 100_000
PRIVATE_TRIALS = 60
VIEW = View(measure="pseudo_regret", centre="mean", scale="log", claimed_by="The thesis")
BOUND = "bound for TS-N only"


def experiments(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> tuple[Experiment, Experiment]:
    """Return both experiments: four algorithms on seven graphs, and a private algorithm with increasing feedback.

    The second has ten times as many rounds, and at most 60 games of each algorithm.
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    size: dict[str, Any] = {"n_arms": N_ARMS, "degree": DEGREE}
    graphs = tuple(
        GameSpec(name, title, "DPBandit-Graph-v0", {"graph": name, **(size if name in RANDOM else {})})
        for name, title in (RANDOM | SOCIAL).items()
    )
    algorithms = tuple(AlgorithmSpec(name) for name in ALGORITHMS)
    revealed = tuple(
        GameSpec(
            revealing(most),
            f"{most} gain{'s' if most > 1 else ''} revealed in a round",
            "DPBandit-Graph-v0",
            {"graph": "complete", "n_arms": PRIVATE_ARMS, "max_revealed": most},
        )
        for most in REVEALED
    )
    levels = (
        *(AlgorithmSpec(PRIVATE, {"epsilon": epsilon}, label_at(epsilon)) for epsilon in LEVELS),
        AlgorithmSpec(FREE, {}, label_at(None)),
    )
    longer, fewer = horizon * (PRIVATE_HORIZON // HORIZON), min(trials, PRIVATE_TRIALS)
    return (
        Experiment("graphs", graphs, algorithms, horizon, trials, seed, checkpoints="log"),
        Experiment("feedback", revealed, levels, longer, fewer, seed, checkpoints="log"),
    )


def label_at(epsilon: float | None) -> str:
    """Return the label of the private algorithm at a level; None means no privacy."""
    return "no privacy" if epsilon is None else f"epsilon = {epsilon:g}"


def revealing(most: int) -> str:
    """Return the key of the panel with at most `most` revealed gains per round."""
    return f"revealed-{most:02d}"


def study(*, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Study:
    """Return the study: experiments, figure and report; arguments as for `experiments`."""
    return Study(
        name="figure-graph",
        title="Thompson sampling with graph feedback, and privacy for it",
        experiments=experiments(horizon=horizon, trials=trials, seed=seed),
        view=VIEW,
        notes=notes,
        claims=claims.judged,
        numbers=lambda results: _numbers(results[1]),
        draw=draw,
    )


def notes(results: Sequence[Results]) -> list[Note]:
    """Return the notes that precede the results."""
    sources = "; ".join(f"{SOCIAL[name]}: {source}" for name, (_, source) in REAL.items())
    text = (
        "Arms pay coins, and each game draws the arms' means uniformly from [0, 1], so that the mean of the"
        f" pseudo-regret is the Bayesian regret. Random graphs ({N_ARMS} arms, mean degree {DEGREE}) are redrawn in"
        " each game. **Sizes, horizon and number of games are ours:** our sources do not state those of the thesis'"
        f" experiments. Real graphs: {sources}.\n\nThe bound is sqrt(chi H T / 2) for TS-N, with chi the size of a"
        " clique cover found greedily (the smallest cover may be smaller, and so the bound), and H = ln K the entropy"
        " of the best arm under this prior.\n\nThe second experiment is about privacy: a complete graph of"
        f" {PRIVATE_ARMS} arms. A round reveals the gain of the arm played and those of random others; {PRIVATE}"
        " has the same epsilon everywhere, so its noise grows with what a round reveals."
    )
    return [Note(text), *warn_if_smaller(results[0], HORIZON, TRIALS)]


def draw(results: Sequence[Results], columns: int | None = None, note: bool = True) -> "dict[str, Figure]":
    """Draw regret on each graph, and the cost of feedback under privacy; all axes are logarithmic."""
    graphs, feedback = results
    notes = {
        "graphs": "Means of arms are uniform in [0, 1], drawn in each game. The bound is that of TS-N and of no other"
        " algorithm: sqrt(chi H t / 2), chi cliques of a greedy cover, H = ln K",
        "feedback": f"{PRIVATE} has the same epsilon whatever a round reveals, so its noise grows with that",
    }
    panels = {
        "graphs": [_on_graph(graphs, panel) for panel in graphs.experiment.games],
        "feedback": [_over_revealed(feedback)],
    }
    return {
        name: curves_figure(
            of_figure,
            across=ROUND,
            measure="Bayesian regret (gain)",
            band=VIEW.band,
            x_scale="log",
            y_scale=VIEW.scale,
            note=notes[name],
            columns=columns,
            appearance=PLAIN._replace(note=note),
        )
        for name, of_figure in panels.items()
    }


def _on_graph(results: Results, spec: GameSpec) -> Panel:
    rounds = results.rounds(spec.key)
    return regret_panel(results, spec, VIEW)._replace(
        title=f"{spec.title}, {results.experiment.make_game(spec).n_arms} arms",
        references=[Reference(BOUND, rounds, bound(results, spec, rounds))],
    )


def _over_revealed(results: Results) -> Panel:
    revealed = np.array(REVEALED)
    curves = [
        Curve(PRIVATE, f"{PRIVATE} (eps {level:g})", revealed, by_feedback(results, label_at(level)), f"{level:g}")
        for level in LEVELS
    ]
    curves.append(Curve(FREE, f"{FREE} {NO_PRIVACY}", revealed, by_feedback(results, label_at(None))))
    horizon = int(results.rounds(revealing(REVEALED[0]))[-1])
    title = f"complete graph, {PRIVATE_ARMS} arms, T = {horizon:,}"
    return Panel(title, curves, across="gains revealed in a round")


def bound(results: Results, spec: GameSpec, rounds: IntArray) -> FloatArray:
    """Return sqrt(chi H t / 2) at each round, shape `(rounds,)`, averaged over the graphs of the first games."""
    game = results.experiment.make_game(spec)
    assert isinstance(game, GraphEnv)
    games = range(min(20, results.experiment.trials)) if spec.key in RANDOM else range(1)
    seed, roots = results.experiment.seed, []
    assert seed is not None
    for trial in games:
        game.source.begin(stream(seed, trial=trial, role=GRAPH))
        roots.append(math.sqrt(len(game.graph.clique_cover)))
    means: FloatArray = np.mean(roots) * np.sqrt(math.log(game.n_arms) * np.asarray(rounds, dtype=float) / 2)
    return means


def by_feedback(results: Results, label: str) -> FloatArray:
    """Return the regret after the last round for each number of gains revealed, shape `(trials, numbers)`."""
    columns = [results.regret(revealing(most), label, VIEW.measure)[:, -1] for most in REVEALED]
    return np.stack(columns, axis=1)


def _numbers(results: Results) -> dict[str, Numbers]:
    """Return mean regret for each number of revealed gains over that for one, by level; and the largest by noise."""
    quoted: dict[str, Numbers] = {}
    for epsilon in (*LEVELS, None):
        means = by_feedback(results, label_at(epsilon)).mean(axis=0)
        quoted[f"feedback over one/{label_at(epsilon)}"] = {
            str(most): float(mean / means[0]) for most, mean in zip(REVEALED, means, strict=True)
        }
    partial = [
        quoted[f"feedback over one/{label_at(epsilon)}"][str(most)]
        for epsilon in LEVELS
        if epsilon <= 1
        for most in REVEALED[1:-1]
    ]
    return {**quoted, "feedback over one/partial, epsilon at most 1": {"most": max(partial)}}


claims = Claims()


def _less_regret(results: Results, better: str, worse: str) -> Judgement:
    differences, errors = {}, {}
    for spec in results.experiment.games:
        regrets = [results.regret(spec.key, name, VIEW.measure)[:, -1] for name in (worse, better)]
        mean, error = mean_and_standard_error(regrets[0] - regrets[1])
        differences[spec.title] = Estimate(float(mean), float(error))
        errors[spec.title] = in_standard_errors(regrets[0] - regrets[1])
    words = {title: f"{one.value:,.1f} ± {1.96 * one.error:,.1f}" for title, one in differences.items()}
    behind = [title for title, one in errors.items() if one < -DECISIVE_ERRORS]
    close = [title for title, one in errors.items() if abs(one) <= DECISIVE_ERRORS]
    return Judgement(
        all_ahead(errors.values()),
        differences,
        f"Bayesian regret of {worse} minus that of {better}, with its 95% interval: {with_names(words)}",
        yes="on all graphs",
        no=f"not on {' and '.join(behind)}",
        unknown=f": too close on {' and '.join(close)}",
    )


claims("TS-N, which ignores the graph, outperforms UCB-MaxN, which exploits it.")(
    functools.partial(_less_regret, better="TS-N", worse="UCB-MaxN")
)
claims("It is always better to play the best arm that reveals the one drawn.")(
    functools.partial(_less_regret, better="TS-MaxN", worse="TS-N")
)


@claims("The Bayesian regret of TS-N is at most of order sqrt(chi T / 2).")
def _bayesian_bound(results: Results) -> Judgement:
    shares, printed = {}, {}
    for spec in results.experiment.games:
        mean, _ = mean_and_standard_error(results.regret(spec.key, "TS-N", VIEW.measure))
        shares[spec.title] = float(np.max(mean / bound(results, spec, results.rounds(spec.key))))
        entropy = math.log(results.experiment.make_game(spec).n_arms)
        printed[spec.title] = shares[spec.title] * math.sqrt(entropy)
    over = [title for title, share in shares.items() if share > 1]
    return Judgement(
        NO if over else YES,
        shares,
        "largest share of the bound with the entropy of the best arm, at any round:"
        f" {with_names({title: f'{share:.2f}' for title, share in shares.items()})}; without the entropy, as printed:"
        f" {with_names({title: f'{share:.2f}' for title, share in printed.items()})}",
        yes="with the factor H, the entropy of the best arm, which the proof of Russo and Van Roy needs and the"
        " statement leaves out",
        no=f"over it on {' and '.join(over)}",
    )


@claims("Feedback pays for the noise that it costs (a question that the thesis leaves open).", of=(1,))
def _feedback(results: Results) -> Judgement:
    means, partial, whole, is_whole_better = {}, {}, {}, {}
    for label in map(label_at, (*LEVELS, None)):
        regret = by_feedback(results, label)
        means[label] = tuple(float(mean) for mean in regret.mean(axis=0))
        # By how much feedback is ahead of that of the arm played alone, in standard errors.
        partial[label], whole[label] = (in_standard_errors(regret[:, 0] - regret[:, last]) for last in (-2, -1))
        is_whole_better[label] = clearly_above(regret[:, -2] - regret[:, -1])
    pays = [label for label in means if min(partial[label], whole[label]) > DECISIVE_ERRORS]
    costs = [label for label in means if partial[label] < -DECISIVE_ERRORS]
    only_whole = [label for label in means if label not in costs and whole[label] < -DECISIVE_ERRORS]
    means_in_words = {label: " / ".join(f"{mean:,.0f}" for mean in of_label) for label, of_label in means.items()}
    return Judgement(
        NO if costs or only_whole else YES if pays else UNDECIDED,
        means,
        f"mean regret with {' / '.join(map(str, REVEALED))} of {PRIVATE_ARMS} gains revealed in a round:"
        f" {with_names(means_in_words)}",
        yes=f"at every level with a clear difference ({', '.join(pays)})",
        no=_why_feedback_costs(pays, costs, only_whole, all(is_whole_better[label] for label in costs)),
        unknown=": too close at every level",
    )


def _why_feedback_costs(
    pays: Sequence[str], costs: Sequence[str], only_whole: Sequence[str], is_whole_better: bool
) -> str:
    reasons = [
        f"it depends on what limits learning. It pays at {', '.join(pays)}, where chance does"
        if pays
        else "it pays at no level"
    ]
    if only_whole:
        reasons.append(f"full information, not partial feedback, costs at {', '.join(only_whole)}")
    if costs:
        reasons.append(
            f"partial feedback costs at {', '.join(costs)}, where noise does: s gains a round"
            " are s times the noise, so an arm needs s times the gains, and an arm whose neighbours are played is"
            " seen at rounds that do not need it"
        )
    better = ". Full information is better than partial again, as the best arm's own rounds reveal everything"
    return "; ".join(reasons) + (better if costs and is_whole_better else "")
