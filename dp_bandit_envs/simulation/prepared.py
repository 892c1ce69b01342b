"""What a simulation plays, prepared once for all its trials: the game, the players, and what is compiled of them."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.compiling.compiled import missing, say_once
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.protocols import Environment, IntArray
from dp_bandit_envs.seeding import Seed, chosen_seed, drawn_seed
from dp_bandit_envs.simulation.chain import NotCompilableError, RefusedByNumbaError
from dp_bandit_envs.simulation.checkpoints import checked, spaced
from dp_bandit_envs.simulation.game import to_count
from dp_bandit_envs.simulation.lane_loops import carries
from dp_bandit_envs.simulation.lane_trials import LEAST_TRIALS, LaneTrials
from dp_bandit_envs.simulation.outcomes import Engine, Outcome, Table
from dp_bandit_envs.simulation.plan import Plan, make_plan
from dp_bandit_envs.simulation.players import (
    Algorithms,
    at_equal_guarantee,
    named_players,
    refuse_secure,
    refuse_shared_noise,
)
from dp_bandit_envs.simulation.repeatable import check_repeatable
from dp_bandit_envs.simulation.tasks import Task, Terms, Work
from dp_bandit_envs.simulation.trials import CompiledTrials, PlayedTrials, check_compiles

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
        make_env: Makes another such environment.
        works: What has to be played in each trial: the compiled algorithms together, the others together.
        unchecked: Why it was not checked whether the game can be repeated; empty if it was.
    """

    game: BanditEnv
    env: Environment = dataclasses.field(repr=False)
    seed: int = dataclasses.field(repr=False)
    secret: bool
    checkpoints: IntArray
    players: dict[str, Algorithm]
    reasons: dict[str, str]
    make_env: Callable[[], Environment] = dataclasses.field(repr=False)
    works: tuple[CompiledTrials | PlayedTrials, ...]
    unchecked: str = ""

    def works_of(self, trials: int) -> tuple[Work, ...]:
        """Return what has to be played in so many trials: side by side what lanes carry, if that pays."""
        return self.works if trials < LEAST_TRIALS else self._side_by_side

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

    @functools.cached_property
    def _side_by_side(self) -> tuple[Work, ...]:
        """The works, with what lanes carry apart; made once, so that it is compiled and its speed measured once."""
        return tuple(part for work in self.works for part in self._parts(work))

    def _parts(self, work: CompiledTrials | PlayedTrials) -> Iterator[Work]:
        lanes = self._in_lanes
        if isinstance(work, PlayedTrials) or not lanes:
            yield work
            return
        yield LaneTrials(work.adversary, lanes, work.seed, work.checkpoints)
        if len(lanes) < len(work.plans):
            rest = {name: plan for name, plan in work.plans.items() if name not in lanes}
            yield dataclasses.replace(work, plans=rest)

    @functools.cached_property
    def _in_lanes(self) -> dict[str, Plan]:
        """The plans that lanes carry. Data with a ledger are played trial by trial."""
        compiled = [work for work in self.works if isinstance(work, CompiledTrials)]
        if self.game.adversary.ledger is not None or not compiled or compiled[0].source:
            return {}
        return {name: plan for name, plan in compiled[0].plans.items() if carries(plan)}

    def outcome(self, name: str, table: Table) -> Outcome:
        """Return the outcome of an algorithm from its full table."""
        reason = self.reasons.get(name, "")
        engine: Engine = "lanes" if table.trials >= LEAST_TRIALS and name in self._in_lanes else "compiled"
        measures: dict[str, Any] = {"pseudo_regret": None, **table.measures}
        return Outcome(
            name=name,
            checkpoints=self.checkpoints,
            **measures,
            engine="play" if reason else engine,
            reason="; ".join(filter(None, (reason, self.unchecked))),
            guarantee=self.players[name].guarantee_in(self.env),
        )


def prepare(
    env_id: str | Callable[[], Environment],
    algorithms: Algorithms,
    *,
    horizon: SupportsIndex | None,
    seed: Seed,
    checkpoints: Checkpoints,
    env_kwargs: Mapping[str, Any] | None,
    at_guarantee: tuple[float, float] | None = None,
    small: Callable[[Plan, Adversary], bool] = lambda plan, adversary: False,
) -> Prepared:
    """Make the game and find out which algorithms can be compiled; the arguments are those of `simulate`.

    Where `small` says so, those of somebody else's are not compiled to find it out.
    """
    arguments = dict(env_kwargs or {})
    if horizon is not None:
        if "horizon" in arguments:
            raise ValueError(f"horizon must be given once; received {horizon} and {arguments['horizon']} (env_kwargs).")
        arguments["horizon"] = checks.integer("horizon", horizon, at_least=1)
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
    number = chosen_seed(seed, game.adversary.is_real)
    secret = number is None
    if number is None:
        number = drawn_seed()
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
    wrapped = []
    for player in players.values():
        player.check_game(env)
        wrapped.append(player.wrap(env))
        refuse_secure(wrapped[-1])
    if game.adversary.ledger is not None:
        refuse_shared_noise(players)
    unchecked = check_repeatable(env, make_env, zip(players.values(), wrapped, strict=True))
    source, decision_set = getattr(game, "source", None), getattr(game, "decision_set", None)
    for name, player in players.items():
        try:
            plan = make_plan(player, env)
            check_compiles(plan, game.adversary, source, small)
            compiled[name] = plan
        except NotCompilableError as obstacle:
            reasons[name] = str(obstacle)
            if isinstance(obstacle, RefusedByNumbaError):
                say_once(name, f"{name} is played in ordinary Python, which is slow: {obstacle}")
    if missing():
        say_once("missing", f"games are played in ordinary Python, which is slow: {missing()}")
    works: list[CompiledTrials | PlayedTrials] = []
    if compiled:
        known = () if game.adversary.ledger is None else tuple(to_count(players[name], env) for name in compiled)
        terms = Terms(secret, known)
        works.append(CompiledTrials(game.adversary, compiled, number, rounds, terms, source, decision_set))
    if reasons:
        works.append(PlayedTrials(make_env, {name: players[name] for name in reasons}, number, rounds, Terms(secret)))
    return Prepared(game, env, number, secret, rounds, players, reasons, make_env, tuple(works), unchecked=unchecked)


def _rounds(checkpoints: Checkpoints, horizon: int) -> IntArray:
    if checkpoints is None:
        return spaced(horizon)
    if isinstance(checkpoints, str):
        return spaced(horizon, spacing=checkpoints)
    if isinstance(checkpoints, (int, np.integer)):
        return spaced(horizon, int(checkpoints))
    return checked(list(checkpoints), horizon)
