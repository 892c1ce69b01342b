"""A game whose rewards come from outside plays as `play` does, and shows nothing but arms."""

import copy
import gc
import json
import math
import os
import pickle

import gymnasium as gym
import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, Ledger, make_algorithm, play
from dp_bandit_envs.adapters import OutsideGame
from dp_bandit_envs.agents import Ucb
from dp_bandit_envs.errors import (
    BudgetSpentError,
    KnownSeedWarning,
    SeedRefusedError,
    StepOutsideGameError,
    UnprotectedGameError,
)
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.wrappers import MiniBatchAverage
from tests.tools.boundary_games import MARK, PLANTED, everything_in, find_planted
from tests.tools.doors import one_each
from tests.tools.outside_games import GAME, PLAYABLE, ROUNDS, TABLE, game_of
from tests.tools.refusals import refused

PRIVATE = [
    name
    for name in PLAYABLE
    if make_algorithm(name).wrap(GAME) is not GAME and make_algorithm(name).guarantee_in(GAME).model != "none"
]
PRIVATE.remove("Tuned-TS")  # its own draws hide what its agent learns from, exact sums


def drive(game, table=TABLE, rounds=ROUNDS):
    arms = []
    for t in range(rounds):
        arms.append(game.next_arm())
        game.learn(arms[-1], table[t, arms[-1]])
    return arms


def next_arm(game):
    return game.next_arm()


def choose(game):
    return game.choose(game.rounds)


def everything_below(thing):
    """Yield every object that a game holds, whatever it is called, but for code and classes."""
    known, kept, found = set(), [], [thing]
    while found:
        one = found.pop()
        if id(one) in known or isinstance(one, (type, type(gc), type(drive), np.ufunc)):
            continue
        kept.append(one)  # while it lives, nothing else has its id
        known.add(id(one))
        yield one
        # An array's numbers are not known to the garbage collector.
        found += one.ravel().tolist() if isinstance(one, np.ndarray) else gc.get_referents(one)


@pytest.mark.thorough
def test_it_chooses_the_arms_of_play_on_the_same_gains():
    """For every algorithm for arms, to the last arm, batches of any length among them."""
    for name in PLAYABLE:
        game = game_of(name, seed=5, trial=2)
        assert drive(game) == play(GAME, make_algorithm(name), seed=5, trial=2).arms.tolist()
        own = make_algorithm(name).guarantee_in(GAME)
        assert (game.guarantee.epsilon, game.guarantee.delta, game.guarantee.rho) == (own.epsilon, own.delta, own.rho)


def test_rewards_of_another_range_are_scaled():
    game = game_of(seed=5, low=-2, high=6)
    assert drive(game, TABLE * 8 - 2) == play(GAME, make_algorithm("DP-EXP3-Lap"), seed=5).arms.tolist()


def test_without_a_seed_games_differ_and_nobody_knows_it_and_with_one_a_warning_comes():
    assert drive(game_of()) != drive(game_of())
    game = game_of()
    game.next_arm()
    assert game._seed is None and game._env.np_random_seed == -1
    with pytest.warns(KnownSeedWarning):
        game_of(seed=5)


def test_a_reward_is_nowhere_in_the_game_once_it_was_released():
    """Everything the game holds is searched for the float itself, below the boundary too.

    What a mechanism keeps is not a gain: running sums are no multiple of it at round 1, so one round is played.
    """
    for name in PRIVATE:
        parts = make_algorithm(name)
        game = game_of(name)
        arm = game.next_arm()
        game.learn(arm, PLANTED)
        out = [game.next_arm(), repr(game), str(vars(game)), game.guarantee, game.rounds]
        assert not list(find_planted(out)) and not list(find_planted(vars(game)))
        if game._feed.waiting == 0 and not parts.wrap(GAME).releases_sums:
            held = [one for one in everything_below(game) if isinstance(one, float) and math.isclose(one, PLANTED)]
            assert not held


def test_the_search_finds_what_an_algorithm_without_privacy_keeps():
    game = game_of("UCB")
    game.learn(game.next_arm(), PLANTED)
    assert any(isinstance(one, float) and math.isclose(one, PLANTED) for one in everything_below(game))
    assert game.guarantee.model == "none"


@pytest.mark.parametrize("ask", [next_arm, choose])
def test_a_waiting_batch_shows_in_no_attribute(ask):
    def wrapping(env):
        return LaplaceClipRescale(MiniBatchAverage(env, batch_size=4), epsilon=1.0)

    game, choices = game_of(Algorithm("batched", Exp3, wrapping)), []
    for _ in range(3):
        choices.append(ask(game))
        game.learn(choices[-1], PLANTED)
    assert game._feed.waiting == 3 and len({getattr(choice, "arm", choice) for choice in choices}) == 1
    assert not list(find_planted([vars(game), vars(game._feed), repr(game), str(vars(game._feed)), choices]))
    game.learn(ask(game), PLANTED)
    assert game._feed.waiting == 0


def test_nested_batches_play_one_arm_for_all_of_their_rounds():
    def wrapping(env):
        return MiniBatchAverage(LaplaceClipRescale(MiniBatchAverage(env, batch_size=3), epsilon=1.0), batch_size=2)

    algorithm = Algorithm("nested", Exp3, wrapping)
    arms = drive(game_of(algorithm, seed=1))
    assert arms == play(GAME, algorithm, seed=1).arms.tolist()
    assert all(len(set(arms[start : start + 6])) == 1 for start in range(0, ROUNDS, 6))


WRONG_REWARDS = [1 + PLANTED, -PLANTED, math.nan, math.inf, f"{PLANTED}x", None, [PLANTED]]


@pytest.mark.parametrize(("ask", "reward"), one_each([next_arm, choose], WRONG_REWARDS))
def test_a_wrong_reward_is_refused_without_being_shown_and_may_be_given_again(ask, reward):
    game, other = game_of(seed=5), game_of(seed=5)
    for _ in range(5):
        choice = ask(game)
        rounds = game.rounds
        with pytest.raises(ValueError) as caught:
            game.learn(choice, reward)
        assert MARK not in everything_in(caught.value) and caught.value.__context__ is None
        assert game.rounds == rounds and choice == ask(other)
        game.learn(choice, 0.5)
        other.learn(choice, 0.5)
    assert game.rounds == 5


def test_only_the_reward_of_the_chosen_arm_is_taken_and_only_once():
    game = game_of()
    with refused(StepOutsideGameError, "reward"):
        game.learn(0, 0.5)
    arm = game.next_arm()
    assert game.next_arm() == arm
    for other in ((arm + 1) % 3, 3, 0.75):
        with refused(ValueError, f"arm {arm}", "learn(arm, reward)") as caught:
            game.learn(other, arm)
        assert "0.75" not in str(caught.value)
    game.learn(arm, 0.5)
    with refused(StepOutsideGameError, "reward"):
        game.learn(arm, 0.5)
    assert game.rounds == 1


def test_after_the_horizon_there_is_no_arm():
    game = game_of()
    drive(game)
    with refused(StepOutsideGameError, ROUNDS, "DP-EXP3-Lap"):
        game.next_arm()
    with pytest.raises(StepOutsideGameError):
        game.learn(0, 0.5)


@pytest.mark.parametrize("name", ["DP-EXP3-Lap", "EXP3"])
def test_a_game_that_has_begun_cannot_be_copied(name):
    game = game_of(name)
    assert drive(copy.deepcopy(game)) != drive(copy.deepcopy(game))
    game.next_arm()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with refused(TypeError, "noise"):
            copied(game)


def test_a_ledger_counts_the_game_at_its_first_arm_and_refuses_the_next():
    ledger = Ledger(epsilon=1.5)
    games = [game_of(ledger=ledger, persons=2) for _ in range(2)]
    assert ledger.spent.games == 0
    games[0].next_arm()
    assert (ledger.spent.games, ledger.spent.epsilon) == (1, 1.0)
    with refused(BudgetSpentError, "1.5"):
        games[1].next_arm()
    with refused(BudgetSpentError, "1.5"):
        games[1].next_arm()
    drive(games[0])
    assert ledger.spent.games == 1
    assert games[0].guarantee.data == Participation(1, 2)


def test_a_ledger_for_persons_counts_all_their_rounds():
    ledger = Ledger(epsilon=10.0, unit="person")
    game_of(ledger=ledger, persons=2).next_arm()
    assert ledger.spent.epsilon == 2.0
    with refused(UnprotectedGameError, "person"):
        game_of(ledger=ledger).next_arm()


@pytest.mark.parametrize("options", [{"algorithm": "UCB"}, {"seed": 3}])
def test_a_ledger_refuses_what_is_not_private(options):
    ledger = Ledger(epsilon=1e6, delta=1e-6)
    with pytest.raises(UnprotectedGameError):
        game_of(**options, ledger=ledger).next_arm()
    assert ledger.spent.games == 0


def test_an_algorithm_counts_with_the_guarantee_of_its_own_coins():
    ledger = Ledger(epsilon=1e6, delta=1e-6)
    game = game_of("EXP3-tau", ledger=ledger)
    game.next_arm()
    assert ledger.spent.epsilon > 0 and game.guarantee.covers == "arms"


class Shifted(gym.ActionWrapper):
    """Plays another arm than the one chosen; allowed below a boundary."""

    def action(self, action):
        return (action + 1) % 3


def test_a_wrapper_that_changes_arms_cannot_move_a_reward_to_another_arm():
    game = game_of(Algorithm("shifted", Exp3, lambda env: LaplaceClipRescale(Shifted(env), epsilon=1.0)))
    arm = game.next_arm()
    with pytest.raises(RuntimeError):
        game.learn(arm, 0.5)
    assert game._feed.waiting == 0
    for call in (game.next_arm, lambda: game.learn(arm, 0.5)):
        with refused(StepOutsideGameError, "shifted"):
            call()


def test_an_agent_that_needs_sums_is_refused_when_it_first_learns():
    game = game_of(Algorithm("UCB without sums", Ucb))
    with refused(ValueError, "ExactSums"):
        game.learn(game.next_arm(), 0.5)


def test_two_games_without_a_seed_have_noise_of_their_own():
    """Released gains would be equal round by round if they had the same noise; on its grid some are by chance."""
    released = []
    for _ in range(2):
        game, seen = game_of(), []
        learn = game._agent.update

        def keep(arm, observation, seen=seen, learn=learn):
            seen.append(observation["gain"].sum())
            learn(arm, observation)

        game._agent.update = keep
        drive(game, np.full_like(TABLE, 0.5))
        released.append(np.array(seen))
    both = (released[0] > 0) & (released[1] > 0)
    assert both.sum() > 20 and (released[0] == released[1])[both].mean() < 0.5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(("name", "kept"), [("EXP3", False), ("DP-EXP3-Lap", False), ("DP-EXP3-Lap", True)])
def test_a_forked_process_cannot_play_on(name, kept, tmp_path):
    """It would draw its parent's coins; together the two showed one reward for certain in half of all games.

    With a diary both would begin with one seed: two games were counted, whose noise cancels.
    """
    game = game_of(name, **({"diary": tmp_path / "diary.jsonl"} if kept else {}))
    if not kept:
        game.learn(game.next_arm(), 0.5)
    child = os.fork()
    if child == 0:
        try:
            game.next_arm()
        except StepOutsideGameError:
            os._exit(7)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert game.next_arm() in range(3)
    game.close()


def test_a_reward_that_was_handed_in_is_not_handed_in_again(monkeypatch):
    """An interrupt between the two used to let the same reward into a batch twice."""
    game = OutsideGame(make_algorithm("EXP3-tau", batch_size=4), n_arms=3, horizon=8)
    arm, give = game.next_arm(), game._feed.give

    def interrupted(*given):
        give(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(game._feed, "give", interrupted)
    with pytest.raises(KeyboardInterrupt):
        game.learn(arm, 0.75)
    for call in (game.next_arm, lambda: game.learn(arm, 0.75)):
        with refused(StepOutsideGameError, "another"):
            call()


# ---- the diary


@pytest.mark.parametrize("name", ["DP-KLUCB", "EXP3-tau:batch_size=19"])
def test_a_diary_goes_on_with_the_same_arms(name, tmp_path):
    """Three restarts and none: with the same secret seed, the same rewards have the same arms."""
    arms = []
    for rounds in (30, 31, 100, 39):
        with game_of(name, diary=tmp_path / "diary.jsonl") as game:
            assert game.rounds == len(arms)
            for t in range(len(arms), len(arms) + rounds):
                arms.append(game.next_arm())
                game.learn(arms[-1], TABLE[t, arms[-1]])
    seed = json.loads((tmp_path / "diary.jsonl").read_text().splitlines()[0])["seed"]
    with pytest.warns(KnownSeedWarning):
        assert drive(game_of(name, seed=seed)) == arms
    with game_of(name, diary=tmp_path / "diary.jsonl") as game, refused(StepOutsideGameError, "ended"):
        game.next_arm()
    assert [path.name for path in tmp_path.iterdir()] == ["diary.jsonl"]
    assert os.name == "nt" or (tmp_path / "diary.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.thorough
def test_a_diary_is_open_in_one_game_only_and_of_one_game(tmp_path):
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        game.learn(game.next_arm(), 0.5)
        with refused(BlockingIOError, "diary.jsonl", f"process {os.getpid()}"):
            game_of(diary=diary)
    with refused(StepOutsideGameError, "closed"):
        game.next_arm()
    others = {
        "high": {"high": 2.0},
        "parameters": {"epsilon": 0.3},
        "horizon": {"horizon": 9},
        "persons": {"persons": 3},
    }
    for word, other in others.items():
        with refused(ValueError, word, "diary.jsonl"):
            game_of(**{"algorithm": "DP-EXP3-Lap", **other, "diary": diary})
    with refused(ValueError, "seed", 1), pytest.warns(KnownSeedWarning):
        game_of(diary=diary, seed=1)
    secure = Algorithm("secure", Exp3, lambda env: LaplaceClipRescale(env, epsilon=1.0, draws="secure"))
    with refused(SeedRefusedError, "diary", "draws='secure'"):
        game_of(secure, diary=tmp_path / "other.jsonl")
    (tmp_path / "text.md").write_text("Dear diary,\n")
    with refused(ValueError, "text.md"):
        game_of(diary=tmp_path / "text.md")


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        (lambda env: LaplaceClipRescale(env, epsilon=5.0), "guarantee"),
        (lambda env: LaplaceClipRescale(MiniBatchAverage(env, batch_size=2), epsilon=0.1), "noise"),
    ],
)
def test_a_diary_goes_on_with_the_guarantee_and_the_noise_that_were_counted(changed, word, tmp_path):
    """With another epsilon in an algorithm of one's own, .1 had been counted, and 5 were spent on the same rewards."""
    mine = Algorithm("mine", Exp3, lambda env: LaplaceClipRescale(env, epsilon=0.1))
    options = {"ledger": Ledger.create(tmp_path / "my.ledger", epsilon=9.0), "diary": tmp_path / "diary.jsonl"}
    with game_of(mine, **options) as game:
        drive(game, rounds=1)
    with refused(ValueError, word, "diary.jsonl"):
        game_of(Algorithm("mine", Exp3, changed), **options)
    with game_of(mine, **options) as game:
        drive(game, rounds=1)
    assert options["ledger"].spent.games == 1


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_diary_is_open_in_one_game_only_by_whatever_name(tmp_path):
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "diary.jsonl")
    with game_of(diary=tmp_path / "diary.jsonl"), refused(BlockingIOError, "diary.jsonl"):
        game_of(diary=tmp_path / "link.jsonl")


def test_a_game_with_a_diary_is_not_copied_and_keeps_no_reward(tmp_path):
    """Before its first arm its noise is settled already: two copies would have the same."""
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with refused(TypeError, "diary"):
                copied(game)
        game.learn(game.next_arm(), PLANTED)
    with game_of(diary=diary) as game:
        assert game.rounds == 1 and game._diary.lines == []
    with refused(ValueError, "n_arms"):
        game_of(diary=diary, n_arms=1)
    with game_of(diary=diary) as game:  # what was refused let go of it
        assert game.rounds == 1


def test_a_line_that_was_cut_is_a_reward_that_did_not_come(tmp_path):
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        drive(game, rounds=5)
    whole = diary.read_bytes()
    diary.write_bytes(whole[:-4])
    with game_of(diary=diary) as game:
        assert game.rounds == 4
        assert game.next_arm() == json.loads(whole.splitlines()[-1])[0]
        drive(game, TABLE[4:], rounds=1)
    assert diary.read_bytes() == whole


def test_a_line_that_is_damaged_is_named_and_not_shown(tmp_path):
    """It was said to be another file; and another reward for that round would have the noise of the first."""
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        drive(game, rounds=5)
    whole = diary.read_bytes().splitlines(keepends=True)
    for number, line in ((6, b"[1, 0.1234567\n"), (3, b"\x00\xff\n"), (5, b"[1]\n")):
        diary.write_bytes(b"".join([*whole[: number - 1], line, *whole[number:]]))
        with refused(ValueError, "diary.jsonl", f"line {number}") as caught:
            game_of(diary=diary)
        assert "1234567" not in str(caught.value)


@pytest.mark.parametrize("written", ["whole", "half", "nothing"])
def test_a_reward_whose_line_may_be_there_is_not_written_twice(written, tmp_path, monkeypatch):
    """On a full disk; given again, the reward would stand twice in the diary, and the game could not go on by it."""
    diary = tmp_path / "diary.jsonl"
    game = game_of(diary=diary)
    game.learn(game.next_arm(), 0.5)

    def full(descriptor):
        if written != "whole":
            os.ftruncate(descriptor, whole + 3 * (written == "half"))
        raise OSError(28, "No space left on device")

    arm, whole = game.next_arm(), diary.stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            game.learn(arm, 0.5)
    with refused(StepOutsideGameError, "failed"):
        game.learn(arm, 0.5)
    game.close()
    assert diary.stat().st_size == whole
    with game_of(diary=diary) as game:
        assert game.rounds == 1 and game.next_arm() == arm


def test_a_changed_diary_or_algorithm_is_found_by_its_arms(tmp_path):
    diary = tmp_path / "diary.jsonl"
    with game_of(diary=diary) as game:
        drive(game, rounds=5)
    lines = diary.read_text().splitlines()
    arm, gain = json.loads(lines[3])
    diary.write_text("\n".join([*lines[:3], json.dumps([(arm + 1) % 3, gain]), *lines[4:]]) + "\n")
    with refused(ValueError, "round 3", f"arm {(arm + 1) % 3}"):
        game_of(diary=diary)


def test_a_ledger_counts_a_game_with_a_diary_once(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.ledger", epsilon=1.5, delta=1e-6)
    for _ in range(3):
        with game_of(algorithm="DP-EXP3-Lap", epsilon=1.0, ledger=ledger, diary=tmp_path / "diary.jsonl") as game:
            drive(game, rounds=2)
    assert ledger.spent.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize("first", [None, "other"])
def test_a_diary_goes_on_with_the_ledger_that_counted_it(first, tmp_path):
    """Begun without one, or with another one, it went on uncounted by the one that was given."""
    ledger = Ledger(epsilon=0.5)
    begun = None if first is None else Ledger(epsilon=9.0)
    diary = tmp_path / "diary.jsonl"
    with game_of(algorithm="DP-EXP3-Lap", epsilon=1.0, ledger=begun, diary=diary) as game:
        drive(game, rounds=2)
    with refused(ValueError, "ledger", "diary.jsonl", None if begun is None else begun.id, ledger.id):
        game_of(algorithm="DP-EXP3-Lap", epsilon=1.0, ledger=ledger, diary=diary)
    with game_of(algorithm="DP-EXP3-Lap", epsilon=1.0, ledger=begun, diary=diary) as game:
        assert game.rounds == 2 and ledger.spent.games == 0
