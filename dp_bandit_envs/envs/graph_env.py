"""Bandit games with graph feedback: a round also reveals the gains of the neighbours of the arm played."""

import copy
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary, BernoulliPrior, Stochastic
from dp_bandit_envs.adversaries.stochastic import number_of_means
from dp_bandit_envs.compiling.functions import is_builtin
from dp_bandit_envs.envs.bandit_env import BanditEnv, checked_adversary, named_adversary, with_own_size
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.registration import sized_adversaries
from dp_bandit_envs.envs.rendering import GraphPicture
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.graphs import FeedbackGraph, GraphSource
from dp_bandit_envs.privacy.facts import ValueRange, all_gains_of_arms
from dp_bandit_envs.protocols import FloatArray, IntArray, Observation
from dp_bandit_envs.seeding import GRAPH, EpisodeStreams


class GraphEnv(BanditEnv):
    """A game with graph feedback: playing an arm reveals the gains of its whole neighbourhood.

    ## Description
    The reward is the gain of the arm played; the observation holds it and the gains of the arms that the graph connects
    it to. In a directed graph these are the arms that an edge leads to. Bandit feedback is the graph `"empty"`, full
    information `"complete"`. The graph is public: it never depends on gains, and agents may use it
    (`env.get_wrapper_attr("graph")`, a `FeedbackGraph`; this project's agents receive it by the method `see_graph`).
    `sensitivity` is the most gains that one round can reveal, and privacy wrappers scale their noise by it. A random
    graph may connect an arm to all others, so its sensitivity is K, for any degree, unless `max_revealed` caps it.
    `observed` is the closed neighbourhood of the arm played. A charge for switching applies to the arm played only; if
    the adversary has a payoff function, a neighbour shows its payoff after the same earlier arms.

    ## Arguments
    `graph="karate-club"`: a name (`dp_bandit_envs.graphs.NAMES`: complete, empty, star, cycle, cliques, erdos-renyi,
    planted-partition, power-law, and real social graphs), a networkx graph, a matrix, or a file with two arm numbers
    per line. Named graphs take `degree=10` (mean; even for a power law), `groups=10` or `size=5`, if they have them.
    `n_arms=None`: the graph's own number, or 10. `horizon=10_000`.
    `redraw_every=None`: number of rounds between draws of a random graph; by default one draw per game.
    `max_revealed=None`: the most gains a round may reveal (the arm's own and random neighbours', drawn independently of
    gains).
    `self_loops=True`: every arm reveals its own gain; otherwise only arms with an edge to themselves.
    Gains: `means=None`, fixed means of Bernoulli arms; or `prior=(1, 1)`, the Beta prior of each game's means; or
    `gains=`, another adversary by the name of its environment, such as `"Switching"`, or your own adversary, with its
    own horizon.
    `arm_order=None`: `"given"` (the default with `means` or your own graph) or `"random"`: each game numbers the arms
    at random, also in the graph.

    ## Version History
    v0: first version.

    ## References
    Mannor and Shamir (2011), From Bandits to Experts: On the Value of Side-Observations, NIPS; Caron, Kveton, Lelarge
    and Bhagat (2012), Leveraging Side Observations in Stochastic Bandits, UAI; Tossou, Dimitrakakis and Dubhashi
    (2017), Thompson Sampling for Stochastic Bandits with Graph Feedback, AAAI.
    """

    def __init__(
        self,
        graph: Any = "karate-club",
        *,
        n_arms: SupportsIndex | None = None,
        horizon: SupportsIndex | None = None,
        gains: Adversary | str | None = None,
        means: ArrayLike | None = None,
        prior: tuple[float, float] | None = None,
        redraw_every: SupportsIndex | None = None,
        max_revealed: SupportsIndex | None = None,
        self_loops: bool = True,
        arm_order: str | None = None,
        observe_charge: bool = True,
        render_mode: str | None = None,
        block_length: SupportsIndex = 4096,
        **options: Any,
    ) -> None:
        self.source, adversary, arm_order = graph_game(
            graph,
            n_arms=n_arms,
            horizon=horizon,
            gains=gains,
            means=means,
            prior=prior,
            redraw_every=redraw_every,
            max_revealed=max_revealed,
            self_loops=self_loops,
            arm_order=arm_order,
            **options,
        )
        super().__init__(
            adversary,
            arm_order=arm_order,
            observe_charge=observe_charge,
            render_mode=render_mode,
            block_length=block_length,
        )
        self.sensitivity = self.source.sensitivity
        self._graph_streams = EpisodeStreams(GRAPH)
        self._picture: GraphPicture | None = None

    @property
    def values(self) -> ValueRange:
        """Public facts about the gains that a round reveals."""
        return all_gains_of_arms(self.n_arms) if self.source.reveals_all else super().values

    @property
    def graph(self) -> FeedbackGraph:
        """The graph of the next round; public."""
        return self.source.graph

    def render(self) -> Any:
        """Return a picture of the graph: plays and observations in total and in the last round."""
        if self._picture is None:
            return super().render()
        self._check_started()
        title = f"{type(self.adversary).__name__} adversary, round {self._round:,} of {self.horizon:,}"
        return self._picture.render(self.render_mode, title, self.external_regret())

    def _begin(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self.source.begin(self._graph_streams.next(seed, options), self.adversary.order)
        self._picture = GraphPicture(self.graph) if self.render_mode else None

    def _reveal(self, arm: int, gain: float) -> Observation:
        gains = np.zeros(self.n_arms)
        observed = np.zeros(self.n_arms, np.int8)
        seen = _row(self.source.graph, arm, self.source.sensitivity)
        gains[seen] = self._shown()[seen]
        observed[seen] = 1
        gains[arm] = gain if observed[arm] else 0.0
        if self._picture is not None:
            self._picture.add(arm, self.source.graph)
        self.source.advance()
        return {"gain": gains, "observed": observed}


class GraphVectorEnv(BanditVectorEnv):
    """Many games of `GraphEnv` in lockstep; if graphs are random, each game draws its own.

    Args:
        num_envs: Number of games.
        graph: As in `GraphEnv`.
        observe_charge: As in `GraphEnv`.
        render_mode: None, `"rgb_array"` or `"ansi"`.
        arguments: The other arguments of `GraphEnv`.
    """

    def __init__(
        self,
        num_envs: SupportsIndex = 1,
        graph: Any = "karate-club",
        *,
        observe_charge: bool = True,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        source, adversary, arm_order = graph_game(graph, **arguments)
        super().__init__(
            num_envs, adversary, arm_order=arm_order, observe_charge=observe_charge, render_mode=render_mode
        )
        self.sensitivity = source.sensitivity
        self._sources = [copy.copy(source) for _ in range(self.num_envs)]
        self._graph_streams = [EpisodeStreams(GRAPH) for _ in range(self.num_envs)]
        self._pictures: list[GraphPicture] = []

    @property
    def values(self) -> ValueRange:
        """Public facts about the gains that a round of one game reveals."""
        return all_gains_of_arms(self.n_arms) if self._sources[0].reveals_all else super().values

    @property
    def graphs(self) -> list[FeedbackGraph]:
        """The graph of the next round of each game; public."""
        return [source.graph for source in self._sources]

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture of the graph of each game."""
        if not self._pictures:
            return super().render()
        name, regrets = type(self.adversaries[0]).__name__, self.external_regret()
        return tuple(
            picture.render(self.render_mode, f"{name} adversary, game {game}, round {self._round:,}", float(regret))
            for game, (picture, regret) in enumerate(zip(self._pictures, regrets, strict=True))
        )

    def _begin(self, seeds: list[int | None], options: dict[str, Any] | None) -> None:
        games = zip(self._sources, self.adversaries, self._graph_streams, seeds, strict=True)
        for source, adversary, streams, seed in games:
            source.begin(streams.next(seed, options), adversary.order)
        self._pictures = [GraphPicture(graph) for graph in self.graphs] if self.render_mode else []

    def _reveal(self, arms: IntArray, row: FloatArray, to_show: FloatArray) -> Observation:
        observation = self._nothing()
        for game, (source, arm) in enumerate(zip(self._sources, arms.tolist(), strict=True)):
            seen = _row(source.graph, arm, self.sensitivity)
            observation["gain"][game, seen] = row[game, seen]
            observation["observed"][game, seen] = 1
            observation["gain"][game, arm] = to_show[game] if observation["observed"][game, arm] else 0.0
            if self._pictures:
                self._pictures[game].add(arm, source.graph)
            source.advance()
        return observation


def _row(graph: FeedbackGraph, arm: int, sensitivity: float) -> IntArray:
    """Return the arms that `arm` reveals, or raise if their number exceeds the sensitivity of the noise."""
    seen = graph.revealed_by(arm)
    if len(seen) > sensitivity:
        raise ValueError(
            f"the graph was changed: arm {arm} reveals {len(seen)} gains, but noise is scaled to {sensitivity:g}. Make"
            " a new environment for a new graph."
        )
    return seen


def graph_game(
    graph: Any,
    *,
    n_arms: SupportsIndex | None = None,
    horizon: SupportsIndex | None = None,
    gains: Adversary | str | None = None,
    means: ArrayLike | None = None,
    prior: tuple[float, float] | None = None,
    arm_order: str | None = None,
    **of_graph: Any,
) -> tuple[GraphSource, Adversary, str | None]:
    """Return the source of a game's graphs, its adversary, and its `arm_order`; arguments as in `GraphEnv`."""
    arguments = [name for name, value in (("gains", gains), ("means", means), ("prior", prior)) if value is not None]
    if len(arguments) > 1:
        raise ValueError(f"gains, means and prior all say what arms pay; give one. Received {' and '.join(arguments)}.")
    adversary_name = checks.known_name("gains", gains, sized_adversaries()) if isinstance(gains, str) else None
    if adversary_name is not None:
        gains = None
    if gains is not None:
        gains = with_own_size(checked_adversary(gains), horizon=horizon)
        n_arms = gains.n_arms if n_arms is None and isinstance(graph, str) else n_arms
    if means is not None and n_arms is None and isinstance(graph, str):
        n_arms = number_of_means(means)
    source = GraphSource(graph, n_arms=n_arms, **of_graph)
    by_object = gains is not None
    rounds = 10_000 if horizon is None else horizon
    if adversary_name is not None:
        gains = named_adversary(adversary_name, source.n_arms, rounds)
    elif gains is None and means is not None:
        gains = Stochastic(source.n_arms, rounds, means=means)
    elif gains is None:
        if prior is not None and np.shape(prior) != (2,):
            raise WrongTypeError(
                f"prior must be two numbers, the alpha and beta of a Beta distribution; received {prior!r}."
            )
        alpha, beta = (1.0, 1.0) if prior is None else prior
        gains = BernoulliPrior(source.n_arms, rounds, alpha=alpha, beta=beta)
    if gains.n_arms != source.n_arms:
        raise ValueError(
            f"gains and graph must have the same number of arms; received {gains.n_arms} and {source.n_arms}."
        )
    if arm_order is None and (source.is_given or means is not None):
        arm_order = "given"
    elif arm_order is None and not by_object and is_builtin(type(gains)):
        arm_order = "random"
    return source, gains, arm_order
