"""Advice: known cases are ranked rightly, what is advised guarantees what was asked for, and gains stay unseen."""

import numpy as np
import pytest

from dp_bandit_envs import advise, make_algorithm
from dp_bandit_envs.adversaries import Replay, Shifting, Stochastic
from dp_bandit_envs.advice import advising
from dp_bandit_envs.advice.advice import _safer_first, typed
from dp_bandit_envs.advice.advising import eligible, pick
from dp_bandit_envs.advice.situations import ShuffledCoins, ShuffledPools, Standing, made_up, standings
from dp_bandit_envs.conformance import check_adversary
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import GainFileError, UnreachableGuaranteeError
from tests.tools.refusals import refused

FEW = ("DP-KLUCB", "DP-IMED", "Batched-Lap-HTINF", "DP-EXP3-Lap")
QUICK = {"algorithms": FEW, "gap": 0.3, "jobs": 1}


@pytest.mark.parametrize(
    ("names", "trials"),
    [(("DP-KLUCB", "DP-IMED", "Batched-Lap-HTINF"), 16), pytest.param(FEW, 16, marks=pytest.mark.slow)],
    ids=["three", "four"],
)
def test_in_long_games_the_best_for_stable_arms_come_first(names, trials):
    """At T = 8,000 DP-IMED and DP-KLUCB lose a tenth of what others do; their intervals are far from theirs."""
    given, good = {**QUICK, "algorithms": names}, {"DP-IMED", "DP-KLUCB"} & {*names}
    advice = advise(n_arms=4, horizon=8_000, epsilon=1.0, trials=trials, **given)
    ranking = [one for one in advice.ranking(advice.situations[0][0]) if one.role == "private"]
    assert {one.algorithm for one in ranking[: len(good)]} == good
    assert ranking[len(good) - 1].interval[1] < ranking[len(good)].interval[0]
    assert advice.stable.name in good and advice.drifting.name == "Batched-Lap-HTINF"
    assert advice.stable.interval[0] < advice.stable.share < advice.stable.interval[1] < 0.5
    (smallest,) = advice.pays_from.values()
    assert 4 <= smallest < 8_000
    # A second route to the last number: half of that horizon is not enough.
    again = advise(n_arms=4, horizon=smallest // 2, epsilon=1.0, trials=100, find_horizon=False, **given)
    best = again.ranking(again.situations[0][0])
    uniform = 0.3 * 3 / 4 * (smallest // 2)
    assert min(one.interval[1] for one in best if one.role == "private") > 0.5 * uniform


def test_in_tiny_games_arms_at_random_are_as_good():
    advice = advise(n_arms=4, horizon=16, epsilon=0.05, trials=40, find_horizon=False, **QUICK)
    assert advice.stable.name == advice.drifting.name == "Uniform"
    assert "arms at random" in str(advice)


@pytest.mark.parametrize(("delta", "rounds"), [(0.0, 1), (0.0, 3), (1e-6, 3)])
def test_what_is_advised_guarantees_it_to_a_person(delta, rounds):
    game = BanditEnv(Stochastic(3, 500))
    found, refusals = eligible((*FEW, "EXP3-tau", "DP-UCB-INT", "LDP-UCB-B", "UCB"), (1.0, delta), rounds, game)
    assert list(refusals) == ["UCB"] and len(found) == 7
    for one in found:
        group = one.guarantee_in(game).for_group(rounds)
        assert (group.epsilon_at(delta) if delta else group.pure_epsilon) <= 1.0
    if rounds == 3 and not delta:
        assert found[0].parameters["epsilon"] == pytest.approx(1 / 3, rel=2e-6)


def test_what_can_be_typed_protects_at_least_as_much():
    advice = advise(n_arms=3, horizon=100, epsilon=1.0, rounds_per_person=3, trials=4, find_horizon=False, **QUICK)
    for chosen in (advice.stable, advice.drifting, advice.local):
        name, _, parameters = typed(chosen.algorithm).partition(":")
        assert name == chosen.name
        if parameters:
            assert 0.33333 <= float(parameters.removeprefix("epsilon=")) <= 1 / 3
    assert typed(make_algorithm("DP-KLUCB", epsilon=2 / 3)) == "DP-KLUCB:epsilon=0.666666"


def test_a_pick_is_clearly_better_than_arms_at_random_and_a_safer_one_is_named():
    names = ("DP-IMED", "DP-KLUCB", "Uniform")
    algorithms = {name: make_algorithm(name) for name in names}
    uniform = algorithms["Uniform"]

    def standing(name, regret):
        return Standing("here", name, "uniform" if name == "Uniform" else "private", np.array(regret, dtype=float))

    # One game in twenty of DP-IMED is as bad as arms at random.
    imed, klucb = [1.0] * 95 + [100.0] * 5, [7.0] * 100
    lucky = [-5.0] * 100  # negative against a fixed arm, as in drifting games
    found = [standing("DP-IMED", imed), standing("DP-KLUCB", klucb), standing("Uniform", [100.0] * 100)]
    chosen = pick(found, algorithms, names[:2], uniform)
    assert (chosen.name, chosen.safer.name) == ("DP-IMED", "DP-KLUCB") and chosen.share == pytest.approx(0.0595)
    assert "DP-KLUCB" in _safer_first(chosen, chosen.safer) and "18% more than DP-IMED" in _safer_first(
        chosen, chosen.safer
    )  # .07 / .0595
    assert pick(found, algorithms, [], uniform) is None
    better = pick([standing("DP-IMED", lucky), *found[1:]], algorithms, names[:2], uniform)
    assert (better.name, better.safer, better.share) == ("DP-IMED", None, pytest.approx(-0.05))
    noisy = [standing("DP-IMED", [0.0, 190.0] * 50), standing("Uniform", [100.0] * 100)]
    assert pick(noisy, algorithms, ["DP-IMED"], uniform).name == "Uniform"


def losing(share):
    """Return what stands for `standings` and plays nothing: what an algorithm loses, as a share of uniform play."""

    def found(situation, players, *, horizon, **_):
        parts = [(one.name, role, share(one.name, horizon)) for one, role in players]
        lost = [Standing(situation.name, name, role, np.full(9, part * horizon)) for name, role, part in parts]
        return sorted(lost, key=lambda one: one.mean)

    return found


def test_where_arms_change_only_algorithms_with_a_bound_are_advised(monkeypatch):
    monkeypatch.setattr(advising, "standings", losing(lambda name, _: {"Uniform": 1.0, "DP-IMED": 0.1}.get(name, 0.2)))
    advice = advise(n_arms=4, horizon=100, epsilon=1.0, find_horizon=False, **QUICK)
    assert make_algorithm("DP-IMED", epsilon=1.0).regret_bound(n_arms=4, horizon=100) == np.inf
    assert advice.stable.name == "DP-IMED" and advice.drifting.name not in ("DP-IMED", "DP-KLUCB", "Uniform")


@pytest.mark.parametrize("start", [4, 32, 33, 1000])
def test_privacy_pays_from_the_smallest_power_of_two_at_which_half_is_lost(start, monkeypatch):
    monkeypatch.setattr(advising, "standings", losing(lambda _, horizon: 0.0 if horizon >= 32 else 1.0))
    search = {"target": (1.0, 0.0), "person_rounds": 1, "start": start, "seed": 1, "jobs": 1}
    assert advising._pays_from(made_up(4, [0.3])[0], FEW, **search) == 32


def test_no_arm_has_a_place_of_its_own():
    """An algorithm that stays with its first arm loses as much as arms at random.

    With epsilon = 0.001 the first block is longer than the game. Regret is 0 or .3 T; its mean has a standard error of
    .3 T sqrt(3 / 16 / 90) = .0137 T, and four of them are allowed; if arm 0 were never the best, it were five off.

    False alarm: 6.4e-5 (four standard errors, two sides).
    """
    advice = advise(
        n_arms=4, horizon=20, epsilon=0.001, gap=0.3, algorithms=["DP-KLUCB"], trials=90, jobs=1, find_horizon=False
    )
    (one,) = [one for one in advice.ranking(advice.situations[0][0]) if one.role == "private"]
    assert set(np.round(one.regret, 9)) == {0.0, 6.0}
    assert abs(one.mean - 0.3 * 15) < 4 * 0.274


@pytest.mark.parametrize(
    "make",
    [
        lambda horizon: ShuffledCoins([0.6, 0.4, 0.4], horizon),
        lambda horizon: ShuffledPools([np.array([0.0, 1.0]), np.array([1.0]), np.array([0.5])], horizon),
    ],
)
def test_the_games_keep_the_rules_of_adversaries(make):
    check_adversary(lambda **settings: make(settings.get("horizon", 50)))


def test_the_drifting_game_is_shifting_and_its_regret_is_against_each_rounds_best_arm():
    """Arms at random lose 2 / 3 of the gap; standard error .4 sqrt(2 / 9 * 6,000 / 4). False alarm: below 6e-7."""
    situation = made_up(3, [0.1, 0.4])[-1]
    game = situation.adversary(6_000)
    assert isinstance(game, Shifting) and (game.shifts, game.gap) == (5, 0.4) and "5 unknown rounds" in situation.name
    players = [(make_algorithm("Uniform"), "uniform")]
    (one,) = standings(situation, players, horizon=6_000, trials=4, seed=1, jobs=1)
    assert abs(one.mean - 0.4 * 2 / 3 * 6_000) < 5 * 0.4 * np.sqrt(2 / 9 * 6_000 / 4)
    assert situation.adversary(2).shifts == 1


@pytest.fixture
def records(tmp_path):
    """A file of 60 records of 3 arms, of whose gains none may be shown; arm 2 is always best."""
    path = tmp_path / "trial.csv"
    lines = [f"{i % 3},{(0.123456, 0.234567, 0.987654)[i % 3]},{i // 4}" for i in range(60)]
    path.write_text("arm,gain,person\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_only_the_shape_of_data_is_used_by_default(records):
    settings = {"epsilon": 1.0, "trials": 4, "find_horizon": False, **QUICK}
    advice = advise(records, **settings)
    assert (advice.n_arms, advice.horizon, advice.rounds_per_person) == (3, 60, 4)
    same = advise(n_arms=3, horizon=60, rounds_per_person=4, **settings)
    assert [one.mean for one in advice.standings] == [one.mean for one in same.standings]
    means = [one.mean for one in advice.ranking(advice.situations[0][0])]
    assert means == sorted(means) != means[::-1]
    text = str(advice)
    assert "no outcome was used" in text and not any(gain in text for gain in ("123456", "234567", "987654"))


def test_without_persons_their_rounds_must_be_given(records):
    lines = [line.rpartition(",")[0] for line in records.read_text(encoding="utf-8").splitlines()]
    records.write_text("\n".join(lines), encoding="utf-8")
    settings = {"epsilon": 1.0, "trials": 4, "find_horizon": False, **QUICK}
    with refused(ValueError, "--rounds-per-person", "trial.csv"):
        advise(records, **settings)
    assert "all 2 rounds of a person" in str(advise(records, rounds_per_person=2, **settings))


def test_a_replay_gets_a_parameter_of_its_own(records):
    """Two of the 12 persons with records of every arm have two records of one; in a replay all serve more often."""
    lines = records.read_text(encoding="utf-8").splitlines()
    records.write_text("\n".join([*lines, *(["0,0.5,0"] * 20)]), encoding="utf-8")  # arm 0 has 40 records, others 20
    advice = advise(records, epsilon=8.0, trials=40, horizon=200, find_horizon=False, **QUICK)
    replay = advice.in_replay
    game = BanditEnv(Replay(records, persons="person"))
    assert (replay.records, replay.rounds) == (game.horizon, game.data_use.person) and replay.rounds > 24
    assert advice.stable.name in replay.algorithms
    for name, algorithm in replay.algorithms.items():
        assert 7.99 < algorithm.guarantee_in(game).for_person().epsilon <= 8.0
        assert typed(algorithm) in str(advice) and name in ("DP-KLUCB", "DP-IMED", *FEW)
    assert "NEW trial" in str(advice)


def test_arms_at_random_need_no_parameter_in_a_replay(records):
    advice = advise(records, epsilon=0.01, trials=40, find_horizon=False, **QUICK)
    assert advice.stable.name == "Uniform" and not advice.in_replay.algorithms
    assert "Arms at random protect everybody" in str(advice)


def test_to_look_at_gains_must_be_asked_for_and_is_said_not_to_be_private(records):
    advice = advise(records, epsilon=1.0, trials=4, look_at_gains=True, find_horizon=False, **QUICK)
    assert advice.looked_at_gains and "NOT PRIVATE" in str(advice) and "trial.csv" in advice.situations[0][0]
    uniform = next(one for one in advice.ranking(advice.situations[0][0]) if one.role == "uniform")
    assert 60 * 0.3 < uniform.mean < 60 * 0.7  # 60 times .987654 less the mean of all three is 32


def test_a_made_up_game_has_the_gap_that_was_given():
    stable, drifting = made_up(4, [0.2])
    game = stable.adversary(10)
    game.begin(np.random.default_rng(0))
    assert sorted(game.means) == [0.4, 0.4, 0.4, 0.6] and stable.uniform == pytest.approx(0.15)
    assert drifting.adversary(10).means is None


def test_wrong_input_is_one_sentence():
    for wrong, words in [
        ({"n_arms": 1}, ["n_arms", 2, 1]),
        ({"horizon": None}, ["horizon"]),
        ({"horizon": 3}, ["horizon", 4, 3]),
        ({"epsilon": float("nan")}, ["epsilon", "nan"]),
        ({"epsilon": float("inf")}, ["epsilon", "inf"]),
        ({"delta": 1}, ["delta", 1]),
        ({"rounds_per_person": 101}, ["rounds_per_person", 100, 101]),
        ({"gap": 0}, ["gap"]),
        ({"gap": 1.5}, ["gap", 1.5]),
        ({"trials": 1}, ["trials", 1]),
        ({"algorithms": []}, ["algorithms"]),
        ({"algorithms": ["DP-KLUBC"]}, ["DP-KLUCB"]),
        ({"look_at_gains": True}, ["look_at_gains"]),
        ({"seed": -1}, ["seed", -1]),
        ({"algorithms": ["UCB", "TS"]}, ["UCB", "epsilon"]),
    ]:
        with refused(UnreachableGuaranteeError if "UCB" in words else ValueError, *words):
            advise(**{"n_arms": 4, "horizon": 100, "epsilon": 1.0, **wrong})


def test_wrong_data_are_refused_without_a_gain(records, tmp_path):
    with refused(ValueError, "trial.csv", 3, 5):
        advise(records, n_arms=5, epsilon=1.0)
    table = tmp_path / "table.csv"
    table.write_text("0.1234,0.2\n0.3,0.4\n", encoding="utf-8")
    with refused(GainFileError, "'gain'") as caught:
        advise(table, epsilon=1.0)
    assert "0.1234" not in str(caught.value)
    with refused(GainFileError, "'who'"):
        advise(records, epsilon=1.0, persons="who")
