"""Rewards that come late, under the caller's keys: any order, the same choices after a restart, each reward once."""

import copy
import json
import pickle
import random
import threading
import time

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, Ledger
from dp_bandit_envs.adapters import OutsideGame
from dp_bandit_envs.adapters.outside_game import Choice
from dp_bandit_envs.errors import NotAnIntegerError, StepOutsideGameError, WrongGameError, WrongTypeError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.boundary_games import MARK, PLANTED, find_planted
from tests.tools.outside_games import PLAYABLE, ROUNDS, TABLE, game_of
from tests.tools.refusals import refused

IN_ORDER_ONLY = ["EXP3", "EXP3-tau", "Tuned-TS"]


def drive(game, n_open, order):
    """Play the rest of a game with up to so many open choices; return the arms by key."""
    unlearnt, arms, key = [], {}, 0
    while game.rounds < game.horizon:
        if key < game.horizon and len(unlearnt) < n_open:
            unlearnt.append(game.choose(key))
            arms[key] = unlearnt[-1].arm
            key += 1
        else:
            choice = unlearnt.pop(order.randrange(len(unlearnt)))
            game.learn(choice, TABLE[choice.key, choice.arm])
    return arms


class Taught:
    """Plays the arms in turn, and keeps what it is taught."""

    def begin(self, *, n_arms, horizon, rng):
        self.n_arms, self.step, self.seen = n_arms, 0, []

    def select_arm(self):
        self.step += 1
        return (self.step - 1) % self.n_arms

    def update(self, arm, observation):
        self.seen.append((arm, observation["gain"].max(), observation["observed"].tolist()))


def averages_of(batch_size):
    return Algorithm("averages", Taught, lambda env: MiniBatchAverage(env, batch_size=batch_size))


@pytest.mark.thorough
def test_in_order_it_has_the_arms_of_next_arm():
    for name in PLAYABLE:
        by_turn, by_key, arms = game_of(name, seed=3), game_of(name, seed=3), []
        for gains in TABLE:
            arms.append(by_turn.next_arm())
            by_turn.learn(arms[-1], gains[arms[-1]])
        assert list(drive(by_key, 1, random.Random(0)).values()) == arms


@pytest.mark.thorough
@pytest.mark.parametrize("n_open", [16, ROUNDS])
def test_every_algorithm_with_noise_or_without_privacy_takes_late_rewards(n_open):
    """Tsallis-INF divided by probabilities that other late losses had made 0."""
    for name in PLAYABLE:
        if name not in IN_ORDER_ONLY:
            game = game_of(name, seed=3)
            assert len(drive(game, n_open, random.Random(1))) == game.rounds == ROUNDS


def test_gains_are_released_in_the_order_in_which_they_come():
    game = game_of(Algorithm("each", Taught), horizon=4)
    choices = [game.choose(key) for key in "abcd"]
    for choice, reward in zip([choices[place] for place in (2, 0, 3, 1)], (0.5, 0.25, 1.0, 0.125), strict=True):
        game.learn(choice, reward)
    assert [choice.arm for choice in choices] == [0, 1, 2, 0]
    assert [seen[:2] for seen in game._agent.seen] == [(2, 0.5), (0, 0.25), (0, 1.0), (1, 0.125)]


def test_a_batch_ends_when_its_last_gain_has_come():
    """Batches of arms 0, 1 and 2: the second is complete first, and the last one, of two rounds, before the first."""
    game = game_of(averages_of(3), horizon=8)
    choices = [game.choose(key) for key in range(8)]
    assert [choice.arm for choice in choices] == [0, 0, 0, 1, 1, 1, 2, 2]
    for key in (6, 3, 7, 5, 0):
        game.learn(choices[key], 0.5)
    assert game._agent.seen == [] and game._feed.waiting == game.rounds == 5
    game.learn(choices[4], 1.0)
    assert game._agent.seen == [(1, pytest.approx(2 / 3), [0, 1, 0])] and game._feed.waiting == 3
    game.learn(choices[2], 0.5)
    game.learn(choices[1], 0.5)
    # The unfinished batch is a step of its own, the last one, and releases nothing.
    assert [(arm, sum(observed)) for arm, _, observed in game._agent.seen] == [(1, 1), (0, 1), (2, 0)]
    assert game._feed.waiting == 0


def test_one_key_has_one_choice_and_one_reward():
    game = game_of()
    first = game.choose("anna")
    assert game.choose("anna") == first and game.choose(1) == game.choose(np.int64(1)) and game.choose("1").key == "1"
    game.learn(first, 0.5)
    assert game.choose("anna") == first and game.rounds == 1
    with refused(StepOutsideGameError, "'anna'", "takes one"):
        game.learn(first, 0.5)
    for choice in (
        first._replace(key="ben"),
        first._replace(arm=(first.arm + 1) % 3),
        Choice([], 0),
        Choice(PLANTED, 0),
    ):
        with refused(ValueError, "choice", "guarantee") as caught:
            game.learn(choice, 0.5)
        assert MARK not in str(caught.value)
    assert game.rounds == 1


@pytest.mark.parametrize("name", IN_ORDER_ONLY)
def test_what_own_draws_hide_is_refused_a_second_open_choice(name):
    game = game_of(name)
    first = game.choose("anna")
    with refused(StepOutsideGameError, name, "'anna'", "in order", "DP-EXP3-Lap"):
        game.choose("ben")
    assert game.choose("anna") == first
    game.learn(first, 0.5)
    game.learn(game.choose("ben"), 0.5)
    assert game.rounds == 2


def test_a_guarantee_of_somebodys_own_draws_is_for_rewards_in_order_and_arms_that_ignore_gains_need_none():
    stated = PrivacyGuarantee(0.5, theorem="mine", covers="arms")
    game = game_of(Algorithm("mine", Taught, own_guarantee=lambda n_arms, horizon: stated))
    game.choose(1)
    with refused(StepOutsideGameError, "mine", "in order"):
        game.choose(2)
    assert game_of("Uniform").guarantee.covers == "arms"
    assert len(drive(game_of("Uniform"), 16, random.Random(0))) == ROUNDS


def test_a_game_is_played_by_keys_or_by_turns():
    game, other = game_of(), game_of()
    game.choose(1)
    other.next_arm()
    for call, word in ((game.next_arm, "choose(key)"), (lambda: other.choose(1), "next_arm()")):
        with refused(StepOutsideGameError, word):
            call()
    with refused(StepOutsideGameError, "learn(choice, reward)"):
        game.learn(0, 0.5)
    with refused(ValueError, "choice"):
        other.learn(Choice(1, 0), 0.5)


def test_as_many_choices_as_rounds():
    game = game_of(horizon=5)
    choices = [game.choose(key) for key in range(5)]
    game.learn(choices.pop(), 0.5)
    with refused(StepOutsideGameError, "5 choices", "4 can still learn their rewards"):
        game.choose(5)
    for choice in choices:
        game.learn(choice, 0.5)
    with refused(StepOutsideGameError, "ended after round 5"):
        game.choose(5)
    assert game.rounds == 5 and game.choose(3) == choices[3]
    assert repr(game) == "OutsideGame(DP-EXP3-Lap: 3 arms, round 5 of 5, eps 1)"


# ---- threads, as those of a web server


def in_two_threads(monkeypatch, game, method, *calls):
    """Make two calls; the first one waits after the game's own method, so that the second one could overtake it."""
    entered, wrapped = threading.Event(), getattr(game, method)

    def slowly(*arguments):
        returned = wrapped(*arguments)
        if not entered.is_set():
            entered.set()
            time.sleep(0.1)
        return returned

    monkeypatch.setattr(game, method, slowly)
    monkeypatch.setattr(threading, "excepthook", lambda refusal: None)  # one of the two may be refused
    first, second = calls
    threads = [threading.Thread(target=first), threading.Thread(target=lambda: entered.wait() and second())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_a_form_that_is_sent_twice_at_once_counts_once(monkeypatch):
    game = game_of("DP-KLUCB")
    choice = game.choose("anna")
    in_two_threads(monkeypatch, game, "_open_choice", *[lambda: game.learn(choice, 0.5)] * 2)
    assert game.rounds == 1


def test_two_visitors_at_once_open_one_choice_of_own_draws(monkeypatch):
    game = game_of("EXP3")
    in_two_threads(monkeypatch, game, "_begin_round", lambda: game.choose("anna"), lambda: game.choose("ben"))
    assert list(game._unlearnt) == ["anna"]


def test_a_game_can_be_copied_before_it_begins():
    game = game_of("DP-KLUCB")
    for other in (copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        other.learn(other.choose("anna"), 0.5)
        assert other._turn is not game._turn and other.rounds == 1
    assert game.rounds == 0


# ---- the diary


def test_a_game_that_is_closed_in_the_middle_of_a_call_stays_closed(tmp_path, monkeypatch):
    """A handler of SIGTERM closes it; the call then opened it again, without the lock on the diary."""
    game = game_of(diary=tmp_path / "diary.jsonl")
    choice, give = game.choose("anna"), game._feed.give
    monkeypatch.setattr(game._feed, "give", lambda *arguments: (give(*arguments), game.close()))
    game.learn(choice, 0.5)
    with refused(StepOutsideGameError, "closed"):
        game.choose("ben")
    with game_of(diary=tmp_path / "diary.jsonl") as again:
        assert again.rounds == 1


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["DP-KLUCB", "DP-EXP3-Lap", "Batched-Lap-EXP3:batch_size=7", "Tsallis-INF"])
def test_a_diary_goes_on_with_the_same_choices_and_takes_no_reward_twice(name, tmp_path):
    """Twenty restarts at random places, each with up to 16 open choices, and none."""
    diary, order, restarts = tmp_path / "diary.jsonl", random.Random(2), random.Random(3)
    script, unlearnt = [], []
    while len(script) < 2 * ROUNDS:
        n_chosen = sum(kind == "choose" for kind, _ in script)
        if n_chosen < ROUNDS and len(unlearnt) < 16:
            unlearnt.append(f"visit {n_chosen}" if n_chosen % 2 else n_chosen)
            script.append(("choose", unlearnt[-1]))
        else:
            script.append(("learn", unlearnt.pop(order.randrange(len(unlearnt)))))

    def reward_of(choice):
        return TABLE[int(str(choice.key).removeprefix("visit ")), choice.arm]

    def follow(game, lines, choices):
        for kind, key in lines:
            if kind == "choose":
                choices[key] = game.choose(key)
            else:
                game.learn(game.choose(key), reward_of(choices[key]))

    choices, learnt, start = {}, [], 0
    for stop in [*sorted(restarts.sample(range(2 * ROUNDS), 20)), 2 * ROUNDS]:
        with game_of(name, diary=diary) as game:
            assert game.rounds == len(learnt)
            assert all(game.choose(key) == choice for key, choice in choices.items())
            for key in learnt[-1:]:
                with refused(StepOutsideGameError, repr(key)):
                    game.learn(choices[key], 0.5)
            follow(game, script[start:stop], choices)
            learnt += [key for kind, key in script[start:stop] if kind == "learn"]
        start = stop
    seed = json.loads(diary.read_text().splitlines()[0])["seed"]
    uninterrupted = {}
    follow(game_of(name, seed=seed), script, uninterrupted)
    assert uninterrupted == choices


def test_a_choice_whose_line_was_cut_was_not_shown(tmp_path):
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        choices = [game.choose(key) for key in "abc"]
    whole = diary.read_bytes()
    diary.write_bytes(whole[:-4])
    with game_of(diary=diary) as game:
        assert [game.choose(key) for key in "abc"] == choices
    assert diary.read_bytes() == whole


def test_a_choice_that_cannot_be_written_is_not_made(tmp_path, monkeypatch):
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        game.choose("a")
        whole = diary.read_bytes()

        def full(descriptor):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr("os.fsync", full)
            game.choose("b")
        with refused(StepOutsideGameError, "failed"):
            game.choose("b")
    assert diary.read_bytes() == whole


def test_a_ledger_counts_a_game_with_open_choices_once(tmp_path):
    ledger = Ledger(epsilon=1.5)
    for key in range(3):
        with game_of(ledger=ledger, diary=tmp_path / "diary.jsonl") as game:
            game.choose(key)
    assert ledger.spent.games == 1


@pytest.mark.parametrize(
    "line", ['["learn", "b", 0.5]', '["choose", 0.5, 1]', '["choose", "b"]', '["learn", "a", null]']
)
def test_a_damaged_line_is_refused(line, tmp_path):
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        game.choose("a")
    diary.write_text(diary.read_text() + line + "\n")
    with refused(ValueError, "diary.jsonl", "must be a diary of OutsideGame"):
        game_of(diary=diary)


# ---- names of arms


def test_names_take_the_place_of_numbers(tmp_path):
    names, by_number = ["red", "blue", "green"], game_of(seed=4)
    by_name = OutsideGame("DP-EXP3-Lap", arm_names=names, horizon=ROUNDS, seed=4)
    for gains in TABLE:
        arm = by_number.next_arm()
        assert by_name.next_arm() == names[arm]
        by_number.learn(arm, gains[arm])
        by_name.learn(names[arm], gains[arm])
    diary = tmp_path / "diary.jsonl"
    with game_of(arm_names=names, diary=diary) as game:
        choice = game.choose("anna")
        assert choice.arm in names
        with refused(StepOutsideGameError, "choose(key)"):
            game.next_arm()
    with game_of(arm_names=names, diary=diary) as game:
        game.learn(game.choose("anna"), 1.0)
        assert game.choose("anna") == choice
    with refused(ValueError, "arm_names", "'red'"):
        game_of(arm_names=names[::-1], diary=diary)
    with refused(ValueError, "arm_names"):
        game_of(diary=diary)


def test_a_diary_of_before_there_were_names_goes_on(tmp_path):
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        game.learn(game.next_arm(), 0.5)
    first, *rounds = diary.read_text().splitlines()
    before = {key: setting for key, setting in json.loads(first).items() if key != "arm_names"}
    diary.write_text("\n".join([json.dumps(before), *rounds]) + "\n")
    with game_of(diary=diary) as game:
        assert game.rounds == 1


# ---- wrong inputs

FEWER = "fewer rounds"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: OutsideGame("DP-KLUCB", n_arms=2), WrongTypeError, ["horizon", "largest number", FEWER]),
        (lambda: game_of(horizon=None), WrongTypeError, ["horizon", FEWER, "regret bound"]),
        (lambda: game_of(horizon=float("inf")), WrongTypeError, ["horizon", "inf", FEWER]),
        (lambda: game_of(horizon="unknown"), NotAnIntegerError, ["horizon", "'unknown'"]),
        (lambda: OutsideGame("DP-KLUCB", horizon=9), WrongTypeError, ["n_arms", "arm_names"]),
        (lambda: game_of(n_arms=2, arm_names=["a", "b", "c"]), ValueError, ["n_arms", 3, 2]),
        (lambda: game_of(n_arms=None, arm_names=["a", "a"]), ValueError, ["arm_names", "different", "'a'"]),
        (lambda: game_of(n_arms=None, arm_names=["a"]), ValueError, ["arm_names", 2]),
        (lambda: game_of(n_arms=None, arm_names="ab"), ValueError, ["arm_names", "'ab'"]),
        (lambda: game_of(n_arms=None, arm_names=[0, 1]), ValueError, ["arm_names", "strings"]),
        (lambda: game_of(n_arms=None, arm_names=5), ValueError, ["arm_names", "list"]),
        (lambda: game_of().choose(0.75), WrongTypeError, ["key", "a float"]),
        (lambda: game_of().choose(None), WrongTypeError, ["key", "NoneType"]),
        (lambda: game_of().choose(True), WrongTypeError, ["key", "a bool"]),
        (lambda: game_of().choose(10**5000), ValueError, ["key", "larger"]),
        (lambda: game_of().choose(("anna", 3)), WrongTypeError, ["key", "a tuple"]),
        (lambda: game_of().learn(0.75, game_of().choose(1)), StepOutsideGameError, ["no arm was chosen"]),
        (lambda: game_of().learn("anna", 0.5), StepOutsideGameError, ["no arm was chosen"]),
    ],
)
def test_wrong_inputs_are_answered_with_a_way_out(call, error, words):
    with refused(error, *words) as caught:
        call()
    assert "0.75" not in str(caught.value)


def test_wrong_arguments_are_refused():
    for options, error, words in [
        ({"algorithm": "Hedge"}, WrongGameError, ["Hedge", "the reward of one", "DP-KLUCB"]),
        ({"algorithm": "SCRiBLe"}, WrongGameError, ["SCRiBLe"]),
        ({"algorithm": "EXP4"}, ValueError, ["'EXP4'"]),
        ({"algorithm": "UCB", "epsilon": 1.0}, ValueError, ["epsilon", "UCB"]),
        ({"algorithm": Exp3()}, WrongTypeError, ["Exp3", "Algorithm"]),
        ({"n_arms": 1}, ValueError, ["n_arms", 1]),
        ({"horizon": 0}, ValueError, ["horizon", 0]),
        ({"low": 2}, ValueError, ["low", "high"]),
        ({"ledger": "file"}, WrongTypeError, ["ledger", "str"]),
        ({"persons": 0}, ValueError, ["persons", 0]),
        ({"seed": -1}, ValueError, ["seed", -1]),
        ({"trial": -1}, ValueError, ["trial", -1]),
    ]:
        with refused(error, *words):
            game_of(**options)


def test_a_reward_behind_noise_is_nowhere_once_it_was_released():
    def wrapping(env):
        return LaplaceClipRescale(MiniBatchAverage(env, batch_size=2), epsilon=1.0)

    game = game_of(Algorithm("batched", Taught, wrapping))
    choices = [game.choose(key) for key in range(2)]
    for choice in choices:
        game.learn(choice, PLANTED)
    assert game._feed.waiting == 0 and not game._feed._next.value
    assert not list(find_planted([vars(game), vars(game._feed), game._feed._handed.value]))
