"""Plays agents in the tasks of the suite at several levels of privacy, and stores the results in a folder."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.errors import ResultsError, TooLongError, UnreachableGuaranteeError, WrongGameError
from dp_bandit_envs.experiments.progress import check_progress, interruption, progress_of
from dp_bandit_envs.files import make_folder, write_whole
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.simulation import simulate
from dp_bandit_envs.simulation.provenance import code_digest, made_by
from dp_bandit_envs.suite import identification
from dp_bandit_envs.suite.card import ScoreCard, card_of
from dp_bandit_envs.suite.identification import are_of_identification, identification_tasks
from dp_bandit_envs.suite.players import SuitePlayer, Wrapper, players_of
from dp_bandit_envs.suite.reference import REFERENCE_SEED, stored_anchors
from dp_bandit_envs.suite.scores import exponent_of
from dp_bandit_envs.suite.short_audit import FAILURES, audit_of, finite, in_short
from dp_bandit_envs.suite.task_table import (
    DELTA,
    SIZES,
    SuiteGame,
    SuiteTask,
    played_anchors,
    public_seed,
    size_name,
    tasks as tasks_of_axes,
)
from dp_bandit_envs.time_limit import limited

LEVELS_OF_A_CARD: Final = (0.1, 1.0, 10.0)
SECONDS_A_CELL: Final = 1800.0
"""The usual limit of time for one agent at one level in one task."""
QUANTILES: Final = (0.1, 0.5, 0.9, 0.99)
GROWTH_TASKS: Final = ("stochastic/gap-0.2", "adversarial/constrained")
"""Where the growth of regret in T is reported."""


@checks.answers_wrong_calls
def evaluate(
    agents: Any,
    *,
    size: str = "quick",
    epsilon: float | Sequence[float | None] | None = LEVELS_OF_A_CARD,
    tasks: str | Sequence[str] | None = None,
    wrapper: Wrapper | None = None,
    folder: str | Path | None = None,
    jobs: int = 1,
    seed: int = REFERENCE_SEED,
    seconds: float = SECONDS_A_CELL,
    progress: Callable[[int, int], None] | bool = True,
) -> ScoreCard:
    """Score agents in the games of the suite, at privacy levels that they actually guarantee.

    Every agent plays every task that it can play, at every level. Algorithms with a mechanism are calibrated to
    guarantee the level in each task; agents without a mechanism play with the standard wrapper (`Clipped-Lap`). A cell
    without a score has a reason: another kind of game, no guarantee at this level, or a failure, which counts 0 and
    costs the rank. The guarantee is audited briefly; a refuted claim has no score.

    Args:
        agents: One or several, as for `compare`, or a mapping from names to them: a name such as `"DP-KLUCB"`, an
            `Algorithm`, an agent's class, a function that makes either, `"module:Name"`, an adapter such as
            `from_sb3(model)`, or a function `train(env)` that returns a trained model or an agent factory. It is called
            for each task and level with an environment whose games are not scored, and whose `reset` begins the next
            game.
        size: `"tiny"`, `"quick"` or `"full"`.
        epsilon: One level or several: the epsilon of a round at delta = 1e-6, or None for no privacy (private
            algorithms then have epsilon = inf).
        tasks: Axes or tasks, such as `"switching"`; by default all. Ranks need every task with arms. Tasks of
            `"identification"`, outside the total, stand alone; the card is then an `IdentificationCard`.
        wrapper: Called as `wrapper(env, epsilon=...)`; replaces the standard wrapper.
        folder: Folder for results; the same call resumes an interrupted run, or adds more agents.
        jobs: Number of games to play in parallel.
        seed: The seed of all games. By default the reference's seed, whose chance and best are stored; with other seeds
            they are played, too.
        seconds: Time limit for one agent at one level in one task.
        progress: As for `compare`.

    Raises:
        UnknownNameError: If an axis, task, size or algorithm is unknown; the message lists the known names.
        ValueError: If a level is out of range, or names are given twice.

    Example:
        >>> from dp_bandit_envs import suite
        >>> scores = suite.evaluate("DP-KLUCB", tasks="stochastic/gap-0.3", size="tiny", epsilon=1, progress=False)
        >>> scores.cell("DP-KLUCB", "stochastic/gap-0.3", 1)["guarantee"]["epsilon"]
        1.0
    """
    size = size_name(size)
    levels = levels_of(epsilon)
    finds_best = are_of_identification(tasks)
    parts: list[tuple[list[float | None], Sequence[SuiteGame]]] = (
        [([level], identification_tasks(tasks, epsilon=level)) for level in levels]
        if finds_best
        else [(levels, tasks_of_axes(tasks))]
    )
    seed = checks.integer("seed", seed, at_least=0)
    checks.integer("jobs", jobs, at_least=1)
    seconds = checks.greater_than("seconds", seconds, 0)
    check_progress(progress)
    players = players_of(agents, wrapper)
    store = CellStore(None if folder is None else Path(folder), size, seed)
    rounds = sum(task.horizon(size) * task.trials(size) * len(at) for at, wanted in parts for task in wanted)
    anchors, cells, audits, growth = {}, [], [], []
    try:
        with progress_of("suite", progress, rounds * len(players)) as advance:
            for at, wanted in parts:
                for task in wanted:
                    if isinstance(task, SuiteTask):
                        anchors[task.name] = store.anchors_or_stored(task)
                for agent in played_agents(players, wanted, at, store, jobs, seconds, advance):
                    cells += agent.cells
                    growth += _growth(agent, wanted, store, jobs, seconds)
                    if agent.level is not None and agent.played:
                        audits.append({"agent": agent.player.label, "level": agent.level, **audit_of(agent.played)})
    except KeyboardInterrupt:
        raise interruption(folder, what="cells") from None
    if finds_best:
        return identification.card_of(size, seed, levels, cells, audits)
    return ScoreCard(card_of(size, seed, levels, anchors, cells, audits, growth))


class PlayedAgent(NamedTuple):
    """The cells that an agent played at a level.

    Attributes:
        player: Who was evaluated.
        level: The level.
        cells: A cell for each task, with the regrets of its games or the reason why there are none.
        played: The tasks that it played, with the calibrated algorithms.
    """

    player: SuitePlayer
    level: float | None
    cells: list[dict[str, Any]]
    played: list[tuple[SuiteGame, Algorithm]]


def played_agents(
    players: Sequence[SuitePlayer],
    wanted: Sequence[SuiteGame],
    levels: Sequence[float | None],
    store: "CellStore",
    jobs: int,
    seconds: float,
    advance: Callable[[str | None, int], None],
) -> Iterator[PlayedAgent]:
    """Play all tasks, agent by agent and level by level, and yield each result when it is complete."""
    for player in players:
        for level in levels:
            cells: list[dict[str, Any]] = []
            played: list[tuple[SuiteGame, Algorithm]] = []
            for task in wanted:
                cells.append(_cell(store, player, task, level, played, jobs, seconds))
                advance(None, task.horizon(store.size) * task.trials(store.size))
            yield PlayedAgent(player, level, cells, played)


def _growth(
    agent: PlayedAgent, wanted: Sequence[SuiteGame], store: "CellStore", jobs: int, seconds: float
) -> list[dict[str, Any]]:
    """Return the growth exponent of an agent's regret in T, by its games at this and all smaller sizes.

    A model is trained for one size, and has no exponent.
    """
    smaller = list(SIZES)[: list(SIZES).index(store.size)]
    growth = []
    for task, cell in zip(wanted, agent.cells, strict=True):
        if task.name not in GROWTH_TASKS or "mean" not in cell or agent.player.train is not None or not smaller:
            continue
        means = {}
        for size in smaller:
            other = _cell(store.at(size), agent.player, task, agent.level, [], jobs, seconds)
            if "mean" in other:
                means[task.horizon(size)] = other["mean"]
        means[task.horizon(store.size)] = cell["mean"]
        exponent = exponent_of(list(means), list(means.values())) if len(means) > 1 else math.nan
        if not math.isnan(exponent):
            facts = {"agent": agent.player.label, "level": agent.level, "task": task.name, "exponent": exponent}
            growth.append({**facts, "means": {str(horizon): mean for horizon, mean in means.items()}})
    return growth


def levels_of(epsilon: Any) -> list[float | None]:
    """Return the requested levels, each once."""
    is_list = isinstance(epsilon, Iterable) and not isinstance(epsilon, (str, bytes))
    levels = [None if level is None else _level(level) for level in (epsilon if is_list else [epsilon])]
    if not levels or len(set(levels)) < len(levels):
        raise ValueError(f"epsilon must be one level or several different ones; received {epsilon!r}.")
    return levels


def _level(level: Any) -> float:
    number = checks.epsilon(level)
    if math.isinf(number):
        raise ValueError("epsilon must be finite; received inf. Use None for no privacy.")
    return number


class CellStore:
    """The played cells, in memory or as one file per cell with the regrets of all games.

    Args:
        folder: The folder; None for memory only.
        size: The name of the size.
        seed: The seed.
    """

    def __init__(self, folder: Path | None, size: str, seed: int) -> None:
        self._folder, self.size, self.seed = folder, size, seed
        if folder is not None:
            if folder.exists() and not folder.is_dir():
                raise ResultsError(f"{folder} must be a folder; it is a file. Choose another name.")
            make_folder(folder)

    def kept(self, task: SuiteGame, question: Mapping[str, Any], play: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the answer stored in a file about the games of a task, or play them and write the file.

        An answer with the key `"not kept"` is written nowhere.
        """
        games = {"games": task.games(self.size), "seed": self.seed, "delta": DELTA, "made by": made_by()}
        text = json.dumps({**question, **games}, sort_keys=True)
        name = hashlib.sha256(text.encode()).hexdigest()[:32]
        path = None if self._folder is None else self._folder / f"{name}.json"
        if path is not None and path.exists():
            try:
                stored = json.loads(path.read_text(encoding="utf-8"))
                same, answer = stored["question"] == json.loads(text), dict(stored["answer"])
            except (ValueError, KeyError, TypeError):
                raise ResultsError(f"{path} is damaged; remove it, and its games are played again.") from None
            if same:
                return answer
        answer = play()
        if path is not None and not answer.pop("not kept", False):
            facts = {"question": json.loads(text), "answer": answer}
            write_whole(path, json.dumps(facts, sort_keys=True, allow_nan=False))
        return answer

    def at(self, size: str) -> "CellStore":
        """Return the same store for another size."""
        return CellStore(self._folder, size, self.seed)

    def anchors_or_stored(self, task: SuiteTask) -> dict[str, list[float]]:
        """Return the regrets of chance and of the best, from the reference if it contains these games."""
        stored = stored_anchors(task.name, self.size, self.seed)
        return self.anchors(task) if stored is None else {"chance": stored[0].tolist(), "best": stored[1].tolist()}

    def anchors(self, task: SuiteTask) -> dict[str, list[float]]:
        """Return the regrets of chance and of the best in each game, playing them if they are not stored."""

        def play() -> dict[str, Any]:
            anchors = played_anchors(task.name, self.size, self.seed)
            return {"chance": anchors.chance.tolist(), "best": anchors.best.tolist()}

        return self.kept(task, {"anchors": task.best}, play)


def _cell(
    store: CellStore,
    player: SuitePlayer,
    task: SuiteGame,
    level: float | None,
    played: list[tuple[SuiteGame, Algorithm]],
    jobs: int,
    seconds: float,
) -> dict[str, Any]:
    """Return a cell: the results of an agent's games at a level in a task, or why they are missing."""
    cell: dict[str, Any] = {"agent": player.label, "task": task.name, "level": level}
    try:
        with limited(seconds):
            algorithm = player.algorithm_in(task, store.size, level, store.seed)
            task.check_player(algorithm)
            guarantee = algorithm.guarantee_in(task.environment(store.size))
    except FAILURES as error:
        return {**cell, **_cannot(error, f"stopped after {seconds:g} seconds before its first game")}
    cell["guarantee"] = guarantee_held(guarantee)
    parts = (algorithm.make_agent, algorithm.make_point_agent, algorithm.wrapping)
    question = {
        "level": level,
        "agent": player.label,
        "player": algorithm.player,
        "code": [code_digest(part) for part in parts if part is not None],
    }

    def play() -> dict[str, Any]:
        try:
            with limited(seconds), public_seed():
                simulation = simulate(
                    task.game_at(store.size),
                    [algorithm],
                    trials=task.trials(store.size),
                    seed=store.seed,
                    checkpoints=[task.horizon(store.size)],
                    jobs=jobs,
                    progress=False,
                )
            return task.results_of(next(iter(simulation.values())))
        except FAILURES as error:
            # What the clock stopped may be played on another day.
            return {**_cannot(error, f"stopped after {seconds:g} seconds"), "not kept": isinstance(error, TooLongError)}

    answer = store.kept(task, question, play)
    answer.pop("not kept", None)
    if task.answers in answer:
        played.append((task, algorithm))
        cell |= statistics_of(np.array(answer[task.answers]))
    return {**cell, **answer}


def _cannot(error: BaseException, stopped: str) -> dict[str, Any]:
    """Return the reason for a missing score."""
    if isinstance(error, TooLongError):
        return {"cannot": "failed", "reason": stopped}
    is_game, is_guarantee = isinstance(error, WrongGameError), isinstance(error, UnreachableGuaranteeError)
    return {"cannot": "game" if is_game else "guarantee" if is_guarantee else "failed", "reason": in_short(error)}


def guarantee_held(guarantee: PrivacyGuarantee) -> dict[str, Any]:
    """Return the text of a card on a guarantee: for a round and, where data are reused, for a person."""
    facts = {**_least_epsilon(guarantee), "model": guarantee.model, "covers": guarantee.covers}
    if guarantee.data is not None and guarantee.data.person is not None and guarantee.model != "none":
        facts["person"] = {**_least_epsilon(guarantee.for_person()), "rounds": guarantee.data.person}
    return facts


def _least_epsilon(guarantee: PrivacyGuarantee) -> dict[str, Any]:
    """Return a pure epsilon where there is one, otherwise the least at `DELTA`."""
    pure, at_delta = guarantee.pure_epsilon, guarantee.epsilon_at(DELTA)
    return {"epsilon": finite(min(pure, at_delta)), "delta": 0.0 if pure <= at_delta else DELTA}


def statistics_of(regrets: FloatArray) -> dict[str, Any]:
    """Return a card's statistics of the regrets, or of the rounds until the stop, of some games."""
    return {
        "mean": float(regrets.mean()),
        "deviation": float(regrets.std(ddof=1)) if len(regrets) > 1 else 0.0,
        "games": len(regrets),
        "quantiles": {f"{share:g}": float(np.quantile(regrets, share)) for share in QUANTILES},
    }
