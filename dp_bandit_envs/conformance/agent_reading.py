"""The rule that an agent reads nothing in an observation that is meant for evaluators."""

from collections.abc import Mapping
from typing import Any

from dp_bandit_envs.conformance.rules import must_not_fail, require
from dp_bandit_envs.conformance.trial_games import World, steps_of
from dp_bandit_envs.protocols import Agent, FloatArray, Observation


class _Watched(dict[str, Any]):
    """An observation that records the keys that are read."""

    asked: set[str]

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def check_reading(agent: Agent, world: World, table: FloatArray) -> None:
    """Require that no key is read that is for evaluators; other unknown keys are allowed."""
    asked: set[str] = set()

    def watched(seen: Observation) -> Observation:
        noting = _Watched(seen)
        noting.asked = asked
        return noting

    def learned(seen: Mapping[str, Any]) -> None:
        # Keys that a later version may add are allowed; keys for evaluators are not.
        private = asked & {"reward", "info", "gains", "true_gain", "regret", "external_regret"}
        require(
            not private,
            "an agent must read only what is in the observation",
            f"an agent that reads {', '.join(sorted(private))}",
            "Rewards, info and true gains are not in it.",
        )

    with must_not_fail(f"{type(agent).__name__} with any mapping", "An observation is a mapping from names to arrays."):
        for _ in steps_of(agent, world, table, observed=watched, after=learned):
            pass
