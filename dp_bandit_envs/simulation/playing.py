"""Plays one game in ordinary Python: `begin` resets, then `play_to_the_end` selects, steps and updates."""

import dataclasses
import functools
import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self, SupportsFloat, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.algorithms import Algorithm, specs
from dp_bandit_envs.algorithms.algorithm import hides_gains, needs_all, refusal_of_hidden
from dp_bandit_envs.algorithms.calibration import PrivacyRequest, read_single_player
from dp_bandit_envs.envs.bandit_env import NOT_A_BANDIT_ENV, BanditEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import StepOutsideGameError, WrongGameError, WrongTypeError
from dp_bandit_envs.metrics import (
    Band,
    external_regret,
    policy_regret,
    pseudo_regret,
    recommendation_error,
    rounds_until_stop,
)
from dp_bandit_envs.privacy.admission import Admission, current, on_its_own, playing_under
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, label_of, shown_epsilon
from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Agent, Environment, FloatArray, IntArray, PointAgent, plays_points
from dp_bandit_envs.seeding import AGENT, Seed, checked_seed, chosen_seed, draw_seed, stream, warn_of_known_seed
from dp_bandit_envs.simulation.results import MEASURES, require_known
from dp_bandit_envs.text import name_of
from dp_bandit_envs.wrappers.layers import Boundary, layers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass
class StopWatch:
    """Records the recommendation and the stop of an agent that looks for the best arm, step by step.

    Attributes:
        agent: The agent; nothing is noted unless it has the method `recommend` and the attribute `done`.
        recommended: The arm recommended before the first step and after each step.
        steps: The number of steps after which it was done; 0 while it is not.
    """

    agent: Any
    recommended: list[int] = dataclasses.field(default_factory=list)
    steps: int = 0

    def note(self) -> None:
        """Record the agent's recommendation, which is final once it is done."""
        if not callable(getattr(self.agent, "recommend", None)) or not hasattr(self.agent, "done"):
            return
        if callable(self.agent.done):
            raise WrongTypeError(
                f"{type(self.agent).__name__}.done must be True or False, as an attribute or a @property; it is a"
                " method, which counts as True."
            )
        if not self.steps and self.agent.done:
            self.steps = len(self.recommended)
        stopped = self.steps and self.steps < len(self.recommended)
        self.recommended.append(self.recommended[-1] if stopped else int(self.agent.recommend()))

    def by_round(self, rounds: int, env: Environment) -> tuple[IntArray, int] | None:
        """Return the arm recommended after each round, and the round after which it stopped, or 0; None without."""
        if not self.recommended or plays_points(env):
            return None
        batch_size = math.prod(
            getattr(layer, "batch_size", 1) for layer in layers_of(env) if layer is not env.unwrapped
        )
        return np.repeat(self.recommended, batch_size)[1 : rounds + 1], min(self.steps * batch_size, rounds)


def play_to_the_end(env: Environment, agent: Any, watch: StopWatch) -> bool:
    """Play a game that has begun: select, step and update in each round; return whether a wrapper truncated it."""
    watch.note()
    see_graph, graph = getattr(agent, "see_graph", None) if env.has_wrapper_attr("graph") else None, None
    select = agent.select_point if plays_points(env) else agent.select_arm
    ended: Any = False
    while not ended:
        if see_graph is not None and env.get_wrapper_attr("graph") is not graph:
            graph = env.get_wrapper_attr("graph")
            see_graph(graph)
        action = select()
        try:
            observation, _, terminated, truncated, _ = env.step(action)
        except ValueError:
            _refuse_arm(action, env, agent)
            raise
        try:
            agent.update(action, observation)
        except KeyError as error:
            note_missing_key(error, observation)
            raise
        watch.note()
        ended = terminated or truncated
    return not terminated


MOST_PLACES: Final = 1000
"""The most rounds at which a plotted line has a place."""


@dataclasses.dataclass(frozen=True, repr=False)
class Game:
    """One game, round by round, as the evaluator sees it; T is the number of rounds played. It prints as one line.

    Attributes:
        arms: The arm played, shape `(T,)`.
        gains: The gain collected, or the payoff function's value, minus charges, shape `(T,)`.
        external_regret: Against the best fixed arm up to each round, shape `(T,)`; with a payoff function, each arm
            replaces the last of the arms actually played.
        policy_regret: Against the best constant play up to each round, shape `(T,)`. Both are NaN if other arms' gains
            are unknown, as in another package's environment (`adapters.from_gymnasium`).
        pseudo_regret: The expected cost of the arms played, shape `(T,)`; None if the means are unknown, with a payoff
            function, or for points.
        dynamic_regret: The expected cost against the best arm of each round, shape `(T,)`: the pseudo-regret for
            constant means, and more for changing means (`DPBandit-Shifting-v0`). None if the means of a round are
            unknown.
        n_plays: Number of arms; 1 for points, represented by arm 0.
        rounds_until_stop: The rounds, up to each one, that an agent played before it was `done`, shape `(T,)`; None for
            agents that do not look for the best arm with `recommend()` and `done`.
        error: 1 after each round if the arm that such an agent recommends has not the largest mean, else 0; None where
            the means are unknown.
        name: The algorithm or agent that played.

    Example:
        >>> import gymnasium as gym
        >>> from dp_bandit_envs import Exp3, play
        >>> game = play(gym.make("DPBandit-Stochastic-v0", means=[0.2, 0.8], horizon=1000), Exp3(), seed=0)
        >>> game
        Game(Exp3: 1,000 rounds, pseudo-regret 54.6, no privacy)
        >>> game.arms[:5], game.gains[:5]
        (array([0, 0, 0, 0, 0]), array([0., 1., 1., 0., 0.]))
        >>> print(f"collected {game.gains.sum():.0f}, {game.external_regret[-1]:.0f} less than the best arm")
        collected 749, 51 less than the best arm
    """

    arms: IntArray
    gains: FloatArray
    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    n_plays: int
    dynamic_regret: FloatArray | None = None
    rounds_until_stop: IntArray | None = None
    error: FloatArray | None = None
    name: str = ""
    find_guarantee: Callable[[], PrivacyGuarantee] | None = dataclasses.field(default=None, compare=False)
    """Returns the guarantee; it is asked when somebody wants to see it."""

    @functools.cached_property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee of this game."""
        if self.find_guarantee is None:
            return PrivacyGuarantee.none("nothing is known of who played it")
        return self.find_guarantee()

    def __getattr__(self, name: str) -> Any:
        raise checks.unknown_attribute(self, name)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the environment, which may contain objects that cannot be pickled."""
        return vars(self) | {"guarantee": self.guarantee, "find_guarantee": None}

    def __repr__(self) -> str:
        rounds, level = len(self.arms), str(shown_epsilon(self.guarantee)).strip("()")
        measure = "external_regret" if self.pseudo_regret is None else "pseudo_regret"
        last = float(getattr(self, measure)[-1])
        name = measure.replace("pseudo_", "pseudo-").replace("_", " ")
        outcome = f"{name} {last:,.1f}" if math.isfinite(last) else f"collected {self.collected[-1]:,.1f}"
        return f"Game({self.name}: {rounds:,} round{'s' * (rounds != 1)}, {outcome}, {level})"

    def plot(self, measure: str | None = None, *, columns: int | None = None) -> "Figure":
        """Draw a measure against the round.

        Args:
            measure: As for `Simulation.plot`; by default the pseudo-regret, or the external regret if it is unknown.
            columns: 1 for a figure as narrow as a column or a phone.

        Raises:
            ImportError: If the extra `plots` is not installed.
            ValueError: If the measure is invalid, or unknown in this game.

        Example:
            >>> from dp_bandit_envs import play
            >>> figure = play("Stochastic", "DP-KLUCB", horizon=1000).plot()
            >>> figure.axes[0].get_ylabel()
            'pseudo-regret (gain)'
        """
        from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, curves_figure

        if measure is None:
            measure = "external_regret" if self.pseudo_regret is None else "pseudo_regret"
        values = require_known(measure, getattr(self, checks.known_name("measure", measure, MEASURES)))
        rounds = np.unique(np.linspace(1, len(values), MOST_PLACES).astype(np.int64))
        line = np.asarray(values, dtype=np.float64)[rounds - 1]
        curve = Curve(self.name, label_of(self.name, [shown_epsilon(self.guarantee)]), rounds, Band(line, line, line))
        panel = Panel(f"T = {len(values):,}", [curve])
        return curves_figure([panel], across=ROUND, measure=measure, band=None, columns=columns)

    @property
    def collected(self) -> FloatArray:
        """The gains collected up to each round, shape `(T,)`."""
        return np.cumsum(self.gains)

    @property
    def switches(self) -> IntArray:
        """The number of changes of arm up to each round, shape `(T,)`."""
        changes = np.diff(self.arms, prepend=self.arms[:1]) != 0
        return np.cumsum(changes)


@checks.answers_wrong_calls
def play(
    environment: specs.Game,
    algorithm: Agent | PointAgent | specs.Player,
    *,
    epsilon: SupportsFloat | None = None,
    delta: SupportsFloat | None = None,
    horizon: SupportsIndex | None = None,
    n_arms: SupportsIndex | None = None,
    seed: Seed = "auto",
    trial: int = 0,
) -> Game:
    """Play one game.

    Args:
        environment: A DPBandit environment, with any wrappers; or the name of a game, as for `simulate`.
        algorithm: An algorithm or its name, as for `simulate`, whose wrappers are then applied to the environment; or
            any agent. If the agent has a method `see_noise`, it is passed the scale and the sensitivity of the
            wrappers' noise.
        epsilon: Epsilon of an algorithm given by name; by default the algorithm's own.
        delta: Delta of an algorithm given by name, if it has one; by default T^-2.
        horizon: Number of rounds T of a game given by name; by default its own.
        n_arms: Number of arms K of a game given by name; by default its own.
        seed: The seed of all randomness, in [0, 2^128); each part draws from its own stream. Anyone who knows or
            guesses it can subtract the noise, and a small seed can be found from the releases by trying. With None, as
            secure draws need, all randomness of the game comes from the operating system and cannot be repeated. By
            default 0, and None for real data; another seed there gives a `KnownSeedWarning`.
        trial: The number of the game for that seed. `simulate` plays trials 0, 1, 2, ..., and each is exactly this
            game.

    Raises:
        TypeError: If the innermost environment is not a DPBandit environment, so that the regret is unknown.
        WrongGameError: If the agent needs the gains of all arms and the game does not reveal them.
        SeedRefusedError: If a wrapper has secure draws and `seed` is not None.
        LedgerError: If a ledger refuses the game.
        StepOutsideGameError: If another thread plays a game in the environment.

    Warns: UserWarning: If a wrapper, such as Gymnasium's `TimeLimit`, cuts the game before its last round.

    Example:
        >>> from dp_bandit_envs import play
        >>> for name in ("Uniform", "DP-KLUCB", "KL-UCB"):
        ...     game = play("Stochastic:means=[0.2,0.8]", name, horizon=1000, seed=0)
        ...     print(f"{name}: regret {game.pseudo_regret[-1]:.1f}")
        Uniform: regret 303.0
        DP-KLUCB: regret 19.2
        KL-UCB: regret 4.2
    """
    env = specs.open_environment(environment, n_arms=n_arms, horizon=horizon)
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise TypeError(NOT_A_BANDIT_ENV.format("play", game))
    agent = _player(algorithm, PrivacyRequest.checked(epsilon, delta), env)
    player = ""
    find_guarantee = functools.partial(_guarantee_of_wrappers, env)
    guarantees: list[PrivacyGuarantee] = []
    if isinstance(agent, Algorithm):
        player = agent.player
        agent.check_game(env)
        owned = not any(isinstance(layer, Boundary) for layer in layers_of(env))
        inside = agent.wrap(env)
        find_guarantee = functools.partial(agent.guarantee_inside, inside, env)
        if game.adversary.ledger is not None:
            guarantees = [to_count(agent, env, inside)]
        played_by, env, agent = agent.name, inside, agent.agent(env)
        # Who made the game has its data, and may read an error that a boundary would hide from what is above it.
        for layer in layers_of(env) if owned else ():
            if isinstance(layer, Boundary):
                layer._shows_errors = True
    else:
        played_by = type(agent).__name__
        if needs_all(agent) and hides_gains(env):
            raise WrongGameError(refusal_of_hidden(name_of(type(agent)), env))
    points = isinstance(game, PointEnv)
    check_methods(agent, points=points)
    seed = number = chosen_seed(seed, game.adversary.is_real)
    alone = current() is None  # simulate says it otherwise
    seed_is_known = number is not None and alone
    if number is None:
        number = draw_seed()
    trial = checks.integer("trial", trial, at_least=0)
    name = player or name_of(type(agent))
    with RegretRecorder(game) as recorder:
        admissions = begin(env, agent, number=number, seed=seed, trial=trial, player=name, guarantees=guarantees)
        if seed_is_known:  # not before, because a ledger may refuse the game
            warn_of_known_seed(game.adversary.is_real)
        with on_its_own():
            watch = StopWatch(agent)
            truncated = play_to_the_end(env, agent, watch)
        if any(admission.is_over for admission in admissions):
            raise StepOutsideGameError(
                f"the game of this {type(game).__name__} was begun anew by someone else while it was played, and"
                " counted with that one's guarantee. Make an environment for each."
            )
    result = dataclasses.replace(recorder.result(), name=played_by, find_guarantee=find_guarantee)
    noted = watch.by_round(len(result.arms), env)
    if noted is not None:
        result = _with_stop(result, *noted, game.adversary)
    if truncated and alone:
        warnings.warn(
            f"the game was cut after {len(result.arms)} of its {game.horizon} rounds by a wrapper that truncates, such"
            " as TimeLimit, which the agent was not told. Make the game with a shorter horizon instead.",
            stacklevel=checks.level_of_caller(),
        )
    return result


class RegretRecorder:
    """Records one game, block by block: arms, gains, and the gains of the best fixed and the best constant play.

    Use it in a `with` statement around the whole game.

    Args:
        game: The innermost environment.

    Raises:
        StepOutsideGameError: If the environment is in another game.
    """

    def __init__(self, game: BanditEnv) -> None:
        if game.on_block is not None:
            raise StepOutsideGameError(
                f"an environment plays one game at a time; this {type(game).__name__} is in another one. Make a new one"
                " for each game: a function that is given must return a new object at each call."
            )
        self._game = game
        self._blocks: list[tuple[IntArray, FloatArray, FloatArray, FloatArray]] = []
        zeros = np.zeros((1, game.adversary.n_arms))
        self._totals = {"fixed": zeros, "constant": zeros}

    def __enter__(self) -> Self:
        """Start recording."""
        self._game.on_block = self._record
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Stop recording."""
        try:
            if kind is None:
                self._game.report_block()
        finally:
            self._game.on_block = None

    def _record(self, arms: IntArray, gains: FloatArray, table: FloatArray) -> None:
        fixed, constant = self._game.comparisons()
        best_fixed = self._best("fixed", fixed)
        best_constant = best_fixed if constant is fixed else self._best("constant", constant)
        self._blocks.append((arms, gains, best_fixed, best_constant))

    def _best(self, comparison: str, table: FloatArray) -> FloatArray:
        running = np.cumsum(np.vstack([self._totals[comparison], table]), axis=0)
        self._totals[comparison] = running[-1:]
        return self._game.best(running[1:])

    def result(self) -> Game:
        """Return the game that was played."""
        game, adversary = self._game, self._game.adversary
        arms, gains, best_fixed, best_constant = map(np.concatenate, zip(*self._blocks, strict=True))
        collected = np.cumsum(gains)
        points = isinstance(game, PointEnv)
        means_count = not points and adversary.payoff is None
        pseudo = _pseudo_regret(arms, adversary.means) if means_count and adversary.means is not None else None
        return Game(
            arms=arms,
            gains=gains,
            external_regret=external_regret(best_fixed[:, np.newaxis], collected),
            policy_regret=policy_regret(best_constant[:, np.newaxis], collected),
            pseudo_regret=pseudo,
            n_plays=1 if points else game.n_arms,
            dynamic_regret=_dynamic_regret(arms, adversary) if means_count and pseudo is None else pseudo,
        )


def begin(
    env: Environment,
    agent: Any,
    *,
    number: int,
    seed: int | None,
    trial: int,
    player: str,
    guarantees: Sequence[PrivacyGuarantee],
) -> list[Admission]:
    """Begin a game of an agent and its environment, up to the agent's first action.

    Returns the admission that pays the data's ledgers, if any.

    Args:
        env: The environment with all wrappers.
        agent: The agent.
        number: The seed of all randomness.
        seed: The same, or None for a secret seed from the operating system.
        trial: The number of the game for that seed.
        player: The player's name, for the random streams.
        guarantees: Guarantees that a ledger may charge for the game; empty without a ledger.

    Raises:
        SeedRefusedError: If a wrapper has secure draws and `seed` is not None.
        LedgerError: If the data have a ledger, and it refuses the game.
    """
    secret = None if seed is not None else True
    outer, below = current(), env.has_wrapper_attr("takes_seed")
    shown_seed = number if not below or env.get_wrapper_attr("takes_seed") else checked_seed(seed)
    hidden = None
    if below and (secret or (outer is not None and outer.secret)):
        # What is above the boundary is public, and does not see the seed of its noise.
        shown_seed, hidden = None, shown_seed
    with playing_under([guarantees], secret=secret, seed=hidden, players=[player]) as conditions:
        env.reset(seed=shown_seed, options={"trial": trial, "player": player})
    with on_its_own():
        _begin_agent(agent, env, stream(number, trial=trial, role=AGENT, player=player))
    return conditions.admissions


def _begin_agent(agent: Any, env: Environment, rng: np.random.Generator) -> None:
    show(agent, env)  # the arms' features are in the order of the game
    if plays_points(env):
        size = {"dimension": int(env.get_wrapper_attr("decision_set").dimension)}
    else:
        size = {"n_arms": int(env.get_wrapper_attr("n_arms"))}
    agent.begin(**size, horizon=int(env.get_wrapper_attr("horizon")), rng=rng)


def show(agent: Any, env: Environment) -> None:
    """Pass an agent the public facts of a game in all its wrappers: the noise, and the set of points or arms' features.

    Each goes to its method `see_noise`, `see_set` or `see_features`, if the agent has it.
    """
    public: dict[str, Any] = {"see_noise": noise_of(env)}
    if plays_points(env):
        public["see_set"] = env.get_wrapper_attr("decision_set")
    else:
        public["see_features"] = env.get_wrapper_attr("features") if env.has_wrapper_attr("features") else None
    for method, fact in public.items():
        see = getattr(agent, method, None)
        if see is not None:
            see(fact)


def check_methods(agent: Any, *, points: bool) -> None:
    """Raise a TypeError that names the missing methods, or a method that `play` cannot call.

    Args:
        agent: The agent.
        points: Whether it plays points instead of arms.
    """
    size, action = ("dimension", "point") if points else ("n_arms", "arm")
    calls = {"begin": f"{size}=, horizon=, rng=", f"select_{action}": "", "update": f"{action}, observation"}
    first, select, last = calls
    needed = f"agent must be an object with the methods {first}, {select} and {last}"
    if inspect.isclass(agent):
        name = agent.__name__
        raise TypeError(f"{needed}; received the class {name}. Use {name}().")
    name = type(agent).__name__
    absent = [method for method in calls if not callable(getattr(agent, method, None))]
    if absent:
        theirs = specs.adapter_for(agent)
        way_out = f" Use dp_bandit_envs.adapters.{theirs}(agent)()." if theirs else " dp_bandit_envs.Exp3() is one."
        if isinstance(agent, (list, tuple, dict)) and not theirs:
            way_out = " play plays one; simulate and compare take several."
        raise TypeError(f"{needed}; received {name}, which has no {' and no '.join(absent)}.{way_out}")
    for method, arguments in calls.items():
        named = dict.fromkeys((size, "horizon", "rng")) if method == "begin" else {}
        try:
            signature = inspect.signature(getattr(agent, method))
            signature.bind(*([None, None] if method == "update" else []), **named)
        except ValueError:  # a method written in another language
            continue
        except TypeError as error:
            raise TypeError(
                f"play calls {method}({arguments}); received {name}.{method}{signature} ({error}). Use these names."
            ) from None


def note_missing_key(error: KeyError, observation: Mapping[str, Any]) -> None:
    """Add the keys of an observation to an error, if an agent read a missing key."""
    key = error.args[0] if error.args else None
    if isinstance(key, str) and key not in observation:
        *others, last = map(repr, observation)
        error.add_note(f"An observation here has {', '.join(others)} and {last}; rewards and true gains are not in it.")


def _player(agent: Any, privacy: PrivacyRequest, env: Environment) -> Any:
    named = isinstance(agent, (str, type)) or (callable(agent) and not isinstance(agent, Algorithm))
    if (named and not hasattr(agent, "update")) or isinstance(agent, type):
        return read_single_player(agent, privacy, env)
    privacy.refuse_for({getattr(agent, "name", type(agent).__name__): agent})
    return agent


def _guarantee_of_wrappers(env: Environment) -> PrivacyGuarantee:
    """Return the guarantee of the wrappers of a game, which holds for any agent."""
    if env.has_wrapper_attr("guarantee"):
        guarantee: PrivacyGuarantee = env.get_wrapper_attr("guarantee")
        return guarantee
    return PrivacyGuarantee.none("no wrapper adds noise, and nothing is known of the agent's own randomness")


def to_count(player: Algorithm, env: Environment, inside: Environment) -> PrivacyGuarantee:
    """Return the guarantees that a ledger may charge for a game: the algorithm's, if it covers all visible outputs.

    It is taken from `inside`, the result of `wrap` for this game, as `wrap` may return other wrappers each time. A
    guarantee for arms only (from an agent's own draws) does not cover the releases of a boundary in the environment
    itself; the boundary's guarantee does, and holds for any agent.
    """
    guarantee = player.guarantee_inside(inside, env)
    if guarantee.covers in ("arms", "nothing") and env.has_wrapper_attr("guarantee"):
        released: PrivacyGuarantee = env.get_wrapper_attr("guarantee")
        return guarantee if released.model == "none" else released
    return guarantee


def _with_stop(game: Game, recommended: IntArray, stop: int, adversary: Adversary) -> Game:
    """Return a game with what an agent did that looks for the best arm; `stop` is 0 if it did not stop."""
    rounds, means = np.arange(1, len(game.arms) + 1), adversary.means
    return dataclasses.replace(
        game,
        rounds_until_stop=rounds_until_stop(rounds, np.array(stop)),
        error=None if means is None or game.pseudo_regret is None else recommendation_error(recommended, means),
    )


def _dynamic_regret(arms: IntArray, adversary: Adversary) -> FloatArray | None:
    """Return the dynamic regret up to each round, in blocks of a million means; None if the means are unknown."""
    step = max(1, 2**20 // adversary.n_arms)
    lost = np.empty(len(arms))
    for start in range(0, len(arms), step):
        played = arms[start : start + step]
        short = adversary.shortfalls_at(np.arange(start + 1, start + len(played) + 1))
        if short is None:
            return None
        lost[start : start + step] = short[np.arange(len(played)), played]
    return np.cumsum(lost)


def _pseudo_regret(arms: IntArray, means: FloatArray) -> FloatArray:
    """Return the pseudo-regret up to each round, in blocks of a million counts to limit memory (rounds times arms)."""
    step = max(1, 2**20 // len(means))
    pulls = np.zeros(len(means), np.int64)
    parts = []
    for start in range(0, len(arms), step):
        played = arms[start : start + step, np.newaxis] == np.arange(len(means))
        counts = pulls + np.cumsum(played, axis=0)
        pulls = counts[-1]
        parts.append(pseudo_regret(counts, means))
    return np.concatenate(parts)


def _refuse_arm(action: Any, env: Environment, agent: Any) -> None:
    """Raise an error that names the agent, if it chose an arm that the game does not have."""
    if plays_points(env):
        return
    n_arms = int(env.get_wrapper_attr("n_arms"))
    try:
        checks.arm(action, n_arms)
    except ValueError as error:
        raise type(error)(
            f"{type(agent).__name__}.select_arm must return an arm, an integer in [0, {n_arms - 1}] in this game;"
            f" received {action!r}. begin(n_arms=...) says how many arms there are."
        ) from None
