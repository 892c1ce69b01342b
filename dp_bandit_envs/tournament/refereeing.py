"""Plays all hidden games with one agent: the games are here, the agent is in its process, arms and releases between."""

import base64
import dataclasses
import json
import signal
from threading import Event
from typing import Final, NamedTuple

import numpy as np

from dp_bandit_envs.privacy.mechanism import noise_of
from dp_bandit_envs.protocols import Environment, FloatArray, IntArray
from dp_bandit_envs.tournament.agent_process import MOST_WORDS, OUT_OF_MEMORY
from dp_bandit_envs.tournament.hidden_games import KINDS, HiddenGames
from dp_bandit_envs.tournament.message_pipe import ARMS, DONE, FAILED, GAMES, READY, STEP
from dp_bandit_envs.tournament.submissions import Submission, shown
from dp_bandit_envs.tournament.watched_process import WatchedProcess

BY_THE_CLOCK: Final = 3.0
"""Seconds by the clock for each second of processor time: the machine may be busy."""


class Limits(NamedTuple):
    """What an agent may use for all its games: seconds of processor time, and megabytes of memory."""

    seconds: float
    megabytes: int


@dataclasses.dataclass(frozen=True)
class Match:
    """All games of one agent.

    Attributes:
        submission: Whose they are.
        regret: The external regret of each game, shape `(kinds, games)`; None if the agent did not play to the end.
        failure: Why it did not, in words; empty if it did.
        output: What it printed, cut in the middle.
        seconds: How long the agent took, by the clock.
        unlimited: What this system could not limit, in words.
    """

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
    try:
        return _match(submission, games, limits, stopped)
    except OSError as error:
        return Match(submission, None, shown(f"its process could not be started: {error.strerror}"))
    except Exception as error:  # the others play on
        words = f"the referee could not go on: {type(error).__name__}: {error}"
        return Match(submission, None, shown(words[:MOST_WORDS]))


def _match(submission: Submission, games: HiddenGames, limits: Limits, stopped: Event) -> Match:
    unlimited: tuple[str, ...] = ()
    with WatchedProcess(stopped) as process:
        regret, failure = None, ""
        try:
            letter, content = process.ask(GAMES, _announcement(submission, games, limits))
            if letter == READY:
                unlimited = tuple(json.loads(content))
                process.is_ready(BY_THE_CLOCK * limits.seconds)
                regret, failure = _games(process, submission, games)
        except (EOFError, OSError):
            regret, failure = None, _why_it_ended(process, limits)
        process.left_by_itself()  # so that all of its output is there
        return Match(submission, regret, shown(failure[:MOST_WORDS]), process.output, process.waited, unlimited)


def _announcement(submission: Submission, games: HiddenGames, limits: Limits) -> bytes:
    """Return what an agent's process is told: nothing from which gains could be computed."""
    told = {
        "file": submission.file,
        "source": base64.b64encode(submission.source).decode("ascii"),
        "n_arms": games.n_arms,
        "horizon": games.horizon,
        "noise": list(noise_of(games.environment(0))),
        "streams": games.agent_streams(submission.player),
        "global_seed": games.global_seed(submission.player),
        **limits._asdict(),
    }
    return json.dumps(told).encode()


def _games(process: WatchedProcess, submission: Submission, games: HiddenGames) -> tuple[FloatArray | None, str]:
    """Play the games side by side; return the regrets, or why there are none."""
    envs = list(games.begun(submission.player))
    own = games.arms(submission.player)
    letter, content = process.ask()
    for _ in range(games.horizon):
        arms = _arms(letter, content, games) if letter == ARMS else None
        if arms is None:
            return None, _said(letter, content)
        letter, content = process.ask(STEP, _step(envs, arms, own))
    if letter != DONE:
        return None, _said(letter, content)
    regret = np.empty(len(envs))
    for trial, env in zip(games.trials(submission.player), envs, strict=True):
        regret[trial] = env.unwrapped.external_regret()  # type: ignore[attr-defined]
    return regret.reshape(len(KINDS), games.games), ""


def _arms(letter: bytes, content: bytearray, games: HiddenGames) -> IntArray | None:
    """Return the arms of a message, as the agent counts them, or None if they are not one arm for each game."""
    if letter != ARMS or len(content) != 4 * len(KINDS) * games.games:
        return None
    arms: IntArray = np.frombuffer(content, np.int32)
    return arms if arms.min() >= 0 and arms.max() < games.n_arms else None


def _step(envs: list[Environment], arms: IntArray, own: IntArray) -> bytes:
    """Play a round of every game and return what was released: all gains, then which were observed.

    Args:
        envs: The games.
        arms: The arm that the agent plays in each, as it counts them.
        own: Which arm of the environment each arm of the agent is, shape `(games, n_arms)`.
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


def _said(letter: bytes, content: bytearray) -> str:
    return content.decode(errors="replace") if letter == FAILED else "its process sent something that is no arm"


def _why_it_ended(process: WatchedProcess, limits: Limits) -> str:
    code = process.left_by_itself()
    if process.late:
        return f"gave no answer in {BY_THE_CLOCK * limits.seconds:g} s by the clock"
    if code == -getattr(signal, "SIGXCPU", 0):
        return f"used up its {limits.seconds:g} s of processor time"
    if code == OUT_OF_MEMORY:
        return f"needed more than {limits.megabytes:,} MB of memory"
    if code < 0:
        return f"its process was ended by the signal {_signal(-code)}"
    return f"its process ended in the middle of a game, with exit code {code}"


def _signal(number: int) -> str:
    """Return the name of a signal, or its number: those for real-time use have no names."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
