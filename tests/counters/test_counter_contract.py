"""What every counter promises: exact sums, a release a prefix, so many draws an item, and errors that keep secrets."""

import math

import numpy as np
import pytest

from dp_bandit_envs.checks import shown
from dp_bandit_envs.compiling.compiled import CompiledFunction
from dp_bandit_envs.draws import Stream
from dp_bandit_envs.errors import UnknownNameError
from dp_bandit_envs.privacy.counters import (
    COUNTERS,
    BinaryCounter,
    HybridCounter,
    KAryCounter,
    SquareRootCounter,
    make_counter,
)
from dp_bandit_envs.privacy.counters.trees import binary_node
from dp_bandit_envs.privacy.gaussian import gaussian_sigma
from dp_bandit_envs.privacy.laplace import to_grid
from tests.tools.counter_noise import ALL, ANYTIME, KNOWN_HORIZON, LAPLACE, counter
from tests.tools.fake_draws import Counting
from tests.tools.refusals import missing, refused

# ---- sums


def covered(name: str, items: int) -> int:
    """Return how many items the release after `items` items is about."""
    return 1 << (items.bit_length() - 1) if name == "logarithmic" else items


@pytest.mark.parametrize("name", ALL)
def test_released_prefixes_at_infinite_epsilon_are_exact(name):
    """Items are multiples of 1 / 64, whose sums are exact in doubles, so equality is meant to the last bit."""
    items = np.random.default_rng(0).integers(0, 65, 1100) / 64
    prefixes = np.concatenate([[0], np.cumsum(items)])
    some = counter(name, len(items), math.inf)
    for t, item in enumerate(items.tolist(), 1):
        some.insert(item)
        assert (some.inserted, some.released) == (t, covered(name, t))
        assert some.release() == prefixes[covered(name, t)]
    assert some.error_width(0.01) == 0.0
    assert some.variance(1000) == 0.0


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_a_release_is_the_exact_sum_plus_noise_that_does_not_depend_on_the_items(name):
    """Two counters with one seed, all items 0 and all items 1, and the same noise from `advance` alone.

    The release is the multiple of the grid next to it, so that which doubles can occur does not depend on the items.
    """
    zeros, ones = (counter(name, 200, 0.5, rng=np.random.default_rng(7)) for _ in range(2))
    alone = counter(name, 200, 0.5)
    state, rng = alone.new_state(1), Stream(np.random.PCG64(7))
    moved = set()
    for t in range(1, 201):
        zeros.insert(0.0)
        ones.insert(1.0)
        noise, fresh = alone.noise(state, 0, rng)
        assert fresh == (covered(name, t) == t)
        if fresh:
            assert zeros.release() == round(noise / zeros.grid) * zeros.grid
            assert abs(zeros.release() - noise) <= zeros.grid / 2
            alone.settled(state, 0, zeros.release())
            moved.add(noise)
            assert ones.release() == t + zeros.release()
    assert len(moved) == (8 if name == "logarithmic" else 200)  # 1, 2, ..., 128


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_asking_again_gives_the_same_number_and_draws_nothing(name):
    rng = Counting(0)
    some = counter(name, 64, 1.0, rng=rng)
    # Before the first item nothing is known and nothing is noisy.
    assert (some.inserted, some.released, some.release()) == (0, 0, 0.0)
    assert (some.variance(0), some.error_width(0.01), some.noise_scales.sum()) == (0.0, 0.0, 0.0)
    assert rng.draws == 0
    for _ in range(64):
        some.insert(0.5)
        drawn = rng.draws
        first = some.release()
        assert [some.release() for _ in range(3)] == [first] * 3
        _ = some.noise_scales, some.error_width(1e-9), some.guarantee, some.variance(5)
        assert rng.draws == drawn
        assert some.release() == first
    assert rng.draws > 0


@pytest.mark.parametrize("name", ALL)
def test_arms_do_not_disturb_one_another(name):
    """Three arms in one state, in a random order, each with a stream of its own, are three counters by themselves."""
    some = counter(name, 100)
    alone = []
    for arm in range(3):
        state, rng = some.new_state(1), np.random.default_rng(arm)
        alone.append([some.noise(state, 0, rng)[0] for _ in range(100)])
    state, streams = some.new_state(3), [np.random.default_rng(arm) for arm in range(3)]
    together: list[list[float]] = [[], [], []]
    for arm in np.random.default_rng(9).permutation(np.repeat(np.arange(3), 100)).tolist():
        together[arm].append(some.noise(state, arm, streams[arm])[0])
    assert together == alone


# ---- the horizon


@pytest.mark.parametrize("name", ALL)
def test_releases_reach_the_horizon_and_one_more_item_is_refused(name):
    for horizon in (1, 2, 4, 64, 256, 255, 257):
        check_horizon(name, horizon)


def check_horizon(name, horizon):
    some = counter(name, horizon, rng=np.random.default_rng(0))
    for _ in range(horizon):
        some.insert(1.0)
    # Padded trees have no level for the release after the last of 2^k items, which no play uses.
    unreleased = name == "padded-binary" and horizon > 1 and horizon.bit_count() == 1
    assert some.released == covered(name, horizon) - unreleased
    last = some.release()
    # Noise of a standard deviation s strays by more than 20 s with probability below 1e-11 (Laplace: exp(-28)).
    assert abs(last - some.released) < 20 * math.sqrt(some.variance(horizon))
    with refused(ValueError, horizon):
        some.insert(0.0)
    assert (some.inserted, some.release()) == (horizon, last)


@pytest.mark.parametrize("name", ANYTIME)
def test_counters_for_an_unknown_horizon_go_on(name):
    some = make_counter(name, epsilon=math.inf)
    for _ in range(5000):
        some.insert(1.0)
    assert some.release() == covered(name, 5000)


# ---- what is refused


WRONG = [
    # Every value at one counter, and every counter with one value.
    *((name, {"epsilon": -1.0}, ValueError, ["epsilon", 0, -1.0]) for name in ALL),
    *(("binary", {"epsilon": e}, ValueError, ["epsilon", 0, e]) for e in (0.0, math.nan, -math.inf)),
    *((name, {"epsilon": None}, TypeError, ["epsilon", "None"]) for name in ALL),
    *(("binary", {"epsilon": e}, TypeError, ["epsilon", shown(e)]) for e in ("1", [1.0, 2.0], True)),
    *((name, {"horizon": 0}, ValueError, ["horizon", 1, 0]) for name in ALL),
    *(("binary", {"horizon": h}, ValueError, ["horizon", 1, h]) for h in (-5, True)),
    *(("binary", {"horizon": h}, TypeError, ["horizon", 1, repr(h)]) for h in (10.0, "10", math.nan)),
    *((name, {"horizon": None}, ValueError, [COUNTERS[name].__name__]) for name in KNOWN_HORIZON),
    *(("square-root", {"delta": d}, ValueError, ["delta", "(0, 1)", d]) for d in (0.0, 1.0, -0.5, math.nan)),
    *(("k-ary", {"base": base}, ValueError, ["base", base]) for base in (1, 4)),
    ("k-ary", {"base": 3.5}, TypeError, ["base", 3, 3.5]),
    ("hybrid", {"budget": "half"}, ValueError, ["budget", "'split'", "'paper'", "'half'"]),
    ("hybird", {}, UnknownNameError, ["counter", "'hybird'", "hybrid"]),
    ("xyzzyx", {}, UnknownNameError, ALL),
]


def test_wrong_arguments_are_refused_with_the_rule_and_a_way_out():
    for name, arguments, error, words in WRONG:
        with refused(error, *words):
            make_counter(name, **{"epsilon": 1.0, "horizon": 10, **arguments})


@pytest.mark.parametrize("name", ALL)
def test_items_outside_the_unit_interval_are_refused_and_not_repeated(name):
    """An item that is no number is not repeated either: a value with a decimal comma is just as private."""
    some = counter(name, 4, rng=np.random.default_rng(0))
    some.insert(0.25)
    before = some.release()
    for item in (1.2345678, -0.2345678, 12345678.0, math.nan, math.inf, -math.inf, "0,2345678"):
        with refused((ValueError, TypeError), *([] if isinstance(item, str) else ["item", "[0, 1]"])) as caught:
            some.insert(item)
        for secret in ("2345678", "nan", "inf"):
            assert secret not in str(caught.value)
    assert (some.inserted, some.released, some.release()) == (1, 1, before)
    some.insert(1.0)  # what was refused takes no place
    assert some.inserted == 2


@pytest.mark.parametrize("name", ALL)
def test_failure_probability_must_lie_between_zero_and_one(name):
    for probability in (0.0, 1.0, -0.1, 2.0, math.nan) if name == "hybrid" else (0.0,):
        with refused(ValueError, "failure_probability", "(0, 1)", probability):
            counter(name, 10).error_width(probability)


@pytest.mark.parametrize("name", LAPLACE)
def test_a_delta_makes_the_draws_normal(name):
    """Of a standard deviation that spends (epsilon, delta); the papers' hybrid is for Laplace draws only."""
    some = counter(name, 100, 0.7, delta=1e-5)
    assert (some.guarantee.epsilon, some.guarantee.delta, some.delta) == (0.7, 1e-5, 1e-5)
    assert some.guarantee.rho == pytest.approx(1 / (2 * gaussian_sigma(0.7, 1e-5) ** 2), rel=1e-6)
    assert some.guarantee.epsilon_at(1e-5) <= 0.7
    assert counter(name, 100, 0.7).delta is None
    with refused(ValueError, "delta", "(0, 1)", 1.0):
        counter(name, 100, 0.7, delta=1.0)
    with refused(ValueError, "budget", "delta"):
        HybridCounter(epsilon=1.0, budget="paper", delta=1e-6)


@pytest.mark.parametrize("name", LAPLACE)
def test_too_small_an_epsilon_is_refused(name):
    """One node of scale 1 / epsilon may just fit a double where ten do not."""
    for epsilon in (1e-320, 1e-308):
        try:
            some = counter(name, 1000, epsilon)
        except ValueError as error:
            assert missing(str(error), "epsilon") == []
        else:
            assert all(math.isfinite(scale) for scale, _ in some.scales(1000))


# ---- guarantees


@pytest.mark.parametrize("name", ALL)
def test_the_guarantee_names_its_parameters_and_its_neighbours(name):
    some = make_counter(name.upper(), epsilon=0.7, horizon=100)
    assert type(some) is COUNTERS[name]
    guarantee = some.guarantee
    assert guarantee.epsilon == 0.7
    assert (guarantee.model, guarantee.neighbours) == ("central", "replace one item")
    assert type(some).__name__ in guarantee.theorem
    assert str(guarantee).startswith("epsilon = 0.7")
    if name != "square-root":
        assert (guarantee.delta, guarantee.rho) == (0.0, None)
    none = counter(name, 100, math.inf).guarantee
    assert (none.model, none.epsilon, none.rho) == ("none", math.inf, None) and str(none).startswith("none")


def test_the_square_root_counter_states_delta_and_concentrated_privacy():
    """A Gaussian of standard deviation sigma at sensitivity 1 is 1 / (2 sigma^2)-zCDP."""
    some = SquareRootCounter(epsilon=0.7, delta=1e-5, horizon=100)
    assert some.guarantee.delta == 1e-5
    assert some.guarantee.rho == pytest.approx(1 / (2 * some.sigma**2), rel=1e-11)
    # The conversion from zCDP is an upper bound, so it must not beat the exact condition by itself.
    rho = some.guarantee.rho
    assert rho + 2 * math.sqrt(rho * math.log(1e5)) > 0.7
    # The k-ary counter in base 3 after 14 = 27 - 9 - 3 - 1 items: four nodes on four levels; epsilon = 0.5.
    some = KAryCounter(epsilon=0.5, horizon=40, base=3)
    for _ in range(14):
        some.insert(1.0)
    assert some.noise_scales == pytest.approx([8.0] * 4, rel=2e-9)
    assert some.variance(14) == pytest.approx(2 * 8**2 * 4, rel=4e-9)


@pytest.mark.parametrize(
    ("name", "horizon", "nodes"),
    [
        ("logarithmic", 1000, 1),  # one block of the logarithmic part
        ("binary", 63, 6),  # floor(lg T) + 1
        ("binary", 64, 7),
        ("honaker", 64, 7),
        ("smooth-binary", 69, 4),  # C(8, 4) = 70 > 69
        ("smooth-binary", 70, 4),  # five ones, and C(9, 5) = 126 > 70
        ("smooth-binary", 126, 5),
        ("k-ary", 1093, 7),  # base 3: (3^7 - 1) / 2 = 1093
    ],
)
def test_nodes_per_item_by_hand(name, horizon, nodes):
    more = {"base": 3} if name == "k-ary" else {}
    assert counter(name, horizon, **more).nodes_per_item == nodes


@pytest.mark.parametrize("name", ALL)
def test_noise_scales_add_up_to_the_variance(name):
    some = counter(name, 100, 0.3)
    for _ in range(77):
        some.insert(0.0)
    scales = some.noise_scales
    total = scales[0] ** 2 if name == "square-root" else 2 * (scales**2).sum()
    assert total == pytest.approx(some.variance(some.released), rel=1e-12)


class OfItsOwnRule(BinaryCounter, node=binary_node):
    """A tree whose rule somebody else wrote."""


def test_another_rule_inherits_no_law_of_its_parent():
    """One Laplace draw a level is proved for the rules of this package; less is claimed for any other."""
    size = {"epsilon": 1.0, "horizon": 64}
    assert BinaryCounter(**size).noise_law.laplace and not BinaryCounter(**size).noise_law.responses
    assert OfItsOwnRule(**size).noise_law.responses == ((1.0, 1),) and not OfItsOwnRule(**size).noise_law.laplace


# ---- the draws of counters: how many an item costs, that each is rounded once, and that compiled ones are the same

HORIZON = 2**10


def draws_of(name: str, horizon: int, **more) -> np.ndarray:
    """Return how many draws each insert makes."""
    some = counter(name, horizon, **more)
    state, rng = some.new_state(1), Counting(0)
    made = [0]
    for _ in range(horizon):
        some.noise(state, 0, rng)
        made.append(rng.draws)
    return np.diff(made)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ALL)
def test_one_draw_an_item(name):
    """The logarithmic counter draws at powers of two only, and none without noise."""
    if name in ("binary", "hybrid", "segment-trees", "square-root"):
        assert (draws_of(name, HORIZON) == 1).all()
    if name == "logarithmic":
        assert draws_of(name, HORIZON).tolist() == [int(t.bit_count() == 1) for t in range(1, HORIZON + 1)]
    assert not draws_of(name, 200, epsilon=math.inf).any()


# ---- every draw is rounded in one release, and later ones see it rounded; see `privacy.accounting`, counters


ITEMS = 40
ROUNDED_ONCE = [name for name in ALL if not COUNTERS[name].ahead_of_items]


class Nudged(Stream):
    """A stream that adds a number to one of its draws, and counts them."""

    def __init__(self, hot: int, by: float) -> None:
        super().__init__(np.random.SFC64(5))
        self.hot, self.by, self.drawn = hot, by, 0

    def _moved(self, draw: float) -> float:
        self.drawn += 1
        return draw + (self.by if self.drawn - 1 == self.hot else 0.0)

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        return self._moved(super().laplace(loc, scale))

    def normal(self, loc: float = 0.0, scale: float = 1.0) -> float:
        return self._moved(super().normal(loc, scale))

    def laplaces(self, numbers: np.ndarray, scale: float) -> None:
        super().laplaces(numbers, scale)
        numbers[0] = self._moved(numbers[0])


def alone(name: str, rng: Nudged) -> tuple[list[float], list[int]]:
    """Return the releases of a counter, and how many draws were made up to each."""
    some = counter(name, ITEMS, 1.0, rng=rng)
    releases, draws = [], []
    for item in np.random.default_rng(3).random(ITEMS).tolist():
        some.insert(item)
        releases.append(some.release())
        draws.append(some._rng.drawn)
    return releases, draws


def together(name: str, rng: Nudged) -> tuple[list[float], list[int]]:
    """Return the same of the first of two coordinates that share a position."""
    some, kind = counter(name, ITEMS, 1.0), COUNTERS[name]
    state, releases, draws, exact = some.new_joint_state(2), [0.0], [], 0.0
    for item in np.random.default_rng(3).random(ITEMS).tolist():
        exact += item
        if kind.joint_noise(state, rng):
            total = to_grid(exact + state.noise[0], some.grid)
            kind.joint_settled(state, 0, total - exact)
            releases.append(total)
        else:
            releases.append(releases[-1])
        draws.append(rng.drawn)
    return releases[1:], draws


@pytest.mark.thorough
@pytest.mark.parametrize("play", [alone, together])
@pytest.mark.parametrize("name", ROUNDED_ONCE)
def test_a_draw_that_is_rounded_to_the_same_number_changes_nothing_later(name, play):
    """Each draw in turn is moved by .3 steps; where the release that it first enters stays, so do all others.

    Unrounded, it would move each later release with chance .3. Of the draws of padded and smooth trees only a release's
    first holds items; the others are the same whatever the items are.
    """
    grid = counter(name, ITEMS, 1.0).grid
    plain, draws = play(name, Nudged(-1, 0.0))
    stayed = 0
    for hot in range(draws[-1]):
        first = next(place for place, number in enumerate(draws) if number > hot)
        if name in ("padded-binary", "smooth-binary") and hot != ([0, *draws])[first]:
            continue
        releases, _ = play(name, Nudged(hot, 0.3 * grid))
        if releases[first] == plain[first]:
            stayed += 1
            assert releases == plain
    assert stayed >= (draws[-1] // 3 if draws[-1] == ITEMS else 1)


# ---- compiled functions


@pytest.mark.thorough
def test_compiled_noise_equals_the_python_one_bit_for_bit():
    """Two arms in turns and one stream, so that a draw too many or too few shows in all that follows."""
    for epsilon in [0.7, math.inf]:
        for name in LAPLACE:
            some = counter(name, 200, epsilon)
            compiled = CompiledFunction(COUNTERS[name].noise, {})
            states, streams = (
                [some.new_state(2), some.new_state(2)],
                [np.random.default_rng(11), np.random.default_rng(11)],
            )
            arms = np.random.default_rng(12).permutation(np.repeat([0, 1], 200)).tolist()
            python = [some.noise(states[0], arm, streams[0]) for arm in arms]
            machine = [compiled(states[1], arm, streams[1]) for arm in arms]
            assert machine == python
            assert streams[0].bit_generator.state == streams[1].bit_generator.state
            for one, other in zip(*states, strict=True):
                assert np.array_equal(one, other)
