"""A game with external rewards: an algorithm plays in another program's loop, behind its own wrappers."""

import contextlib
import dataclasses
import functools
import hashlib
import json
import math
import operator
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, Self, SupportsFloat, SupportsIndex, TypedDict, TypeVar

import gymnasium as gym
import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.calibration import PrivacyRequest, read_single_player
from dp_bandit_envs.algorithms.specs import Player
from dp_bandit_envs.envs.bandit_env import empty_observation, observation_space
from dp_bandit_envs.errors import SeedRefusedError, StepOutsideGameError, WrongGameError, WrongTypeError
from dp_bandit_envs.files import create_once, inaccessible, locked
from dp_bandit_envs.privacy.admission import admission_to
from dp_bandit_envs.privacy.facts import gains_of_arms
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee, shown_epsilon
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.protocols import FloatArray, Observation
from dp_bandit_envs.seeding import FORKS, checked_seed, draw_seed, warn_of_known_seed
from dp_bandit_envs.simulation.playing import begin, to_count
from dp_bandit_envs.wrappers.boundary import BoundaryBase, Hidden
from dp_bandit_envs.wrappers.layers import layers_of

R = TypeVar("R")

UNKNOWN_HORIZON = (
    "horizon must be the number of rounds, fixed before the first one, as the noise is made for it; received {}. If you"
    " do not know it, give the largest number that may be reached: the guarantee also holds for fewer rounds, and so"
    " does that number's regret bound."
)


class RewardRange(NamedTuple):
    """The public range of rewards; made by `checked`.

    The range must be known without looking at the rewards, whose smallest and largest values are private.

    Attributes:
        low: The reward that becomes gain 0.
        high: The reward that becomes gain 1.
        clip: Whether to clip rewards outside the range; otherwise they are refused.
    """

    low: float
    high: float
    clip: bool

    @classmethod
    def checked(cls, low: SupportsFloat, high: SupportsFloat, clip: bool) -> Self:
        """Return the range, or raise if it is invalid."""
        least, most = checks.real("low", low), checks.real("high", high)
        if not (least < most and math.isfinite(most - least)):
            raise ValueError(f"low must be less than high, and both finite; received low={low!r} and high={high!r}.")
        return cls(least, most, checks.boolean("clip", clip))

    def gain_of(self, reward: Any) -> float:
        """Return a reward as a gain in [0, 1].

        Raises:
            ValueError: If it is not a number, or outside the range without `clip`. The message does not show it.
        """
        try:
            number = math.nan if isinstance(reward, (str, bytes)) else float(reward)
        except OverflowError:
            number = math.inf if reward > 0 else -math.inf
        except (TypeError, ValueError):
            number = math.nan
        if self.clip and not math.isnan(number):
            number = min(max(number, self.low), self.high)
        if not self.low <= number <= self.high:
            way_out = "Check where it comes from." if self.clip else "Use clip=True, or declare a wider range."
            way_out = "Give a number." if math.isnan(number) else way_out
            raise ValueError(
                f"a reward must be a number in [{self.low:g}, {self.high:g}]; received another one, which is withheld"
                f" because it may be private. {way_out}"
            )
        return (number - self.low) / (self.high - self.low)

    def gains_of_means(self, means: FloatArray) -> FloatArray:
        """Return public mean rewards as mean gains, or raise if one is outside."""
        if not ((means >= self.low) & (means <= self.high)).all():
            raise ValueError(f"means must be in [{self.low:g}, {self.high:g}]; received {means.tolist()}.")
        gains: FloatArray = (means - self.low) / (self.high - self.low)
        return gains


class ExternalGainsEnv(gym.Env[Observation, int]):
    """A game whose gains come from outside.

    It stores a gain from `give` until the step that reveals it, hidden from reprs and lists of attributes, and then
    deletes it. It computes no regrets or totals. Gains wait in batches: those of one step above.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        data_use: The participation of a record and of a person.
        ledger: The ledger of the data, if any.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]
    sensitivity: float = 1.0
    """L1 distance between observations in neighbouring games: a round reveals one gain in [0, 1]."""
    values = gains_of_arms(1.0)
    is_real = True
    holders = ()

    def __init__(self, n_arms: SupportsIndex, horizon: SupportsIndex, data_use: Participation, ledger: Any) -> None:
        self.n_arms = checks.integer("n_arms", n_arms, at_least=2, at_most=checks.MOST_ARMS)
        self.horizon = checks.integer("horizon", horizon, at_least=1, at_most=checks.MOST_ROUNDS)
        self.n_values = self.n_arms
        self.data_use, self.ledgers = data_use, [] if ledger is None else [ledger]
        self.action_space = gym.spaces.Discrete(self.n_arms)  # type: ignore[assignment]
        self.observation_space = observation_space(self.n_arms)  # type: ignore[assignment]
        self._round = -1  # before the first reset
        self._handed: Hidden = Hidden({})
        self._next: Hidden = Hidden([])

    @property
    def waiting(self) -> int:
        """Number of gains received and not yet revealed."""
        return sum(map(len, self._handed.value.values()))

    def give(self, batch: int, arm: int, gain: float) -> None:
        """Store a gain in [0, 1] of the arm that the steps of this batch play."""
        self._handed.value.setdefault(batch, []).append((arm, gain))

    @contextlib.contextmanager
    def revealing(self, batch: int) -> Iterator[None]:
        """Let steps reveal the gains of a batch, in the order in which they came; a failure deletes all."""
        self._next.value[:] = self._handed.value.pop(batch)
        try:
            yield
        except BaseException:
            self._handed.value.clear()
            raise
        finally:
            self._next.value.clear()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a new game, if the ledger admits it."""
        self._round = -1
        if (admission := admission_to(self)) is not None:
            admission.pay()  # now, as the first arm that is chosen is seen outside
        self._handed = Hidden({})
        self._round = 0
        return empty_observation(self.n_arms), {"round": 0}

    def step(self, action: SupportsIndex) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Reveal the gain that was given for this arm."""
        arm = checks.arm(action, self.n_arms)
        if not 0 <= self._round < self.horizon:
            raise StepOutsideGameError("the game has not begun or has ended; call reset() first.")
        if not self._next.value or self._next.value[0][0] != arm:
            raise ValueError(f"no gain was handed in for arm {arm}; call give(batch, arm, gain) before each step.")
        _, gain = self._next.value.pop(0)
        self._round += 1
        observation = empty_observation(self.n_arms)
        observation["gain"][arm] = gain
        observation["observed"][arm] = np.int8(1)
        return observation, gain, self._round == self.horizon, False, {"round": self._round}


class GameOptions(TypedDict, total=False):
    """Optional arguments of `OutsideGame`; documented there."""

    low: SupportsFloat
    high: SupportsFloat
    clip: bool
    seed: SupportsIndex | None
    persons: SupportsIndex | None
    ledger: Any


class Choice(NamedTuple):
    """An arm that `OutsideGame.choose` chose under the caller's key; its reward may come at any time.

    Attributes:
        key: The caller's key.
        arm: The arm, in [0, n_arms), or its name.
    """

    key: str | int
    arm: Any


@dataclasses.dataclass
class OpenBatch:
    """The rounds of one step of the agent, all of one arm; without batches, one round.

    Attributes:
        number: Its number in the game.
        arm: The arm, in [0, n_arms).
        rounds: Number of its rounds.
        probability: That with which the agent drew the arm, if it wants to be told when it learns; otherwise None.
        chosen: In how many of them the arm was asked for.
        learnt: Of how many the reward has come.
    """

    number: int
    arm: int
    rounds: int
    probability: float | None = None
    chosen: int = 0
    learnt: int = 0


class DiaryLine(NamedTuple):
    """A line of a diary: an arm that was chosen under a key, or a reward that came, as a gain.

    Attributes:
        key: The caller's key; None in a game that is played by `next_arm`.
        arm: The arm; None in the line of a reward that came under a key.
        gain: The gain; None in the line of a choice.
    """

    key: str | int | None
    arm: int | None
    gain: float | None

    @classmethod
    def parsed(cls, text: bytes) -> Self:
        """Return the line, or raise a ValueError."""
        match json.loads(text):
            case [int() as arm, int() | float() as gain]:
                return cls(None, arm, float(gain))
            case ["choose", str() | int() as key, int() as arm]:
                return cls(key, arm, None)
            case ["learn", str() | int() as key, int() | float() as gain]:
                return cls(key, None, float(gain))
        raise ValueError

    def __str__(self) -> str:
        if self.key is None:
            return json.dumps([self.arm, self.gain])
        return json.dumps(["choose", self.key, self.arm] if self.gain is None else ["learn", self.key, self.gain])


def _named(method: Callable[..., R]) -> Callable[..., R]:
    """Wrap a method of `Diary` so that its OSErrors name the file and the failed action."""

    @functools.wraps(method)
    def call(self: "Diary", *args: Any) -> R:
        try:
            return method(self, *args)
        except BlockingIOError:
            raise
        except OSError as error:
            rule = "must be a file that can be read and written; no arm was chosen and no reward was learnt"
            raise inaccessible(self.path, rule, error) from error

    return call


class Diary:
    """A file with the seed and the gains of one game, from which the game resumes after a restart.

    The file is as private as the rewards. It is locked while its game is open, because two games would use the same
    noise twice.

    Args:
        path: The file.

    Attributes:
        lines: The lines written so far.

    Raises:
        ValueError: If the file is not a diary.
        BlockingIOError: If another game has it open.
        FileAccessError: If it cannot be read or written, now or later.
    """

    @_named
    def __init__(self, path: str | Path) -> None:
        # Without links, as one file under two names would be two games with one noise.
        self.path = Path(os.path.realpath(checks.path("diary", path)))
        self._lock = contextlib.ExitStack()
        try:
            self._lock.enter_context(locked(self.path.with_name(f"{self.path.name}.lock")))
        except BlockingIOError as owner:
            raise BlockingIOError(
                f"{self.path} is the diary of a game that is open in {owner}. Close that one first, or give each game a"
                " diary of its own."
            ) from None
        self.lines: list[DiaryLine] = []
        self._first: dict[str, Any] = {}
        if not self.path.exists():
            return
        # A line without an end was being written when the process was killed; its reward was not learnt from.
        whole, end, _ = self.path.read_bytes().rpartition(b"\n")
        line = 1
        try:
            first, *lines = whole.split(b"\n")
            self._first = json.loads(first)
            self._first["seed"] += 0
            for line, text in enumerate(lines, 2):  # noqa: B007 (the error names it)
                self.lines.append(DiaryLine.parsed(text))
        except (ValueError, TypeError, KeyError):
            self.close()
            what = (
                "it is another file."
                if line == 1
                else (
                    f"its line {line} is damaged. Begin another diary: with another reward than the one that was learnt"
                    " from, the same noise would be used twice."
                )
            )
            raise ValueError(f"{self.path} must be a diary of OutsideGame; {what}") from None
        os.truncate(self.path, len(whole + end))

    @_named
    def begin(self, game: dict[str, Any]) -> int:
        """Return the secret seed of the game with these public facts; a new file is readable only by its owner.

        Raises:
            ValueError: If it is the diary of another game.
        """
        game = json.loads(json.dumps(game, default=repr))
        if not self._first:
            self._first = {"seed": draw_seed(), **game}
            create_once(self.path, f"{json.dumps(self._first)}\n".encode(), mode=0o600)
        for key, setting in game.items():
            if self._first.get(key) != setting:
                raise ValueError(
                    f"{key} must be {self._first.get(key)!r}, as in the game of {self.path}; received {setting!r}."
                )
        return int(self._first["seed"])

    @_named
    def add(self, line: DiaryLine) -> None:
        """Write a line to disk before an arm is shown or a reward learnt; a failed write leaves no trace of it."""
        whole = self.path.stat().st_size
        try:
            with self.path.open("ab") as file:
                file.write(f"{line}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            os.truncate(self.path, whole)
            raise

    def close(self) -> None:
        """Close the file, so that another game can open it."""
        self._lock.close()


def _in_turn(method: Callable[..., R]) -> Callable[..., R]:
    """Wrap a method of `OutsideGame` so that threads call it, and others like it, one after the other."""

    @functools.wraps(method)
    def call(self: "OutsideGame", *args: Any, **kwargs: Any) -> R:
        with self._turn:
            return method(self, *args, **kwargs)

    return call


class OutsideGame:
    """One game of an algorithm, driven from outside: `next_arm()`, then `learn(arm, reward)`, round after round.

    If rewards come late, `choose(key)` opens a choice, and `learn(choice, reward)` takes its reward at any time.
    Mechanisms receive gains in the order of arrival, and a batch is released when its last gain has arrived.

    A reward goes to a game below the algorithm's privacy wrappers. The step that passes it to their mechanism deletes
    it; the agent sees only the release. Within a batch, the same arm is played again, and rewards wait below the
    wrappers until the batch is full. The arms are the same as in `play` on the same gains with the same seed.

    **Guarantee.** `guarantee` holds for the arms of one game of at most `horizon` rounds, and protects the reward of
    each round. It does not cover other uses of the rewards by the outer loop, which knows them. Arms may depend on past
    rewards through this object only. So each reward must belong to the arm chosen here, and logs of other policies,
    whose arms may depend on their gains, are refused. When, in which order and whether rewards arrive is public, and
    must not depend on the rewards. For an algorithm without privacy, such as UCB, the guarantee's
    epsilon is inf.

    Args:
        algorithm: An algorithm or its name, as for `simulate`.
        n_arms: Number of arms K, at least 2; or give `arm_names` instead.
        horizon: Number of rounds T, at least 1, or the largest that may be reached. The noise is calibrated to it, and
            the game ends after it. The guarantee also holds for fewer rounds, and so does the regret bound for T.
        arm_names: Different strings, which replace the numbers 0 to K - 1 as arms.
        epsilon: Epsilon of an algorithm given by name; by default the algorithm's own.
        delta: Delta of an algorithm given by name, if it has one; by default T^-2.
        low: The reward that becomes gain 0. `low` and `high` are public: do not compute them from the data.
        high: The reward that becomes gain 1.
        clip: Whether to clip rewards outside [low, high]; otherwise they are refused.
        seed: The seed of all randomness. Anyone who knows it can subtract the noise, so a `KnownSeedWarning` follows;
            by default a secret seed from the operating system.
        trial: The number of the game for that seed.
        persons: The most rounds that belong to one person; None if unknown.
        ledger: A `dp_bandit_envs.Ledger`, which charges the game when its first arm is chosen, or refuses it. A resumed
            game was charged when it began; it needs the same ledger.
        diary: A file for the seed and the rewards. After a restart, the same call resumes the game with the same noise
            and arms, so no further information is released. It is as private as the rewards. Close the game, or end its
            process, before it is opened again.

    Raises:
        WrongTypeError: If `algorithm` is not an algorithm or its name.
        WrongGameError: If it cannot play arms, or needs the gains of all arms.
        ValueError: If the diary belongs to another game.
        BlockingIOError: If another game has the diary open.
        FileAccessError: If the diary cannot be read or written, here or in `learn`.

    Example:
        >>> from dp_bandit_envs import OutsideGame
        >>> game = OutsideGame("DP-KLUCB", n_arms=2, horizon=100)
        >>> for _ in range(3):
        ...     game.learn(game.next_arm(), 1.0)
        >>> game.rounds, game.guarantee.epsilon
        (3, 1.0)
    """

    @checks.answers_wrong_calls
    def __init__(
        self,
        algorithm: Player,
        *,
        n_arms: SupportsIndex | None = None,
        horizon: SupportsIndex | None = None,
        arm_names: Sequence[str] | None = None,
        epsilon: SupportsFloat | None = None,
        delta: SupportsFloat | None = None,
        low: SupportsFloat = 0.0,
        high: SupportsFloat = 1.0,
        clip: bool = False,
        seed: SupportsIndex | None = None,
        trial: SupportsIndex = 0,
        persons: SupportsIndex | None = None,
        ledger: Any = None,
        diary: str | Path | None = None,
    ) -> None:
        if ledger is not None and not callable(getattr(ledger, "spend", None)):
            raise WrongTypeError(f"ledger must be a dp_bandit_envs.Ledger; received {checks.kind_of(ledger)}.")
        if horizon is None or (isinstance(horizon, float) and not math.isfinite(horizon)):
            raise WrongTypeError(UNKNOWN_HORIZON.format("none" if horizon is None else horizon))
        self._turn = threading.RLock()
        self._names, n_arms = _checked_names(arm_names, n_arms)
        use = Participation(1, None if persons is None else checks.integer("persons", persons, at_least=1))
        self._rewards = RewardRange.checked(low, high, clip)
        with contextlib.ExitStack() as undo:
            opened = None if diary is None else Diary(diary)
            if opened is not None:
                undo.callback(opened.close)
            # One that goes on was counted when it began, by this very ledger.
            counted_by = None if ledger is None else str(getattr(ledger, "id", ""))
            if opened is not None and opened.lines:
                ledger = None
            self._feed = ExternalGainsEnv(n_arms, horizon, use, ledger)
            request = PrivacyRequest.checked(epsilon, delta)
            algorithm = read_single_player(algorithm, request, self._feed)
            if algorithm.make_agent is not None and algorithm.feedback == "full":
                raise WrongGameError(
                    f"{algorithm.name} learns from the gains of all arms, and here a round has the reward of one. Use"
                    " an algorithm that learns from it, such as DP-KLUCB or DP-EXP3-Lap."
                )
            algorithm.check_game(self._feed)
            self._env = algorithm.wrap(self._feed)
            self._guarantee = algorithm.guarantee_inside(self._env, self._feed)
            self._to_count = [] if ledger is None else [to_count(algorithm, self._feed, self._env)]
            self._agent = algorithm.agent(self._feed)
            self._name, self._player = algorithm.name, algorithm.player
            boundaries = [layer for layer in layers_of(self._env) if isinstance(layer, BoundaryBase)]
            self._batch_size = math.prod(layer.batch_size for layer in boundaries)
            # Proofs of what an agent's own draws hide are for rewards in order; it hides all where arms ignore them.
            self._in_order_only = self._guarantee.covers == "arms" and self._guarantee.epsilon > 0
            self._seed, self._trial = checked_seed(seed), checks.integer("trial", trial, at_least=0)
            warn_of_known_seed(self._seed is not None)
            self._batch: OpenBatch | None = None  # the last one that was begun
            self._short_batch: OpenBatch | None = None  # that of the last rounds, if its rewards came before others
            self._round: OpenBatch | None = None  # that of the arm which `next_arm` returned
            self._choices: dict[str | int, Choice] = {}
            self._unlearnt: dict[str | int, OpenBatch] = {}
            self._rounds = self._chosen = 0
            self._has_begun = self._has_failed = self._is_closed = False
            self._forks = FORKS[0]
            self._number: int | None = None
            self._diary: Diary | None = None
            if opened is not None:
                self._go_on(opened, algorithm, counted_by)
            self._diary = opened
            undo.pop_all()

    def _go_on(self, opened: Diary, algorithm: Algorithm, ledger: str | None) -> None:
        """Replay the game to the end of its diary."""
        if self._seed is not None:
            raise ValueError(f"seed must be left out with a diary, which has a secret one; received {self._seed}.")
        if self._env.has_wrapper_attr("takes_seed") and not self._env.get_wrapper_attr("takes_seed"):
            raise SeedRefusedError("diary must be left out with draws='secure', which cannot be repeated from a file.")
        game = {"algorithm": algorithm.name, "parameters": algorithm.parameters, "trial": self._trial}
        game |= {"persons": self._feed.data_use.person, "ledger": ledger}
        game |= {"n_arms": self.n_arms, "horizon": self.horizon, **self._rewards._asdict()}
        # Of an algorithm of somebody else's, name and parameters may stay the same where these do not.
        game |= {"guarantee": self._guarantee.numbers(), "noise": self._noise_keys(), "arm_names": self._names}
        self._number = opened.begin(game)
        for key, arm, gain in opened.lines:
            if arm is not None:
                chosen = self.next_arm() if key is None else self.choose(key).arm
                if chosen != self._name_of(arm):
                    raise ValueError(
                        f"{opened.path} cannot be gone on with: round {self._chosen} was of arm {arm}, and {self._name}"
                        " chooses another one now. Its code, or that of a package, has changed."
                    )
            if gain is not None:
                batch = self._round if key is None else self._unlearnt.pop(key, None)
                if batch is None:
                    raise ValueError(f"{opened.path} must be a diary of OutsideGame; it has a reward without a choice.")
                self._take(batch, gain)
        opened.lines.clear()

    def _noise_keys(self) -> list[str]:
        layers = [layer for layer in layers_of(self._env) if isinstance(layer, BoundaryBase)]
        return [hashlib.sha256(layer._noise_key.encode()).hexdigest() for layer in layers]

    @_in_turn
    def close(self) -> None:
        """Close the game; with a diary, the same call resumes it, in this process or another."""
        self._is_closed = True
        if self._diary is not None:
            self._diary.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def guarantee(self) -> PrivacyGuarantee:
        """The guarantee for the arms of one game."""
        return self._guarantee

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return self._feed.n_arms

    @property
    def horizon(self) -> int:
        """Number of rounds of the game."""
        return self._feed.horizon

    @property
    def rounds(self) -> int:
        """Number of rounds with a reward."""
        return self._rounds

    @_in_turn
    def next_arm(self) -> Any:
        """Return the arm of this round, or its name; repeated calls return the same arm until its reward arrives.

        Raises:
            StepOutsideGameError: If all rounds have been played, or one failed, or the game is played by `choose`.
            LedgerError: If a ledger refuses the game.
        """
        self._refuse_what_has_ended()
        if self._choices:
            raise StepOutsideGameError(f"this game of {self._name} is played by choose(key), not by next_arm().")
        if self._round is None:
            self._begin_round()
            self._has_failed = True  # coins that were drawn and not seen would be followed by others
            self._round = self._next_round()
            self._has_failed = False
        return self._name_of(self._round.arm)

    @_in_turn
    def choose(self, key: str | int) -> Choice:
        """Return the choice with this key; the same key has the same choice, after a restart too.

        Any number of choices can be open, up to `horizon` in total. The exception is an algorithm whose guarantee comes
        from its own randomness, such as EXP3 without noise: it is proved for rewards that arrive in order.

        Args:
            key: A string or an integer of the caller's, such as the number of a visit. It is written in the diary.

        Raises:
            WrongTypeError: If the key is neither a string nor an integer.
            StepOutsideGameError: If it is a new key, and all rounds have been chosen, or a second choice must not be
                open, or the game is played by `next_arm`, or a round failed.
            LedgerError: If the data have a ledger, and it refuses the game.
            OSError: If the diary cannot be written; close the game, and the same call goes on before this choice.
        """
        key = _checked_key(key)
        self._refuse_what_has_ended()
        if key in self._choices:
            return self._choices[key]
        if self._chosen and not self._choices:
            raise StepOutsideGameError(f"this game of {self._name} is played by next_arm(), not by choose(key).")
        if self._in_order_only and self._unlearnt:
            raise StepOutsideGameError(
                f"{self._name} can have one open choice, as what its own draws hide is proved for rewards in order;"
                f" {next(iter(self._unlearnt))!r} is open. Learn its reward first, or use an algorithm with noise, such"
                " as DP-EXP3-Lap or DP-KLUCB."
            )
        self._begin_round()
        self._has_failed = True  # a choice whose line may be there is not made a second time
        batch = self._next_round()
        if self._diary is not None:
            self._diary.add(DiaryLine(key, batch.arm, None))
        self._unlearnt[key] = batch
        self._choices[key] = Choice(key, self._name_of(batch.arm))
        self._has_failed = False
        return self._choices[key]

    @_in_turn
    def learn(self, arm: Any, reward: Any) -> None:
        """Take the reward of this round, or of a choice; it goes below the privacy wrappers and is forgotten there.

        Args:
            arm: The arm that `next_arm` returned, or the choice that `choose` returned.
            reward: A number in [low, high]; True is 1 and False is 0.

        Raises:
            ValueError: If the arm or the choice is another one, or the reward is outside; the message does not show
                the reward.
            StepOutsideGameError: If no arm was chosen for this round, the reward of this choice has come, or a round
                failed.
            OSError: If the diary cannot be written; close the game, and the same call goes on before this reward.
        """
        self._refuse_what_has_ended()
        batch, key = (self._open_choice(arm), arm.key) if isinstance(arm, Choice) else (self._open_round(arm), None)
        gain = self._rewards.gain_of(reward)
        if self._diary is not None:
            self._has_failed = True  # a line that may be there, whole or in part, is not written a second time
            self._diary.add(DiaryLine(key, batch.arm if key is None else None, gain))
        self._unlearnt.pop(key, None)  # type: ignore[arg-type]
        self._take(batch, gain)

    def _begin_round(self) -> None:
        """Refuse one round too many; begin the game with the first one."""
        if self._chosen == self.horizon and self._unlearnt:
            raise StepOutsideGameError(
                f"the game of {self._name} has {self.horizon} choices, for which its noise is made, and all are made;"
                f" {len(self._unlearnt)} can still learn their rewards. Make another game for further choices, whose"
                " guarantee comes on top of this one's."
            )
        if self._chosen == self.horizon:
            raise StepOutsideGameError(
                f"the game of {self._name} ended after round {self.horizon}, for which its noise is made; make another"
                " one, whose guarantee comes on top of this one's."
            )
        if not self._has_begun:
            secret = draw_seed() if self._number is None else self._number
            number = secret if self._seed is None else self._seed
            begin(
                self._env,
                self._agent,
                number=number,
                seed=self._seed,
                trial=self._trial,
                player=self._player,
                guarantees=self._to_count,
            )
            self._has_begun, self._forks = True, FORKS[0]

    def _next_round(self) -> OpenBatch:
        """Return the batch of the next round; the agent chooses an arm for each batch."""
        if self._batch is None or self._batch.chosen == self._batch.rounds:
            number = 0 if self._batch is None else self._batch.number + 1
            arm = checks.arm(self._agent.select_arm(), self.n_arms)
            rounds = min(self._batch_size, self.horizon - self._chosen)
            told = hasattr(self._agent, "use_probability")
            self._batch = OpenBatch(number, arm, rounds, float(self._agent.probabilities()[arm]) if told else None)
        self._batch.chosen += 1
        self._chosen += 1
        return self._batch

    def _open_round(self, arm: Any) -> OpenBatch:
        """Return the batch of this round, or raise if it is one of another arm."""
        if self._round is None:
            way_out = "ask for one first, and give one reward each"
            if self._choices:
                way_out = "give learn(choice, reward) what choose(key) returned"
            raise StepOutsideGameError(f"no arm was chosen for this reward; {way_out}.")
        # The received value is not shown: arguments in the wrong order would reveal the reward.
        named = self._name_of(self._round.arm)
        kinds = (int, np.integer) if self._names is None else (str,)
        if not isinstance(arm, kinds) or arm != named:
            raise ValueError(
                f"the reward must be that of arm {named!r}, which was chosen for this round; received one of another"
                " arm. Give learn(arm, reward) what next_arm() returned: rewards of arms chosen by others would break"
                " the guarantee."
            )
        return self._round

    def _open_choice(self, choice: Choice) -> OpenBatch:
        """Return the batch of a choice whose reward has not come, or raise."""
        if not isinstance(choice.key, (str, int)) or self._choices.get(choice.key) != choice:
            raise ValueError(
                "the reward must be that of a choice of this game; received one of another choice. Give learn(choice,"
                " reward) what choose(key) returned: rewards of arms chosen by others would break the guarantee."
            )
        if choice.key not in self._unlearnt:
            raise StepOutsideGameError(f"the reward of choice {choice.key!r} has come; a choice takes one.")
        return self._unlearnt[choice.key]

    def _take(self, batch: OpenBatch, gain: float) -> None:
        """Take a gain of a batch; play the batch below if it was the last one."""
        # Until this is done there is no game to resume: a failed or interrupted step may be half done.
        self._has_failed = True
        self._feed.give(batch.number, batch.arm, gain)
        self._rounds += 1
        batch.learnt += 1
        if self._round is not None:
            # The next round of a batch is of the same arm, and need not be asked for.
            self._round = self._next_round() if batch.chosen < batch.rounds else None
        is_last = batch.rounds < self._batch_size  # its step ends the game below, so it is played after all others
        if batch.learnt == batch.rounds and is_last:
            self._short_batch = batch
        elif batch.learnt == batch.rounds:
            self._play(batch)
        if self._rounds == self.horizon and self._short_batch is not None:
            self._play(self._short_batch)
        self._has_failed = False

    def _play(self, batch: OpenBatch) -> None:
        """Let the game below reveal a batch, and the agent learn from what is released."""
        with self._feed.revealing(batch.number):
            released = self._env.step(batch.arm)[0]
        if batch.probability is not None:
            self._agent.use_probability(batch.arm, batch.probability)
        self._agent.update(batch.arm, released)

    def _name_of(self, arm: int) -> Any:
        return arm if self._names is None else self._names[arm]

    def _refuse_what_has_ended(self) -> None:
        """Raise after a failure, and in a forked process, which would draw the same noise as its parent."""
        if self._has_failed or self._is_closed:
            raise StepOutsideGameError(
                f"this game of {self._name} has ended, as it was closed or a round failed; make another one."
            )
        if (self._has_begun or self._diary is not None) and self._forks != FORKS[0]:
            raise StepOutsideGameError(
                "a game cannot be played on in a forked process: it would draw what its parent draws, so that the two"
                " together show gains. Make a game in each process."
            )

    def __repr__(self) -> str:
        level = str(shown_epsilon(self._guarantee)).strip("()")
        return f"OutsideGame({self._name}: {self.n_arms} arms, round {self._rounds} of {self.horizon}, {level})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Refuse copies and pickles once the noise is fixed: a copy would draw the same noise."""
        settled = self._has_begun or self._diary is not None
        return self._refuse_copy() if settled else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the lock."""
        return {name: part for name, part in vars(self).items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make another lock."""
        vars(self).update(state, _turn=threading.RLock())

    def _refuse_copy(self) -> NoReturn:
        raise TypeError(
            "an OutsideGame that has begun, or has a diary, cannot be copied or pickled: the copy would use the same"
            " noise again, which cancels in a difference. Copy it before its first arm, or make another one."
        )


def _checked_names(names: Sequence[str] | None, n_arms: SupportsIndex | None) -> tuple[list[str] | None, SupportsIndex]:
    if names is None:
        if n_arms is None:
            raise WrongTypeError("n_arms, the number of arms, or arm_names=[...] must be given; received neither.")
        return None, n_arms
    listed = [] if isinstance(names, (str, bytes)) or not isinstance(names, Iterable) else list(names)
    if len(listed) < 2 or not all(isinstance(name, str) for name in listed) or len(set(listed)) < len(listed):
        raise ValueError(
            f"arm_names must be a list of at least 2 different strings, such as ['red', 'blue']; received {names!r}."
        )
    if n_arms is not None and n_arms != len(listed):
        raise ValueError(
            f"n_arms must be left out, or {len(listed)} as arm_names has so many; received {checks.shown(n_arms)}."
        )
    return listed, len(listed)


def _checked_key(key: Any) -> str | int:
    """Return the key of a choice, or raise; what is received is not shown, as it may be a reward."""
    if isinstance(key, str):
        return str(key)
    if isinstance(key, (bool, np.bool_)) or not hasattr(key, "__index__"):
        raise WrongTypeError(
            f"key must be a string or an integer, such as the number of a visit; received {checks.kind_of(key)}."
        )
    number = operator.index(key)
    if number.bit_length() > 1000:  # which Python does not even write, from 4,300 digits on
        raise ValueError("key must be an integer of at most 1,000 bits, or a string; received a larger one.")
    return number
