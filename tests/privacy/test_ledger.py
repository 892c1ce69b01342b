"""A ledger counts every game that begins on its data, however it begins, and refuses what would pass the budget."""

import copy
import math
import pickle

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import Algorithm, Ledger, make_algorithm, play, simulate
from dp_bandit_envs.adapters import OutsideGame
from dp_bandit_envs.adversaries import Adversary, MemoryBounded, OutcomePools, Replay, Trial, VectorTable
from dp_bandit_envs.agents import Exp3
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.errors import (
    BudgetSpentError,
    LateDataError,
    LedgerError,
    StepOutsideGameError,
    UnprotectedGameError,
)
from dp_bandit_envs.privacy import PrivacyGuarantee
from dp_bandit_envs.privacy.admission import Admission, playing_under
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.wrappers import ExactSums, LaplaceClipRescale, MiniBatchAverage, vector as of_many
from tests.tools.doors import one_each
from tests.tools.refusals import missing, refused

TABLE = np.random.default_rng(0).integers(0, 2, (6, 2)).astype(float)
REPLAY = "DPBandit-Replay-v0"


def game(ledger, wrap=None, **arguments):
    env = gym.make(REPLAY, gains=TABLE, ledger=ledger, **arguments)
    return LaplaceClipRescale(env, epsilon=1.0) if wrap is None else wrap(env)


def first_round(env):
    """Begin a game, or several, and play the first round, which pays."""
    env.reset()
    space = env.action_space
    env.step(np.eye(1, *space.shape)[0] if isinstance(space, gym.spaces.Box) else np.zeros(space.shape, int)[()])
    return env


def at(ledger):
    return ledger.spent.games, ledger.spent.epsilon


def test_every_reset_counts_and_the_one_that_passes_the_budget_is_refused():
    ledger = Ledger(epsilon=2.5)
    env = game(ledger)
    for games in (1, 2):
        env.reset()
        assert at(ledger) == (games - 1, games - 1)  # a reset shows nothing
        env.step(0)
        env.step(1)
        assert at(ledger) == (games, games)
    with refused(BudgetSpentError, "epsilon", "2.5", "2 games") as caught:
        env.reset()
    assert at(ledger) == (2, 2.0)
    # The message shows public numbers only, and nothing leads from the error to frames that have seen a gain.
    assert caught.value.__context__ is None and caught.value.__cause__ is None
    frames = [entry.frame.code.name for entry in caught.traceback]
    assert "begin" not in frames and "pay" not in frames and "__init__" not in frames
    # No game is in progress, also below, where the one that was paid for would go on with gains that were not.
    for layer in (env, env.unwrapped):
        with pytest.raises(StepOutsideGameError):
            layer.step(0)


def test_one_ledger_counts_the_games_of_all_environments_over_the_data():
    ledger = Ledger(epsilon=9.0)
    table = Replay(TABLE, ledger=ledger)
    for make in (
        lambda: gym.make(REPLAY, gains=TABLE, ledger=ledger),
        lambda: gym.make("DPBandit-Experts-v0", gains=table),
        lambda: gym.make("DPBandit-Graph-v0", graph="complete", gains=table),
        lambda: gym.make("DPBandit-Ball-v0", gains=VectorTable(TABLE / 2, ledger=ledger)),
        lambda: gym.make("DPBandit-Simplex-v0", gains=table),
        lambda: BanditEnv(MemoryBounded(gains=table, memory=1)),
        lambda: MiniBatchAverage(BanditEnv(table), batch_size=2),
    ):
        before = ledger.spent.games
        env = make()
        first_round(LaplaceClipRescale(env, epsilon=1.0))
        assert ledger.spent.games == before + 1
        with pytest.raises(UnprotectedGameError):
            env.unwrapped.reset()
    assert ledger.spent.epsilon == 7.0


def test_a_record_that_serves_often_counts_as_often():
    """At full length a patient serves in up to five rounds, so that a game of epsilon = 1 a round costs 5."""
    ledger = Ledger(epsilon=7.0)
    env = LaplaceClipRescale(gym.make("DPBandit-Trial-v0", ledger=ledger), epsilon=1.0)
    first_round(env)
    assert at(ledger) == (1, 5.0)
    short = LaplaceClipRescale(BanditEnv(Trial(500, ledger=ledger)), epsilon=1.0)
    first_round(short)
    assert at(ledger) == (2, 6.0)
    # Persons are protected where they are known.
    ledger = Ledger(epsilon=7.0, unit="person")
    first_round(game(ledger, persons=3))
    assert at(ledger) == (1, 3.0)
    with refused(UnprotectedGameError, "person", "Replay"):
        game(ledger).reset()


def test_vector_games_count_each_and_together_or_not_at_all():
    ledger = Ledger(epsilon=7.0)
    envs = gym.make_vec(REPLAY, num_envs=3, gains=TABLE, ledger=ledger)
    envs = of_many.LaplaceClipRescale(envs, epsilon=1.0)
    first_round(envs)
    assert at(ledger) == (3, 3.0)
    for _ in range(len(TABLE)):  # the last step starts three more
        envs.step(np.zeros(3, int))
    assert at(ledger) == (3, 3.0)
    for _ in range(len(TABLE)):
        envs.step(np.zeros(3, int))
    assert at(ledger) == (6, 6.0)
    with pytest.raises(BudgetSpentError):
        envs.step(np.zeros(3, int))
    assert at(ledger) == (6, 6.0)
    with pytest.raises(StepOutsideGameError):
        envs.step(np.zeros(3, int))
    with pytest.raises(StepOutsideGameError):
        envs.unwrapped.step(np.zeros(3, int))


def test_games_of_a_sync_vector_count_each():
    ledger = Ledger(epsilon=4.0)
    envs = gym.vector.SyncVectorEnv(
        [lambda: gym.make(REPLAY, gains=TABLE, ledger=ledger)] * 2,
        autoreset_mode=gym.vector.AutoresetMode.NEXT_STEP,
    )
    envs = of_many.LaplaceClipRescale(envs, epsilon=1.0)
    first_round(envs)
    for _ in range(len(TABLE) + 1):
        envs.step(np.zeros(2, int))
    assert at(ledger) == (4, 4.0)
    with pytest.raises(BudgetSpentError):
        envs.reset()


@pytest.mark.parametrize("algorithm", ["DP-EXP3-Lap", "EXP3-tau", "Uniform"])
def test_play_counts_what_the_algorithm_guarantees(algorithm):
    """EXP3-tau's own draws hide the gains; no wrapper would know it."""
    ledger, algorithm = Ledger(epsilon=9.0), make_algorithm(algorithm)
    env = gym.make(REPLAY, gains=TABLE, ledger=ledger)
    play(env, algorithm, seed=None)
    assert at(ledger) == (1, algorithm.guarantee_in(env).for_record().epsilon)


def test_of_two_guarantees_the_better_one_counts():
    """EXP3's own draws lose more than the noise below it lets through."""
    ledger = Ledger(epsilon=9.0)
    play(game(ledger), make_algorithm("EXP3"), seed=None)
    assert at(ledger) == (1, 1.0)
    play(game(ledger, wrap=lambda env: env), make_algorithm("EXP3"), seed=None)
    assert ledger.spent.epsilon > 2.0
    # Games that are played count the same.
    ledger = Ledger(epsilon=10.0)
    player = Algorithm("plain", Plain, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    both = [player, make_algorithm("DP-IMED")]
    results = simulate(REPLAY, both, trials=2, seed=None, env_kwargs={"gains": TABLE, "ledger": ledger})
    assert (results["plain"].engine, results["DP-IMED"].engine) == ("play", "compiled")
    assert at(ledger) == (4, 4.0)


def test_simulate_counts_all_of_its_games_before_the_first():
    ledger = Ledger(epsilon=7.0)
    both = {"env_kwargs": {"gains": TABLE, "ledger": ledger}, "seed": None}
    simulate(REPLAY, ["DP-EXP3-Lap", "DP-IMED"], trials=3, **both)
    assert at(ledger) == (6, 6.0)
    with refused(BudgetSpentError, "6 games"):
        simulate(REPLAY, ["DP-EXP3-Lap"], trials=2, **both)
    assert at(ledger) == (6, 6.0)
    simulate(REPLAY, ["DP-EXP3-Lap"], trials=1, **both)
    assert at(ledger) == (7, 7.0)


class Plain(Exp3):
    """An agent that is played, not compiled."""

    def update(self, arm, observation):
        super().update(arm, observation)


def test_trials_that_nobody_counted_before_count_when_they_begin():
    """As in a process that got them without `simulate`."""
    from dp_bandit_envs.simulation.simulation import prepare

    ledger = Ledger(epsilon=5.0)
    prepared = prepare(
        REPLAY,
        ["DP-EXP3-Lap", "DP-IMED"],
        horizon=None,
        seed=None,
        checkpoints=1,
        env_kwargs={"gains": TABLE, "ledger": ledger},
    )
    (work,) = prepared.engines
    work.run(range(1))
    work.run(range(1, 2))
    assert at(ledger) == (4, 4.0)
    with pytest.raises(BudgetSpentError):
        work.run(range(2, 3))


@pytest.mark.parametrize(
    "begin",
    [
        lambda ledger: first_round(game(ledger, wrap=lambda env: env)),
        lambda ledger: game(ledger).unwrapped.reset(),
        lambda ledger: game(ledger, wrap=ExactSums).reset(),
        lambda ledger: game(ledger, wrap=lambda env: LaplaceClipRescale(env, epsilon=math.inf)).reset(),
        lambda ledger: play(game(ledger, wrap=lambda env: env), Exp3(), seed=None),
        lambda ledger: play(game(ledger, wrap=lambda env: env), make_algorithm("Tsallis-INF"), seed=None),
        lambda ledger: gym.make_vec(REPLAY, num_envs=2, gains=TABLE, ledger=ledger).reset(),
        lambda ledger: simulate(REPLAY, ["Tsallis-INF"], seed=None, env_kwargs={"gains": TABLE, "ledger": ledger}),
        lambda ledger: Replay(TABLE, ledger=ledger).begin(np.random.default_rng(0)),
        lambda ledger: Trial(500, ledger=ledger).begin(np.random.default_rng(0)),
        lambda ledger: OutsideGame("UCB", n_arms=2, horizon=9, ledger=ledger).next_arm(),
    ],
    ids=[
        "bare",
        "below",
        "no noise",
        "infinite",
        "agent",
        "algorithm",
        "vector",
        "simulate",
        "table",
        "trial",
        "outside",
    ],
)
def test_a_game_with_nothing_private_above_it_is_refused(begin):
    ledger = Ledger(epsilon=1e6)
    with pytest.raises(UnprotectedGameError):
        begin(ledger)
    assert at(ledger) == (0, 0.0)


@pytest.mark.parametrize(
    "begin",
    [
        lambda ledger: game(ledger).reset(seed=1),
        lambda ledger: ExactSums(game(ledger)).reset(seed=1),
        lambda ledger: play(game(ledger), Exp3(), seed=1),
        lambda ledger: simulate(REPLAY, ["DP-IMED"], seed=0, env_kwargs={"gains": TABLE, "ledger": ledger}),
        lambda ledger: of_many.LaplaceClipRescale(
            gym.make_vec(REPLAY, num_envs=2, gains=TABLE, ledger=ledger), epsilon=1.0
        ).reset(seed=[None, 4]),
    ],
    ids=["reset", "stacked", "play", "simulate", "vector"],
)
def test_a_known_seed_is_refused(begin):
    """Two games with one seed have the same noise, and whoever knows it can subtract it: nothing is guaranteed."""
    ledger = Ledger(epsilon=1e6)
    with refused(UnprotectedGameError, "seed"):
        begin(ledger)
    assert at(ledger) == (0, 0.0)


def test_noise_that_goes_on_from_a_known_seed_is_refused():
    game = BanditEnv(Replay(TABLE))
    env = LaplaceClipRescale(game, epsilon=1.0)
    env.reset(seed=3)
    ledger = game.adversary.ledger = Ledger(epsilon=10.0)
    with refused(UnprotectedGameError, "seed"):
        env.reset()
    with refused(UnprotectedGameError, "seed"):
        ExactSums(env).reset()
    play(env, Exp3(), seed=None)  # now nobody knows it
    first_round(env)
    assert ledger.spent.games == 2


def test_an_error_below_cannot_pose_as_a_ledgers():
    """The text of an error below a boundary may hold gains; only what a ledger itself refused is shown."""

    class Fake(Replay):
        def begin(self, rng):
            raise BudgetSpentError("0.123456")

    with pytest.raises(Exception, match="withheld") as caught:
        LaplaceClipRescale(BanditEnv(Fake(TABLE)), epsilon=1.0).reset()
    assert not isinstance(caught.value, LedgerError) and missing(str(caught.value), "0.123456")


def test_copies_are_the_same_ledger():
    ledger = Ledger(epsilon=10.0)
    env = game(ledger)
    for other in (copy.deepcopy(env), copy.copy(env), pickle.loads(pickle.dumps(env))):
        first_round(other)
    assert at(ledger) == (3, 3.0)
    # A ledger that is set on what plays counts.
    env = LaplaceClipRescale(BanditEnv(Replay(TABLE)), epsilon=1.0)
    ledger = env.unwrapped.adversary.ledger = Ledger(epsilon=1.0)
    first_round(env)
    with refused(BudgetSpentError):
        env.reset()
    assert at(ledger) == (1, 1.0)


def test_fast_draws_count_and_secure_ones_do_not():
    """Each game adds (1 + e^epsilon) times its distance to delta, of which a hundredth is kept for that."""
    pytest.importorskip("opendp")
    none = Ledger(epsilon=2.0, delta=0)
    with refused(BudgetSpentError, "fast draws", "secure"):
        game(none).reset()
    first_round(game(none, wrap=lambda env: LaplaceClipRescale(env, epsilon=1.0, draws="secure")))
    assert at(none) == (1, 1.0) and none.spent.delta == 0
    some = Ledger(epsilon=2.0)
    env = game(some)
    first_round(env)
    first_round(env)
    assert env.guarantee.draw_distance > 0
    assert some.spent.delta == pytest.approx(2 * (1 + math.exp(1)) * env.guarantee.draw_distance)
    with refused(BudgetSpentError, "fast draws"):
        game(Ledger(epsilon=40.0), wrap=lambda env: LaplaceClipRescale(env, epsilon=20.0)).reset()


class FailsIn(Exp3):
    """An agent that is played, and raises in one of its rounds."""

    def __init__(self, failing):
        super().__init__()
        self._failing, self._rounds = failing, 0

    def select_arm(self):
        self._rounds += 1
        if self._rounds == self._failing:
            raise RuntimeError("my agent fails")
        return super().select_arm()


@pytest.mark.parametrize(("path", "failing"), one_each([None, "file"], [2, 1, len(TABLE)]))
def test_games_whose_noise_was_never_drawn_are_refunded(failing, path, tmp_path):
    """In its first round: nothing was drawn in any of the five. In the last: one game was played."""
    ledger = Ledger(epsilon=10.0) if path is None else Ledger.create(tmp_path / path, epsilon=10.0)
    player = Algorithm("mine", lambda: FailsIn(failing), lambda env: LaplaceClipRescale(env, epsilon=1.0))
    data = {"gains": TABLE, "ledger": ledger}
    with pytest.raises(RuntimeError, match="my agent fails"):
        simulate(REPLAY, [player, "DP-IMED"], trials=5, seed=None, env_kwargs=data)
    own = {charge.player: charge.games for charge in ledger.charges}
    assert own.get("mine", 0) == (failing > 1)
    assert ledger.spent.games < 10


@pytest.mark.parametrize(("failing", "begun"), [(1, 0), (2, 1)])
def test_a_played_game_without_a_round_costs_nothing(failing, begun):
    """A reset shows no gain; from the first step on, the game counts."""
    ledger = Ledger(epsilon=10.0)
    env = game(ledger)
    with pytest.raises(RuntimeError, match="my agent fails"):
        play(env, FailsIn(failing), seed=None)
    assert at(ledger) == (begun, float(begun))
    play(env, Plain(), seed=None)
    assert at(ledger) == (begun + 1, begun + 1.0)


def protected(env):
    return LaplaceClipRescale(env, epsilon=1.0)


class WarmsUp(gym.Wrapper):
    """Plays a round in each reset, and begins anew if it should."""

    def __init__(self, env, again):
        super().__init__(env)
        self._again = again

    def reset(self, **kwargs):
        first = self.env.reset(**kwargs)
        self.env.step(0)
        return self.env.reset(options=kwargs["options"]) if self._again else first


class StepsItself(FailsIn):
    """An agent that plays a round of its environment before it fails."""

    def __init__(self, env):
        super().__init__(1)
        self._env = env

    def select_arm(self):
        self._env.step(0)
        return super().select_arm()


def test_a_game_of_which_somebody_else_played_a_round_is_charged():
    """Whoever steps the environment has seen a release, whether `play` chose an arm by then or not."""
    player = Algorithm("mine", lambda: FailsIn(1), lambda env: WarmsUp(protected(env), again=False))
    for begin in (
        lambda ledger: play(env := game(ledger), StepsItself(env), seed=None),
        lambda ledger: play(WarmsUp(game(ledger), again=False), FailsIn(1), seed=None),
        lambda ledger: play(WarmsUp(game(ledger), again=True), FailsIn(1), seed=None),
        lambda ledger: simulate(REPLAY, [player], trials=5, seed=None, env_kwargs={"gains": TABLE, "ledger": ledger}),
    ):
        ledger = Ledger(epsilon=10.0)
        with pytest.raises(RuntimeError, match="my agent fails"):
            begin(ledger)
        assert at(ledger) == (1, 1.0)


def test_what_is_interrupted_is_refunded_and_what_was_played_is_not():
    """Ctrl-C after two trials, which are spent; the other three are not."""
    ledger = Ledger(epsilon=9.0)

    def stop(done, of):
        if done >= 2:
            raise KeyboardInterrupt

    player = Algorithm("plain", Plain, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    with pytest.raises(KeyboardInterrupt):
        simulate(REPLAY, [player], trials=5, seed=None, env_kwargs={"gains": TABLE, "ledger": ledger}, progress=stop)
    assert at(ledger) == (2, 2.0)
    assert simulate(REPLAY, [player], trials=7, seed=None, env_kwargs={"gains": TABLE, "ledger": ledger})
    assert at(ledger) == (9, 9.0)


def test_nothing_is_spent_by_what_fails_before_the_first_game():
    ledger = Ledger(epsilon=9.0)
    data = {"gains": TABLE, "ledger": ledger}
    for wrong in ({"checkpoints": 0}, {"jobs": 0}, {"keep": "some"}):
        with pytest.raises((ValueError, TypeError)):
            simulate(REPLAY, ["DP-IMED"], trials=5, seed=None, env_kwargs=data, **wrong)
    assert at(ledger) == (0, 0.0)
    # Algorithms with the same noise are refused.
    ledger = Ledger(epsilon=10.0)
    same = [make_algorithm("DP-IMED", label="one"), make_algorithm("DP-IMED", label="other")]
    with refused(UnprotectedGameError, "one", "other"):
        simulate(REPLAY, same, seed=None, env_kwargs={"gains": TABLE, "ledger": ledger})
    assert at(ledger) == (0, 0.0)


def test_a_ledger_says_what_was_spent_by_whom():
    ledger = Ledger(epsilon=9.0)
    simulate(REPLAY, ["DP-EXP3-Lap", "DP-IMED"], trials=2, seed=None, env_kwargs={"gains": TABLE, "ledger": ledger})
    first_round(game(ledger))
    play(gym.make(REPLAY, gains=TABLE, ledger=ledger), make_algorithm("DP-KLUCB", epsilon=0.5), seed=None)
    found = {charge.player: charge[1:] for charge in ledger.charges}
    assert found["DP-EXP3-Lap"] == found["DP-IMED"] == (2, 2.0) and found[""] == (1, 1.0)
    (by_play,) = (each for name, each in found.items() if name.startswith("DP-KLUCB"))
    assert by_play == (1, 0.5) and ledger.spent.epsilon == 5.5


def test_budgets_and_ledgers_must_be_ones():
    for wrong in ({"epsilon": 0}, {"epsilon": math.inf}, {"epsilon": 1, "delta": 1}, {"epsilon": "1"}):
        with pytest.raises((ValueError, TypeError)):
            Ledger(**wrong)
    with refused(ValueError, "unit", "'week'"):
        Ledger(epsilon=1.0, unit="week")
    with refused(ValueError, "own_delta"):
        Ledger(epsilon=1.0, delta=1e-6, own_delta=1e-5)
    with refused(TypeError, "ledger", "dp_bandit_envs.Ledger"):
        Replay(TABLE, ledger=1.0)


def test_nothing_pays_a_budget_back():
    """Nor a mechanism of somebody's own, whose guarantee would give back what other games have spent."""
    ledger = Ledger(epsilon=1.0)
    for times in (0, -1, 1.5, math.nan):
        with refused((ValueError, TypeError), "times", times):
            ledger.spend([[PrivacyGuarantee(0.5)]], Participation(1), times, secret=True)
        with playing_under([[PrivacyGuarantee(0.5)]], secret=True), refused((ValueError, TypeError), "times", times):
            Admission([ledger], Participation(1), times)
    assert at(ledger) == (0, 0.0)
    for name, number in (
        ("epsilon", -1.0),
        ("epsilon", math.nan),
        ("delta", -1e-6),
        ("rho", -0.5),
        ("draw_distance", -1e-9),
    ):
        with refused(ValueError, name, number):
            PrivacyGuarantee(**{"epsilon": 1.0, name: number})
    for wrong in ({"pure": -2.0, "delta": 1e-6}, {"pure": math.nan}):
        with refused(ValueError, "pure", wrong["pure"]):
            PrivacyGuarantee(1.0, **wrong)


class Holds(Adversary):
    """Plays another adversary."""

    def __init__(self, inner):
        self.inner = inner
        super().__init__(2, 4)

    def begin(self, rng):
        self.inner.begin(rng)

    def next_gains(self, rounds):
        return self.inner.next_gains(rounds)


LATE = {"ledger": lambda: Ledger(epsilon=1.0), "data_use": lambda: Participation(3), "is_real": lambda: True}
HOLDERS = {
    "environment": BanditEnv,
    "vector": lambda adversary: BanditVectorEnv(2, adversary),
    "another": lambda adversary: BanditEnv(Holds(adversary)),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("fact", LATE)
def test_what_is_said_of_data_after_they_were_copied_is_refused(fact, holder):
    """An environment has a copy, which went on as if nothing had been said."""
    data = Replay(TABLE)
    setattr(data, fact, getattr(data, fact))
    held = HOLDERS[holder](data)
    with refused(LateDataError, fact, "Replay"):
        setattr(data, fact, LATE[fact]())
    assert held.reset(seed=0)


# ---- adversaries inside others: a game counts with all that its data serve, and what was counted pays no more


class Pools(OutcomePools):
    """One record an arm, which serves in all four rounds."""

    def __init__(self, ledger):
        super().__init__([np.zeros(1), np.zeros(1)], 4)
        self.ledger = ledger


class Mixed(Adversary):
    """Two adversaries over the same data; records of the one serve once, of the other four times."""

    def __init__(self, ledger):
        self.table, self.pools = Replay(TABLE, ledger=ledger), Pools(ledger)
        super().__init__(2, 6)

    def begin(self, rng):
        self.pools.begin(rng)
        self.table.begin(rng)

    def next_gains(self, rounds):
        """Return the means, after the fourth round the table alone; all six rounds are asked for at once."""
        gains = self.table.next_gains(rounds)
        gains[:4] = (gains[:4] + self.pools.next_gains(4)) / 2
        return gains


class Repeated(Adversary):
    """Plays a table three times, and says so."""

    def __init__(self, ledger):
        self.table = Replay(TABLE, ledger=ledger)
        super().__init__(2, 12)
        self.data_use = Participation(3)

    def begin(self, rng):
        self.table.begin(rng)

    def next_gains(self, rounds):
        return np.zeros((rounds, 2))


def by_reset(env):
    first_round(LaplaceClipRescale(env(BanditEnv), epsilon=1.0))


def by_vector(env):
    first_round(of_many.LaplaceClipRescale(env(BanditVectorEnv, num_envs=1), epsilon=1.0))


def by_two_at_once(env):
    first_round(of_many.LaplaceClipRescale(env(BanditVectorEnv, num_envs=2), epsilon=1.0))


def by_simulate(env):
    simulate(lambda: env(BanditEnv), ["DP-EXP3-Lap"], seed=None, checkpoints=1)


def by_play(env):
    player = Algorithm("plain", Plain, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    assert simulate(lambda: env(BanditEnv), [player], seed=None, checkpoints=1)["plain"].engine == "play"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("begin", "adversary"), one_each([by_reset, by_vector, by_two_at_once, by_simulate, by_play], [Mixed, Repeated])
)
def test_a_game_counts_with_what_all_of_it_says_of_its_data(begin, adversary):
    """However it begins."""
    ledger, games, rounds = Ledger(epsilon=12.0), 1 + (begin is by_two_at_once), 5 if adversary is Mixed else 3

    def env(kind, **arguments):
        return kind(adversary=adversary(ledger), **arguments)

    begin(env)
    assert at(ledger) == (games, games * rounds)


def test_two_adversaries_serve_together_and_one_twice_in_two_names_once():
    ledger = Ledger(epsilon=12.0)
    mixed = Mixed(ledger)
    assert mixed.data_use == Participation(5)
    assert LaplaceClipRescale(BanditEnv(mixed), epsilon=1.0).guarantee.for_record().epsilon == 5.0
    mixed.again = mixed.pools
    assert mixed.data_use == Participation(5)
    mixed.other = Pools(ledger)
    assert mixed.data_use == Participation(6)  # at most all rounds


def test_a_function_that_makes_other_environments_each_time_pays_for_each():
    ledger = Ledger(epsilon=12.0)
    uses = iter([1, 3, 3])

    def make():
        pools = OutcomePools([np.zeros(12), np.zeros(12)], 12)
        pools.ledger, pools.data_use = ledger, Participation(next(uses))
        return gym.wrappers.OrderEnforcing(BanditEnv(pools))

    player = Algorithm("plain", Plain, lambda env: LaplaceClipRescale(env, epsilon=1.0))
    simulate(make, [player], trials=2, seed=None, checkpoints=1)
    assert at(ledger) == (2, 6.0)  # counted before as 1 each, which is refunded, and then as what they are


@pytest.mark.parametrize("player", ["EXP3", "Tsallis-INF"])
def test_a_boundary_in_the_environment_counts_with_what_it_releases(player):
    """EXP3's own guarantee, which is smaller here, is for arms; a wrapper above the boundary sees all releases."""

    def make():
        env = LaplaceClipRescale(gym.make("DPBandit-Replay-v0", gains=np.zeros((50, 2)), ledger=ledger), epsilon=7.5)
        return gym.wrappers.RecordEpisodeStatistics(env)

    for begin in (
        lambda: play(make(), make_algorithm(player), seed=None),
        lambda: simulate(make, [player], seed=None, checkpoints=1),
        lambda: simulate(lambda: make().env, [player], seed=None, checkpoints=1),
    ):
        ledger = Ledger(epsilon=9.0, delta=1e-3)
        begin()
        assert at(ledger) == (1, 7.5)
