"""A submitted agent plays exactly the games that `play` plays, and its process knows nothing of what is hidden."""

import functools
import json
import threading

import numpy as np
import pytest

from dp_bandit_envs import Agent, Algorithm, Exp3, play
from dp_bandit_envs.submitted_code import JOB, Limits, MessagePipe, Submission
from dp_bandit_envs.tournament.hidden_games import KINDS, HiddenArms, HiddenGames
from dp_bandit_envs.tournament.refereeing import referee
from tests.tools.submitted_agents import EXP3, LEADER, agent

SEED = 2**100 + 12345
LIMITS = Limits(20.0, 256)


def submitted(text, name="mine"):
    return Submission(name, name, f"{name}.py", text.encode())


def leader_class():
    names = {}
    exec(LEADER, names)
    return names["Leader"]


class Renamed(Agent):
    """Another agent, for which the arms have other numbers: its arm i is arm `order[i]` of the game."""

    def __init__(self, agent, order):
        self.agent, self.order = agent, np.asarray(order)

    def see_noise(self, noise):
        """Pass on the noise."""
        if hasattr(self.agent, "see_noise"):
            self.agent.see_noise(noise)

    def begin(self, *, n_arms, horizon, rng):
        """Begin a game."""
        self.agent.begin(n_arms=n_arms, horizon=horizon, rng=rng)

    def select_arm(self):
        """Return the arm as the game counts it."""
        self.arm = self.agent.select_arm()
        return int(self.order[self.arm])

    def update(self, arm, observation):
        """Learn from an observation in the agent's own order."""
        self.agent.update(self.arm, {name: observation[name][self.order] for name in ("gain", "observed")})


@pytest.mark.parametrize("epsilon", [None, 0.5])
@pytest.mark.parametrize(("text", "make"), [(LEADER, leader_class()), (EXP3, Exp3)], ids=["leader", "exp3"])
def test_regrets_are_those_of_play(text, make, epsilon):
    """Gains, noise and the agent's own draws are the same, but for the numbers by which it knows the arms."""
    games = HiddenGames(60, 3, 2, epsilon, SEED)
    match = referee(submitted(text), games, LIMITS, threading.Event())
    assert match.failure == ""
    orders = dict(zip(games.trials("mine"), games.arms("mine"), strict=True))
    for kind in range(len(KINDS)):
        for game in range(games.games):
            trial = kind * games.games + game
            renamed = functools.partial(Renamed, make(), orders[trial])
            player = Algorithm("mine", renamed, games.behind_boundary, player="mine")
            alone = play(games.environment(kind, private=False), player, seed=SEED, trial=trial)
            assert match.regret[kind, game] == alone.external_regret[-1]


def test_what_the_process_is_told_says_nothing_of_seed_or_gains(monkeypatch):
    told = []
    send = MessagePipe.send
    monkeypatch.setattr(MessagePipe, "send", lambda self, *words: (told.append(words), send(self, *words))[1])
    games = HiddenGames(50, 3, 2, 0.5, SEED)
    assert referee(submitted(LEADER), games, LIMITS, threading.Event()).failure == ""
    letter, announcement = told[0]
    assert letter == JOB
    assert set(json.loads(announcement)) == {
        "file",
        "n_arms",
        "horizon",
        "noise",
        "streams",
        "global_seed",
        "seconds",
        "megabytes",
    }
    everything = b"".join(words[1] for words in told)
    for form in (str(SEED).encode(), f"{SEED:x}".encode(), SEED.to_bytes(16, "little"), SEED.to_bytes(16, "big")):
        assert form not in everything
    # Every step shows at most one gain of each game, that of the arm played, and only as it was released.
    for _, content in told[1:]:
        observed = np.frombuffer(content, np.int8, 30, 8 * 30).reshape(10, 3)
        gains = np.frombuffer(content, np.float64, 30).reshape(10, 3)
        assert (observed.sum(axis=1) <= 1).all() and not gains[observed == 0].any()
        assert not set(gains[observed == 1]) & {0.0, 1.0}


def test_the_process_has_no_environment_arguments_or_files_of_its_parent(monkeypatch, tmp_path):
    monkeypatch.setenv("A_SECRET", "hunter2")
    look = "import os, sys\nprint(sorted(os.environ.items()), sys.argv, os.listdir(), os.getcwd(), flush=True)"
    games = HiddenGames(50, 3, 2, None, SEED)
    match = referee(submitted(agent(begin=look, select="1 / 0")), games, LIMITS, threading.Event())
    assert "ZeroDivisionError" in match.failure
    for hidden in ("A_SECRET", "hunter2", str(SEED), str(tmp_path)):
        assert hidden not in match.output
    assert "['-c'] ['mine.py'] " in match.output  # no arguments, and nothing in its folder but its own file


def test_every_game_has_its_own_arms_and_no_place_gives_a_kind_away():
    """In 60 games some arm of 4 is never the best with probability 4 (3/4)^60. False alarm: below 1e-6."""
    for kind in KINDS:
        best = set()
        for trial in range(60):
            adversary = HiddenArms(kind, 4, 400)
            adversary.begin(np.random.default_rng(trial))
            best.add(int(adversary.next_gains(400).sum(axis=0).argmax()))
        assert best == {0, 1, 2, 3}, kind.name
    games = [HiddenGames(50, 3, 6, None, seed) for seed in (1, 2)]
    orders = [games[0].trials("a"), games[0].trials("b"), games[1].trials("a")]
    assert all(sorted(order) == list(range(30)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_every_game_has_parameters_of_its_own():
    """What a game's arms pay on average is drawn: 20 games of a kind have 20 best means, and none is a default."""
    for kind in KINDS[:3]:
        drawn = {max(kind.make(3, 400, np.random.default_rng(number)).means) for number in range(20)}
        assert len(drawn) == 20, kind.name


def test_every_player_has_its_own_names_of_the_arms_in_every_game():
    """30 games of 6 orders: that two players, or all games, have the same ones has probability 6^-29 at most."""
    games = HiddenGames(50, 3, 6, None, SEED)
    own = [games.arms(player) for player in ("a", "b")]
    assert all((np.sort(one, axis=1) == np.arange(3)).all() for one in own)
    by_trial = [one[np.argsort(games.trials(player))] for one, player in zip(own, "ab", strict=True)]
    assert not np.array_equal(*by_trial) and len(np.unique(own[0], axis=0)) > 1


def test_a_referee_that_is_stopped_ends_the_process():
    stopped = threading.Event()
    slow = submitted(agent(select="import time; time.sleep(60)"))
    timer = threading.Timer(0.6, stopped.set)
    timer.start()
    match = referee(slow, HiddenGames(50, 3, 2, None, SEED), LIMITS, stopped)
    assert match.regret is None and match.seconds < LIMITS.by_the_clock
