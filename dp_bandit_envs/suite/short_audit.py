"""A short audit of a played agent: one small game of each kind, compared with the declared guarantee."""

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final

import gymnasium as gym
import numpy as np

from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.audits import exact_loss, sampled_loss
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import NotAuditedError, NothingReleasedError, TooLongError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation.provenance import is_users_file, places_of
from dp_bandit_envs.suite.task_table import SuiteGame
from dp_bandit_envs.time_limit import limited

SECONDS: Final = 60.0
"""The limit of an audit in one game."""
ROUNDS: Final = (16, 128, 512)
"""Horizons of exact audits, tried in turn until something is released."""
ROUNDS_OF_DRAWS: Final = 4
"""The horizon where an agent's own draws are the noise, and all tables of gains 0 and 1 are played."""
SAMPLED_GAMES: Final = 200
"""Games of each test where an exact audit is not possible."""
SAMPLED_BATCHES: Final = 12
"""Steps of each of these games."""
LONGEST_REASON: Final = 300
FAILURES: Final = (Exception, SystemExit, TooLongError)
"""What somebody else's code may end with."""


def audit_of(played: Sequence[tuple[SuiteGame, Algorithm]]) -> dict[str, Any]:
    """Return the worst that short audits find of an agent at a level: one small game of each kind that it played.

    They are exact where the draws are known; otherwise a lower bound from some games. An agent that cannot play such
    games, as a trained model, is post-processing of its wrappers' releases: they are audited with arms in turn. Where
    the agent's own draws are the noise, games of the first kind are audited.

    Args:
        played: At least one task, with the algorithm that played it.
    """
    games: dict[str, tuple[SuiteGame, Algorithm]] = {}
    for task, algorithm in played:
        if algorithm.own_guarantee is None or not games:
            games.setdefault(name_of_kind(task), (task, algorithm))
    findings = {kind: _finding(task, algorithm) for kind, (task, algorithm) in games.items()}
    worst = max(findings.values(), key=lambda finding: (finding["refuted"], finding["kind"] != "none", _ratio(finding)))
    return {**worst, "games": {kind: finding["kind"] for kind, finding in findings.items()}}


def name_of_kind(task: SuiteGame) -> str:
    """Return the feedback of a task in a word."""
    kinds = {"Graph": "graphs", "Experts": "experts", "Linear": "features", "Ball": "points"}
    feedback = "" if task.has_arms else f" ({task.arguments['feedback']})"
    return kinds.get(task.game, "arms") + feedback


def small_game(task: SuiteGame, gains: FloatArray) -> Any:
    """Return a small game with the feedback of a task.

    Args:
        task: The task.
        gains: Gains of arms, `(rounds, n_arms)`; features and points have gains of their own.
    """
    rounds, n_arms = gains.shape
    match task.game:
        case "Graph":
            return GraphEnv("complete", n_arms=n_arms, gains=GainTable(gains))
        case "Experts":
            return ExpertsEnv(gains=GainTable(gains))
        case "Linear" | "Ball":
            fixed = {name: task.arguments[name] for name in ("coins", "feedback") if name in task.arguments}
            arms = {"n_arms": n_arms} if task.has_arms else {}
            return gym.make(f"DPBandit-{task.game}-v0", **fixed, **arms, dimension=2, horizon=rounds)
        case _:
            return BanditEnv(GainTable(gains))


class ArmsInTurn:
    """Plays the arms in turn, whatever is released."""

    def begin(self, *, n_arms: int, horizon: int, rng: np.random.Generator) -> None:
        """Begin with arm 0."""
        self.n_arms, self.next_arm = n_arms, 0

    def select_arm(self) -> int:
        """Return the next arm."""
        return self.next_arm

    def update(self, arm: int, observation: Any) -> None:
        """Go on to the arm after this one."""
        self.next_arm = (arm + 1) % self.n_arms


def _finding(task: SuiteGame, algorithm: Algorithm, player: str = "agent") -> dict[str, Any]:
    """Return the finding of one kind of game."""
    try:
        with limited(SECONDS):
            return {**_exact(task, algorithm), "player": player}
    except FAILURES as error:
        reason = in_short(error)
        is_noise_unknown = isinstance(error, (NotAuditedError, TooLongError, ImportError))
    draws = algorithm.own_guarantee is not None
    if not is_noise_unknown and not draws:
        if player != "agent" or algorithm.make_agent is None:
            return _nothing(reason)
        return _finding(
            task, dataclasses.replace(algorithm, make_agent=ArmsInTurn, player="ArmsInTurn"), "arms in turn"
        )
    try:
        with limited(SECONDS):
            loss = sampled_loss(
                algorithm,
                of="arms" if player == "agent" else "releases",
                games=SAMPLED_GAMES,
                horizon=SAMPLED_BATCHES * int(algorithm.parameters.get("batch_size") or 1),
                game=lambda gains: small_game(task, gains),
                progress=False,
            )
    except FAILURES as error:
        return _nothing(f"{reason} {in_short(error)}".strip()[:LONGEST_REASON])
    return {**_claim("at least", loss.declared, loss.epsilon, not loss.holds, loss.verdict), "player": player}


def _exact(task: SuiteGame, algorithm: Algorithm) -> dict[str, Any]:
    for rounds in ROUNDS if algorithm.own_guarantee is None else (ROUNDS_OF_DRAWS,):
        gains = np.random.default_rng(0).random((rounds, 2))
        try:
            loss = exact_loss(algorithm, environment=small_game(task, gains))
        except NothingReleasedError:
            if rounds == ROUNDS[-1]:
                raise
            continue
        kind = "exact" if loss.attained else "at most"
        return _claim(kind, loss.declared, loss.epsilon, loss.refuted, loss.verdict)
    raise AssertionError("the last horizon returns or raises")


def _claim(kind: str, guarantee: PrivacyGuarantee, epsilon: float, refuted: bool, verdict: str) -> dict[str, Any]:
    declared = {"epsilon": finite(guarantee.epsilon), "delta": guarantee.delta}
    return {"kind": kind, "declared": declared, "found": finite(epsilon), "refuted": bool(refuted), "reason": verdict}


def _nothing(reason: str) -> dict[str, Any]:
    return {"kind": "none", "declared": None, "found": None, "refuted": False, "reason": reason, "player": "agent"}


def _ratio(finding: dict[str, Any]) -> float:
    """Return how much of the claim was found."""
    if finding["found"] in (None, "inf"):
        return math.inf if finding["found"] else 0.0
    declared = finding["declared"]["epsilon"]
    return 0.0 if declared == "inf" else float(finding["found"]) / float(declared or 1)


def finite(number: float) -> float | str:
    """Return a number for JSON, which has no inf."""
    return float(number) if math.isfinite(number) else "inf"


def in_short(error: BaseException) -> str:
    """Return an error in one line of at most 300 characters, with the line of a user's file but no gains."""
    text = " ".join(str(error).split()) or "no words"
    if type(error).__name__ in ("WrongGameError", "UnreachableGuaranteeError"):
        return text[:LONGEST_REASON]
    where = next((place for place in reversed(places_of(error)) if is_users_file(place[0])), None)
    if where is None:
        return f"{type(error).__name__}: {text}"[:LONGEST_REASON]
    text = re.sub(r"\d+\.\d*(e[+-]?\d+)?", "...", text)
    return f"{PurePath(where[0]).name}:{where[1]}: {type(error).__name__}: {text}"[:LONGEST_REASON]
