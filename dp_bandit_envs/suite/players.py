"""Evaluated players: an algorithm, an agent without privacy, or a training function, at a level in a task."""

import contextlib
import dataclasses
import functools
import importlib
import inspect
import io
import math
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import gymnasium as gym

from dp_bandit_envs.adapters import from_sb3
from dp_bandit_envs.agents.functional import FunctionalPointAgent
from dp_bandit_envs.algorithms import Algorithm, calibrate_in
from dp_bandit_envs.algorithms.algorithm import unchanged
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, is_single_algorithm, read_algorithm
from dp_bandit_envs.algorithms.standard_wrapper import BASES, learns_from_sums, standard_wrapper
from dp_bandit_envs.errors import UnreachableGuaranteeError, WrongGameError, WrongTypeError
from dp_bandit_envs.privacy.guarantee import DELTA
from dp_bandit_envs.protocols import Environment, plays_points
from dp_bandit_envs.suite.short_audit import ArmsInTurn
from dp_bandit_envs.suite.task_table import SuiteGame
from dp_bandit_envs.wrappers import ExactSums

Wrapper = Callable[..., Environment]
"""Called with an environment and `epsilon=`, returns it in privacy wrappers."""
TRAINING_SEED: Final = 2**100
"""Added to the suite's seed in games for training, none of which is scored."""


@dataclasses.dataclass(frozen=True)
class SuitePlayer:
    """An evaluated player.

    Attributes:
        label: The name of the results.
        spec: The spec of the user's argument; None for a training function.
        train: Trains a model in an environment, and returns it or an agent factory; None for all others.
        wrapper: Wraps agents that are not private by themselves; None for the standard wrapper.
        error: Why the agent is missing, which fails all cells; None for all others.
    """

    label: str
    spec: AlgorithmSpec | None
    train: Callable[[Environment], Any] | None = None
    wrapper: Wrapper | None = None
    error: BaseException | None = None

    def algorithm_in(self, task: SuiteGame, size: str, level: float | None, seed: int = 0) -> Algorithm:
        """Return the algorithm for a task at a level.

        Raises:
            WrongGameError: If it is for another kind of game.
            UnreachableGuaranteeError: If it has no guarantee at this level.
        """
        if self.error is not None:
            raise self.error
        env = task.environment(size)
        if self.train is not None:
            return self._trained(task, size, level, seed)
        assert self.spec is not None
        if level is None:
            return self._named(self._without_privacy(env))
        # The agent alone says whether it plays such a game, before a parameter of its privacy is searched for.
        parameters = self.spec.parameters_at(level, DELTA, task.horizon(size))
        algorithm = _built(self.spec, parameters)
        algorithm.check_game(env)
        task.check_player(algorithm)
        is_bare = self.spec.factory is not None and algorithm.wrapping is unchanged
        if is_bare and not self.spec.takes_epsilon and algorithm.guarantee_in(env).model == "none":
            return self._named(self._behind_a_wrapper(algorithm, level))
        return self._named(calibrated(self.spec, level, env))

    def _without_privacy(self, env: Environment) -> Algorithm:
        assert self.spec is not None
        horizon = int(env.get_wrapper_attr("horizon"))
        # EXP3-tau takes an epsilon in place of its paper's batches, which are what it plays without one.
        takes_noise = self.spec.takes_epsilon and self.spec.signature["epsilon"].default is not None
        epsilon = math.inf if takes_noise else None
        algorithm = _built(self.spec, self.spec.parameters_at(epsilon, DELTA if epsilon else None, horizon))
        algorithm.check_game(env)
        needs_sums = (
            self.spec.factory is not None and algorithm.wrapping is unchanged and algorithm.make_agent is not None
        )
        if needs_sums and learns_from_sums(algorithm.make_agent):
            return dataclasses.replace(algorithm, wrapping=ExactSums)
        return algorithm

    def _behind_a_wrapper(self, algorithm: Algorithm, level: float) -> Algorithm:
        if self.wrapper is not None:
            wrapping: Callable[[Environment], Environment] = functools.partial(self.wrapper, epsilon=level)
        else:
            wrapping = standard_wrapper(algorithm.make_agent or algorithm.make_point_agent, epsilon=level)
        return dataclasses.replace(
            algorithm,
            wrapping=wrapping,
            parameters={**algorithm.parameters, "epsilon": level},
            player=f"{algorithm.player} epsilon={level:g}",
        )

    def _trained(self, task: SuiteGame, size: str, level: float | None, seed: int) -> Algorithm:
        assert self.train is not None
        if task.axis == "data":
            raise WrongGameError(f"{self.label} is trained on games, and those of {task.name} are patients.")
        env = task.environment(size)
        if plays_points(env):
            raise WrongGameError(f"{self.label} is trained on arms, and {task.name} plays points.")
        bare = Algorithm(self.label, ArmsInTurn)
        private = bare if level is None else self._behind_a_wrapper(bare, level)
        model = self.train(TrainingGames(private.wrap(env), TRAINING_SEED + seed))
        if model is None:
            raise WrongTypeError(f"{self.label} must return the model that it trained; received None.")
        make_agent = model if callable(model) and not hasattr(model, "predict") else from_sb3(model)
        return dataclasses.replace(private, make_agent=make_agent)

    def _named(self, algorithm: Algorithm) -> Algorithm:
        return algorithm if algorithm.name == self.label else dataclasses.replace(algorithm, name=self.label)


class TrainingGames(gym.Wrapper[Any, Any, Any, Any]):
    """Training games, one after the other: `reset` begins the next game; they are not scored.

    Args:
        env: The game in its wrappers.
        seed: The seed of these games.
    """

    def __init__(self, env: Environment, seed: int) -> None:
        super().__init__(env)
        self._seed: int | None = seed

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin the next game; a given seed is ignored."""
        seed, self._seed = self._seed, None
        return self.env.reset(seed=seed)


def players_of(agents: Any, wrapper: Wrapper | None = None) -> list[SuitePlayer]:
    """Return the evaluated players, from one or several of `compare`'s algorithms, or a mapping from names to them.

    Without a mapping, equal names, such as `MyAgent` of two files, get their modules: `anna:MyAgent`.

    Raises:
        ValueError: If the list is empty, or two have the same name.
    """
    if isinstance(agents, Mapping):
        players = [_player(str(label), agent, wrapper) for label, agent in agents.items()]
    else:
        listed = [agents] if is_single_algorithm(agents) or is_trainer(agents) else list(agents)
        players = [_player(None, agent, wrapper) for agent in listed]
        labels = [player.label for player in players]
        players = [
            dataclasses.replace(player, label=f"{_module_of(agent)}:{player.label}")
            if labels.count(player.label) > 1 and _module_of(agent)
            else player
            for agent, player in zip(listed, players, strict=True)
        ]
    if not players:
        raise ValueError("agents must name at least one; received none.")
    labels = [player.label for player in players]
    twice = next((label for index, label in enumerate(labels) if label in labels[:index]), None)
    if twice is not None:
        raise ValueError(f"agents must have different names; received {twice!r} twice. Use a mapping from names.")
    return players


def agents_of_folder(folder: Path) -> dict[str, Any]:
    """Return the agents of the Python files in a folder, by the names of the files.

    Each file has a class `MyAgent`, or else one class of agents. The error of a failed import fails only that file's
    cells. What files print or warn of at import is left out.

    Raises:
        ValueError: If the folder has no such file.
    """
    files = sorted(file for file in folder.glob("*.py") if not file.name.startswith("_"))
    if not files:
        raise ValueError(f"{folder} must have Python files, each with a class MyAgent; there are none.")
    if (path := str(folder.resolve())) not in sys.path:
        sys.path.append(path)
    return {file.stem: _agent_of_file(file) for file in files}


def _agent_of_file(file: Path) -> Any:
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(file.stem)
        module_file = Path(str(getattr(module, "__file__", "")))
        if module_file.resolve() != file.resolve():
            raise ImportError(f"the name of {file.name} is taken by {module_file}; call the file something else")
        classes = [
            thing
            for thing in vars(module).values()
            if isinstance(thing, type) and hasattr(thing, "update") and thing.__module__ == module.__name__
        ]
        agent = getattr(module, "MyAgent", classes[0] if len(classes) == 1 else None)
        if agent is None:
            raise ImportError(f"{file.name} has no class MyAgent, and {len(classes)} other classes of agents")
    except (Exception, SystemExit) as error:
        return error
    return agent


def is_trainer(agent: Any) -> bool:
    """Return whether an object is a function `train(env)` that returns a trained model."""
    if not inspect.isfunction(agent) and not isinstance(agent, functools.partial):
        return False
    needed = [
        parameter.name
        for parameter in inspect.signature(agent).parameters.values()
        if parameter.default is parameter.empty and parameter.kind in (0, 1)
    ]
    return needed == ["env"]


def _player(label: str | None, agent: Any, wrapper: Wrapper | None) -> SuitePlayer:
    if isinstance(agent, BaseException):
        return SuitePlayer(label or "unknown", None, error=agent)
    if is_trainer(agent):
        return SuitePlayer(label or agent.__name__, None, agent, wrapper)
    if isinstance(agent, type) and hasattr(agent, "select_point"):
        makes_points: Any = agent
        makes_arms: Any = None if issubclass(agent, FunctionalPointAgent) else agent
        feedback: Any = getattr(agent, "feedback", "any")
        agent = Algorithm(label or agent.__name__, makes_arms, make_point_agent=makes_points, feedback=feedback)
    spec = read_algorithm(agent, label)
    return SuitePlayer(spec.label, spec, None, wrapper)


def _module_of(agent: Any) -> str:
    if isinstance(agent, str):
        return agent.partition(":")[0] if ":" in agent else ""
    return str(getattr(agent, "__module__", "")) if callable(agent) else ""


_CALIBRATED: dict[tuple[Any, ...], Mapping[str, Any] | str] = {}
"""The parameters found for names of the table, or why there are none; a search may take ten seconds."""


def _built(spec: AlgorithmSpec, parameters: Mapping[str, Any]) -> Algorithm:
    return dataclasses.replace(spec, parameters=parameters).build_with_own_noise()


def calibrated(spec: AlgorithmSpec, level: float, env: Environment) -> Algorithm:
    """Return an algorithm whose guarantee in a game is (level, `DELTA`), as closely as possible from below.

    Raises:
        UnreachableGuaranteeError: If there is no such parameter.
        WrongGameError: If it cannot play the game.
    """
    if spec.factory is not None:
        return calibrate_in(spec, (level, DELTA), env)
    game: Any = env.unwrapped
    facts = (plays_points(env), game.n_values, game.adversary.n_arms, game.horizon, game.sensitivity)
    key = (spec.name, repr(sorted(spec.parameters.items())), level, *facts)
    if key not in _CALIBRATED:
        try:
            _CALIBRATED[key] = calibrate_in(spec, (level, DELTA), env).parameters
        except UnreachableGuaranteeError as error:
            way_out = f"Use Clipped-Lap:base={spec.name}, its agent behind the standard wrapper."
            _CALIBRATED[key] = f"{spec.name} has no such guarantee. {way_out}" if spec.name in BASES else str(error)
    parameters = _CALIBRATED[key]
    if isinstance(parameters, str):
        raise UnreachableGuaranteeError(parameters)
    return _built(spec, {name: parameter for name, parameter in parameters.items() if name in spec.signature})
