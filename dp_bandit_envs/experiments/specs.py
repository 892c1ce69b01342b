"""What an experiment plays: an algorithm by name, and a game by id, with their arguments."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.simulation.provenance import code_digest
from dp_bandit_envs.written_values import written_value

PLAIN = (bool, int, float, str)
FEW = 1_000
"""The most numbers of a list that are stored as they are, such as the means of arms."""


@dataclasses.dataclass(frozen=True)
class AlgorithmSpec:
    """An algorithm by name, with its parameters as plain JSON values, and the label of its results.

    It plays the experiment's number of games, or `trials` if that is larger; the games in common are the same.

    Attributes:
        name: Its name.
        parameters: Its parameters.
        label: The name of its results; None for its name.
        trials: The least number of its games.
        shown_as: The algorithm's name in a comparison of several epsilons, where labels differ; None for the label.
        asked: The epsilon that it was asked for in such a comparison; None for its own.
        maker: Makes an algorithm that is in no table, from the parameters. It is not stored.
    """

    name: str
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    label: str | None = None
    trials: int = 0
    shown_as: str | None = None
    asked: float | None = None
    maker: Callable[..., Algorithm] | None = dataclasses.field(default=None, repr=False)

    def make(self) -> Algorithm:
        """Make the algorithm."""
        if self.maker is None:
            extra = {} if self.label is None else {"label": self.label}
            return make_algorithm(self.name, **self.parameters, **extra)
        made = self.maker(**self.parameters)
        player = made.player
        if any(made.parameters.get(name) != value for name, value in self.parameters.items()):
            # The same maker at two epsilons must not draw the same noise, whether it declares its epsilon or not.
            player = f"{player} {written_value(dict(self.parameters))}"
        # Nor does it share noise with an algorithm of that name in the table.
        return dataclasses.replace(made, name=self.label or self.name, player=f"own {player}")

    def configuration(self) -> dict[str, Any]:
        """Return all of it as plain JSON values, but for the maker."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "maker"}
        if self.maker is None:
            return {**plain, "parameters": dict(self.parameters)}
        made = self.make()
        agents = [make() for make in (made.make_agent, made.make_point_agent) if make is not None]
        declared = {**made.parameters, **self.parameters}
        plain["parameters"] = {name: plain_value(value) for name, value in declared.items()}
        return {**plain, "made": [code_digest(self.maker), written_value(agents)]}

    def code(self) -> list[Any]:
        """Return the classes and functions of a third party's that may make it."""
        if self.maker is None:
            return [ALGORITHMS[checks.known_name("algorithm", self.name, ALGORITHMS)]]
        made = self.make()
        return [one for one in (made.make_agent, made.make_point_agent, made.wrapping) if hasattr(one, "__qualname__")]


@dataclasses.dataclass(frozen=True)
class GameSpec:
    """One game, drawn in one panel of the figure.

    Stored configurations have the keys `panels` for games and `contestants` for algorithms, so fields keep these names.

    Attributes:
        key: Its name in files.
        title: Its name for readers.
        env_id: A registered id.
        env_kwargs: Arguments for it, as plain JSON values if the results are to be stored. A horizon is only among them
            if the experiment has none.
        contestants: The algorithms that play it; None for those of the experiment.
        environment: Its name without number of arms and horizon, in a comparison over these; "" for the title.
        ledger: Counts the games on its data, of an experiment whose only game it is. It changes no result, and is not
            stored.
    """

    key: str
    title: str
    env_id: str
    env_kwargs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    contestants: tuple[AlgorithmSpec, ...] | None = None
    environment: str = ""
    ledger: Any = None

    def configuration(self) -> dict[str, Any]:
        """Return all of it as plain JSON values; contestants only where the panel has its own."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in ("key", "title", "env_id", "environment")}
        plain["env_kwargs"] = {name: plain_value(value) for name, value in self.env_kwargs.items()}
        if self.contestants is not None:
            plain["contestants"] = [one.configuration() for one in self.contestants]
        return plain


def plain_value(value: Any) -> Any:
    """Return a value as JSON can hold it: as it is, or as text that differs for different values."""
    flat = isinstance(value, (list, tuple)) and len(value) <= FEW and all(isinstance(one, PLAIN) for one in value)
    if value is None or flat or isinstance(value, PLAIN):
        return list(value) if isinstance(value, tuple) else value
    # Anything larger may be a table of private gains: a digest.
    return f"{type(value).__name__} {code_digest(value)}"
