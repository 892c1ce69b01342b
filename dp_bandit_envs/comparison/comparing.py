"""Compares algorithms: in several games, at several epsilons, on the same gains, and resumable."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms.naming import Game, Player
from dp_bandit_envs.comparison.asking import question
from dp_bandit_envs.comparison.compared import Comparison, comparison_of, folder_of
from dp_bandit_envs.comparison.export import write_tables
from dp_bandit_envs.comparison.shown_progress import Wanted, check_progress, progress_of
from dp_bandit_envs.runs.experiment import Experiment
from dp_bandit_envs.runs.running import run
from dp_bandit_envs.runs.store import ResultsFolder
from dp_bandit_envs.seeding import Seed, warn_of_known_seed

if TYPE_CHECKING:
    from distributed import Client

Algorithms = Player | Sequence[Player] | Mapping[str, Player]


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
    cluster: "str | Client | None" = None,
) -> Comparison:
    """Play every algorithm at every epsilon in every environment; in one trial all of them face the same gains.

    Args:
        environments: One or several, as for `simulate`, but without wrappers; or `"mine:Drifting"` for a class in the
            module `mine`.
        algorithms: One or several, as for `simulate`; or `"mine:Name"` for one of these in the module `mine`.
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
            a few lines in a file or a notebook. Or a function that is called with (rounds played, rounds in all).
        cluster: As for `simulate`.

    Raises:
        ResultsError: If the folder holds something else, or another process works in it.
        UnknownNameError: If there is no such environment or algorithm; the message suggests near names.
        UnreachableGuaranteeError: If an algorithm cannot meet a guarantee.
        ValueError: If something is given twice or out of range.
        WrongGameError: If an algorithm cannot play a game.
        WrongTypeError: If an environment or algorithm is of another type.

    Example:
        >>> from dp_bandit_envs import compare
        >>> comparison = compare("Stochastic", ["Uniform", "DP-KLUCB"], epsilon=[0.1, 2], horizon=300, trials=20)
        >>> for entry in comparison.entries:
        ...     print(f"{entry.name}: mean regret {entry.values('external_regret')[:, -1].mean():.1f}")
        Uniform: mean regret 15.1
        DP-KLUCB (epsilon=0.1): mean regret 12.1
        DP-KLUCB (epsilon=2): mean regret 9.9
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
    settings: dict[str, Any] = {"jobs": jobs, "progress": progress, "cluster": cluster}
    if folder is not None:
        path = folder_of(folder)
        try:
            made = _played(experiment, path, **settings)
        except KeyboardInterrupt as stop:
            stop.add_note(f"Finished games are saved in {path}; the same call goes on from there.")
            raise
        write_tables(made, ResultsFolder(path, made.configuration))
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
    with progress_of("compare", progress, experiment.rounds) as advance:
        arrays = run(experiment, ResultsFolder(path, configuration), progress=advance, **settings).arrays
    return comparison_of(configuration, dict(arrays) if keep else arrays, experiment)
