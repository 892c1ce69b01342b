"""What a simulation plays, prepared once for all its trials: the game, the players, and what is compiled of them."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm, calibrate_in, make_algorithm
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import SeedRefusedError, UnprotectedGameError, WrongTypeError
from dp_bandit_envs.protocols import AgentFactory, Environment, IntArray
from dp_bandit_envs.seeding import checked_seed, drawn_seed
from dp_bandit_envs.simulation.chain import NotCompilableError
from dp_bandit_envs.simulation.checkpoints import checked, spaced
from dp_bandit_envs.simulation.game import to_count
from dp_bandit_envs.simulation.lane_loops import carries
from dp_bandit_envs.simulation.lane_trials import LEAST_TRIALS, LaneTrials
from dp_bandit_envs.simulation.outcomes import Engine, Outcome, Table
from dp_bandit_envs.simulation.plan import Plan, make_plan
from dp_bandit_envs.simulation.tasks import Task, Terms, Work
from dp_bandit_envs.simulation.trials import CompiledTrials, PlayedTrials, check_compiles

Algorithms = Sequence[str | Algorithm] | Mapping[str, Algorithm | AgentFactory]
Checkpoints = Iterable[int] | int | str | None
SECRET = (
    "a secret seed must stay on this machine; a cluster may write to its disks what it is sent. Play without the"
    " cluster, or give a seed."
)


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A simulation of any number of trials.

    Attributes:
        game: The innermost game.
        env: The environment that the wrappers of the players surround; it may have wrappers of its own.
        seed: The seed.
        secret: Whether nobody knows it: it came from the operating system, and is written nowhere.
        checkpoints: Rounds at which to record results, ascending; the last is the horizon.
        players: The algorithms by name.
        reasons: Why an algorithm is played instead of compiled; for these only.
        works: What has to be played in each trial: the compiled algorithms together, the others together.
        on_gpu: Whether a GPU plays them.
    """

    game: BanditEnv
    env: Environment = dataclasses.field(repr=False)
    seed: int = dataclasses.field(repr=False)
    secret: bool
    checkpoints: IntArray
    players: dict[str, Algorithm]
    reasons: dict[str, str]
    works: tuple[CompiledTrials | PlayedTrials, ...]
    on_gpu: bool = False

    def works_of(self, trials: int) -> tuple[Work, ...]:
        """Return what has to be played in so many trials: side by side what lanes carry, if that pays."""
        return tuple(part for work in self.works for part in self._parts(work, trials))

    def tasks(self, trials: range, owner: Any = None) -> list[Task]:
        """Return what has to be played in these trials; `owner` is returned with each result."""
        env_id = None if self.game.spec is None else self.game.spec.id
        return [Task(work, trials, env_id, owner) for work in self.works_of(len(trials))]

    def entered(self, trials: int) -> "Prepared":
        """Count all games of so many trials in the ledger of the data, if they have one, and note that in the works.

        Raises:
            LedgerError: If the ledger refuses them; nothing is counted then.
        """
        adversary = self.game.adversary
        if adversary.ledger is None:
            return self
        games = [[to_count(player, self.env)] for player in self.players.values()]
        use = adversary.data_use
        adversary.ledger.spend(games, use, trials, secret=self.secret)
        paid = None if use is None else (adversary.ledger.id, use)
        works = (dataclasses.replace(one, terms=one.terms._replace(paid_by=paid)) for one in self.works)
        return dataclasses.replace(self, works=tuple(works))

    @property
    def in_threads(self) -> bool:
        """Whether all of it is compiled, and so can run in threads."""
        return not self.reasons

    def tables(self, trials: int) -> dict[str, Table]:
        """Return empty tables by the algorithm's name."""
        return {name: Table(trials) for name in self.players}

    def _parts(self, work: CompiledTrials | PlayedTrials, trials: int) -> Iterator[Work]:
        lanes = {name: plan for name, plan in self._in_lanes(trials).items()}
        if isinstance(work, PlayedTrials) or not lanes:
            yield work
            return
        yield LaneTrials(work.adversary, lanes, work.seed, work.checkpoints)
        if len(lanes) < len(work.plans):
            rest = {name: plan for name, plan in work.plans.items() if name not in lanes}
            yield dataclasses.replace(work, plans=rest)

    def _in_lanes(self, trials: int) -> dict[str, Plan]:
        """Return the plans that lanes carry in so many trials. Data with a ledger are played trial by trial."""
        compiled = [work for work in self.works if isinstance(work, CompiledTrials)]
        alone = self.on_gpu or trials < LEAST_TRIALS or self.game.adversary.ledger is not None
        if alone or not compiled or compiled[0].source:
            return {}
        return {name: plan for name, plan in compiled[0].plans.items() if carries(plan)}

    def outcome(self, name: str, table: Table) -> Outcome:
        """Return the outcome of an algorithm from its full table."""
        reason = self.reasons.get(name, "")
        engine: Engine = "lanes" if name in self._in_lanes(table.trials) else "compiled"
        measures: dict[str, Any] = {"pseudo_regret": None, **table.measures}
        return Outcome(
            **measures,
            engine="cuda" if self.on_gpu else "play" if reason else engine,
            reason=reason,
            guarantee=self.players[name].guarantee_in(self.env),
        )


def prepare(
    env_id: str | Callable[[], Environment],
    algorithms: Algorithms,
    *,
    horizon: SupportsIndex | None,
    seed: SupportsIndex | None,
    checkpoints: Checkpoints,
    env_kwargs: Mapping[str, Any] | None,
    at_guarantee: tuple[float, float] | None = None,
) -> Prepared:
    """Make the game and find out which algorithms can be compiled; the arguments are those of `simulate`."""
    arguments = dict(env_kwargs or {})
    if horizon is not None:
        if "horizon" in arguments:
            raise ValueError(f"horizon must be given once; received {horizon} and {arguments['horizon']} (env_kwargs).")
        arguments["horizon"] = checks.integer("horizon", horizon, at_least=1)
    number, secret = checked_seed(seed), seed is None
    if number is None:
        number = drawn_seed()
    if not callable(env_id) and not isinstance(env_id, str):
        kind = type(env_id).__name__
        raise WrongTypeError(f"env_id must be an id or a function that makes the environment; received a {kind}.")
    make_env = functools.partial(gym.make, env_id, **arguments) if isinstance(env_id, str) else env_id
    if not isinstance(env_id, str) and arguments:
        raise ValueError("horizon and env_kwargs need an id; pass them to the environment in your function instead.")
    env = make_env()
    game = env.unwrapped
    if not isinstance(game, BanditEnv):
        raise TypeError(f"simulate needs a DPBandit environment, which computes the regret; received {game}.")
    rounds = _rounds(checkpoints, game.horizon)
    if at_guarantee is not None:
        if not isinstance(at_guarantee, Sequence) or isinstance(at_guarantee, str) or len(at_guarantee) != 2:
            raise WrongTypeError(
                f"at_guarantee must be a pair (epsilon, delta), such as (1.0, 0.0) or (1.0, 1e-6); received"
                f" {at_guarantee!r}."
            )
        algorithms = at_equal_guarantee(algorithms, at_guarantee, game)
    players = named_players(algorithms)
    compiled: dict[str, Plan] = {}
    reasons: dict[str, str] = {}
    for player in players.values():
        player.check_game(env)
        refuse_secure(player.wrap(env))
    if game.adversary.ledger is not None:
        refuse_shared_noise(players)
    source, decision_set = getattr(game, "source", None), getattr(game, "decision_set", None)
    for name, player in players.items():
        try:
            plan = make_plan(player, env)
            check_compiles(plan, game.adversary, source)
            compiled[name] = plan
        except NotCompilableError as obstacle:
            reasons[name] = str(obstacle)
    works: list[CompiledTrials | PlayedTrials] = []
    if compiled:
        known = () if game.adversary.ledger is None else tuple(to_count(players[name], env) for name in compiled)
        terms = Terms(secret, known)
        works.append(CompiledTrials(game.adversary, compiled, number, rounds, terms, source, decision_set))
    if reasons:
        works.append(PlayedTrials(make_env, {name: players[name] for name in reasons}, number, rounds, Terms(secret)))
    return Prepared(game, env, number, secret, rounds, players, reasons, tuple(works))


def refuse_shared_noise(players: Mapping[str, Algorithm]) -> None:
    """Refuse two algorithms with the same random streams, whose noise would cancel in a difference."""
    names: dict[str, str] = {}
    for name, player in players.items():
        if player.player in names:
            raise UnprotectedGameError(
                f"algorithms on data with a ledger must have noise of their own; {names[player.player]!r} and {name!r}"
                " have the same. Play one of them, or give them other parameters. Nothing was played."
            )
        names[player.player] = name


def refuse_secure(env: Environment) -> None:
    """Raise if a privacy wrapper takes no seed."""
    if env.has_wrapper_attr("takes_seed") and not env.get_wrapper_attr("takes_seed"):
        raise SeedRefusedError(
            f"{type(env).__name__} has draws='secure', which simulate does not play: its trials and its compiled loop"
            " draw from generators with a seed. Use play(env, agent, seed=None), or draws='fast'."
        )


def _rounds(checkpoints: Checkpoints, horizon: int) -> IntArray:
    if checkpoints is None:
        return spaced(horizon)
    if isinstance(checkpoints, str):
        return spaced(horizon, spacing=checkpoints)
    if isinstance(checkpoints, (int, np.integer)):
        return spaced(horizon, int(checkpoints))
    return checked(list(checkpoints), horizon)


def at_equal_guarantee(algorithms: Algorithms, target: tuple[float, float], game: BanditEnv) -> list[str | Algorithm]:
    """Return each named algorithm with the parameter at which its guarantee in this game meets (epsilon, delta)."""
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    if isinstance(algorithms, Mapping) or not all(isinstance(name, str) for name in names):
        raise WrongTypeError(
            "algorithms must be names where at_guarantee is given; received others. Calibrate an algorithm of your own"
            " and leave at_guarantee out, or register it."
        )
    return [calibrate_in(str(name), target, game) for name in names]


def named_players(algorithms: Algorithms) -> dict[str, Algorithm]:
    """Return algorithms by name, from any form that `simulate` accepts; their names must differ."""
    if isinstance(algorithms, (str, Algorithm)):
        algorithms = [algorithms]
    players: dict[str, Algorithm] = {}
    for entry in algorithms.items() if isinstance(algorithms, Mapping) else ((None, one) for one in algorithms):
        player = _player(*entry)
        if player.name in players:
            raise ValueError(
                f"algorithms must have different names; received {player.name!r} twice."
                " Use make_algorithm(..., label='another name') for two settings of one algorithm."
            )
        players[player.name] = player
    if not players:
        raise ValueError("algorithms must name at least one; received none.")
    return players


def _player(name: str | None, given: Any) -> Algorithm:
    if isinstance(given, str):
        given = make_algorithm(given)
    if isinstance(given, Algorithm):
        return given if name is None else dataclasses.replace(given, name=name)
    if name is not None and callable(given):
        return Algorithm(name, given)
    raise TypeError(
        "an algorithm must be a name, an Algorithm, or an agent's class in a mapping {'name': MyAgent}; received"
        f" {given.__name__ if inspect.isclass(given) else given!r}."
    )
