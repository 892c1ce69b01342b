"""Each game on data is charged once, with what surrounds it, before its first round, and not if it showed nothing."""

import copy
import pickle
import threading
import types

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import Algorithm, Exp3, Ledger, OutsideGame, make_algorithm, play, simulate
from dp_bandit_envs.adversaries import Adversary, OutcomePools, Replay
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import (
    BoundaryError,
    BudgetSpentError,
    LedgerError,
    StepOutsideGameError,
    UnprotectedGameError,
)
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.admission import Admission, playing_under
from dp_bandit_envs.privacy.composition_filters import Cost
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.simulation.simulation import prepare
from dp_bandit_envs.simulation.workers import count_as_begun
from dp_bandit_envs.wrappers import LaplaceClipRescale, MiniBatchAverage, vector as of_many
from tests.tools.refusals import refused

TABLE = np.random.default_rng(1).integers(0, 2, (40, 2)).astype(float)
HALF = [[PrivacyGuarantee(0.5)]]
ONCE = Participation(1)


def data(ledger):
    return BanditEnv(Replay(TABLE, ledger=ledger))


def spent(ledger):
    return ledger.spent.games, pytest.approx(ledger.spent.epsilon)


# ---- a reset shows nothing


@pytest.mark.parametrize("kind", ["scalar", "vector"])
def test_a_first_step_that_is_refused_cannot_be_repeated_unpaid(kind):
    """Another game spent the budget between the reset and the first round."""
    ledger = Ledger(epsilon=1.0)
    if kind == "scalar":
        env, arm = LaplaceClipRescale(data(ledger), epsilon=1.0), 0
    else:
        env, arm = of_many.LaplaceClipRescale(BanditVectorEnv(1, Replay(TABLE, ledger=ledger)), epsilon=1.0), [0]
    env.reset()
    ledger.spend(HALF, ONCE, 2, secret=True)
    with refused(BudgetSpentError, "2 games"):
        env.step(arm)
    for layer in (env, env.unwrapped, env):
        with pytest.raises((StepOutsideGameError, BudgetSpentError)):
            layer.step(arm)
    assert spent(ledger) == (2, 1.0)


@pytest.mark.parametrize("refusal", ["no guarantee", "known seed", "over budget"])
def test_a_made_game_that_was_refused_is_played_afterwards_and_charged_once(refusal):
    """Gymnasium's checker, which `gym.make` adds by default, keeps None of a reset that raised, and fails later."""
    ledger = Ledger(epsilon=1.0)
    env = gym.make("DPBandit-Replay-v0", gains=TABLE, ledger=ledger)
    with pytest.raises((UnprotectedGameError, BudgetSpentError)):
        play(
            env,
            "UCB" if refusal == "no guarantee" else make_algorithm("DP-KLUCB", epsilon=0.5 if "seed" in refusal else 2),
            **({"seed": 3} if refusal == "known seed" else {}),
        )
    assert spent(ledger) == (0, 0.0)
    assert len(play(env, make_algorithm("DP-KLUCB", epsilon=0.5)).arms) == len(TABLE)
    assert spent(ledger) == (1, 0.5)


def test_a_copy_of_a_game_that_was_refused_is_refused_and_of_one_that_was_paid_is_paid():
    """A copy made before the first round, as an evaluator may, is the same game."""
    ledger = Ledger(epsilon=1.0)
    game = data(ledger)
    LaplaceClipRescale(game, epsilon=1.0).reset()
    twin, third = copy.deepcopy(game), copy.deepcopy(game)
    game.step(0)
    twin.step(1)
    assert spent(ledger) == (1, 1.0)
    third.step(0)
    full = Ledger(epsilon=1.0)
    game = data(full)
    LaplaceClipRescale(game, epsilon=1.0).reset()
    twin = copy.deepcopy(game)
    full.spend(HALF, ONCE, 2, secret=True)
    for env in (twin, game, twin, game):
        with pytest.raises((BudgetSpentError, StepOutsideGameError)):
            env.step(0)
    assert spent(full) == (2, 1.0)


def test_a_copy_that_begins_anew_leaves_the_first_one_its_game():
    ledger = Ledger(epsilon=2.0)
    env = LaplaceClipRescale(data(ledger), epsilon=1.0)
    env.reset()
    env.step(0)
    twin = LaplaceClipRescale(copy.deepcopy(env.unwrapped), epsilon=1.0)
    twin.reset()
    twin.step(0)
    env.step(0)
    assert spent(ledger) == (2, 2.0)
    # A pickled game that was not paid pays for itself.
    ledger = Ledger(epsilon=2.0)
    game = data(ledger)
    LaplaceClipRescale(game, epsilon=1.0).reset()
    twin = pickle.loads(pickle.dumps(game))
    game.step(0)
    twin.step(0)
    assert spent(ledger) == (2, 2.0)


# ---- what surrounds it


@pytest.mark.parametrize("small_first", [False, True])
def test_of_two_boundaries_over_one_environment_each_is_charged_or_refused(small_first):
    """Forty releases at epsilon = .9 were counted as one game of .01, which began last."""
    ledger = Ledger(epsilon=10.0)
    game = data(ledger)
    large, small = LaplaceClipRescale(game, epsilon=0.9), LaplaceClipRescale(game, epsilon=0.01)
    first, second = (small, large) if small_first else (large, small)
    first.reset()
    second.reset()
    with refused(StepOutsideGameError, "begun anew", "reset()"):
        first.step(0)
    second.step(0)
    with refused(StepOutsideGameError, "begun anew"):
        first.step(0)
    first.reset()
    first.step(0)
    with refused(StepOutsideGameError, "begun anew"):
        second.step(0)
    assert spent(ledger) == (2, 0.91)


@pytest.mark.thorough
def test_of_two_boundaries_over_one_vector_each_is_charged_or_refused():
    """Also where the other one's game has ended, so that its next step would begin one."""
    ledger = Ledger(epsilon=10.0)
    games = BanditVectorEnv(1, Replay(TABLE[:3], ledger=ledger))
    first, second = (of_many.LaplaceClipRescale(games, epsilon=epsilon) for epsilon in (0.9, 0.01))
    first.reset()
    for _ in range(3):
        first.step([0])
    second.reset()
    for _ in range(2):
        with refused(StepOutsideGameError, "begun anew"):
            first.step([0])
    second.step([0])
    assert spent(ledger) == (2, 0.91)
    # A boundary below another is refused once that one has begun anew.
    ledger = Ledger(epsilon=10.0)
    inner = MiniBatchAverage(data(ledger), batch_size=2)
    first, second = LaplaceClipRescale(inner, epsilon=0.9), LaplaceClipRescale(inner, epsilon=0.01)
    first.reset()
    second.reset()
    with refused(StepOutsideGameError, "begun anew"):
        first.step(0)
    second.step(0)
    assert spent(ledger) == (1, 0.01)


def test_games_of_a_sync_vector_are_admitted_together_or_not_at_all():
    """Two games of a vector were let in one by one, so that the first was spent as the second was refused."""
    ledger = Ledger(epsilon=1.5)
    envs = gym.vector.SyncVectorEnv([lambda: data(ledger)] * 2, autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)
    envs = of_many.LaplaceClipRescale(envs, epsilon=1.0)
    with refused(BudgetSpentError, "2 more"):
        envs.reset()
    assert spent(ledger) == (0, 0.0)


def scalar_batches(ledger):
    game = BanditEnv(Replay(TABLE, ledger=ledger), render_mode="ansi")
    inner = MiniBatchAverage(game, batch_size=2)
    return inner, LaplaceClipRescale(inner, epsilon=0.01), 0


def vector_batches(ledger):
    inner = of_many.MiniBatchAverage(BanditVectorEnv(1, Replay(TABLE, ledger=ledger), render_mode="ansi"), batch_size=2)
    return inner, of_many.LaplaceClipRescale(inner, epsilon=0.01), [0]


def batches_in_a_sync_vector(ledger):
    inner, _, _ = scalar_batches(ledger)
    envs = gym.vector.SyncVectorEnv([lambda: inner], autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)
    return inner, of_many.LaplaceClipRescale(envs, epsilon=0.01), [0]


@pytest.mark.parametrize("made", [scalar_batches, vector_batches, batches_in_a_sync_vector])
def test_a_boundary_shows_nothing_by_itself_of_a_game_that_is_counted_with_one_above(made):
    """True means were released, and drawn, by a wrapper without noise; .01 was counted for that above it."""
    ledger = Ledger(epsilon=9.0)
    inner, outer, arm = made(ledger)
    own = 0 if made is batches_in_a_sync_vector else arm
    for _ in range(2):
        outer.reset()
        for _ in range(2):
            for show in (lambda: inner.step(own), inner.render):
                with refused(StepOutsideGameError, "above it"):
                    show()
            outer.step(arm)
    assert spent(ledger) == (2, 0.02)
    with pytest.raises(LedgerError):
        inner.reset()


class Both(Adversary):
    """Plays one of two tables, whose ledgers are two."""

    def __init__(self, *ledgers):
        self.tables = [Replay(TABLE, ledger=ledger) for ledger in ledgers]
        super().__init__(2, 40)

    def begin(self, rng):
        for table in self.tables:
            table.begin(rng)

    def next_gains(self, rounds):
        return self.tables[1].next_gains(rounds)


def test_a_game_on_the_data_of_two_ledgers_is_charged_in_both():
    """With all that its data serve together, two rounds here."""
    ledgers = Ledger(epsilon=9.0), Ledger(epsilon=5.0)
    player = Algorithm("mine", Exp3, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    env = LaplaceClipRescale(BanditEnv(Both(*ledgers)), epsilon=1.0)
    env.reset()
    env.step(0)
    assert [spent(ledger) for ledger in ledgers] == [(1, 2.0)] * 2
    simulate(lambda: BanditEnv(Both(*ledgers)), [player], seed=None, checkpoints=1)
    assert [spent(ledger) for ledger in ledgers] == [(2, 4.0)] * 2
    with refused(BudgetSpentError, "epsilon = 5"):
        env.reset()
    assert [spent(ledger) for ledger in ledgers] == [(2, 4.0)] * 2


class Hiding(Adversary):
    """Has one table in sight, and another one on the same data in an object, or made by `begin`."""

    def __init__(self, ledger, where):
        self.where, self.shown = where, Replay(TABLE, ledger=ledger)
        self.box = types.SimpleNamespace(table=Replay(TABLE, ledger=ledger), ledger=ledger)
        super().__init__(2, 40)

    def begin(self, rng):
        self.shown.begin(rng)
        if self.where == "begin":
            self.box.table = Replay(TABLE, ledger=self.box.ledger)
        self.box.table.begin(rng)

    def next_gains(self, rounds):
        return (self.shown.next_gains(rounds) + self.box.table.next_gains(rounds)) / 2


@pytest.mark.parametrize("where", ["object", "begin"])
def test_data_beside_those_that_are_counted_are_refused_where_nobody_sees_them(where):
    """A record served in two rounds and was counted for one, as the ledger had admitted the game of the other table."""
    ledger = Ledger(epsilon=9.0)
    env = LaplaceClipRescale(BanditEnv(Hiding(ledger, where)), epsilon=1.0)
    for _ in range(3):
        with refused(UnprotectedGameError, "Replay", "__init__"):
            env.reset()
    assert spent(ledger) == (0, 0.0)


def test_a_hidden_table_in_a_vector_is_refused_beside_a_game_that_is_counted():
    """One game of two was counted: the other one's data were let in by its leave."""
    ledger = Ledger(epsilon=9.0)
    hiding = Hiding(ledger, "object")
    hiding.shown = Replay(TABLE)
    makers = [lambda: data(ledger), lambda: BanditEnv(hiding)]
    envs = gym.vector.SyncVectorEnv(makers, autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP)
    with refused(UnprotectedGameError, "Replay"):
        of_many.LaplaceClipRescale(envs, epsilon=1.0).reset()
    assert spent(ledger) == (0, 0.0)


class Unsaid(Adversary):
    """Has a ledger, and does not say in how many rounds its data serve."""

    def __init__(self, ledger):
        super().__init__(2, 40)
        self.ledger = ledger

    def begin(self, rng):
        self.enter_ledger()

    def next_gains(self, rounds):
        return np.zeros((rounds, 2))


def test_data_whose_use_is_unknown_are_refused_also_beside_data_whose_use_is_known():
    """They were counted as if they served in no round."""
    ledger = Ledger(epsilon=9.0)
    both = Both(ledger, ledger)
    for tables in ([Unsaid(ledger)], [Unsaid(ledger), Replay(TABLE, ledger=ledger)]):
        both.tables = tables
        with refused(UnprotectedGameError, "how many rounds"):
            LaplaceClipRescale(BanditEnv(both), epsilon=1.0).reset()


class Longer(Adversary):
    """Plays recorded outcomes for more rounds than they were made for."""

    def __init__(self, ledger):
        self.pools = OutcomePools([np.zeros(4), np.ones(4)])  # 8 rounds, a record in two
        self.pools.ledger = ledger
        super().__init__(2, 100)

    def begin(self, rng):
        self.pools.begin(rng)

    def next_gains(self, rounds):
        return self.pools.next_gains(rounds)


def test_recorded_outcomes_end_with_the_horizon_for_which_they_are_counted():
    """A record served in 25 rounds and was counted for two."""
    ledger = Ledger(epsilon=9.0)
    env = LaplaceClipRescale(BanditEnv(Longer(ledger), block_length=4), epsilon=1.0)
    env.reset()
    for _ in range(8):
        env.step(0)
    with pytest.raises(BoundaryError):
        env.step(0)
    longer = Longer(None)
    longer.begin(np.random.default_rng(0))
    with refused(StepOutsideGameError, "8 rounds"):
        longer.next_gains(9)
    assert spent(ledger) == (1, 2.0)


class Careless(Unsaid):
    """Says it, and its `begin` does not ask for leave."""

    def __init__(self, ledger):
        super().__init__(ledger)
        self.data_use = ONCE

    def begin(self, rng):
        """Begin."""


def first_release(env):
    env.reset()
    return env.step(0)


def test_an_adversary_that_asks_for_no_leave_is_charged_all_the_same():
    """And refused where nothing private is above it."""
    ledger = Ledger(epsilon=1.0)
    for begin in (BanditEnv(Careless(ledger)).reset, BanditVectorEnv(2, Careless(ledger)).reset):
        with pytest.raises(UnprotectedGameError):
            begin()
    assert spent(ledger) == (0, 0.0)
    env = LaplaceClipRescale(BanditEnv(Careless(ledger)), epsilon=1.0)
    env.reset()
    env.step(0)
    assert spent(ledger) == (1, 1.0)
    with pytest.raises(BudgetSpentError):
        env.reset()


@pytest.mark.parametrize("way", ["play", "simulate", "outside"])
def test_the_wrappers_that_are_played_are_counted_where_each_call_makes_others(way):
    """`play` counted .01, the guarantee of wrappers that it had made to ask for it, and played at 5 or more."""
    ledger, made = Ledger(epsilon=99.0), []

    def wrapping(env):
        made.append(LaplaceClipRescale(env, epsilon=5.0 * len(made) + 0.01))
        return made[-1]

    mine = Algorithm("mine", Exp3, wrapping)
    if way == "play":
        play(data(ledger), mine, seed=None)
    elif way == "simulate":
        simulate(lambda: data(ledger), [mine], seed=None, checkpoints=1)
    else:
        OutsideGame(mine, n_arms=2, horizon=9, ledger=ledger).next_arm()
    begun = [env.guarantee.epsilon for env in made if env._has_begun()]
    assert spent(ledger) == (1, begun[0] if begun else made[0].guarantee.epsilon)


@pytest.mark.parametrize("when", ["begin", "update"])
def test_a_game_inside_an_agent_that_simulate_plays_is_refused_with_a_known_seed(when):
    """The secret seed of the simulation was taken for that of a game of the agent's own, whose seed was 5."""
    ledger = Ledger(epsilon=9.0)
    own = LaplaceClipRescale(data(ledger), epsilon=1.0)

    class Planner(Exp3):
        def begin(self, **game):
            super().begin(**game)
            if when == "begin":
                own.reset(seed=5)

        def update(self, arm, observation):
            super().update(arm, observation)
            own.reset(seed=5)

    with refused(UnprotectedGameError, "secret seed"):
        simulate("Stochastic", [Algorithm("mine", Planner)], horizon=9, seed=None, checkpoints=1)
    assert spent(ledger) == (0, 0.0)


def test_a_play_whose_game_was_begun_anew_by_a_wrapper_is_no_result():
    """Without a wrapper of its own, an agent went on in a game that was counted as one of .01."""
    ledger = Ledger(epsilon=99.0)
    game = data(ledger)
    small = LaplaceClipRescale(game, epsilon=0.01)

    class Restarting(Exp3):
        rounds = 0

        def select_arm(self):
            self.rounds += 1
            if self.rounds == 5:
                small.reset()
            return super().select_arm()

    with refused(StepOutsideGameError, "begun anew"):
        play(game, Algorithm("mine", Restarting, own_guarantee=lambda *_: PrivacyGuarantee(1.0)), seed=None)
    assert spent(ledger) == (2, 1.01)


# ---- reservations


def begun_under(reservation, ledger, guarantee=HALF[0][0], participation=ONCE, player="mine", secret=True):
    """Begin a game and pay for it."""
    with playing_under([[guarantee]], secret=secret, players=[player], reservation=reservation):
        Admission([ledger], participation, 1).pay()


@pytest.mark.parametrize("sent", [lambda reservation: reservation, copy.deepcopy], ids=["itself", "a copy"])
@pytest.mark.parametrize(
    ("other", "cost"),
    [
        ({}, 0.0),
        ({"guarantee": PrivacyGuarantee(0.4)}, 0.0),
        ({"guarantee": PrivacyGuarantee(0.6)}, 0.6),
        ({"guarantee": PrivacyGuarantee(0.5, draw_distance=1e-12)}, 0.5),
        ({"guarantee": PrivacyGuarantee(0.3, delta=1e-9)}, 0.3),
        ({"participation": Participation(2)}, 1.0),
        ({"participation": Participation(1, 3)}, 0.0),
        ({"player": "other"}, 0.5),
    ],
)
def test_a_reservation_pays_for_what_it_was_made_for(other, cost, sent):
    ledger = Ledger(epsilon=9.0)
    reservation = ledger.spend(HALF, ONCE, secret=True, players=["mine"])
    begun_under(sent(reservation), ledger, **other)
    assert spent(ledger) == (2 if cost else 1, 0.5 + cost)
    begun_under(reservation, ledger)  # and once only
    assert spent(ledger) == (2, pytest.approx(0.5 + (cost or 0.5)))


def test_a_reservation_for_persons_pays_for_as_many_rounds_of_a_person():
    ledger = Ledger(epsilon=9.0, unit="person")
    reservation = ledger.spend(HALF, Participation(1, 2), secret=True, players=["mine"])
    begun_under(reservation, ledger, participation=Participation(1, 3))
    assert spent(ledger) == (2, 2.5)
    begun_under(reservation, ledger, participation=Participation(2, 2))
    assert spent(ledger) == (2, 2.5)
    # A reservation pays for no game with a known seed and in no other ledger.
    ledger, other = Ledger(epsilon=9.0), Ledger(epsilon=9.0)
    reservation = ledger.spend(HALF, ONCE, 2, secret=True, players=["mine"])
    with refused(UnprotectedGameError, "seed"):
        begun_under(reservation, ledger, secret=False)
    begun_under(reservation, other)
    assert spent(other) == (1, 0.5) and spent(ledger) == (2, 1.0)


def test_a_reservation_that_was_refunded_pays_for_nothing():
    """Neither here, nor in another process that gets it later."""
    ledger = Ledger(epsilon=0.5)
    reservation = ledger.spend(HALF, ONCE, secret=True, players=["mine"])
    with playing_under(HALF, secret=True, players=["mine"], reservation=reservation):
        admission = Admission([ledger], ONCE, 1)
    reservation.refund()
    admission.pay()
    assert spent(ledger) == (1, 0.5)
    for again in (reservation, copy.deepcopy(reservation), pickle.loads(pickle.dumps(reservation))):
        with pytest.raises(BudgetSpentError):
            begun_under(again, ledger)
    reservation.refund()
    assert spent(ledger) == (1, 0.5)


def test_a_reservation_that_was_refunded_lets_no_task_go_to_other_processes():
    """What was pickled before pays there, and joblib's thread may take one more task after an interrupt."""
    ledger = Ledger(epsilon=9.0)
    setup = prepare(lambda: data(ledger), "DP-KLUCB", horizon=None, seed=None, checkpoints=1).reserved(3)
    (task,) = setup.tasks(range(1))
    assert count_as_begun(task)
    setup.refund()
    assert not count_as_begun(task)
    assert spent(ledger) == (1, 1.0)


def test_threads_pay_with_a_reservation_as_often_as_it_was_made_for():
    ledger = Ledger(epsilon=99.0)
    reservation = ledger.spend(HALF, ONCE, 20, secret=True, players=["mine"])
    threads = [threading.Thread(target=begun_under, args=(reservation, ledger)) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spent(ledger) == (30, 15.0)


def test_a_cost_covers_what_is_at_most_as_large_in_every_number():
    cost = Cost(1.0, 1e-6, 1e-12, (0.1, 0.5))
    assert cost.covers(cost) and cost.covers(Cost(0.9, 0.0, 0.0, (0.1, 0.4)))
    for larger in ({"epsilon": 1.1}, {"delta": 2e-6}, {"draw_distance": 2e-12}, {"curve": (0.1, 0.6)}):
        assert not cost.covers(cost._replace(**larger))


# ---- a diary


def test_a_diary_that_is_opened_again_before_its_first_reward_counts_at_least_once(tmp_path):
    """Its first arm was seen, so the game is charged; opened again it may be charged again, never less."""
    ledger = Ledger.create(tmp_path / "mine.ledger", epsilon=9.0)
    made = {"n_arms": 2, "horizon": 9, "epsilon": 1.0, "ledger": ledger, "diary": tmp_path / "diary.jsonl"}
    with OutsideGame("DP-KLUCB", **made):
        assert ledger.spent.games == 0
    for opened in (1, 2):
        with OutsideGame("DP-KLUCB", **made) as game:
            arm = game.next_arm()
            assert 1 <= ledger.spent.games <= opened
    with OutsideGame("DP-KLUCB", **made) as game:
        game.learn(game.next_arm(), 1.0)
        begun = ledger.spent.games
    with OutsideGame("DP-KLUCB", **made) as game:
        game.learn(game.next_arm(), 1.0)
        assert game.rounds == 2 and arm in (0, 1) and ledger.spent.games == begun
    # A diary whose game was refused shows no arm.
    ledger = Ledger(epsilon=0.5)
    made = {"n_arms": 2, "horizon": 9, "epsilon": 1.0, "ledger": ledger, "diary": tmp_path / "refused.jsonl"}
    for _ in range(2):
        with OutsideGame("DP-KLUCB", **made) as game:
            for _ in range(2):
                with pytest.raises(LedgerError):
                    game.next_arm()
    assert spent(ledger) == (0, 0.0)
