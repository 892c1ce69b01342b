"""Makes the loops over lanes: an algorithm's from the stages of its plan, an adversary's from its function of a round.

Which pieces are fit for lanes was measured; see `AGENTS` and `MECHANISMS`. A function is fit if LLVM can compute it for
all games at once: CONTRIBUTING says what that asks of it.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.adversaries.round_by_round import RoundByRound
from dp_bandit_envs.agents import Exp3, FunctionalAgent, Hedge, Ucb, Uniform
from dp_bandit_envs.agents.functional import Functions
from dp_bandit_envs.agents.ucb import PLAIN
from dp_bandit_envs.compiling.compiled import CompiledAt
from dp_bandit_envs.compiling.layout import Layout, Parts, Place, Single
from dp_bandit_envs.errors import GainRangeError
from dp_bandit_envs.privacy.mechanisms import ExactSums, LaplaceClipRescale, MiniBatchAverage, RandomizedResponse
from dp_bandit_envs.protocols import FloatArray, IntArray
from dp_bandit_envs.seeding import ADVERSARY, stream
from dp_bandit_envs.simulation import play_lanes
from dp_bandit_envs.simulation.plan import Plan
from dp_bandit_envs.simulation.play_lanes import BATCH_SIZE, LANES, Broken, Drawn, Game, Own
from dp_bandit_envs.specialise import specialise


class Carried(NamedTuple):
    """The functions of an agent that lanes carry, and the largest number of arms with which they pay.

    With more arms LLVM leaves loops over arms as they are, and then does not use vector registers.
    """

    functions: Functions
    most_arms: int = 8


AGENTS: dict[type[FunctionalAgent], Carried] = {
    Exp3: Carried(Exp3.functions),
    Hedge: Carried(Hedge.functions),
    Uniform: Carried(Uniform.functions),
    # Times as fast as one game after the other, measured on a busy machine: 4.4 with 4 arms, 3.9 with 10, 3.7 with 12,
    # and 0.3 with 14; with AVX2 instead of AVX-512 2.0, 1.9 and 1.9. Not carried are its private forms: DP-UCB-INT (0.7
    # with 4 arms) and AdaP-UCB (1.6, but 0.4 with 10) draw noise at rounds that differ between games, and DP-UCB-BOUND
    # has tables of two dimensions.
    Ucb: Carried(PLAIN, most_arms=12),
}
MECHANISMS = (ExactSums, LaplaceClipRescale, MiniBatchAverage, RandomizedResponse)


def carries(plan: Plan) -> bool:
    """Return whether lanes are worth it for a plan, and can play it."""
    carried = AGENTS.get(type(plan.agent))
    fit = carried is not None and plan.agent.functions == carried.functions and plan.n_arms <= carried.most_arms
    fit = fit and all(type(mechanism) in MECHANISMS for mechanism, _ in plan.mechanisms)
    fit = fit and plan.feedback in ("arm", "all") and plan.payoff is None
    # Objects of these classes can have functions of somebody else's, too.
    return fit and not plan.block.foreign


class LaneLoop:
    """The loop of one algorithm over the games of a block."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        game = self._game(plan.streams(0, 0))
        self._layout = Layout(game, LANES)
        self._places: Any = Game(*self._layout.form.inner)
        # All games begin alike but for their streams.
        self._first = np.zeros((self._layout.rows, 1), np.int64)
        self._layout.write(self._first, 0, game)
        parts = plan.parts_that(raising=False)
        parts.pop("tidied", None)
        if plan.agent.functions.tidy is not None:
            parts["tidy"] = plan.agent.functions.tidy
        self.compiled = _play_loop(self._layout.form, tuple(parts.items()))
        self.words = self._layout.rows

    @functools.cached_property
    def address(self) -> int:
        """The address of the machine code; compiled, or loaded from disk, when first asked for."""
        return self.compiled.address(*_arguments(self._plan.n_arms))

    def begin(self, block: IntArray, seed: int, trials: range) -> list[int]:
        """Write the games into a block, and return their clock; lanes that are left over play the last trial again."""
        block[: self.words] = self._first
        for lane in range(LANES):
            streams = self._plan.streams(seed, trials[min(lane, len(trials) - 1)])
            self._layout.write(block, lane, streams, self._places.streams)
        rules = self._plan.rules
        return [0, 0, 0, rules.memory, rules.observe_charge, rules.batch_size]

    def check(self, block: IntArray) -> None:
        """Raise if a release broke its mechanism's word in some game."""
        if _rows(block, self._places.states.inner[-1].inner[0]).any():
            raise ValueError("a mechanism withheld a gain, or released one outside its range, against its word.")

    def _game(self, streams: tuple[np.random.Generator, ...]) -> Game:
        state, states, progress = self._plan.first.copy()
        if self._plan.feedback == "arm":
            size = self._plan.n_values
            one: dict[str, Any] = {"gains": Single("float64", size), "observed": Single("int64", size)}
            progress = progress._replace(**one)
        own = Own(np.full(1, -1), np.zeros(1, np.int64), np.zeros(1, np.int64))
        broken = Broken(np.zeros(1, np.int64))
        return Game(np.zeros(self._plan.n_arms), state, (*states, broken), streams, progress, own)


class LaneGains:
    """The loop that draws an adversary's gains in the games of a block; `drawn` is itself, or the one in it."""

    def __init__(self, adversary: Adversary, drawn: RoundByRound) -> None:
        self._adversary, self._drawn = adversary, drawn
        self._layout = Layout(self._game(stream(0, role=ADVERSARY)), LANES, same=True)
        self._places: Any = Drawn(*self._layout.form.inner)
        self.compiled = _draw_loop(self._layout.form, type(drawn).next_round)
        self.words = self._layout.rows

    @functools.cached_property
    def address(self) -> int:
        """The address of the machine code; compiled, or loaded from disk, when first asked for."""
        return self.compiled.address(*_arguments(self._drawn.n_arms))

    def begin(self, block: IntArray, seed: int, trials: range) -> list[FloatArray | None]:
        """Write the games into a block, and return their means; lanes that are left over play the last trial again."""
        means = []
        for lane in range(LANES):
            game = self._game(stream(seed, trial=trials[min(lane, len(trials) - 1)], role=ADVERSARY))
            if lane == 0:
                self._layout.write(block, lane, game)
                block[...] = block[:, :1]
            else:  # all games begin alike but for what they draw
                self._layout.write(block, lane, (game.state,), self._places.state)
                self._layout.write(block, lane, (game.rng,), self._places.rng)
            means.append(self._adversary.means_of(game.state))
        return means

    def check(self, block: IntArray) -> None:
        """Raise if a gain was outside of [0, 1] in some game."""
        if _rows(block, self._places.outside).any():
            raise GainRangeError(self._adversary)

    def _game(self, rng: np.random.Generator) -> Drawn:
        # The state first: what it draws comes before the first round.
        state, n_arms = self._drawn.first_round_state(rng), self._drawn.n_arms
        return Drawn(np.zeros(n_arms), state, rng, np.zeros(n_arms), np.zeros(1, np.int64))


def _arguments(n_arms: int) -> tuple[Any, ...]:
    """Return arguments of a loop, of the types that all have: no rounds of no games."""
    block, gains = np.zeros((0, LANES), np.int64), np.zeros((0, n_arms, LANES), np.int64)
    sums, counts = np.zeros((1, n_arms, LANES)), np.zeros((1, n_arms + 1, LANES), np.int64)
    return block, gains, np.zeros(BATCH_SIZE + 1, np.int64), np.ones(1, np.int64), sums, counts


def _rows(block: IntArray, place: Place) -> IntArray:
    return block[place.row : place.row + place.size]


@functools.lru_cache(maxsize=256)
def _play_loop(form: Parts, parts: tuple[tuple[str, Callable[..., Any]], ...]) -> CompiledAt:
    """Return `play_lanes` with an algorithm's stages in it."""
    from dp_bandit_envs.compiling.layout_code import reader, writer

    replaced: dict[str, Any] = {**dict(parts), "game_at": reader(form), "keep": writer(Game(*form.inner).state)}
    stages = {
        stage.__name__: _with(stage, replaced)
        for stage in (play_lanes.begin_step, play_lanes.play_round, play_lanes.end_step, play_lanes.note)
    }
    return CompiledAt(_with(play_lanes.play_lanes, {**replaced, **stages}), {})


@functools.lru_cache(maxsize=64)
def _draw_loop(form: Parts, next_round: Callable[..., Any]) -> CompiledAt:
    """Return `draw_lanes` with an adversary's function in it."""
    from dp_bandit_envs.compiling.layout_code import reader

    parts: dict[str, Any] = {"game_at": reader(form), "next_round": next_round}
    stages = {stage.__name__: _with(stage, parts) for stage in (play_lanes.draw_round, play_lanes.add_round)}
    return CompiledAt(_with(play_lanes.draw_lanes, {**parts, **stages}), {})


def _with(function: Callable[..., Any], parts: Mapping[str, Any]) -> Callable[..., Any]:
    for name, part in parts.items():
        if name in function.__code__.co_names:
            function = specialise(function, name, part)
    return function
