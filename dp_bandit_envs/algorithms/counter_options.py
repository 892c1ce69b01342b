"""The options `counter` and `budget` that the algorithms on counters share."""

from typing import Any

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.counters import COUNTERS


def counter_options(counter: str, budget: str) -> dict[str, Any]:
    """Return a counter's arguments besides epsilon and horizon.

    Args:
        counter: A key of `dp_bandit_envs.privacy.counters.COUNTERS`.
        budget: `"split"`, or `"paper"` for the hybrid counter: each of its two parts has all of epsilon.

    Raises:
        UnknownNameError: If there is no such counter; the message suggests near names.
        ValueError: If `budget` is none of these, or is `"paper"` for another counter.
    """
    checks.known_name("counter", counter, COUNTERS)
    checks.one_of("budget", budget, ("split", "paper"))
    if counter == "hybrid":
        return {"budget": budget}
    if budget != "split":
        raise ValueError(f"budget='paper' belongs to the hybrid counter; received counter={counter!r}.")
    return {}
