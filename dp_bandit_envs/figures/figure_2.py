"""Figure 2 of Tossou and Dimitrakakis (2016): private UCB algorithms on coins, at two privacy levels."""

import dataclasses
import math
from collections.abc import Iterable, Mapping

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import make_algorithm
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, GameSpec
from dp_bandit_envs.experiments.experiment import Experiment, Results
from dp_bandit_envs.experiments.report import Note, Study, View
from dp_bandit_envs.figures.judging import (
    DECISIVE_ERRORS,
    NO,
    UNDECIDED,
    YES,
    Claims,
    Judgement,
    all_ahead,
    clearly_above,
    errors_ahead,
    in_standard_errors,
    join_names,
    ratio,
    runs_on_a_worse_arm,
    warn_if_smaller,
    with_names,
    yes_or_no,
)
from dp_bandit_envs.metrics import mean_and_standard_error
from dp_bandit_envs.privacy.interval_ends import interval_ends, paper_input, zeta
from dp_bandit_envs.protocols import FloatArray, IntArray

HORIZON = 100_000
TRIALS = 100
EPSILONS = (1.0, 0.1)
TWO_ARMS = (0.9, 0.6)
TEN_ARMS = (0.1, 0.1, 0.1, 0.1, 0.2, 0.55, 0.1, 0.1, 0.1, 0.1)
VIEW = View(measure="pseudo_regret", centre="mean", scale="log", columns=2, first_round=100)
UCB, PRIVATE_UCB, DP_UCB_BOUND, DP_UCB, DP_UCB_INT = "UCB", "Private-UCB", "DP-UCB-BOUND", "DP-UCB", "DP-UCB-INT"
OWN = (DP_UCB_BOUND, DP_UCB, DP_UCB_INT)
"""The algorithms that the paper introduces."""
MODERN = {"DP-SE": 0, "AdaP-KLUCB": 1000, "Lazy-DP-TS": 0, "DP-KLUCB": 1000, "DP-IMED": 1000}
"""Algorithms published since, with their least number of games: a few bad games in a thousand decide DP-IMED's mean.

The regret of those with 0 hardly differs between games, or a game of theirs takes up to 30 ms.
"""
SAID_GAP, SAID_PRIVATE_GAP = 664.5, 30_000.0
FEW = 20
"""Least number of runs for comparing the gap between best and worst run with the gap of 100 runs."""
FAR = 10**6
"""An upper bound on the pulls before an arm's first release."""


def experiment(*, modern: bool = False, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Experiment:
    """Return the paper's experiment: two games at two privacy levels; `modern` adds algorithms published since.

    From 100 trials on, AdaP-KLUCB, DP-KLUCB and DP-IMED play 1,000.
    """
    specs = tuple(
        GameSpec(
            key=f"{len(means)}-arms-epsilon-{epsilon:g}",
            title=f"{len(means)} arms, epsilon = {epsilon:g}",
            env_id="DPBandit-Stochastic-v0",
            env_kwargs={"means": list(means)},
            algorithms=_algorithm_specs(epsilon, modern, more=trials >= TRIALS),
        )
        for means in (TWO_ARMS, TEN_ARMS)
        for epsilon in EPSILONS
    )
    horizon = checks.integer("horizon", horizon, at_least=1)
    return Experiment("figure-2", specs, (), horizon, trials, seed, checkpoints="log")


def _algorithm_specs(epsilon: float, modern: bool, more: bool) -> tuple[AlgorithmSpec, ...]:
    five = (
        AlgorithmSpec(UCB),
        AlgorithmSpec(PRIVATE_UCB, {"epsilon": epsilon, "constants": "paper"}),
        AlgorithmSpec(DP_UCB_BOUND, {"epsilon": epsilon}),
        AlgorithmSpec(DP_UCB, {"epsilon": epsilon}),
        AlgorithmSpec(DP_UCB_INT, {"epsilon": epsilon, "delta": math.exp(-10), "v": 1.1}),
    )
    since = [AlgorithmSpec(name, {"epsilon": epsilon}, trials=most * more) for name, most in MODERN.items()]
    return (*five, *since) if modern else five


def study(*, modern: bool = False, horizon: int = HORIZON, trials: int = TRIALS, seed: int = 0) -> Study:
    """Return the study: experiments, figure and report; arguments as for `experiment`."""
    return Study(
        name="figure-2-modern" if modern else "figure-2",
        title="Figure 2 of Algorithms for Differentially Private Multi-Armed Bandits (AAAI 2016)",
        experiments=(experiment(modern=modern, horizon=horizon, trials=trials, seed=seed),),
        view=VIEW,
        notes=lambda results: notes(results[0]),
        claims=claims.judged,
    )


def notes(results: Results) -> list[Note]:
    """Return the notes that precede the results, with the best of the modern algorithms, if they play."""
    text = (
        "Regret is pseudo-regret, each round's difference in mean between the best arm and the arm played: the paper's"
        " definition without the randomness of the gains. The algorithms are the paper's with its privacy errors"
        " corrected, so that each has the epsilon in the panel's title (DP-UCB-INT at delta = e^-10, with the"
        " intervals of lemma B.1). Private-UCB is the algorithm of Mishra and Thakurta (2015) with the constants as"
        " printed and the failure probability t^-4 of this paper. The same games are played at both levels. With two"
        " arms the best arm is the first. Algorithms that play each arm until its first release begin with it, so their"
        " lines begin where they leave it."
    )
    listed = [Note(text), *warn_if_smaller(results, HORIZON, TRIALS)]
    modern = [name for name in results.names if name in MODERN]
    if modern:
        least = []
        for game in _games(results):
            names = results.names_in(game.spec)
            means = {name: mean_and_standard_error(game.last(name)) for name in names}
            best = min((name for name in names if name != UCB), key=lambda name: means[name][0])
            mean, error = means[best]
            least.append(f"{game.spec.title}: {best}, {mean:,.1f} ± {error:,.1f} against {means[DP_UCB_INT][0]:,.1f}")
        listed.append(
            Note(
                f"Added to the paper's algorithms: {', '.join(modern)}. Smallest mean regret of all private algorithms,"
                f" against DP-UCB-INT's: {'; '.join(least)}."
            )
        )
    return listed


@dataclasses.dataclass(frozen=True, eq=False)
class GameResults:
    """The results of one game at one privacy level, and the paper's theorems for it."""

    results: Results
    spec: GameSpec

    @property
    def epsilon(self) -> float:
        """The privacy level."""
        return self.settings(DP_UCB_INT)["epsilon"]

    @property
    def level(self) -> str:
        """The privacy level in a sentence."""
        return f"epsilon = {self.epsilon:g}"

    @property
    def name(self) -> str:
        """The game in a sentence, such as "2 arms at epsilon = 1"."""
        return f"{len(self.means)} arms at {self.level}"

    @property
    def means(self) -> FloatArray:
        """The arms' means."""
        return np.array(self.spec.env_kwargs["means"], dtype=float)

    @property
    def rounds(self) -> IntArray:
        """The checkpoints."""
        return self.results.rounds(self.spec.key)

    @property
    def horizon(self) -> int:
        """The number of rounds T."""
        return int(self.rounds[-1])

    @property
    def most(self) -> float:
        """T times the largest gap: no regret exceeds it."""
        return self.horizon * float(self.means.max() - self.means.min())

    def curve(self, name: str) -> FloatArray:
        """Return an algorithm's pseudo-regret, shape `(trials, checkpoints)`."""
        return self.results.regret(self.spec.key, name, VIEW.measure)

    def last(self, name: str) -> FloatArray:
        """Return the pseudo-regret after the last round, shape `(trials,)`."""
        ends: FloatArray = self.curve(name)[:, -1]
        return ends

    def realised(self, name: str) -> FloatArray:
        """Return T times the best mean minus the collected gains: equation (2.1) without the expectation."""
        collected = self.results.arrays[f"{self.spec.key}/{name}/collected"][:, -1]
        regret: FloatArray = self.horizon * self.means.max() - collected
        return regret

    def ahead(self, better: str, worse: str) -> float:
        """Return the advantage in regret of `better` in the same games, in standard errors."""
        return errors_ahead(self.results, self.spec.key, better, worse, VIEW.measure)

    @property
    def lost(self) -> int:
        """The number of runs of DP-UCB-INT that play a worse arm until the end."""
        return runs_on_a_worse_arm(self.results, self.spec, DP_UCB_INT)

    def settings(self, name: str) -> Mapping[str, float]:
        """Return an algorithm's parameters."""
        assert self.spec.algorithms is not None
        return next(one.parameters for one in self.spec.algorithms if one.name == name)

    def guaranteed(self, name: str, **changes: str) -> float:
        """Return the epsilon that an algorithm guarantees, with some of its parameters changed."""
        algorithm = make_algorithm(name, **{**self.settings(name), **changes})
        return algorithm.guarantee(n_arms=len(self.means), horizon=self.horizon).epsilon

    @property
    def input_epsilon(self) -> float:
        """The input parameter of DP-UCB-INT by corollary 3.2."""
        settings = self.settings(DP_UCB_INT)
        return paper_input(settings["epsilon"], settings["delta"], settings["v"])

    @property
    def first_release(self) -> int:
        """The number of pulls before DP-UCB-INT's first release of an arm's mean, f_0 of lemma B.1."""
        return int(interval_ends(self.input_epsilon, self.settings(DP_UCB_INT)["v"], FAR, "lemma")[0])

    @property
    def pulls_of_a_bonus_above_one(self) -> float:
        """The largest number of pulls with a noise bonus of Private-UCB above 1, at failure probability t^-4.

        Source: Mishra and Thakurta (2015), algorithm 1: K ln^2 T ln(K T ln T / gamma) / epsilon.
        """
        k, t, log = len(self.means), self.horizon, max(math.log(self.horizon), 1.0)
        return k * log**2 * math.log(k * log * float(t) ** 5) / self.epsilon

    @property
    def printed_bounds(self) -> dict[str, float]:
        """The bounds of theorems 3.2, 3.3 and 3.5 as printed, with the lambda_0 that minimises 3.2."""
        t, epsilon, gaps = self.horizon, self.epsilon, (self.means.max() - self.means)[self.means < self.means.max()]
        log, splits = math.log(t), np.linspace(0.01, 0.99, 99)
        b = math.sqrt(8) / (epsilon * (1 - splits)) * math.log(4 * float(t) ** 4)
        leading_term = np.maximum(b * (np.log(b) + 7), 8 * log / (splits**2 * gaps[:, None])).sum(axis=0).min()
        c = 56 * (2 + math.sqrt(3.5)) * math.sqrt(log) / epsilon
        squared = (c * (math.log(c) + 7)) ** 2 if c > 0 else 0.0
        tail = 4 * zeta(1.5)
        return {
            DP_UCB_BOUND: float(leading_term + (gaps * (1 + 2 * math.pi**2 / 3)).sum()),
            DP_UCB: float((gaps * (np.maximum(squared, 8 * log / gaps**2) + 1 + tail)).sum()),
            DP_UCB_INT: float((gaps * (self.first_release + 8 * log / gaps**2 + 1 + tail)).sum()),
        }


def _games(results: Results) -> list[GameResults]:
    return [GameResults(results, spec) for spec in results.experiment.games]


WHY_INT = (
    "the printed algorithm draws new noise on the same mean in every round that its arm waits, which averages the noise"
    " out and protects nothing; here each release has one draw, so a bad one on the best arm hides it for long, in"
    " a few runs for the rest of the game"
)
WHY_DP_UCB_LOSES = (
    "DP-UCB feeds a 0 to every counter in every round, so that its noise grows with the rounds t and not, as in the"
    " proof of theorem 3.3, with the pulls n of an arm, and it has no bonus against it"
)
WHY_SHARE = (
    "it divides epsilon by the number of arms, though a gain enters the sum of one arm only: what it really guarantees"
    " is epsilon / K, which asks more of it than of the others"
)
WHY_GROWS = (
    "theorem 3.5 needs the noise n^(v/2 - 1) to be below the bonus sqrt(2 ln t / n) and solves that for n the wrong way"
    " round: for v > 1 the noise falls more slowly than the bonus, so no n meets it"
)
WHY_BOUNDS = (
    "the proofs have gaps all the same. Theorem 3.2 has lost a factor of 2 between (A.12) and (3.1) and a 1/gap inside"
    f" its logarithm, and rests on half the noise; 3.3 on noise that grows with pulls, not rounds; and {WHY_GROWS}"
)
claims = Claims()


def _shown(numbers: Mapping[str, Mapping[str, float]], form: str) -> str:
    return with_names({name: form.format(**entry) for name, entry in numbers.items()})


def _lost(games: Iterable[GameResults]) -> str:
    """Return the number of lost runs of DP-UCB-INT in words; "" for none."""
    counts = {game: game.lost for game in games}
    runs = {game.name: f"{count} of {game.results.experiment.trials} runs" for game, count in counts.items() if count}
    verb = "stays" if sum(counts.values()) == 1 else "stay"
    return f"{with_names(runs)} {verb} with a worse arm to the end" if runs else ""


def _spread(sample: FloatArray) -> float:
    return float(sample.max() - sample.min())


@claims("The performance of DP-UCB-INT is significantly better than all other private algorithms.")
def _best_of_the_private(results: Results) -> Judgement:
    others = (PRIVATE_UCB, DP_UCB_BOUND, DP_UCB)
    games = {game.name: game for game in _games(results)}
    numbers = {
        name: {
            "median": float(np.median(game.last(DP_UCB_INT))),
            "mean": float(game.last(DP_UCB_INT).mean()),
            "greatest": float(game.last(DP_UCB_INT).max()),
            "least_other": min(float(game.last(name).mean()) for name in others),
            "errors": min(game.ahead(DP_UCB_INT, name) for name in others),
        }
        for name, game in games.items()
    }
    behind = [name for name, one in numbers.items() if not one["errors"] > DECISIVE_ERRORS]
    lost = _lost(games[name] for name in behind)
    form = "{median:,.0f} / {mean:,.0f} / {greatest:,.0f} against {least_other:,.0f}"
    return Judgement(
        all_ahead(one["errors"] for one in numbers.values()),
        numbers,
        f"median / mean / greatest regret of DP-UCB-INT, and the least mean of the others: {_shown(numbers, form)}",
        yes="in all four panels",
        no=f"not for {join_names(behind)}: {WHY_INT}",
        unknown=f" for {join_names(behind)}" + (f". {lost}: {WHY_INT}" if lost else ""),
    )


@claims("The gap between the regret of DP-UCB-INT and the non-private UCB does not increase with time.")
def _gap_to_ucb(results: Results) -> Judgement:
    numbers = {}
    for game in _games(results):
        # The first checkpoint after all arms have a release and a tenth of the game has passed.
        since = max(game.first_release * len(game.means), game.horizon / 10)
        start = min(int(np.searchsorted(game.rounds, since)), len(game.rounds) - 1)
        gap = game.curve(DP_UCB_INT) - game.curve(UCB)
        growth = gap[:, -1] - gap[:, start]
        numbers[game.name] = {
            "round": int(game.rounds[start]),
            "first": float(gap[:, start].mean()),
            "last": float(gap[:, -1].mean()),
            "grows": clearly_above(growth),
            "flat": clearly_above(0.1 * abs(gap[:, -1].mean()) - growth),
            "lost": game.lost,
        }
    growing = [name for name, one in numbers.items() if one["grows"]]
    reasons = [f"it grows for {join_names(growing)}"] if growing else []
    lost = _lost(_games(results))
    reasons += [f"{lost}, where it grows with t itself"] if lost else []
    flat = all(one["flat"] for one in numbers.values())
    return Judgement(
        NO if reasons else YES if flat else UNDECIDED,
        numbers,
        "mean gap, once all arms have a release:"
        f" {_shown(numbers, '{first:,.0f} at t = {round:,} and {last:,.0f} at T')}",
        yes="from there on it grows by less than a tenth",
        no=f"{' and '.join(reasons)}: {WHY_GROWS}, and with one draw of noise the best arm can be hidden",
    )


@claims("DP-UCB is better than DP-UCB-BOUND for small time steps.")
def _early_order(results: Results) -> Judgement:
    numbers = {game.name: _early(game) for game in _games(results)}
    behind = [name for name, one in numbers.items() if not -one["most"] - one["before"] > 0]
    unclear = any(math.isnan(one["most"]) for one in numbers.values())
    leads = {
        name: f"{-100 * row['most']:.0f}% less at t = {row['round']:,}, after at most {100 * row['before']:.0f}% more"
        if row["most"] < 0
        else "never less"
        for name, row in numbers.items()
    }
    return Judgement(
        YES if not behind else UNDECIDED if unclear else NO,
        numbers,
        f"regret of DP-UCB beside DP-UCB-BOUND, where clear: {with_names(leads)}",
        yes="it has no bonus for noise, which DP-UCB-BOUND pays for at first",
        no=f"not for {join_names(behind)}, where the two cross several times: DP-UCB-BOUND goes in steps, as its"
        f" bonus is least where a count is a power of two, and {WHY_DP_UCB_LOSES}",
    )


def _early(game: GameResults) -> dict[str, float]:
    """Return the round of DP-UCB's largest clear advantage, this advantage, and its largest earlier disadvantage.

    Both are its regret over DP-UCB-BOUND's, minus 1; the first is NaN, at round 0, if no difference is clear.
    """
    dp_ucb, dp_ucb_bound = game.curve(DP_UCB), game.curve(DP_UCB_BOUND)
    clear = [
        at
        for at in range(len(game.rounds))
        if abs(in_standard_errors(dp_ucb_bound[:, at] - dp_ucb[:, at])) > DECISIVE_ERRORS
    ]
    if not clear:
        return {"round": 0, "most": math.nan, "before": 0.0}
    more = {at: ratio(dp_ucb[:, at].mean(), dp_ucb_bound[:, at].mean()) - 1 for at in clear}
    best = min(more, key=more.__getitem__)
    before = max((value for at, value in more.items() if at < best), default=0.0)
    return {"round": int(game.rounds[best]), "most": more[best], "before": max(before, 0.0)}


@claims("As the time step increases, DP-UCB-BOUND outperforms DP-UCB.")
def _late_order(results: Results) -> Judgement:
    numbers = {
        game.name: {
            "ratio": ratio(game.last(DP_UCB).mean(), game.last(DP_UCB_BOUND).mean()),
            "errors": game.ahead(DP_UCB_BOUND, DP_UCB),
        }
        for game in _games(results)
    }
    behind = [name for name, one in numbers.items() if not one["errors"] > DECISIVE_ERRORS]
    return Judgement(
        all_ahead(one["errors"] for one in numbers.values()),
        numbers,
        f"mean regret of DP-UCB over that of DP-UCB-BOUND at T: {_shown(numbers, '{ratio:.2f}')}",
        yes=f"in all four panels: {WHY_DP_UCB_LOSES}",
        no=f"not by T = {_games(results)[0].horizon:,} for {join_names(behind)}: lemma B.2 gives both parts of the"
        " hybrid mechanism all of epsilon, which is 2 epsilon; with half each, noise and bonus are twice as large, so"
        " that it still explores",
    )


@claims("Private-UCB performs worse than all other algorithms.")
def _private_ucb_order(results: Results) -> Judgement:
    numbers, worse, least = {}, [], []
    for game in _games(results):
        in_turn = float(game.horizon * (game.means.max() - game.means.mean()))
        errors = {one: game.ahead(one, PRIVATE_UCB) for one in (UCB, *OWN)}
        numbers[game.name] = {"over_in_turn": ratio(game.last(PRIVATE_UCB).mean(), in_turn), **errors}
        worse += [f"{name} ({game.name})" for name, each in errors.items() if each < -DECISIVE_ERRORS]
        least.append(min(errors.values()))
    return Judgement(
        all_ahead(least),
        numbers,
        f"its mean regret over that of playing all arms in turn: {_shown(numbers, '{over_in_turn:.2f}')}",
        yes=f"in all four panels: its bonus outweighs the differences between the arms. But {WHY_SHARE}",
        no=f"worse than it: {join_names(worse)}. Its bonus makes it play all arms in turn, which costs less than"
        f" leaving the best arm for good. Besides, {WHY_SHARE}",
    )


@claims(
    f"With 2 arms the difference between the best and the worst regret of 100 runs is under {SAID_GAP} for all"
    " its algorithms and UCB."
)
def _spread_of_own(results: Results) -> Judgement:
    two = _games(results)[:2]
    numbers = {
        f"{name}, {game.level}": {"realised": _spread(game.realised(name)), "without_luck": _spread(game.last(name))}
        for game in two
        for name in (UCB, *OWN)
    }
    over = [name for name, one in numbers.items() if not one["realised"] < SAID_GAP]
    horizon, best = two[0].horizon, two[0].means.max()
    luck = math.sqrt(horizon * best * (1 - best))
    return Judgement(
        NO if over else YES if results.experiment.trials >= FEW else UNDECIDED,
        numbers,
        "best-worst gap with the luck of the gains, as in the paper's equation (2.1) / without:"
        f" {_shown(numbers, '{realised:,.0f} / {without_luck:,.0f}')}",
        yes=f"but most of such a gap is the luck of {horizon:,} coins, whose standard deviation is {luck:,.0f}",
        no=f"over it: {join_names(over)}. {luck:,.0f} is the standard deviation of {horizon:,} coins alone,"
        " and where noise is drawn once, not in every round, a bad draw lasts",
    )


@claims(f"With 2 arms this gap reaches {SAID_PRIVATE_GAP:,.0f} for Private-UCB.")
def _spread_of_private_ucb(results: Results) -> Judgement:
    two = _games(results)[:2]
    numbers = {
        f"2 arms at {game.level}": {
            "spread": _spread(game.realised(PRIVATE_UCB)),
            "mean": float(game.last(PRIVATE_UCB).mean()),
            "pulls": game.pulls_of_a_bonus_above_one,
        }
        for game in two
    }
    reached = max(one["spread"] for one in numbers.values()) >= 0.9 * SAID_PRIVATE_GAP
    same = [game.level for game in two if _spread(game.realised(DP_UCB_INT)) >= 0.9 * two[0].most]
    return Judgement(
        YES if reached else NO if results.experiment.trials >= FEW else UNDECIDED,
        numbers,
        f"best-worst gap: {_shown(numbers, '{spread:,.0f}')}; mean regret: {_shown(numbers, '{mean:,.0f}')}",
        yes="in at least one pair of runs",
        no=f"as T times the gap of the means is {two[0].most:,.0f}, one run would have to be perfect and another"
        " entirely wrong. With the constants as printed and failure probability t^-4 the bonus is above 1 until an arm"
        f" was played {_shown(numbers, '{pulls:,.0f}')} times, so all runs play the arms in turn alike at first; only a"
        " smaller bonus lets the noise of the first pulls decide a run"
        + (f". It is DP-UCB-INT that has such a gap here ({join_names(same)})" if same else ""),
    )


@claims("DP-UCB-INT has optimal regret, O(1/epsilon + log T): that of UCB and an additive constant.", fewest=0)
def _optimal_regret(results: Results) -> Judgement:
    games = _games(results)
    inverse = {game.level: 1 / game.input_epsilon for game in games}
    waits = {game.name: min(game.first_release * len(game.means), game.horizon) for game in games}
    inverse_words = with_names({level: f"{one:,.0f}" for level, one in inverse.items()})
    waits_words = with_names({name: f"{one:,}" for name, one in waits.items()})
    return Judgement(
        yes_or_no(all(inverse[game.level] <= 2 / game.epsilon for game in games)),
        {"inverse_inputs": inverse, "waits": waits},
        f"1 / (input epsilon of corollary 3.2): {inverse_words}; rounds in turn before every arm has a release:"
        f" {waits_words}",
        yes="the input is about the epsilon that is guaranteed",
        no="the theorem's epsilon is the input, and 1 / input is of order ln(1/delta) / epsilon^2 for the epsilon"
        " that is guaranteed, in each arm; nor is the part with T that of UCB (see the gap above)",
    )


@claims("Experiments clearly validate the theoretical bounds (theorems 3.2, 3.3 and 3.5).")
def _bounds_as_printed(results: Results) -> Judgement:
    bounds = [(game, name, bound) for game in _games(results) for name, bound in game.printed_bounds.items()]
    above = [
        f"{name} has {game.last(name).mean():,.0f} over {bound:,.0f} ({game.name})"
        for game, name, bound in bounds
        if game.last(name).mean() > bound
    ]
    # More than chance explains.
    broken = any(clearly_above(game.last(name) - bound) for game, name, bound in bounds)
    telling = sum(bound < game.most for game, _, bound in bounds)
    return Judgement(
        NO if broken else UNDECIDED if above else YES,
        {"bounds": len(bounds), "above": len(above), "telling": telling},
        f"{len(bounds) - len(above)} of {len(bounds)} mean regrets are under their printed bound; {telling} bounds are"
        " under T times the largest gap, so that they can fail at all" + (f"; {join_names(above)}" if above else ""),
        yes=f"as far as experiments can validate upper bounds: {WHY_BOUNDS}",
        no=WHY_BOUNDS,
        unknown=f", as single runs decide the mean: {WHY_BOUNDS}",
    )


@claims("DP-UCB-BOUND and DP-UCB are epsilon-differentially private for input epsilon (theorem 3.1).", fewest=0)
def _hybrid_privacy(results: Results) -> Judgement:
    game = _games(results)[0]
    claimed, printed, here = game.epsilon, game.guaranteed(DP_UCB_BOUND, budget="paper"), game.guaranteed(DP_UCB_BOUND)
    return Judgement(
        yes_or_no(printed <= claimed),
        {"claimed": claimed, "printed": printed, "here": here},
        f"for input {claimed:g}, as printed epsilon = {printed:g}; here {here:g}",
        no="lemma B.2 gives both parts of the hybrid mechanism all of epsilon, and a gain is in both, which is"
        " 2 epsilon; here each part has half",
    )


@claims("DP-UCB-INT with the input of corollary 3.2 is (epsilon', delta')-differentially private.", fewest=0)
def _interval_privacy(results: Results) -> Judgement:
    two = _games(results)[:2]
    printed = two[0].guaranteed(DP_UCB_INT, mode="redraw")
    here = {game.epsilon: game.guaranteed(DP_UCB_INT) for game in two}
    delta = two[0].settings(DP_UCB_INT)["delta"]
    printed_guarantee = "no epsilon is guaranteed" if math.isinf(printed) else f"epsilon = {printed:.3g}"
    targets = with_names({f"target {target:g}": f"{epsilon:.3g}" for target, epsilon in here.items()})
    return Judgement(
        yes_or_no(printed <= two[0].epsilon),
        {"printed": printed, "here": here},
        f"as printed, {printed_guarantee}; here epsilon = {targets} at delta = {delta:.2g}",
        no="the proof counts one draw of noise for each release, and the printed algorithm draws it anew in every"
        " round while the count of its arm does not change; with one draw, as here, it holds by a wide margin",
    )
