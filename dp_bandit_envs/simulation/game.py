"""Plays one game in ordinary Python: reset, then select, step and update until the end."""

import dataclasses
import inspect
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.games_it_plays import HIDDEN, hides_gains, needs_all
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.point_env import PointEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.metrics.regrets import external_regret, policy_regret, pseudo_regret
from dp_bandit_envs.privacy.announced import announced, current
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Agent, Environment, FloatArray, IntArray, PointAgent, plays_points
from dp_bandit_envs.seeding import AGENT, checked_seed, drawn_seed, stream, warn_of_known_seed
from dp_bandit_envs.written_values import name_of


@dataclasses.dataclass(frozen=True)
class Game:
    """One game, round by round, as the evaluator sees it; T is the number of rounds played.

    Attributes:
        arms: The arm played, shape `(T,)`.
        gains: The gain collected, or what the payoff function paid, less charges, shape `(T,)`.
        external_regret: Against the best fixed arm up to each round, shape `(T,)`; with a payoff function, each arm
            replaces the last of the arms actually played.
        policy_regret: Against the best constant play up to each round, shape `(T,)`.
        pseudo_regret: The expected cost of the arms played, shape `(T,)`; None if the means are unknown, with a payoff
            function, or where actions are points.
        n_plays: Number of arms; 1 where actions are points, for which arm 0 stands.
    """

    arms: IntArray
    gains: FloatArray
    external_regret: FloatArray
    policy_regret: FloatArray
    pseudo_regret: FloatArray | None
    n_plays: int

    @property
    def collected(self) -> FloatArray:
        """The gains collected up to each round, shape `(T,)`."""
        return np.cumsum(self.gains)

    @property
    def switches(self) -> IntArray:
        """The number of changes of arm up to each round, shape `(T,)`."""
        changes = np.diff(self.arms, prepend=self.arms[:1]) != 0
        return np.cumsum(changes)


def play(env: Environment, agent: Agent | PointAgent | Algorithm, *, seed: int | None = 0, trial: int = 0) -> Game:
    """Play one game.

    Args:
        env: A DPBandit environment, with any wrappers.
        agent: Any agent; or an algorithm, in whose wrappers `env` is then wrapped. If the agent has a method
            `see_noise`, it is passed the scale of the noise that the wrappers add, and its sensitivity.
        seed: The seed of all randomness, in [0, 2^128); each part draws from a stream of its own. Who knows or guesses
            it can subtract the noise, and a small one is found from what is released by trying. Use None with real
            data, and with secure draws: all randomness of the game then comes from the operating system and cannot be
            repeated. Another seed on data of yours ends in a `KnownSeedWarning`.
        trial: The number of the game for that seed. `simulate` plays trials 0, 1, 2, ..., and each is exactly this
            game.

    Raises:
        TypeError: If the innermost environment is not a DPBandit environment, so that the regret is unknown.
        WrongGameError: If the agent needs the gains of all arms and the game does not reveal them.
        SeedRefusedError: If a wrapper has secure draws and `seed` is not None.
        LedgerError: If the data have a ledger, and it refuses the game.
    """
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise TypeError(f"play needs a DPBandit environment, which computes the regret; received {game}.")
    player = ""
    guarantees: list[PrivacyGuarantee] = []
    if isinstance(agent, Algorithm):
        player = agent.player
        agent.check_game(env)
        if game.adversary.ledger is not None:
            guarantees = [to_count(agent, env)]
        env, agent = agent.wrap(env), agent.agent(env)
    elif needs_all(agent) and hides_gains(env):
        raise WrongGameError(HIDDEN.format(name_of(type(agent))))
    points = isinstance(game, PointEnv)
    if inspect.isclass(agent) or not isinstance(agent, PointAgent if points else Agent):
        name = agent.__name__ if inspect.isclass(agent) else type(agent).__name__
        select = "select_point" if points else "select_arm"
        raise TypeError(
            f"agent must be an object with the methods begin, {select} and update; received {name}."
            + (f" Use {name}()." if inspect.isclass(agent) else "")
        )
    number = checked_seed(seed)
    if number is not None and current() is None:
        warn_of_known_seed(game.adversary.is_real)
    secret = None if number is not None else True
    if number is None:
        number = drawn_seed()
    trial = checks.integer("trial", trial, at_least=0)
    blocks: list[tuple[IntArray, FloatArray, FloatArray, FloatArray]] = []
    width = game.adversary.n_arms
    totals = {"fixed": np.zeros((1, width)), "constant": np.zeros((1, width))}

    def best(comparison: str, table: FloatArray) -> FloatArray:
        running = np.cumsum(np.vstack([totals[comparison], table]), axis=0)
        totals[comparison] = running[-1:]
        return game.best(running[1:])

    def keep(arms: IntArray, gains: FloatArray, table: FloatArray) -> None:
        fixed, constant = game.comparisons()
        best_fixed = best("fixed", fixed)
        blocks.append((arms, gains, best_fixed, best_fixed if constant is fixed else best("constant", constant)))

    game.on_block = keep
    try:
        outer, below = current(), env.has_wrapper_attr("takes_seed")
        given = number if not below or env.get_wrapper_attr("takes_seed") else checked_seed(seed)
        hidden = None
        if below and (secret or (outer is not None and outer.secret)):
            # What is above the boundary is public, and does not see the seed of its noise.
            given, hidden = None, given
        beginning = announced([guarantees], secret=secret, seed=hidden)
        _loop(env, agent, number, trial, player or name_of(type(agent)), given, beginning)
        game.report_block()
    finally:
        game.on_block = None
    arms, gains, best_fixed, best_constant = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    collected = np.cumsum(gains)
    means = None if points or game.adversary.payoff is not None else game.adversary.means
    return Game(
        arms=arms,
        gains=gains,
        external_regret=external_regret(best_fixed[:, np.newaxis], collected),
        policy_regret=policy_regret(best_constant[:, np.newaxis], collected),
        pseudo_regret=None if means is None else _pseudo_regret(arms, means),
        n_plays=1 if points else game.n_arms,
    )


def to_count(player: Algorithm, env: Environment) -> PrivacyGuarantee:
    """Return what a ledger may count for a game: the algorithm's guarantee, if it covers all that can be seen of it.

    One for arms alone, of an agent's own draws, does not cover what a boundary in the environment itself releases to
    whatever is above it; the boundary's does, and holds for any agent.
    """
    own = player.guarantee_in(env)
    if own.covers in ("arms", "nothing") and env.has_wrapper_attr("guarantee"):
        released: PrivacyGuarantee = env.get_wrapper_attr("guarantee")
        return own if released.model == "none" else released
    return own


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


def _loop(
    env: Environment,
    agent: Any,
    seed: int,
    trial: int,
    player: str,
    given: int | None,
    beginning: AbstractContextManager[Any],
) -> None:
    see_noise = getattr(agent, "see_noise", None)
    if see_noise is not None:
        see_noise(noise_of(env))
    points = plays_points(env)
    if points:
        see_set = getattr(agent, "see_set", None)
        if see_set is not None:
            see_set(env.get_wrapper_attr("decision_set"))
        size = {"dimension": int(env.get_wrapper_attr("decision_set").dimension)}
    else:
        see_features = getattr(agent, "see_features", None)
        if see_features is not None:
            see_features(env.get_wrapper_attr("features") if env.has_wrapper_attr("features") else None)
        size = {"n_arms": int(env.get_wrapper_attr("n_arms"))}
    agent.begin(
        **size,
        horizon=int(env.get_wrapper_attr("horizon")),
        rng=stream(seed, trial=trial, role=AGENT, player=player),
    )
    with beginning:
        env.reset(seed=given, options={"trial": trial, "player": player})
    see_graph = getattr(agent, "see_graph", None) if env.has_wrapper_attr("graph") else None
    graph = None
    select = agent.select_point if points else agent.select_arm
    ended: Any = False
    while not ended:
        if see_graph is not None:
            current = env.get_wrapper_attr("graph")
            if current is not graph:
                graph = current
                see_graph(graph)
        action = select()
        observation, _, terminated, truncated, _ = env.step(action)
        agent.update(action, observation)
        ended = terminated or truncated
