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
from dp_bandit_envs.algorithms.algorithm import HIDDEN, hides_gains, needs_all
from dp_bandit_envs.algorithms.calibration import PrivacyRequest, read_single_player
from dp_bandit_envs.envs.bandit_env import NOT_A_BANDIT_ENV, BanditEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import StepOutsideGameError, WrongGameError
from dp_bandit_envs.metrics import Band, external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.privacy.admission import Admission, current, on_its_own, playing_under
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, label_of, shown_epsilon
from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Agent, Environment, FloatArray, IntArray, PointAgent, plays_points
from dp_bandit_envs.seeding import AGENT, Seed, checked_seed, chosen_seed, draw_seed, stream, warn_of_known_seed
from dp_bandit_envs.simulation.results import MEASURES
from dp_bandit_envs.text import name_of
from dp_bandit_envs.wrappers.layers import Boundary, layers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def play_to_the_end(env: Environment, agent: Any) -> bool:
    """Play a game that has begun: select, step and update in each round; return whether a wrapper truncated it."""
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
        ended = terminated or truncated
    return not terminated


MOST_PLACES: Final = 1000
"""The most rounds at which a plotted line has a place."""


@dataclasses.dataclass(frozen=True, repr=False)
class Game:
    """One game, round by round, as the evaluator sees it; T is the number of rounds played. It prints as one line.

    Attributes:
        arms: The arm played, shape `(T,)`.
        gains: The gain collected, or what the payoff function paid, less charges, shape `(T,)`.
        external_regret: Against the best fixed arm up to each round, shape `(T,)`; with a payoff function, each arm
            replaces the last of the arms actually played.
        policy_regret: Against the best constant play up to each round, shape `(T,)`. Both are NaN where nobody knows
            what other arms would have paid, as in another package's environment (`adapters.from_gymnasium`).
        pseudo_regret: The expected cost of the arms played, shape `(T,)`; None if the means are unknown, with a payoff
            function, or where actions are points.
        dynamic_regret: The same against the best arm of each round, shape `(T,)`; the pseudo-regret where means stay,
            and more where they change (`DPBandit-Shifting-v0`). None where the means of a round are unknown.
        n_plays: Number of arms; 1 where actions are points, for which arm 0 stands.
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
    name: str = ""
    find_guarantee: Callable[[], PrivacyGuarantee] | None = dataclasses.field(default=None, compare=False)
    """Returns the guarantee; it is asked when somebody wants to see it."""

    @functools.cached_property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee of the game, as it was played."""
        if self.find_guarantee is None:
            return PrivacyGuarantee.none("nothing is known of who played it")
        return self.find_guarantee()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the environment, which may hold what cannot be pickled."""
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
            measure: One of those of `Simulation.plot`; by default the pseudo-regret, or where it is unknown the
                external one.
            columns: 1 for a figure as narrow as a column or a telephone.

        Raises:
            ImportError: If the extra `plots` is not installed.
            ValueError: If it is none of these, or unknown in this game.

        Example:
            >>> from dp_bandit_envs import play
            >>> figure = play("Stochastic", "DP-KLUCB", horizon=1000).plot()
            >>> figure.axes[0].get_ylabel()
            'pseudo-regret (gain)'
        """
        from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, curves_figure

        if measure is None:
            measure = "external_regret" if self.pseudo_regret is None else "pseudo_regret"
        values = getattr(self, checks.known_name("measure", measure, MEASURES))
        if values is None:
            raise ValueError(
                f"{measure} is unknown in this game, whose arms have no known means. Use 'external_regret'."
            )
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
        environment: A DPBandit environment, with any wrappers; or what names a game, as for `simulate`.
        algorithm: An algorithm, or what names one, as for `simulate`, in whose wrappers the environment is then
            wrapped; or any agent. If the agent has a method `see_noise`, it is passed the scale of the noise that the
            wrappers add, and its sensitivity.
        epsilon: For an algorithm that is named and takes one; by default its own.
        delta: For an algorithm that is named and takes one beside an epsilon; by default T^-2.
        horizon: Number of rounds T of a game that is named; by default its own.
        n_arms: Number of arms K of a game that is named; by default its own.
        seed: The seed of all randomness, in [0, 2^128); each part draws from a stream of its own. Who knows or guesses
            it can subtract the noise, and a small one is found from what is released by trying. With None, as secure
            draws need, all randomness of the game comes from the operating system and cannot be repeated. By default 0,
            and None where the data are real; another seed there ends in a `KnownSeedWarning`.
        trial: The number of the game for that seed. `simulate` plays trials 0, 1, 2, ..., and each is exactly this
            game.

    Raises:
        TypeError: If the innermost environment is not a DPBandit environment, so that the regret is unknown.
        WrongGameError: If the agent needs the gains of all arms and the game does not reveal them.
        SeedRefusedError: If a wrapper has secure draws and `seed` is not None.
        LedgerError: If the data have a ledger, and it refuses the game.
        StepOutsideGameError: If the environment is in another game, in another thread.

    Warns:
        UserWarning: If a wrapper, such as Gymnasium's `TimeLimit`, cuts the game before its last round.

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
            raise WrongGameError(HIDDEN.format(name_of(type(agent))))
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
            truncated = play_to_the_end(env, agent)
        if any(admission.is_over for admission in admissions):
            raise StepOutsideGameError(
                f"the game of this {type(game).__name__} was begun anew by someone else while it was played, and"
                " counted with that one's guarantee. Make an environment for each."
            )
    result = dataclasses.replace(recorder.result(), name=played_by, find_guarantee=find_guarantee)
    if truncated and alone:
        warnings.warn(
            f"the game was cut after {len(result.arms)} of its {game.horizon} rounds by a wrapper that truncates, such"
            " as TimeLimit, which the agent was not told. Make the game with a shorter horizon instead.",
            stacklevel=checks.level_of_caller(),
        )
    return result


class RegretRecorder:
    """Records one game, block by block: arms, gains, and what the best fixed and the best constant play would collect.

    In a `with` statement, in which the game begins and ends.

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
        """Record what is played from now on."""
        self._game.on_block = self._record
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """End the record."""
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
    """Begin a game of an agent and its environment; the first action is then the agent's to choose.

    Returned is what pays the ledgers of the data, if they have any.

    Args:
        env: The environment with all wrappers.
        agent: The agent.
        number: The seed of all randomness.
        seed: The same, or None if it was drawn from the operating system and is a secret.
        trial: The number of the game for that seed.
        player: Who plays, for the random streams.
        guarantees: What a ledger may count for the game; empty where the data have none.

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
    """Show an agent what is public of a game in all its wrappers: the noise, and the set of points or arms' features.

    Each goes to the method that takes it, `see_noise`, `see_set` or `see_features`, if the agent has one.
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
    """Raise a TypeError that names the missing methods, or the one that cannot be called as `play` calls it.

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
    """Add to an error what an observation contains, if an agent asked it for something else."""
    key = error.args[0] if error.args else None
    if isinstance(key, str) and key not in observation:
        *others, last = map(repr, observation)
        error.add_note(f"An observation here has {', '.join(others)} and {last}; rewards and true gains are not in it.")


def _player(agent: Any, privacy: PrivacyRequest, env: Environment) -> Any:
    """Return an agent or an algorithm as it is, or else the algorithm that is named."""
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
    """Return what a ledger may count for a game: the algorithm's guarantee, if it covers all that can be seen of it.

    That in `inside`, what `wrap` returned for the game that is played: it may return other wrappers each time.

    One for arms alone, of an agent's own draws, does not cover what a boundary in the environment itself releases to
    whatever is above it; the boundary's does, and holds for any agent.
    """
    guarantee = player.guarantee_inside(inside, env)
    if guarantee.covers in ("arms", "nothing") and env.has_wrapper_attr("guarantee"):
        released: PrivacyGuarantee = env.get_wrapper_attr("guarantee")
        return guarantee if released.model == "none" else released
    return guarantee


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
