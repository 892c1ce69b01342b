"""Compares algorithms: in several games, at several epsilons, on the same gains; resumable, with progress shown."""

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.specs import Game, Player
from dp_bandit_envs.compiling.compiled import says_compiling
from dp_bandit_envs.errors import WrongTypeError
from dp_bandit_envs.experiments.arguments import question
from dp_bandit_envs.experiments.comparison import Comparison, comparison_of, folder_of
from dp_bandit_envs.experiments.experiment import Experiment
from dp_bandit_envs.experiments.running import Progress, run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.experiments.tables import summary_csv
from dp_bandit_envs.seeding import Seed, warn_of_known_seed

Algorithms = Player | Sequence[Player] | Mapping[str, Player]
Wanted = Callable[[int, int], None] | bool | None
"""Whether to show progress, or a function that is called with (rounds played, rounds in all)."""


@checks.answers_wrong_calls
def compare(
    environments: Game | Sequence[Game],
    algorithms: Algorithms,
    *,
    epsilon: float | Sequence[float] | None = None,
    delta: float | None = None,
    at_guarantee: bool = False,
    rounds_per_person: int | None = None,
    horizon: int | Sequence[int] | None = None,
    n_arms: int | Sequence[int] | None = None,
    trials: int = 100,
    seed: Seed = "auto",
    checkpoints: str = "linear",
    folder: str | Path | None = None,
    jobs: int = 1,
    progress: Callable[[int, int], None] | bool = True,
) -> Comparison:
    """Play every algorithm at every epsilon in every environment; in one trial all of them face the same gains.

    Args:
        environments: One or several, as for `simulate`, but without wrappers; or `"mine:Drifting"` for a class in the
            module `mine`.
        algorithms: One or several, as for `simulate`; or `"mine:Name"` for one of these in the module `mine`. A mapping
            names them for readers; without one, equal names get their modules, as in `anna:MyAgent`.
        epsilon: One or several, for every algorithm that takes one and does not have it written after its name; by
            default each algorithm's own. Others play once.
        delta: For every algorithm that takes one beside an epsilon; by default T^-2, or that of your own function.
        at_guarantee: Whether each epsilon, with `delta` or else 0, is a guarantee that every algorithm's real one meets
            as closely as possible from below, as with `calibrate`. Algorithms that guarantee nothing play as they are.
        rounds_per_person: The most rounds of one person, whom that guarantee is for; by default it is for a round.
        horizon: One or several numbers of rounds T; by default each environment's own.
        n_arms: One or several numbers of arms K; by default each environment's own.
        trials: Number of games of each.
        seed: The seed; None for a secret one. By default 0, and a secret one where data are real. See `simulate`.
        checkpoints: The spacing of the 100 rounds that are recorded, `"linear"` or `"log"`.
        folder: Where to keep the results while they are made. The same call continues where it was interrupted; `load`
            reads a finished folder. One process at a time works in it. By default results are in memory only.
        jobs: Number of games to play at a time.
        progress: Whether to show on stderr how far it is, if that takes more than some seconds: one line in a terminal,
            a few lines in a file or a notebook; and whether something is compiled first. Or a function that is called
            with (rounds played, rounds in all).

    Raises:
        ResultsError: If the folder holds something else, or another process works in it.
        UnknownNameError: If there is no such environment or algorithm; the message suggests near names.
        UnreachableGuaranteeError: If an algorithm cannot meet a guarantee.
        ValueError: If something is given twice or out of range.
        WrongGameError: If an algorithm cannot play a game.
        WrongTypeError: If an environment or algorithm is of another type.

    Example:
        >>> from dp_bandit_envs import compare
        >>> comparison = compare("Stochastic", ["Uniform", "DP-KLUCB"], epsilon=[0.1, 2], horizon=2000, trials=50)
        >>> for entry in comparison.entries:
        ...     print(f"{entry.name}: mean regret {entry.values('external_regret')[:, -1].mean():.1f}")
        Uniform: mean regret 70.2
        DP-KLUCB (epsilon=0.1): mean regret 65.8
        DP-KLUCB (epsilon=2): mean regret 49.4
    """
    experiment = question(
        environments,
        algorithms,
        epsilon=epsilon,
        delta=delta,
        at_guarantee=at_guarantee,
        rounds_per_person=rounds_per_person,
        horizon=horizon,
        n_arms=n_arms,
        trials=trials,
        seed=seed,
        checkpoints=checkpoints,
    )
    experiment.check()
    checks.integer("jobs", jobs, at_least=1)
    check_progress(progress)
    if experiment.seed is not None:
        warn_of_known_seed(experiment.is_real)
    settings: dict[str, Any] = {"jobs": jobs, "progress": progress}
    if folder is not None:
        path = folder_of(folder)
        try:
            made = _played(experiment, path, **settings)
        except KeyboardInterrupt as stop:
            stop.add_note(f"Finished games are saved in {path}; the same call goes on from there.")
            raise
        ResultsFolder(path, made.configuration).write_again("summary.csv", summary_csv(made.entries))
        return made
    with tempfile.TemporaryDirectory() as path_of_now:
        return _played(experiment, Path(path_of_now), keep=True, **settings)


def _played(
    experiment: Experiment,
    path: Path,
    *,
    progress: Wanted,
    keep: bool = False,
    **settings: Any,
) -> Comparison:
    """Play what is missing in a folder; `keep` all arrays in memory, because the folder will be gone."""
    configuration = experiment.configuration()
    names = [] if progress is False else list(dict.fromkeys(one.name for one in experiment.all_contestants))
    with says_compiling(names), progress_of("compare", progress, experiment.rounds) as advance:
        arrays = run(experiment, ResultsFolder(path, configuration), progress=advance, **settings).arrays
    return comparison_of(configuration, dict(arrays) if keep else arrays, experiment)


QUIET = 3.0
"""Seconds before the first word, so that what is quick stays silent."""
BETWEEN = 0.5
"""Seconds between two looks of the line in a terminal."""
FIRST_LINE = 10.0
"""Seconds before the first line where lines stay, as in a file or a notebook; each further one after twice as long."""


class ShownProgress:
    """Writes how many of the rounds are played.

    Args:
        stream: Where to write; by default stderr as it is now.
        clock: Returns seconds.
        command: What plays them.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        command: str = "compare",
    ) -> None:
        self._command = command
        self._stream = sys.stderr if stream is None else stream
        self._clock, self._began = clock, clock()
        self._rewrites = self._stream is not None and self._stream.isatty()
        self._next = QUIET if self._rewrites else FIRST_LINE
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """Take the rounds played, or found in the folder, and those in all."""
        seconds = self._clock() - self._began
        if self._stream is None or seconds < self._next or done >= total:
            return
        text = f"{self._command}: {100 * done // total}% of {total:,} rounds, {seconds:,.0f} s"
        if self._rewrites:
            self._stream.write("\r" + text.ljust(self._width))
            self._next, self._width = seconds + BETWEEN, len(text)
        else:
            self._stream.write(text + "\n")
            self._next = 2 * seconds
        self._stream.flush()

    def close(self) -> None:
        """Take the line of a terminal away."""
        if self._width and self._stream is not None:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0


def check_progress(progress: Wanted) -> None:
    """Raise if it is nothing that can be asked for."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise WrongTypeError(f"progress must be True, False or a function of two numbers; received {progress!r}.")
    if callable(progress):
        checks.function("progress", progress, "rounds played", "rounds in all")


@contextlib.contextmanager
def progress_of(command: str, progress: Wanted, total: int) -> Iterator[Progress]:
    """Yield what a run tells its progress to.

    Args:
        command: What plays, for the line that is shown.
        progress: What was asked for.
        total: The number of rounds in all.
    """
    shown = ShownProgress(command=command) if progress is True else None
    tell = shown or (progress if callable(progress) else None)
    done = 0

    def advance(_: str | None, rounds: int) -> None:
        nonlocal done
        done += rounds
        if tell is not None:
            tell(done, total)

    try:
        yield advance
    finally:
        if shown is not None:
            shown.close()
