"""`dp-bandit advise`: which private algorithm to take."""

from typing import Annotated

import typer

from dp_bandit_envs.cli.options import Jobs, NumberOfArms, NumberOfRounds, Seed, TargetDelta, number, whole
from dp_bandit_envs.cli.terminal import console

EXAMPLES = (
    "Examples: dp-bandit advise --arms 6 --horizon 5000 --epsilon 1 --rounds-per-person 3; dp-bandit advise clean.csv"
    " --epsilon 1; dp-bandit advise --arms 3 --horizon 1e4 --epsilon 0.5 --delta 1e-6 --gap 0.15"
)


def advise(
    data: Annotated[
        str | None,
        typer.Argument(help="A file with the columns arm,gain, such as dp-bandit data writes; only its shape is used."),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(parser=number, metavar="NUMBER", help="The privacy of a person, such as 1.")
    ] = None,
    delta: TargetDelta = 0.0,
    arms: NumberOfArms = None,
    horizon: NumberOfRounds = None,
    rounds_per_person: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="NUMBER", help="The most rounds of a person; by default the file's, or 1 without one."
        ),
    ] = None,
    gap: Annotated[
        list[float] | None,
        typer.Option(
            parser=number,
            metavar="NUMBER",
            help="How far the best arm is ahead, in (0, 1]; may be repeated. By default 0.05, 0.1 and 0.3.",
        ),
    ] = None,
    person: Annotated[str | None, typer.Option(help="The file's column of persons, if it is not person.")] = None,
    look_at_gains: Annotated[
        bool, typer.Option("--look-at-gains", help="Resample the file's outcomes; such advice is NOT private.")
    ] = False,
    algorithm: Annotated[
        list[str] | None, typer.Option(help="Compare this one; may be repeated. By default seven.")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(parser=whole, metavar="NUMBER", help="Simulated games; by default 40 to 200.")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
) -> None:
    """Say which private algorithm to take, by simulating those that give a person this privacy."""
    from dp_bandit_envs.advice import advise as simulated_advice
    from dp_bandit_envs.advice.advising import USUAL

    if epsilon is None:
        raise ValueError("--epsilon must be given, the privacy of a person; it is not. Give --epsilon 1, for example.")
    absent = [option for option, value in (("--arms", arms), ("--horizon", horizon)) if value is None]
    if data is None and absent:
        raise ValueError(
            f"{' and '.join(absent)} must be given, or a file that shows it, such as clean.csv; there is neither."
        )
    advice = simulated_advice(
        data,
        n_arms=arms,
        horizon=horizon,
        epsilon=epsilon,
        delta=delta,
        rounds_per_person=rounds_per_person,
        gap=gap or None,
        person=person,
        look_at_gains=look_at_gains,
        algorithms=[_registered(text) for text in algorithm or USUAL],
        trials=trials,
        seed=seed,
        jobs=jobs,
    )
    console.print(str(advice), markup=False, highlight=False, soft_wrap=True)


def _registered(text: str) -> str:
    """Return the name of an algorithm in the table, into which `mine:Name` may have to put it first."""
    from dp_bandit_envs.comparison.asking import imported

    own = imported(text)
    if own is None:
        return text
    if own.thing is not None or own.given:
        raise ValueError(
            f"advise needs an algorithm that its module registers, without parameters; received {text!r}. Call"
            " register_algorithm in the module."
        )
    return own.name
