"""The commands `calibrate` and `ledger`: algorithms and their parameters, a budget."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.algorithms import Algorithm, calibrate
from dp_bandit_envs.algorithms.calibration import PrivacyRequest, with_privacy
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, read_algorithm, read_import
from dp_bandit_envs.cli.terminal import console, say, table_of
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.errors import UnreachableGuaranteeError
from dp_bandit_envs.privacy.guarantee import UNITS, PrivacyGuarantee, in_rounds
from dp_bandit_envs.privacy.ledger import Ledger

DELTA: Final = 1e-6
"""The default delta of a budget."""


def calibration_line(text: str, target: tuple[float, float], size: tuple[int, int], rounds: int | None) -> str:
    """Return an algorithm with its parameters, as `run` reads them, and below it its guarantee."""
    spec = read_algorithm(text)
    if "epsilon" in spec.parameters:
        raise ValueError(f"calibrate finds the epsilon; leave it out after {text.partition(':epsilon')[0]}.")
    is_imported = read_import(text) is not None
    if is_imported:
        algorithm, parameters = _calibrate_imported(spec, target, size, rounds)
    else:
        of_game: Any = {"n_arms": size[0], "horizon": size[1], "rounds_per_person": 1 if rounds is None else rounds}
        algorithm = calibrate(spec.name, epsilon=target[0], delta=target[1], **of_game, **spec.parameters)
        parameters = algorithm.parameters
    written = ",".join(f"{key}={setting}" for key, setting in parameters.items() if setting is not None)
    name = ":".join(text.split(":")[:2]) if is_imported else spec.name
    guarantee = algorithm.guarantee(n_arms=size[0], horizon=size[1])
    line = f"{name}{f':{written}' if written else ''}\n  a round: "
    if rounds is None:
        return line + _beside(target, guarantee)
    person = _beside(target, guarantee.for_group(rounds))
    return f"{line}{guarantee.numbers()}\n  a person with {in_rounds(rounds)}: {person}"


def _beside(target: tuple[float, float], guarantee: PrivacyGuarantee) -> str:
    """Return a guarantee in words, with its epsilon at the delta of the target if it states another pair."""
    numbers, (epsilon, delta) = guarantee.numbers(), target
    if guarantee.epsilon <= epsilon or not delta > 0:
        return numbers
    there = f"epsilon = {guarantee.epsilon_at(delta):.4g} at delta = {delta:.3g}"
    return numbers if there in numbers else f"{numbers} ({there})"


def _calibrate_imported(
    spec: AlgorithmSpec, target: tuple[float, float], size: tuple[int, int], rounds: int | None
) -> tuple[Algorithm, Mapping[str, Any]]:
    """Return an imported algorithm calibrated to the guarantee, with its parameters."""
    request = PrivacyRequest.checked(*target, at_guarantee=True, rounds_per_person=rounds)
    filled = with_privacy(spec, request, BanditEnv(Stochastic(*size)))
    if filled.asked is None:
        raise UnreachableGuaranteeError(
            f"{spec.label} must be private to be calibrated; it guarantees nothing. Put a privacy wrapper around its"
            " environment."
        )
    return filled.build(), filled.parameters


def make_ledger(file: Path, epsilon: float, delta: float | None, unit: str | None) -> Ledger:
    """Make the file of a budget."""
    unit = checks.one_of("unit", unit or "record", UNITS)
    if file.exists():
        raise ValueError(
            f"{file}: a new ledger must have a file of its own; this one exists. Leave --epsilon out, or name another"
            " file."
        )
    return Ledger.create(
        file,
        epsilon=epsilon,
        delta=DELTA if delta is None else delta,
        unit="person" if unit == "person" else "record",
    )


def show_charges(ledger: Ledger) -> None:
    """Print a table of the charges of each player."""
    if rows := [(player or "(a reset)", f"{games:,}", f"{epsilon:.4g}") for player, games, epsilon in ledger.charges]:
        numbers = ("games", "epsilon alone")
        console.print(table_of("Spent so far", ("by", *numbers), rows, numbers))
        budget = ledger.budget
        if 0 < budget.for_curve < budget.delta:
            say(f"Each is at delta = {budget.for_curve:.3g}; the rest of {budget.delta:.3g} is for deltas of games.")


def open_ledger(file: Path) -> Ledger:
    """Return the ledger of a file.

    Raises:
        ValueError: If the file does not exist.
    """
    if not file.exists():
        raise ValueError(
            f"{file}: a ledger must be a file that exists; there is none. Make it once for these data: dp-bandit ledger"
            f" {file} --epsilon 3, where 3 is all that games on them may ever spend."
        )
    return Ledger.load(file)


def describe_ledger(ledger: Ledger, file: Path) -> str:
    """Return the budget and the spending, in words."""
    spent = ledger.spent
    games = f"{spent.games:,} game{'' if spent.games == 1 else 's'}"
    left = f"epsilon = {max(0.0, ledger.budget.epsilon - spent.epsilon):.6g} is left"
    return (
        f"{file}: the budget is {ledger.budget}. Spent by {games} so far: epsilon = {spent.epsilon:.6g}, delta ="
        f" {spent.delta:.3g}; {'nothing is left, as they were admitted alone' if ledger.is_closed else left}."
    )
