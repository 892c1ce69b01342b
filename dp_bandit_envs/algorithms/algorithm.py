"""An algorithm: a name from a paper, the wrappers that make it private, and the agent inside them."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Deterministic
from dp_bandit_envs.algorithms.game_bounds import cut, regret_bound_in
from dp_bandit_envs.algorithms.games_it_plays import HIDDEN, hides_gains, needs_all, refusal_of, size_of, width_of
from dp_bandit_envs.algorithms.own_coins import proofs_do_not_cover
from dp_bandit_envs.algorithms.wrapping import check_wrapping, unchanged, wrapped
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import WrongGameError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, with_agent
from dp_bandit_envs.protocols import AgentFactory, Environment, PointAgentFactory, plays_points
from dp_bandit_envs.theory.lower_bounds import arm_means
from dp_bandit_envs.wrappers.inspect_below import data_use_below
from dp_bandit_envs.written_values import written_value


@dataclasses.dataclass(frozen=True)
class Algorithm:
    """Wrappers and an agent, with the guarantees and regret bounds known for the two together.

    `Algorithm("mine", MyAgent)` is enough for an agent of your own; `make_algorithm` makes those of the papers.

    Args:
        name: The name of its results.
        make_agent: Makes a fresh agent for games with arms, such as an agent's class; None if it plays points only. An
            agent whose confidence terms depend on the noise has a method `see_noise`, like the agents of this package.
        make_point_agent: Makes a fresh agent for games whose actions are points; by default it plays arms only.
        feedback: What its agents learn from: `"any"`; `"full"`, if they need every value of every round, which is
            also taken from an agent's class with the attribute `feedback = "full"`; or `"payoff"`, if in games of
            points they need the payoff of the point alone.
        decision_sets: Names of the decision sets whose points it plays; by default all.
        wrapping: Puts the privacy wrappers around an environment; by default there are none.
        own_guarantee: The guarantee for `(n_arms, horizon)` where it comes from the agent's own randomness, so that it
            covers the arms only; by default it is that of the outermost wrapper. It must cover horizon + 1 steps, as
            above batches the last, unfinished one is a step more, which releases nothing.
        paper_guarantee_of: What the paper claims for `(n_arms, horizon)`, where that differs.
        bound: An upper bound on the expected external regret for `(n_arms, horizon, memory)`, where one is known.
        bound_in: An upper bound on it for an environment whose bound depends on more, such as the decision set; by
            default `bound` for games with arms.
        stochastic_bound: An upper bound on the pseudo-regret for `(means, horizon)`, where one is known.
        parameters: The parameters that were chosen, for reports.
        reference: Author (year) and theorem.
        player: Determines the random streams of agent and wrappers, together with the seed; by default name and
            parameters, whatever the results are called later. Algorithms with the same player share their noise.

    Example:
        >>> from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale
        >>> mine = Algorithm("mine", Exp3, lambda env: LaplaceClipRescale(env, epsilon=0.5))
        >>> guarantee = mine.guarantee(n_arms=4, horizon=1000)
        >>> guarantee.epsilon, guarantee.model, guarantee.covers
        (0.5, 'local', 'arms and releases')
    """

    name: str
    make_agent: AgentFactory | None
    wrapping: Callable[[Environment], Environment] = unchanged
    make_point_agent: PointAgentFactory | None = None
    feedback: Literal["any", "full", "payoff"] = "any"
    decision_sets: tuple[str, ...] = ()
    own_guarantee: Callable[[int, int], PrivacyGuarantee] | None = None
    paper_guarantee_of: Callable[[int, int], PrivacyGuarantee] | None = None
    bound: Callable[[int, int, int], float] | None = None
    bound_in: Callable[[Environment], float] | None = None
    stochastic_bound: Callable[[Sequence[float], int], float] | None = None
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)
    reference: str = ""
    player: str = ""

    def __post_init__(self) -> None:
        """Refuse an agent where something that makes agents is needed; name the player."""
        check_wrapping(self.wrapping)
        makers: list[Any] = [one for one in (self.make_agent, self.make_point_agent) if one is not None]
        for one in makers or [None]:
            if callable(one):
                continue
            kind = type(one).__name__
            raise TypeError(f"make_agent must make a fresh agent when called; received a {kind}. Use {kind} itself.")
        if any(needs_all(one) for one in makers):
            object.__setattr__(self, "feedback", "full")
        if not self.player:
            object.__setattr__(self, "player", f"{self.name} {written_value(self.parameters)}")

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle an algorithm of `make_algorithm` as its name and parameters, because its functions are local."""
        recipe: Callable[[], Algorithm] | None = vars(self).get("_recipe")
        return super().__reduce_ex__(protocol) if recipe is None else (made_by, (recipe,))

    def wrap(self, env: Environment) -> Environment:
        """Return the environment in this algorithm's privacy wrappers."""
        return wrapped(self.wrapping, env)

    def agent(self, env: Environment | None = None) -> Any:
        """Return a fresh agent for a game; `play` and `simulate` pass it the noise of the wrappers (`see_noise`).

        Args:
            env: The game; by default any with arms, or with points if it plays no arms.

        Raises:
            WrongGameError: If it cannot play this game.
        """
        if env is not None:
            self.check_game(env)
        points = self.make_agent is None if env is None else plays_points(env)
        make = self.make_point_agent if points else self.make_agent
        assert make is not None
        agent = make()
        if env is not None and needs_all(agent) and hides_gains(env):
            raise WrongGameError(HIDDEN.format(self.name))
        return agent

    def check_game(self, env: Environment) -> None:
        """Raise `WrongGameError` if it cannot play a game."""
        reason = self.refusal(env)
        if reason is not None:
            raise WrongGameError(reason)

    def refusal(self, env: Environment) -> str | None:
        """Return why it cannot play a game, or None if it can."""
        return refusal_of(self, env)

    def guarantee(self, *, n_arms: SupportsIndex, horizon: SupportsIndex, sensitivity: float = 1.0) -> PrivacyGuarantee:
        """Return the guarantee for the sequence of all arms played in one game.

        Args:
            n_arms: Number of arms K, at least 2.
            horizon: Number of rounds T, at least 1.
            sensitivity: That of the environment: 1, or on a feedback graph the largest number of gains that a round
                reveals.
        """
        k, t = size_of(n_arms, horizon)
        game: BanditEnv
        if self.feedback == "full":
            game = ExpertsEnv(gains=Deterministic(k, t))
        else:
            game = BanditEnv(Deterministic(k, t))
            game.sensitivity = sensitivity
        return self.guarantee_in(game)

    def guarantee_in(self, env: Environment) -> PrivacyGuarantee:
        """Return the guarantee for the sequence of all actions in one game.

        Args:
            env: The game, without this algorithm's wrappers.
        """
        reason = self._not_covered(env)
        return self._guarantee(self.wrap(env), env) if reason is None else PrivacyGuarantee.none(reason)

    def guarantee_inside(self, inside: Environment, env: Environment) -> PrivacyGuarantee:
        """Return `guarantee_in` for a game that is in this algorithm's wrappers already.

        Args:
            inside: What `wrap` returned for the game.
            env: The game.
        """
        if type(self).guarantee_in is not Algorithm.guarantee_in:
            return self.guarantee_in(env)
        reason = self._not_covered(env)
        return self._guarantee(inside, env) if reason is None else PrivacyGuarantee.none(reason)

    def _not_covered(self, env: Environment) -> str | None:
        return None if self.own_guarantee is None else proofs_do_not_cover(env, self.name)

    def _guarantee(self, inside: Environment, env: Environment) -> PrivacyGuarantee:
        stated = inside.get_wrapper_attr("guarantee") if inside.has_wrapper_attr("guarantee") else None
        if self.own_guarantee is not None:
            own = self.own_guarantee(width_of(env), env.get_wrapper_attr("horizon"))
        elif stated is not None:
            return stated  # type: ignore[no-any-return]
        else:
            own = PrivacyGuarantee.none("no wrapper adds noise, and nothing is known of the agent's own randomness")
        if not isinstance(own, PrivacyGuarantee):
            return own
        layers = stated.steps if isinstance(stated, PrivacyGuarantee) else ()
        return dataclasses.replace(own if own.steps else with_agent(own, layers), data=data_use_below(env))

    def paper_guarantee(self, *, n_arms: SupportsIndex, horizon: SupportsIndex) -> PrivacyGuarantee:
        """Return what the paper claims, for comparison; `guarantee` is the one to rely on."""
        k, t = size_of(n_arms, horizon)
        return self.guarantee(n_arms=k, horizon=t) if self.paper_guarantee_of is None else self.paper_guarantee_of(k, t)

    def paper_guarantee_in(self, env: Environment) -> PrivacyGuarantee:
        """Return what the paper claims for a game, for comparison."""
        if self.paper_guarantee_of is None:
            return self.guarantee_in(env)
        return self.paper_guarantee_of(width_of(env), env.get_wrapper_attr("horizon"))

    def regret_bound(
        self, *, n_arms: SupportsIndex, horizon: SupportsIndex, memory: SupportsIndex = 0, sensitivity: float = 1.0
    ) -> float:
        """Return an upper bound on the expected external regret, in units of gain; inf where none is known.

        A bound above T is cut to T, which no regret exceeds, as a round costs at most 1.

        Args:
            n_arms: Number of arms K, at least 2.
            horizon: Number of rounds T, at least 1.
            memory: The adversary's memory m, which charges rounds after a change of arm; most bounds hold for m = 0
                only, and with another payoff function none for m > 0.
            sensitivity: That of the environment; above 1, noise is larger than the bounds assume, but for algorithms
                that need all gains.
        """
        k, t = size_of(n_arms, horizon)
        m = checks.integer("memory", memory, at_least=0)
        # Where every round reveals all gains, its noise is scaled to them in any case.
        louder = sensitivity > 1 and self.feedback != "full"
        if self.bound_in is not None and self.feedback == "full" and m == 0:
            return cut(self.bound_in(ExpertsEnv(gains=Deterministic(k, t))), t)
        if self.bound is None or (louder and self._adds_noise(k, t)):
            return math.inf
        return cut(self.bound(k, t, m), t)

    def regret_bound_in(self, env: Environment) -> float:
        """Return an upper bound on the expected external regret in a game, in units of gain; inf where none is known.

        It is at most T times the width of the range of payoffs: T with arms, 2 T on the ball and the cube.

        Args:
            env: The game, without this algorithm's wrappers; a DPBandit environment.
        """
        return regret_bound_in(self, env)

    def pseudo_regret_bound(
        self, *, means: Sequence[SupportsFloat], horizon: SupportsIndex, sensitivity: float = 1.0
    ) -> float:
        """Return an upper bound on the pseudo-regret for independent gains, in units of gain; inf where none is known.

        A bound above T is cut to T, which no regret exceeds, as a round costs at most 1.

        Args:
            means: The arms' means, at least 2, each in [0, 1].
            horizon: Number of rounds T, at least 1.
            sensitivity: That of the environment; where it is above 1, bounds are known only for algorithms that need
                all gains.
        """
        numbers = arm_means(means)
        _, t = size_of(len(numbers), horizon)
        # The proofs are for rounds that reveal one gain, or all of them.
        if self.stochastic_bound is None or (sensitivity > 1 and self.feedback != "full"):
            return math.inf
        return cut(self.stochastic_bound(numbers, t), t)

    def _adds_noise(self, n_arms: int, horizon: int) -> bool:
        return self.own_guarantee is None and self.guarantee(n_arms=n_arms, horizon=horizon).model != "none"


def made_by(recipe: Callable[[], Algorithm]) -> Algorithm:
    """Return an algorithm that remembers how it is made, so that it can be pickled.

    Args:
        recipe: Makes it, and can be pickled. A copy with other fields (`dataclasses.replace`) does not remember it.
    """
    algorithm = recipe()
    object.__setattr__(algorithm, "_recipe", recipe)
    return algorithm
