"""`dp-bandit run`: algorithms in one or several environments, or on a file of gains."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dp_bandit_envs import checks
from dp_bandit_envs.cli.options import (
    Arms,
    Cluster,
    Epsilons,
    Horizons,
    Jobs,
    Out,
    RoundsPerPerson,
    SecretSeed,
    Trials,
    command_line,
    cores,
    number,
    wholes,
)
from dp_bandit_envs.cli.terminal import INTERRUPTED, console, errors, leave_at_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXAMPLES = (
    "Examples: dp-bandit run Switching EXP3 EXP3-tau:batch_size=100 --trials 50; dp-bandit run Stochastic Oblivious"
    " DP-KLUCB DP-IMED --epsilon 0.1,1; dp-bandit run my.csv Batched-Lap-HTINF --epsilon 0.5; dp-bandit run Stochastic"
    " EXP3 mine:MyAgent --horizon 1e5"
)


EXAMPLES_OF = {"epsilon": "0.1,1", "arms": "2,10", "horizon": "1000,1e4"}


def run(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="ENVIRONMENT... ALGORITHM...",
            help="Environments, with arguments if you like: Graph:graph=cycle,n_arms=10; or files of gains (.npy,"
            " .csv). Algorithms, with parameters if you like: EXP3-tau:batch_size=19. Your own of both as module:Name.",
        ),
    ],
    epsilon: Epsilons = None,
    delta: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="NUMBER",
            help="Delta of every algorithm that takes one beside its epsilon; by default T^-2, or your function's own.",
        ),
    ] = None,
    at_guarantee: Annotated[
        bool,
        typer.Option(
            "--at-guarantee",
            help="Take --epsilon, and --delta or else 0, as what each algorithm really has to guarantee, and find the"
            " parameter for it.",
        ),
    ] = False,
    rounds_per_person: RoundsPerPerson = None,
    trials: Trials = None,
    horizon: Horizons = None,
    arms: Arms = None,
    seed: SecretSeed = None,
    jobs: Jobs = 0,
    cluster: Cluster = None,
    spacing: Annotated[str, typer.Option(help="Spacing of the rounds that are recorded: linear or log.")] = "linear",
    measure: Annotated[
        str,
        typer.Option(
            help="What to show: external_regret, pseudo_regret, policy_regret, collected or switches.",
            metavar="MEASURE",
        ),
    ] = "external_regret",
    band: Annotated[
        str,
        typer.Option(
            help="Line and band: ci (mean, 95 % interval), quantiles (median, 10 % to 90 %) or spread (median of"
            " means, Gini's mean difference).",
        ),
    ] = "ci",
    against: Annotated[
        str, typer.Option(help="Horizontal axis: round; or the last round against epsilon, arms or horizon.")
    ] = "round",
    scale: Annotated[str, typer.Option(help="Vertical axis: linear or log.")] = "linear",
    persons: Annotated[
        str | None,
        typer.Option(help="A file's column that says whose each line is, or the most lines of a person."),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Count all games on a file of gains in this ledger, which dp-bandit ledger makes."
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Play algorithms in one or several environments, or on your own data, and write figure, tables and report."""
    from dp_bandit_envs.cli.ledger_command import about as about_ledger
    from dp_bandit_envs.cli.ledger_command import opened
    from dp_bandit_envs.cli.real_data import interrupted, without_tables
    from dp_bandit_envs.cli.run_and_report import produce
    from dp_bandit_envs.cli.run_arguments import experiment_of, numbers, sorted_words
    from dp_bandit_envs.cli.run_refusals import refuse_unknown_measure
    from dp_bandit_envs.comparison.asking import readable
    from dp_bandit_envs.comparison.compared import comparison_of_results
    from dp_bandit_envs.comparison.drawing import AGAINST
    from dp_bandit_envs.comparison.entries import MEASURES
    from dp_bandit_envs.comparison.reporting import SECRET_SEED, notes_on
    from dp_bandit_envs.plots.curves_figure import SCALES
    from dp_bandit_envs.runs.experiment import Results
    from dp_bandit_envs.runs.run_report import CENTRES, Note, Study, View

    environments, algorithms = sorted_words(words)
    epsilons, horizons, sizes = numbers("--epsilon", epsilon), wholes("--horizon", horizon), wholes("--arms", arms)
    checks.one_of("measure", measure, MEASURES)
    values = {"round": None, "epsilon": epsilons, "arms": sizes, "horizon": horizons}
    if checks.one_of("against", against, AGAINST) != "round" and len(values[against] or ()) < 2:
        raise ValueError(f"--against {against} needs several values of it, such as --{against} {EXAMPLES_OF[against]}.")
    if persons is not None and not persons.strip():
        raise ValueError("persons must name a column, or be the most lines of a person; it is empty.")
    if ledger is not None and seed is not None:
        raise ValueError(
            "--ledger counts games with secret noise only: that of a known seed cancels in a difference of two games."
            " Leave --seed out."
        )
    budget = None if ledger is None else opened(ledger)
    view = View(measure, CENTRES[checks.one_of("band", band, tuple(CENTRES))], checks.one_of("scale", scale, SCALES))
    experiment = experiment_of(
        environments,
        algorithms,
        epsilon=epsilons,
        delta=delta,
        at_guarantee=at_guarantee,
        rounds_per_person=rounds_per_person,
        trials=(100 if budget is None else 1) if trials is None else trials,
        horizon=horizons,
        n_arms=sizes,
        seed=seed,
        spacing=spacing,
        persons=persons,
        ledger=budget,
    )
    refuse_unknown_measure(experiment, measure)
    names = ", ".join(dict.fromkeys(one.shown_as or one.name for one in experiment.all_contestants))
    folder = out or Path("results") / f"{experiment.name}-{experiment.digest()}"
    # A report is not private, but the gains themselves have no place in it.
    shown: Callable[[str], str] = without_tables if experiment.is_real else str
    title = shown(f"{names} on {readable(', '.join(environments))}")
    notes = notes_on(experiment)
    if experiment.is_real and experiment.seed is None:
        console.print(SECRET_SEED, highlight=False)

    def remarks(_: object) -> list[Note]:
        """Return all notes; what is spent of a budget is known after the games."""
        spent = [] if budget is None or ledger is None else [Note(about_ledger(budget, ledger), on_terminal=True)]
        return [*notes, *spent]

    def draw(results: "Sequence[Results]") -> "Figure":
        return comparison_of_results(results[0]).plot(against, measure=measure, band=band, y_scale=scale)

    study = Study(experiment.name, title, (experiment,), view, notes=remarks, draw=draw)
    try:
        where: Any = {"cluster": cluster}
        produce(console, study, folder, jobs=cores(jobs), command=shown(command_line()), netcdf=True, **where)
    except KeyboardInterrupt:
        if experiment.seed is not None:
            raise
        errors.print(interrupted(folder), markup=False, highlight=False, soft_wrap=True)
        leave_at_once(INTERRUPTED)
