"""A gallery of broken parts: each with its repaired twin, the audit that tells them apart, and what an attacker sees.

None of them is in a table of mechanisms or algorithms, so no name leads to one; each says that it is broken in its own.

    from dp_bandit_envs.audits import exact_loss
    from dp_bandit_envs.audits.gallery import LESSONS

    lesson = LESSONS["hybrid budget"]
    exact_loss(lesson.broken(1.0), environment=lesson.game()).epsilon    # 2: it declares 1
    exact_loss(lesson.repaired(1.0), environment=lesson.game()).epsilon  # 1

`dp-bandit audit --gallery` runs every audit on both.
"""

import copy
import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, SupportsFloat, TypeVar

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents.exp3 import Exp3, State, probability
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.hedge import draw_weighted
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits.exact import exact_loss
from dp_bandit_envs.audits.floats import float_loss
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.observations import Gains
from dp_bandit_envs.privacy.exp3_privacy import exp3_guarantee
from dp_bandit_envs.privacy.facts import Below, Noise
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.laplace import draw, noise_scale
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import BlockSums, CounterSums, HybridSums, LaplaceClipRescale, block_sums
from dp_bandit_envs.privacy.mechanisms.counter_sums import in_steps
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.wrappers import PrivacyBoundary

Part = TypeVar("Part", bound=type)
Audit = Callable[[Any, Environment], bool]
Wrap = Callable[[Environment], Environment]
ROUNDS = 16


def refuted_exactly(part: Any, game: Environment) -> bool:
    """Whether the exact loss of a mechanism or an algorithm is above its claim."""
    return not exact_loss(part, environment=game).holds


def refuted_in_floats(part: Any, game: Environment) -> bool:
    """Whether some releases are impossible for another gain, with a confidence of 99 %."""
    return not float_loss(part, confidence=0.99, games=1000).holds


class Lesson(NamedTuple):
    """One fault.

    Attributes:
        broken: Makes the broken part for an epsilon: a mechanism, an algorithm, or what puts a boundary around an
            environment.
        repaired: Makes its twin without the fault, which keeps what it claims.
        seen: What an attacker sees, in one sentence.
        game: Makes a game in which the fault shows.
        audit: Whether the audit for this fault refutes a part in that game.
        of: `"mechanism"`, `"algorithm"` or `"boundary"`.
    """

    broken: Callable[[float], Any]
    repaired: Callable[[float], Any]
    seen: str
    game: Callable[[], Environment]
    audit: Audit = refuted_exactly
    of: str = "mechanism"

    def rejects(self, part: Any) -> bool:
        """Whether the audit for this fault refutes a part: exactly, or with a confidence of 99 %."""
        return self.audit(part, self.game())


LESSONS: dict[str, Lesson] = {}
"""The lessons by the name of their fault."""


def two_arms() -> Environment:
    """Return a game with two arms."""
    return BanditEnv(GainTable(np.zeros((ROUNDS, 2))))


def four_rounds() -> Environment:
    """Return a game of two arms whose law can be worked out on all tables."""
    return BanditEnv(GainTable(np.zeros((4, 2))))


def complete_graph() -> Environment:
    """Return a game in which every round reveals the gains of all three arms."""
    made: Any = GraphEnv("complete", n_arms=3, gains=GainTable(np.zeros((ROUNDS, 3))))
    env: Environment = made
    return env


def payoffs_in_both_signs() -> Environment:
    """Return a game whose rounds reveal one payoff in [-1, 1]."""
    env: Environment = gym.make("DPBandit-Ball-v0", dimension=2, horizon=ROUNDS, feedback="bandit")
    return env


def broken_mechanism(
    fault: str,
    seen: str,
    twin: Callable[..., Mechanism],
    game: Callable[[], Environment] = two_arms,
    audit: Audit = refuted_exactly,
) -> Callable[[Part], Part]:
    """Put a broken mechanism, made by `epsilon=`, into the gallery beside its twin."""

    def add(broken: Part) -> Part:
        LESSONS[fault] = Lesson(
            lambda epsilon: broken(epsilon=epsilon), lambda epsilon: twin(epsilon=epsilon), seen, game, audit
        )
        return broken

    return add


# Mechanisms whose noise is wrong: too small, shared, missing, or in plain doubles.


@broken_mechanism(
    "hybrid budget",
    "The logarithmic part and the tree each show the gain once, so the two together show it twice.",
    HybridSums,
)
class BrokenHybridBudget(HybridSums):
    """A hybrid counter in which both parts get all of epsilon: the two together show a gain twice as clearly."""

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, budget="paper")

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Claim epsilon, as if the two parts did not compose."""
        return dataclasses.replace(super().guarantee(below), epsilon=self.epsilon)


@broken_mechanism(
    "tree levels",
    "The first gain is in five nodes of a tree over 16 items, and the noise is for ln 16 = 2.8 of them.",
    functools.partial(CounterSums, counter="binary"),
)
class BrokenTreeLevels(CounterSums):
    """A binary counter whose levels are counted with ln in place of lg: an item is in more nodes than paid for."""

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, counter="binary")

    def new_state(self, below: Below) -> Any:
        """Return the state with the noise of ln T levels."""
        state = super().new_state(below)
        share = max(1.0, math.log(below.horizon)) / below.horizon.bit_length()
        return state._replace(
            counters=in_steps(state.counters, share, 1.0), together=in_steps(state.together, share, 1.0)
        )


@broken_mechanism(
    "range",
    "A payoff of 1 and one of -1 are twice as far apart as the noise was made for.",
    LaplaceClipRescale,
    payoffs_in_both_signs,
)
class BrokenRange(LaplaceClipRescale):
    """Noise of scale 1 / epsilon for values in [-1, 1]: they differ by 2, so the two ends lie 2 epsilon apart."""

    def noise(self, below: Below) -> Noise:
        """Return the scale for values in [0, 1]."""
        return super().noise(below)._replace(scale=noise_scale(1.0, self.epsilon))


class SharedState(NamedTuple):
    """Releases of each arm so far `(n_values,)`, all draws so far `(horizon,)`, their number `(1,)`, and the scale."""

    releases: IntArray
    draws: FloatArray
    drawn: IntArray
    scale: float


def release_with_shared_draw(state: SharedState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release a gain with the draw of that number, which all arms use."""
    number = state.releases[arm]
    if number == state.drawn[0]:
        state.draws[number] = draw(state.scale, rng)
        state.drawn[0] += 1
    state.releases[arm] += 1
    return gain + state.draws[number], 1


@broken_mechanism(
    "shared draw",
    "The first release of arm 0 minus that of arm 1 is the exact difference of their gains.",
    functools.partial(BlockSums, ratio=1),
)
class BrokenSharedDraw(BlockSums):
    """One draw for all arms: the difference of two arms' releases has no noise at all."""

    release: Any = staticmethod(release_with_shared_draw)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1)

    def new_state(self, below: Below) -> Any:
        """Return no draws yet."""
        numbers = np.zeros(below.n_values, np.int64), np.zeros(1, np.int64)
        return SharedState(numbers[0], np.zeros(below.horizon), numbers[1], self.noise(below).scale)


class BatchState(NamedTuple):
    """Sum and number of each arm's gains in its batch `(n_values,)`, gains seen `(1,)`, and the constants of a game."""

    total: FloatArray
    filled: IntArray
    seen: IntArray
    batch_size: int
    horizon: int
    scale: float


def release_last_batch(state: BatchState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release the average of a full batch, and at the end of the game that of the rest."""
    state.total[arm] += gain
    state.filled[arm] += 1
    state.seen[0] += 1
    if state.filled[arm] < state.batch_size and state.seen[0] < state.horizon:
        return 0.0, 0
    average = state.total[arm] / state.filled[arm] + draw(state.scale, rng)
    state.total[arm] = 0.0
    state.filled[arm] = 0
    return average, 1


@broken_mechanism(
    "last batch",
    "The last of 16 rounds is a batch of its own, so its gain has a fifth of the noise that it needs.",
    functools.partial(BlockSums, lengths=[5]),
)
class BrokenLastBatch(Mechanism):
    """The rest of a game is no full batch, but gets the noise of one: the average of one gain is that gain.

    Args:
        epsilon: Privacy parameter, in (0, inf).
        batch_size: Rounds in a batch (tau), at least 1.
    """

    release = staticmethod(release_last_batch)
    releases_sums = True

    def __init__(self, *, epsilon: SupportsFloat, batch_size: int = 5) -> None:
        self.epsilon, self._tau = checks.epsilon(epsilon), checks.integer("batch_size", batch_size, at_least=1)

    def new_state(self, below: Below) -> Any:
        """Return empty batches, with the noise of full ones."""
        zeros, number = np.zeros(below.n_values, np.int64), np.zeros(1, np.int64)
        scale = noise_scale(below.sensitivity / self._tau, self.epsilon)
        return BatchState(np.zeros(below.n_values), zeros, number, self._tau, below.horizon, scale)

    def guarantee(self, below: Below) -> PrivacyGuarantee:
        """Claim epsilon, as if every batch were full."""
        return PrivacyGuarantee(
            epsilon=self.epsilon, theorem="one round moves an average by 1 / tau (false for the rest)"
        )


def release_first_exactly(
    state: block_sums.State, arm: int, gain: float, rng: np.random.Generator
) -> tuple[float, int]:
    """Release the first block of each arm without noise."""
    if state.block[arm] == 0:
        state = state._replace(scale=0.0, grid=0.0)
    return block_sums.release(state, arm, gain, rng)


@broken_mechanism("first mean", "The first gain of each arm is released as it is.", BlockSums)
class BrokenFirstMean(BlockSums):
    """The first mean of each arm, which starts its index, has no noise: the first gain is released as it is."""

    release = staticmethod(release_first_exactly)


def release_twice(state: block_sums.State, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Take a gain twice."""
    block_sums.release(state, arm, gain, rng)
    return block_sums.release(state, arm, gain, rng)


@broken_mechanism(
    "repeated round",
    "The sum counts each gain twice, so a changed gain moves it by 2.",
    functools.partial(BlockSums, ratio=1, keep=True),
)
class BrokenRepeat(BlockSums):
    """A layer below passes each round on twice: a gain is in two noisy sums, each of which was paid for once."""

    release = staticmethod(release_twice)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1, keep=True)


@broken_mechanism(
    "graph",
    "A round of the complete graph enters three sums, each of which pays all of epsilon.",
    BlockSums,
    complete_graph,
)
class BrokenGraphNoise(BlockSums):
    """Noise for one arm's sum where a round enters several: all sums of a round together show its gains."""

    def noise(self, below: Below) -> Noise:
        """Return the scale for a sensitivity of 1."""
        return Noise(below.sensitivity, noise_scale(1.0, self.epsilon))


@broken_mechanism(
    "no grid",
    "A release that 1 + noise cannot round to was made from the other gain, with certainty.",
    LaplaceClipRescale,
    audit=refuted_in_floats,
)
class BrokenNoGrid(LaplaceClipRescale):
    """Noise in plain doubles: some numbers can be released for one gain and never for another."""

    def new_state(self, below: Below) -> Any:
        """Return the parameters without a grid."""
        return super().new_state(below)._replace(grid=0.0)


class RedrawState(NamedTuple):
    """The last gain of each arm and how many it had, `(n_values,)`, and the scale."""

    last: FloatArray
    counts: IntArray
    scale: float


def release_last(state: RedrawState, arm: int, gain: float, rng: np.random.Generator) -> tuple[float, int]:
    """Release a gain with a draw of its own."""
    state.last[arm] = gain
    state.counts[arm] += 1
    return gain + draw(state.scale, rng), state.counts[arm]


def draw_again(state: RedrawState, arm: int, rng: np.random.Generator) -> tuple[float, int]:
    """Release an arm's last gain again, with a new draw."""
    return state.last[arm] + draw(state.scale, rng), state.counts[arm]


@broken_mechanism(
    "redrawn noise",
    "A gain is released anew in every round that plays another arm, and the average of the releases shows it.",
    functools.partial(BlockSums, ratio=1),
)
class BrokenRedraw(BlockSums):
    """Draws the noise of an arm's last release again in every round, as DP-UCB-INT is printed: the average is exact."""

    release: Any = staticmethod(release_last)
    idle: Any = staticmethod(draw_again)

    def __init__(self, *, epsilon: SupportsFloat) -> None:
        super().__init__(epsilon=epsilon, ratio=1)

    def new_state(self, below: Below) -> Any:
        """Return no gains yet."""
        return RedrawState(np.zeros(below.n_values), np.zeros(below.n_values, np.int64), self.noise(below).scale)


# EXP3 with draws that hide less than is claimed.

LOSS_RATE = 0.05
FLOOR_RATE = 0.9
APART = 300
"""Rounds in which the attack on the loss form drives two neighbouring games apart."""
REST = 600
"""Rounds after that in which it reads the difference."""
AHEAD = 4


def broken_algorithm(
    fault: str, seen: str, claiming: Callable[[type[Exp3]], Algorithm], audit: Audit
) -> Callable[[type[Exp3]], type[Exp3]]:
    """Put a broken kind of EXP3 into the gallery beside EXP3 itself, both with the same claim."""

    def add(broken: type[Exp3]) -> type[Exp3]:
        LESSONS[fault] = Lesson(
            lambda epsilon: claiming(broken), lambda epsilon: claiming(Exp3), seen, four_rounds, audit, "algorithm"
        )
        return broken

    return add


def loss_form(agent: type[Exp3]) -> Algorithm:
    """Return EXP3 with this agent and the claim that a draw loses at most 1, which holds in gain form."""

    def claim(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return PrivacyGuarantee(epsilon=float(horizon), theorem="a draw loses at most 1 (false in loss form)")

    return Algorithm(agent.__name__, lambda: agent(exploration_rate=LOSS_RATE), own_guarantee=claim)


def no_floor(agent: type[Exp3]) -> Algorithm:
    """Return EXP3 with this agent and the claim of EXP3, which rests on the floor rate / K of all probabilities."""

    def claim(n_arms: int, horizon: int) -> PrivacyGuarantee:
        return exp3_guarantee(n_arms=n_arms, draws=horizon, exploration_rate=FLOOR_RATE)

    return Algorithm(agent.__name__, lambda: agent(exploration_rate=FLOOR_RATE), own_guarantee=claim)


def refuted_by_a_long_history(algorithm: Algorithm, game: Environment) -> bool:
    """Whether one sequence of arms has probabilities on two neighbouring tables that are too far apart.

    The sequence comes from a greedy search on a model of the loss form; whose guarantee is attacked plays it itself.
    """
    history = drifting_arms()
    agents: list[Any] = []
    for _ in range(2):
        agent: Any = algorithm.agent()
        agent.begin(n_arms=2, horizon=APART + REST, rng=np.random.default_rng(0))
        agents.append(agent)
    total = 0.0
    for t in range(APART + REST):
        logs = [np.log(agent.probabilities()) for agent in agents]
        difference: FloatArray = logs[0] - logs[1]
        arm = history[t] if t < APART else int(np.abs(difference).argmax())
        total += difference[arm]
        for world, agent in enumerate(agents):
            gain = float(world) if t == 0 else float(t >= APART)
            agent.update(arm, {"gain": np.full(2, gain), "observed": np.ones(2, np.int8)})
    return abs(total) > algorithm.guarantee(n_arms=2, horizon=APART + REST).epsilon


def drifting_arms() -> list[int]:
    """Return arms that drive two games of the loss form apart which differ in the first loss; all losses are 1."""
    floor = LOSS_RATE / 2

    def chance(score: float) -> float:
        return floor + (1 - LOSS_RATE) / (1 + math.exp(-score))

    def hit(score: float, arm: int) -> float:
        return score - floor / chance(score) if arm == 0 else score + floor / (1 - chance(score))

    def apart(one: float, other: float, ahead: int) -> float:
        if ahead == 0:
            p, q = chance(one), chance(other)
            return max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q))))
        return max(apart(hit(one, arm), hit(other, arm), ahead - 1) for arm in (0, 1))

    scores, arms = (hit(0.0, 0), 0.0), [0]
    for _ in range(APART - 1):
        one, other = scores
        arm = max((0, 1), key=lambda each: apart(hit(one, each), hit(other, each), AHEAD))
        scores = hit(one, arm), hit(other, arm)
        arms.append(arm)
    return arms


def update_losses(state: State, arm: int, seen: Gains) -> State:
    """Subtract loss / probability from the estimate of the arm played."""
    scores, weights = state.scores, state.weights
    n_arms = len(weights)
    scores[arm] -= state.exploration_rate / n_arms * (1.0 - seen.gains[arm]) / probability(state, arm)
    largest = max(scores)
    for each in range(n_arms):
        weights[each] = math.exp(scores[each] - largest)
    return state


@broken_algorithm(
    "loss form",
    "After 300 chosen rounds two games that differ in one loss play so differently that each draw loses 3.6.",
    loss_form,
    refuted_by_a_long_history,
)
class BrokenLossForm(Exp3):
    """EXP3 on estimated losses: an arm that fell behind is hit harder, so a small difference grows."""

    functions: Any = Functions(Exp3.functions.select, update_losses)


def select_without_floor(state: State, rng: np.random.Generator) -> int:
    """Draw an arm in proportion to its weight, without exploring."""
    return draw_weighted(state.weights, rng)


def update_without_floor(state: State, arm: int, seen: Gains) -> State:
    """Add gain / probability to the estimate of the arm played, with the probability that it was really drawn with."""
    total = 0.0
    for weight in state.weights:
        total += weight
    step = state.exploration_rate / len(state.weights) * seen.gains[arm] * total / state.weights[arm]
    state.scores[arm] += step
    state.weights[arm] *= math.exp(step)
    return state


@broken_algorithm(
    "no floor",
    "An arm that is hardly ever drawn gets a gain divided by its probability, and is then drawn nearly always.",
    no_floor,
    refuted_exactly,
)
class BrokenNoFloor(Exp3):
    """EXP3 that never explores: a probability may be tiny, and a gain divided by it huge."""

    functions: Any = Functions(select_without_floor, update_without_floor)


# Boundaries that leak beside their noise. Each attack plays two tables of gains that differ in one round, as somebody
# above the boundary would, looks at what no noise hides, and returns whether that refutes the guarantee.

PLAYED = 8
LARGE = 0.9
SEED = 7


def broken_boundary(fault: str, seen: str, attack: Callable[[Wrap], bool]) -> Callable[[Part], Part]:
    """Put a broken boundary into the gallery beside one with the same noise, and nothing beside it."""

    def add(broken: Part) -> Part:
        LESSONS[fault] = Lesson(
            lambda epsilon: lambda env: broken(env, epsilon=epsilon),
            lambda epsilon: lambda env: PrivacyBoundary(env, _noise(epsilon)),
            seen,
            two_arms,
            lambda part, game: attack(part),
            "boundary",
        )
        return broken

    return add


def reads_info(wrap: Wrap) -> bool:
    """Whether `info` differs between the two tables, in games with the same seed and the same arms."""
    return _whole_game(wrap(table(0.0)))[1] != _whole_game(wrap(table(1.0)))[1]


def reads_the_end(wrap: Wrap) -> bool:
    """Whether the games on the two tables have different lengths."""
    return len(_whole_game(wrap(table(0.0)))[0]) != len(_whole_game(wrap(table(1.0)))[0])


def subtracts_the_stream(wrap: Wrap) -> bool:
    """Whether the draws of NumPy's generator with the environment's seed are the noise: then the gains come out.

    What is left is compared with what guessing the middle of the range would give, in units of the noise.
    """
    env: Any = wrap(table(1.0))
    noisy = _noisy(env, _whole_game(env)[0])
    draws = np.random.default_rng(SEED).laplace(0.0, env.noise.scale, PLAYED)
    return bool(np.abs(noisy - draws - np.array([0.5, 0.5, 1, *[0.5] * 5])).max() < 0.01 * env.noise.scale)


def subtracts_episodes(wrap: Wrap) -> bool:
    """Whether two games one after the other on the same data, without a seed in between, have the same noise."""
    env: Any = wrap(table(1.0))
    first = _noisy(env, _whole_game(env)[0])
    return bool(np.abs(first - _noisy(env, _whole_game(env, seed=None)[0])).max() < 0.01 * env.noise.scale)


def table(change: float) -> Environment:
    """Return a game of 8 rounds in which every gain is .5, but for those of round 3."""
    gains = np.full((PLAYED, 2), 0.5)
    gains[2] = change
    return BanditEnv(GainTable(gains))


def _noise(epsilon: SupportsFloat) -> LaplaceClipRescale:
    """Return Laplace noise that is practically never clipped."""
    return LaplaceClipRescale(epsilon=epsilon, bound=50 / float(epsilon), outside="clip")


def _noisy(env: Any, released: FloatArray) -> FloatArray:
    """Undo the public rescaling of released gains."""
    bound = env.noise.bound
    noisy: FloatArray = released * (1 + 2 * bound) - bound
    return noisy


def _whole_game(env: Any, seed: int | None = SEED) -> tuple[FloatArray, list[dict[str, Any]]]:
    """Play arm 0 to the end; return the released gains and every `info`."""
    env.reset(seed=seed)
    released, infos, ended = [], [], False
    while not ended:
        observation, _, terminated, truncated, info = env.step(0)
        released.append(float(observation["gain"][0]))
        infos.append(info)
        ended = terminated or truncated
    return np.array(released), infos


class BrokenBoundary(PrivacyBoundary):
    """Laplace noise on every gain, as it should be; what is broken is beside it.

    Args:
        env: A bandit environment.
        epsilon: Privacy parameter, in (0, inf).
    """

    def __init__(self, env: Environment, *, epsilon: SupportsFloat) -> None:
        super().__init__(env, _noise(epsilon))


@broken_boundary("total in info", "The running total in info grows by the true gain of every round.", reads_info)
class BrokenInfo(BrokenBoundary):
    """Adds the running total of true gains to `info`, as statistics wrappers do."""

    def step(self, action: Any) -> Any:
        """Play an arm."""
        observation, reward, terminated, truncated, info = super().step(action)
        core: Any = self.env.unwrapped
        return observation, reward, terminated, truncated, {**info, "total": core.collected}


@broken_boundary(
    "environment's seed",
    "Whoever runs default_rng(seed) with the seed that the log shows has the noise, and can subtract it.",
    subtracts_the_stream,
)
class BrokenSeed(BrokenBoundary):
    """Draws its noise from NumPy's stream of the environment's seed, which whoever repeats the experiment has too."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start a game."""
        result = super().reset(seed=seed, options=options)
        self._released._rng = np.random.default_rng(seed)
        return result


@broken_boundary(
    "same noise again",
    "The releases of two episodes differ by the exact difference of their gains.",
    subtracts_episodes,
)
class BrokenEpisodes(BrokenBoundary):
    """Begins every episode with the same noise, as a generator that `reset` seeds anew does."""

    _first: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Start a game."""
        result = super().reset(seed=seed, options=options)
        if self._first is None:
            self._first = self._released._rng
        self._released._rng = copy.deepcopy(self._first)
        return result


@broken_boundary(
    "early end", "The game ends in the round of the first gain above .9, which no noise hides.", reads_the_end
)
class BrokenEnd(BrokenBoundary):
    """Ends the game at the first large gain: its length says when that was."""

    def _step_below(self, arm: Any) -> Any:
        gains, observed, terminated, truncated = super()._step_below(arm)
        return gains, observed, terminated, truncated or max(gains) > LARGE
