"""Functions of the checks that report a broken rule."""

import contextlib
import copy
import math
import pickle
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.audits.events import Sample, fresh_excess
from dp_bandit_envs.audits.true_losses import DELTAS, fields_below
from dp_bandit_envs.errors import BoundaryError, ConformanceError, KnownSeedWarning
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.protocols import FloatArray

Part = TypeVar("Part")
FALSE_ALARM: Final = 5e-7
"""The probability that `require_hidden` refuses what keeps its guarantee."""
DELTA: Final = 1e-3
"""If only a zCDP guarantee is declared, the (epsilon, delta) that it implies at this delta is tested."""


def require(holds: Any, rule: str, received: str, way_out: str) -> None:
    """Raise a `ConformanceError` if a rule does not hold, with the value received: never a private gain."""
    if not holds:
        raise ConformanceError(f"{rule}; received {received}. {way_out}")


@contextlib.contextmanager
def must_not_fail(what: str, way_out: str | Callable[[Exception], str], *, is_public: bool = False) -> Iterator[None]:
    """Replace an error by a `ConformanceError` that names only its type: messages may be private; it is the cause.

    The message of a `BoundaryError` is public; with `is_public` all messages are. A way out may depend on the error.
    """
    try:
        with warnings.catch_warnings():
            # Checks repeat games on purpose, also on the data of the trial.
            warnings.simplefilter("ignore", KnownSeedWarning)
            yield
    except ConformanceError:
        raise
    except Exception as error:
        public = is_public or isinstance(error, BoundaryError) or _of_a_name(error)
        said = f" ({str(error).rstrip('.')})" if public and str(error) else ""
        cure = way_out if isinstance(way_out, str) else way_out(error)
        raise ConformanceError(
            f"{what} must not fail; received {checks.kind_of(error)}{said}. {cure}".rstrip()
        ) from error


def _of_a_name(error: Exception) -> bool:
    """Whether an error shows only a word of a program, such as a missing key of an observation."""
    key = error.args[0] if type(error) is KeyError and error.args else None
    return isinstance(key, str) and key.isidentifier()


@contextlib.contextmanager
def global_randomness_untouched(what: str) -> Iterator[None]:
    """Require that the global random states of Python and NumPy do not change; restore them if they do."""
    pythons, numpys = random.getstate(), np.random.get_state(legacy=False)  # noqa: NPY002 (it is what is guarded)
    broken = False
    try:
        yield
    finally:
        broken = random.getstate() != pythons or _changed(numpys)
        random.setstate(pythons)
        np.random.set_state(numpys)  # noqa: NPY002
    require(
        not broken,
        f"{what} must draw from the generator it is given and leave the global random state alone",
        "a changed state of random or numpy.random",
        "Draw from rng, such as rng.random(), instead of random.random() or numpy.random.rand().",
    )


def _changed(before: Any) -> bool:
    now: Any = np.random.get_state(legacy=False)  # noqa: NPY002
    same = np.array_equal(now["state"]["key"], before["state"]["key"])
    return not (same and now["state"]["pos"] == before["state"]["pos"])


def copies_of(original: Part, what: str) -> dict[str, Part]:
    """Return a deep copy and a pickled copy of a part, by name, or raise if it cannot be copied."""
    import cloudpickle

    copies: dict[str, Part] = {}
    ways: dict[str, Callable[[], Part]] = {
        "a deep copy": lambda: copy.deepcopy(original),
        "a pickled copy": lambda: pickle.loads(cloudpickle.dumps(original)),
    }
    for name, make in ways.items():
        with must_not_fail(
            f"making {name} of {what}",
            "Keep locks and files out of its attributes.",
        ):
            copies[name] = make()
    return copies


def tested(guarantee: PrivacyGuarantee) -> tuple[float, float]:
    """Return the epsilon and delta to test; inf without a guarantee."""
    if guarantee.model == "none":
        return math.inf, 0.0
    if math.isinf(guarantee.epsilon):
        return guarantee.epsilon_at(DELTA), DELTA
    return guarantee.epsilon, guarantee.delta


def require_hidden(
    rule: str,
    way_out: str,
    guarantee: PrivacyGuarantee,
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    sample: Sample,
    *,
    tries: int,
    games: int,
) -> None:
    """Require that no event is exp(epsilon) times as frequent, plus delta, on either of two neighbouring tables.

    Tests the guarantee's epsilon, if possible, and its epsilons at other deltas; for tables and games see
    `fresh_excess`.
    """
    claims = [tested(guarantee), *((guarantee.epsilon_at(delta), delta) for delta in DELTAS)]
    over, (epsilon, delta) = fresh_excess(pairs, sample, tries=tries, games=games, claims=claims, failure=FALSE_ALARM)
    low = fields_below(guarantee, epsilon + over, delta) if (epsilon, delta) != claims[0] else ()
    where = f", plus delta = {delta:g}, where {' and '.join(low)} of the guarantee says {epsilon:.3g}" if low else ""
    require(not over > 0, rule, f"one that is at least exp({epsilon + over:.3g}) times as frequent{where}", way_out)
