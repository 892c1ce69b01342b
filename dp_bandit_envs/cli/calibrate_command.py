"""`dp-bandit calibrate`: the parameters at which algorithms really guarantee what is asked for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dp_bandit_envs import checks
from dp_bandit_envs.cli.options import NumberOfArms, NumberOfRounds, RoundsPerPerson, TargetDelta, number
from dp_bandit_envs.cli.terminal import console
from dp_bandit_envs.privacy.guarantee import in_rounds

if TYPE_CHECKING:
    from dp_bandit_envs.algorithms import Algorithm
    from dp_bandit_envs.comparison.asking import Asked

EXAMPLES = (
    "Examples: dp-bandit calibrate DP-KLUCB EXP3-tau --epsilon 1 --delta 1e-6 --arms 4 --horizon 5000"
    " --rounds-per-person 3; dp-bandit calibrate Private-UCB --epsilon 1 --arms 4 --horizon 1e4"
)


def calibrate(
    names: Annotated[
        list[str],
        typer.Argument(metavar="ALGORITHM...", help="Algorithms, with other parameters if you like: DP-UCB-INT:v=1.3"),
    ],
    epsilon: Annotated[
        float | None, typer.Option(parser=number, metavar="NUMBER", help="What is to be guaranteed, such as 1.")
    ] = None,
    delta: TargetDelta = 0.0,
    arms: NumberOfArms = None,
    horizon: NumberOfRounds = None,
    rounds_per_person: RoundsPerPerson = None,
) -> None:
    """Find the parameters at which algorithms really guarantee an epsilon, for a round or for a person."""
    given = {"--epsilon": epsilon, "--arms": arms, "--horizon": horizon}
    missing = [option for option, value in given.items() if value is None]
    if missing:
        raise ValueError(f"calibrate needs {' and '.join(missing)}, as in --epsilon 1 --arms 4 --horizon 5000.")
    if rounds_per_person is not None:
        checks.integer("--rounds-per-person", rounds_per_person, at_least=1)
    target, size = (epsilon or 0.0, delta), (arms or 0, horizon or 0)
    for text in names:
        line = _line(text, target, size, rounds_per_person)
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _line(text: str, target: tuple[float, float], size: tuple[int, int], rounds: int | None) -> str:
    """Return an algorithm with its parameters, as `run` reads them, and what it guarantees."""
    from dp_bandit_envs.algorithms import calibrate as calibrated
    from dp_bandit_envs.comparison.asking import algorithm_of, imported

    one = algorithm_of(text)
    if "epsilon" in one.parameters:
        raise ValueError(f"calibrate finds the epsilon; leave it out after {text.partition(':epsilon')[0]}.")
    own = imported(text) is not None
    if not own:
        of_game: Any = {"n_arms": size[0], "horizon": size[1], "rounds_per_person": rounds or 1}
        made = calibrated(one.name, epsilon=target[0], delta=target[1], **of_game, **one.parameters)
        parameters: Mapping[str, Any] = made.parameters
    else:
        made, parameters = _of_mine(one, target, size, rounds)
    told = ",".join(f"{key}={value}" for key, value in parameters.items() if value is not None)
    name = ":".join(text.split(":")[:2]) if own else one.name
    guarantee = made.guarantee(n_arms=size[0], horizon=size[1])
    line = f"{name}{f':{told}' if told else ''}   a round: {guarantee.numbers()}"
    if rounds is None:
        return line
    return f"{line}; a person with {in_rounds(rounds)}: {guarantee.for_group(rounds).numbers()}"


def _of_mine(
    one: "Asked", target: tuple[float, float], size: tuple[int, int], rounds: int | None
) -> tuple["Algorithm", Mapping[str, Any]]:
    """Return an algorithm that is in no table at its guarantee, with its parameters."""
    from dp_bandit_envs.adversaries import Stochastic
    from dp_bandit_envs.comparison.asking import AskedPrivacy, players_at
    from dp_bandit_envs.envs.bandit_env import BanditEnv
    from dp_bandit_envs.errors import UnreachableGuaranteeError

    wanted = AskedPrivacy([target[0]], target[1], True, rounds)
    spec = next(players_at(one, wanted, lambda: BanditEnv(Stochastic(*size))))
    if spec.asked is None:
        raise UnreachableGuaranteeError(
            f"{one.shown_as} must be private to be calibrated; it guarantees nothing. Put a privacy wrapper around its"
            " environment."
        )
    return spec.make(), spec.parameters
