"""Plays all hidden games with one agent: the games are here, the agent is in its process, arms and releases between."""

from threading import Event
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.submitted_code import FAILED, MOST_WORDS, Limits, Submission, WatchedProcess, run, shown
from dp_bandit_envs.tournament.agent_process import ARMS, STEP
from dp_bandit_envs.tournament.hidden_games import KINDS, HiddenGames


class Match(NamedTuple):
    """All games of one agent: the external regrets, `(kinds, games)`, or None and why; its output and seconds."""

    submission: Submission
    regret: FloatArray | None
    failure: str = ""
    output: str = ""
    seconds: float = 0.0
    unlimited: tuple[str, ...] = ()


def referee(submission: Submission, games: HiddenGames, limits: Limits, stopped: Event) -> Match:
    """Play all games with an agent; whatever it does ends in a `Match`, and so does `stopped` when it is set."""
    if submission.problem:
        return Match(submission, None, submission.problem)
    envs, own = list[Environment](), games.arms(submission.player)
    process = WatchedProcess("tournament", "agent_process", submission, limits, stopped)

    def rounds() -> tuple[bytes, bytes]:
        """Play all games side by side, and return the agent's last message."""
        envs.extend(games.begun(submission.player))
        letter, content = process.ask()
        for _ in range(games.horizon):
            if letter != ARMS:
                return letter if letter == FAILED else b"", content
            letter, content = process.ask(STEP, _step(envs, _arms(content, games), own))
        return letter, content

    # Nothing from which gains could be computed.
    told: dict[str, Any] = {
        "n_arms": games.n_arms,
        "horizon": games.horizon,
        "noise": list(noise_of(games.environment(0))),
        "streams": games.agent_streams(submission.player),
        "global_seed": games.global_seed(submission.player),
    }
    try:
        ran = run(process, told, rounds)
    except Exception as error:  # the others play on
        words = f"the referee could not go on: {type(error).__name__}: {error}"
        return Match(submission, None, shown(words[:MOST_WORDS]))
    if ran.failure:
        return Match(submission, None, *ran)
    regret = np.empty(len(envs))
    for trial, env in zip(games.trials(submission.player), envs, strict=True):
        regret[trial] = env.unwrapped.external_regret()  # type: ignore[attr-defined]
    return Match(submission, regret.reshape(len(KINDS), games.games), *ran)


def _arms(content: bytes, games: HiddenGames) -> IntArray:
    """Return the arms of a message, as the agent counts them, or raise `ValueError` if it has not one for each game."""
    arms: IntArray = np.frombuffer(content, np.int32)
    if len(arms) != len(KINDS) * games.games or arms.min() < 0 or arms.max() >= games.n_arms:
        raise ValueError
    return arms


def _step(envs: list[Environment], arms: IntArray, own: IntArray) -> bytes:
    """Play a round of every game and return what was released: all gains, then which were observed.

    Agents count arms as in `own`, `(games, n_arms)`: its entries are arms of the environment.
    """
    gains = np.empty(own.shape)
    observed = np.empty(own.shape, np.int8)
    played: list[int] = own[np.arange(len(envs)), arms].tolist()
    for game, env in enumerate(envs):
        seen = env.step(played[game])[0]
        gains[game] = seen["gain"]
        observed[game] = seen["observed"]
    released = (np.take_along_axis(values, own, axis=1) for values in (gains, observed))
    return b"".join(values.tobytes() for values in released)
