"""The rules for adversaries: gains in their range that depend only on their random stream."""

import copy
import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium.utils.env_checker import check_env

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Adversary
from dp_bandit_envs.agents.regularized_leader import RegularizedLeader
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.algorithms.specs import read_game
from dp_bandit_envs.conformance.rules import copies_of, global_randomness_untouched, must_not_fail, require
from dp_bandit_envs.conformance.trial_games import check_played_equals_simulated, made, with_gains
from dp_bandit_envs.envs.registration import GAMES
from dp_bandit_envs.protocols import FloatArray, plays_points
from dp_bandit_envs.wrappers import ExactSums

ROUNDS: Final = 700
CUTS: Final = ([1], [2], [3], [64], [255], [1, 2, 3, 5, 8, 13, 21, 200], [199, 1, 1, 199, 300])
"""Block lengths for fetching the same rounds; the last length repeats."""
SIZES: Final = ((2, 2), (3, 7), (20, 64))
STREAMS: Final = 30
GAMES_FOR_MEANS: Final = 2000
FALSE_ALARM: Final = 1e-10
"""The probability that a correct adversary's means are refused."""
Make = Callable[[], Adversary]


@checks.answers_wrong_calls
def check_adversary(adversary: Any, *, horizon: int = ROUNDS) -> None:
    """Check your own adversary against everything that environments and the simulator rely on.

    The rules: gains are a fresh float64 array of shape `(rounds, n_arms)` in [lowest, 1], never NaN, with `lowest` 0,
    or -1 for gain vectors of points. They do not depend on the blocks in which rounds are fetched, and `fill` returns
    the same. One stream gives the same game; other streams give other games if draws are made; `begin` starts a new
    game. The global random state is not used. Copies and pickles play the same, and a copy does not affect its
    original. `n_arms`, `horizon` and `memory` equal the constructor's. `means`, if declared, are the expected gains.
    For an id, `gym.make` and `gym.make_vec` must play the same games, pass Gymnasium's own checker, and be simulated as
    they are played, to the last bit.

    A correct adversary fails with a probability below 1e-9, only because of the test of `means`.

    Args:
        adversary: A class or function that makes one, an adversary before `begin`, or a registered id or short name.
        horizon: Number of rounds for classes and ids with this parameter; fewer make a faster check.

    Raises:
        ConformanceError: If a rule is broken.
    """
    with global_randomness_untouched("an adversary"):
        if isinstance(adversary, (str, tuple)):
            id_, class_ = _registered(adversary)
            make = _sized(class_, horizon) if class_ is not None else None
        else:
            id_, class_ = None, adversary if isinstance(adversary, type) else None
            make = _maker(adversary, horizon)
        if make is not None:
            _check_facts(make)
            _check_gains(make)
            _check_streams(make)
            _check_copies(make)
            _check_means(make)
        if class_ is not None:
            _check_sizes(class_)
        if id_ is not None:
            _check_environment(id_, horizon)


def _registered(named: Any) -> tuple[str, type[Adversary] | None]:
    with must_not_fail(f"gym.make({named!r})", "register_adversary(name, class) registers a class."):
        game = read_game(named)
        game.make()
    id_ = game.env_id.partition(":")[2] or game.env_id
    require(id_ in GAMES, "an id must be that of a registered adversary", repr(named), "Use register_adversary.")
    require(not game.env_kwargs, "an id must have no arguments here", repr(named), "Pass a function that makes one.")
    return id_, GAMES[id_].adversary_class


def _sized(class_: Callable[..., Adversary], horizon: int) -> Make:
    takes = inspect.signature(class_).parameters
    return (lambda: class_(horizon=horizon)) if "horizon" in takes else class_


def _maker(adversary: Any, horizon: int) -> Make:
    if isinstance(adversary, Adversary):
        with must_not_fail("a deep copy of an adversary", "Pass its class, or a function that makes one."):
            copy.deepcopy(adversary)
        return lambda: copy.deepcopy(adversary)
    require(callable(adversary), "adversary must be a class, a function, an adversary or an id", "another", "Pass one.")
    return _sized(adversary, horizon) if isinstance(adversary, type) else adversary


def _check_facts(make: Make) -> None:
    with must_not_fail("making an adversary without arguments", "Give each parameter a default."):
        adversary: Any = make()
    name = type(adversary).__name__
    require(isinstance(adversary, Adversary), "an adversary must inherit Adversary", f"a {name}", "Inherit it.")
    lowest = adversary.lowest
    require(lowest in (0, -1), "lowest must be 0 or -1", f"{lowest!r} in {name}", "Set -1.0 for gain vectors only.")
    for fact, least in (("n_arms", 2), ("horizon", 1), ("memory", 0)):
        declared = getattr(adversary, fact, None)
        require(
            type(declared) is int and declared >= least,
            f"{fact} must be an int of at least {least}",
            f"{declared!r} in {name}",
            "Call super().__init__(n_arms, horizon).",
        )


def _blocks(adversary: Adversary, lengths: Sequence[int], *, stream: int = 3) -> Iterator[FloatArray]:
    """Yield the gains of a new game in blocks of these lengths, the last length repeated; checks each block."""
    adversary.begin(np.random.default_rng([stream, 1]))
    left, index = min(ROUNDS, adversary.horizon), 0
    while left:
        rounds = min(lengths[min(index, len(lengths) - 1)], left)
        gains = adversary.next_gains(rounds)
        shape = (rounds, adversary.n_arms)
        good = isinstance(gains, np.ndarray) and gains.shape == shape and gains.dtype == np.float64
        require(
            good,
            f"next_gains({rounds}) must return a float64 array of shape {shape}",
            f"{getattr(gains, 'dtype', type(gains).__name__)} of shape {np.shape(gains)}",
            "Return gains.astype(float), one row a round.",
        )
        require(
            bool(np.all((gains >= adversary.lowest) & (gains <= 1))),
            f"gains must be in [{adversary.lowest:g}, 1], and not NaN",
            "others, which are withheld",
            "Rescale them, and write every arm's in every round.",
        )
        yield gains
        left, index = left - rounds, index + 1


def _gains(adversary: Adversary, lengths: Sequence[int] = (ROUNDS,), *, stream: int = 3) -> FloatArray:
    with must_not_fail(f"{type(adversary).__name__}.begin and next_gains", "They are called for all of the horizon."):
        return np.concatenate([*_blocks(adversary, lengths, stream=stream)])


def _same(gains: FloatArray, expected: FloatArray, rule: str, way_out: str) -> None:
    require(np.array_equal(gains, expected), rule, "other gains", way_out)


def _check_gains(make: Make) -> None:
    adversary = make()
    expected = _gains(adversary)
    _same(_gains(make()), expected, "the same stream must give the same gains", "Draw from the rng of begin only.")
    for lengths in CUTS:
        rule = f"gains must not depend on how rounds are cut into blocks, such as {lengths}"
        _same(_gains(make(), lengths), expected, rule, "Draw random numbers in an order that goes round by round.")
    _gains(adversary, stream=4)
    _same(_gains(adversary), expected, "begin must start a new game", "Set what a game changes anew in begin.")
    halfway = make()
    next(_blocks(halfway, [50]))
    _same(_gains(halfway), expected, "begin must start a new game in the middle of one", "Set all of it anew in begin.")
    written = make()
    seen = []
    for block in _blocks(written, [50]):
        seen.append(block.copy())
        with must_not_fail("writing to gains", "next_gains returns a fresh array that may be written to."):
            block.fill(0.125)
    _same(np.concatenate(seen), expected, "next_gains must return fresh arrays", "Return a copy of what you keep.")
    again = _gains(written)
    _same(again, expected, "next_gains must return fresh arrays, not its own data", "Return a copy of what you keep.")
    wide = np.full((len(expected), 2, adversary.n_arms), np.nan)
    filled = make()
    filled.begin(np.random.default_rng([3, 1]))
    with must_not_fail("fill(gains)", "Leave fill as it is in Adversary, or write row by row."):
        filled.fill(wide[:, 1], check=True)
    _same(wide[:, 1], expected, "fill must write the gains that next_gains returns", "Leave fill as it is.")


def _check_streams(make: Make) -> None:
    """Require that games of different streams differ, if anything is drawn."""
    adversary, games, drew = make(), [], False
    for stream in range(STREAMS):
        rng = np.random.default_rng([stream, 2])
        before = rng.bit_generator.state
        adversary.begin(rng)
        games.append(adversary.next_gains(min(ROUNDS, adversary.horizon)))
        drew = drew or rng.bit_generator.state != before
    constant = bool(np.all(games[0] == games[0][0]))
    differ = any(not np.array_equal(game, games[0]) for game in games)
    require(
        differ or constant or not drew,
        "games of different streams must differ if random numbers are drawn",
        f"{STREAMS} equal games",
        "Draw what is random from the rng of begin.",
    )


def _check_copies(make: Make) -> None:
    expected = _gains(make())
    for name, twin in copies_of(make(), "an adversary").items():
        _same(_gains(twin), expected, f"{name} must play like the original", "Check __copy__ and __getstate__.")
    original = make()
    parts, disturbed = [], False
    for block in _blocks(original, [100]):
        parts.append(block.copy())
        if not disturbed:
            # As in the simulator: one adversary, copied for each trial, and the copies played concurrently.
            twin, disturbed = copy.copy(original), True
            _gains(twin, stream=5)
    rule = "copy.copy(adversary) and begin must leave the original's game alone"
    _same(np.concatenate(parts), expected, rule, "Make everything anew in begin that a game changes.")


def _check_means(make: Make) -> None:
    adversary = make()
    means = adversary.means
    if means is None:
        return
    k, low = adversary.n_arms, adversary.lowest
    good = isinstance(means, np.ndarray) and means.shape == (k,) and bool(np.all((means >= low) & (means <= 1)))
    shape, way_out = np.shape(means), "Set means to None unless every round has the same means."
    require(good, f"means must be an array of {k} numbers in [{low:g}, 1]", f"shape {shape}", way_out)
    rounds = min(32, adversary.horizon)
    averages = np.empty((GAMES_FOR_MEANS, k))
    firsts = np.empty((GAMES_FOR_MEANS, k))
    declared = np.empty((GAMES_FOR_MEANS, k))
    for game in range(GAMES_FOR_MEANS):
        adversary.begin(np.random.default_rng([6, game]))
        gains = adversary.next_gains(rounds)
        firsts[game], averages[game], declared[game] = gains[0], gains.mean(axis=0), adversary.means
    # Also the first rounds, because drifting means can average to the declared ones.
    for samples, which in ((averages, f"the first {rounds} rounds"), (firsts, "round 1")):
        # Means that a game numbers anew are its own; what a gain differs from them has a range of twice the length.
        above = samples - declared
        off = np.abs(above.mean(axis=0)) > 2 * mean_width((1 + above) / 2, FALSE_ALARM)
        arms = np.flatnonzero(off).tolist()
        require(
            not arms,
            f"means must be the expected gains of every round, {which} included",
            f"others for arms {arms}",
            way_out,
        )


def mean_width(samples: FloatArray, failure_probability: float) -> FloatArray:
    """Return confidence widths, `(columns,)`, for means of independent numbers in [0, 1], `(samples, columns)`.

    Empirical Bernstein bound: sqrt(2 V ln(2/d) / n) + 7 ln(2/d) / (3 (n - 1)) for each of the two sides, where d is the
    failure probability over twice the number of columns (Maurer and Pontil 2009, theorem 4). It holds for all columns
    and both sides together, for every n of at least 2.
    """
    n, columns = samples.shape
    log = math.log(2 * 2 * columns / failure_probability)
    widths: FloatArray = np.sqrt(2 * samples.var(axis=0, ddof=1) * log / n) + 7 * log / (3 * (n - 1))
    return widths


def _check_sizes(class_: type[Adversary]) -> None:
    takes = inspect.signature(class_).parameters
    if not {"n_arms", "horizon"} <= set(takes):
        return
    for n_arms, horizon in SIZES:
        try:
            adversary = class_(n_arms=n_arms, horizon=horizon)
        except ValueError:
            continue  # it may not support a size
        asked, received = (n_arms, horizon), (adversary.n_arms, adversary.horizon)
        require(
            asked == received,
            f"an adversary made with n_arms={n_arms} and horizon={horizon} must have them",
            f"{received[0]} and {received[1]}",
            "Call super().__init__(n_arms, horizon).",
        )
        _gains(adversary)


def _check_environment(id_: str, horizon: int) -> None:
    """Require that every way to play a registered id gives the same games, and that Gymnasium's checker passes."""
    env: Any = made(id_)
    arguments = with_gains(id_, {} if env.unwrapped.horizon <= horizon else {"horizon": horizon})
    with must_not_fail(f"{id_} with {arguments}", "An adversary takes horizon, or has at most as many rounds."):
        env = made(id_, **arguments)
    with warnings.catch_warnings(), must_not_fail("Gymnasium's check_env", "Its message is the cause of this error."):
        warnings.simplefilter("error", UserWarning)
        check_env(made(id_, **arguments).unwrapped, skip_render_check=True)
    rounds = env.unwrapped.horizon
    plays = _plays(env.unwrapped, min(rounds, 150))
    with must_not_fail(f"gym.make_vec({id_!r})", "It makes one adversary a game, as gym.make does."):
        many = gym.make_vec(id_, num_envs=3, **arguments)
        many.reset(seed=8)
        together = np.array([many.step(np.array([play] * 3))[1] for play in plays])
    for game in range(3):
        env.reset(seed=8 + game)
        alone = np.array([env.step(play)[1] for play in plays])
        rule = "game i of gym.make_vec must be the game of gym.make with seed + i, to the last bit"
        way_out = "copy.copy(adversary) makes the adversary of each game; look at __copy__."
        require(np.array_equal(together[:, game], alone), rule, "other gains", way_out)
    players = [Algorithm("follow the leader", None, ExactSums, make_point_agent=RegularizedLeader)]
    if not plays_points(env):
        players = [make_algorithm(name) for name in ("EXP3", "UCB")]
    for player in players:
        check_played_equals_simulated(player, id_, what=player.name, **{"horizon": None, **arguments})


def _plays(game: Any, number: int) -> list[Any]:
    if not plays_points(game):
        return [t // 5 % game.n_arms for t in range(number)]
    drawn = np.random.default_rng(0).standard_normal((number, game.dimension))
    return [game.decision_set.project(one) for one in drawn]
