"""The concept behind every privacy wrapper: a mechanism receives one revealed gain at a time and may release a value.

A mechanism is written once, as plain functions over a state, which is a NamedTuple of arrays and numbers:

    release(state, arm, gain, rng) -> (value, count)

takes one gain that a round revealed and returns a release about its arm. Mechanisms that release gains return a value
in [0, 1] and 1; mechanisms that release sums return the arm's released sum and the number of gains in it. A count of 0
means no (new) release. Arrays of the state are changed in place; its other fields never change.

A few mechanisms also define one or both of these functions:

    idle(state, arm, rng) -> (value, count)     in a round that reveals other arms, but not this one
    forget(state) -> None                       after each batch of `batch_size` rounds

Three drivers run the same code: the scalar boundary, the vector boundary and the compiled loop. The drivers also check
ranges, count rounds and releases, replace errors and return copies.
"""

import abc
import dataclasses
import hashlib
import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from dp_bandit_envs import checks
from dp_bandit_envs.privacy.facts import InputFacts, Noise, ValueRange
from dp_bandit_envs.privacy.guarantee import REPLACE_ONE_ROUND, PrivacyGuarantee
from dp_bandit_envs.text import written_value

Release: TypeAlias = Callable[..., tuple[float, int]]


class Mechanism(abc.ABC):
    """Base class of mechanisms: parameters, the functions above, and public facts about the releases.

    Your own mechanism sets `release = staticmethod(my_release)` to a module-level function, so that it can be compiled,
    and defines `new_state` and `guarantee`. `PrivacyBoundary(env, mechanism)` applies it to an environment.
    """

    release: Any
    """A plain function; anything else, such as a bound method, runs in Python and is not compiled."""
    idle: Any = None
    forget: Any = None
    releases_sums: ClassVar[bool] = False
    """Whether it releases running sums; otherwise gains."""
    batch_size: int = 1
    """Number of steps below for which one step above plays its arm."""

    withholds: bool = True
    """Whether a gain may be withheld (count 0) because of its value. Set it to False where that never happens, or
    mechanisms above this one have no guarantee of their own; then a gain that is withheld ends the game, and so does
    a batch that releases nothing of an arm whose gain all of its rounds revealed."""
    any_range: ClassVar[bool] = False
    """Whether it accepts values outside [0, 1], as payoffs in [-1, 1] are; otherwise such games are refused."""
    fixed_by_sizes: ClassVar[bool] = False
    """Whether the horizon and distances above determine what this very class does; then it need not be named for the
    noise of mechanisms above to differ."""
    draws_laplace: bool = False
    """Whether its own functions take nothing but Laplace draws from a fast stream, so that many are computed at once;
    only asked of this package's mechanisms."""
    example: ClassVar[dict[str, Any]] = {"epsilon": 1.0}
    """Arguments for showing and testing a mechanism of the table."""

    def __init_subclass__(cls) -> None:
        """Let the constructors of this package's mechanisms answer wrong calls."""
        super().__init_subclass__()
        checks.answer_wrong_calls_of(cls, "__init__")

    @abc.abstractmethod
    def new_state(self, inputs: InputFacts) -> Any:
        """Return the state before the first round, with arrays of its own."""

    def release_for(self, inputs: InputFacts) -> Any:
        """Return `release`, or a shorter function that does the same in games of this kind; the drivers call it."""
        return self.release

    @abc.abstractmethod
    def guarantee(self, inputs: InputFacts) -> PrivacyGuarantee:
        """Return the guarantee of its own noise for one game, if no layer below adds noise or withholds gains.

        The boundary takes layers below, `covers` and `steps` into account: see `composed`.
        """

    def sensitivity(self, inputs: InputFacts) -> float:
        """Return the L1 distance between releases in neighbouring games, with the noise fixed.

        Each gain that a round reveals changes one released gain, which lies in the game's range or is withheld. Sums
        are unbounded, because a changed gain stays in all later sums.
        """
        if self.releases_sums:
            return math.inf
        return max(inputs.values.width * self.gains_in_a_round(inputs), inputs.sensitivity)

    def horizon(self, inputs: InputFacts) -> int:
        """Return the number of steps above."""
        return inputs.horizon // self.batch_size

    def first_release(self, inputs: InputFacts) -> int:
        """Return the number of steps below before the first possible release; it may exceed the horizon."""
        return self.batch_size

    def noise(self, inputs: InputFacts) -> Noise:
        """Return public facts about the noise in the releases; a mechanism's own noise hides noise below it."""
        return Noise(inputs.sensitivity)

    def values(self, inputs: InputFacts) -> ValueRange:
        """Return the range of the released values, and their distances in other norms than L1, with the noise fixed.

        The default assumes that each revealed gain changes one released gain by at most the range's width. If it
        changes several, `gains_in_a_round` is larger; these are released after different rounds, so sums above count
        all of them, and noise of any kind is scaled to their L1 distance.
        """
        values = inputs.values
        spread = self.gains_in_a_round(inputs) > inputs.gains_in_a_round
        complete = values.complete and not (self.withholds or self.releases_sums or spread)
        l2 = math.nextafter(values.width * math.sqrt(inputs.gains_in_a_round), math.inf)
        if spread:
            l2 = self.sensitivity(inputs)
        return values._replace(
            l2=max(l2, values.l2),
            norm="sup" if complete else "",
            norm_distance=values.width if complete else math.inf,
            complete=complete,
        )

    def gains_in_a_round(self, inputs: InputFacts) -> int:
        """Return how many released gains one round can influence: as many as it reveals, if none is released twice."""
        return inputs.gains_in_a_round


def output_facts(mechanism: Mechanism, inputs: InputFacts) -> InputFacts:
    """Return the public facts about a mechanism's releases, for the layers above; not checked yet."""
    guarantee = mechanism.guarantee(inputs)
    if isinstance(guarantee, PrivacyGuarantee):
        guarantee = composed(mechanism, guarantee, inputs)
    told = vars(type(mechanism)).get("fixed_by_sizes", False)
    digest = hashlib.sha256(noise_key(mechanism, inputs).encode()).hexdigest()
    return inputs._replace(
        horizon=mechanism.horizon(inputs),
        sensitivity=mechanism.sensitivity(inputs),
        gains_in_a_round=mechanism.gains_in_a_round(inputs),
        guarantee=guarantee,
        withheld=(inputs.withheld or mechanism.withholds) and getattr(guarantee, "model", "none") == "none",
        noise=mechanism.noise(inputs),
        values=mechanism.values(inputs),
        lower_noise_keys=inputs.lower_noise_keys if told else (*inputs.lower_noise_keys, digest),
    )


def noise_key(mechanism: Mechanism, inputs: InputFacts) -> str:
    """Return the key that separates a mechanism's noise from other mechanisms' noise at the same seed.

    If two releases of one gain had the same draws with different scales, the noise would cancel; likewise if the same
    draws were added to one gain after different mechanisms below. Changing this text changes all noise.
    """
    sizes = [written_value(size) for size in inputs[: InputFacts._fields.index("guarantee")]]
    if inputs.values.norm or (inputs.values.low, inputs.values.high) != (0.0, 1.0):
        sizes.append(f"Values({', '.join(map(written_value, inputs.values))})")
    if inputs.lower_noise_keys:
        sizes.append(written_value(inputs.lower_noise_keys))
    return f"tuple({written_value(mechanism)}, tuple({', '.join(sizes)}))"


def noise_of(env: Any) -> Noise:
    """Return public facts about the noise in an environment's observations."""
    if env.has_wrapper_attr("noise"):
        noise: Noise = env.get_wrapper_attr("noise")
        return noise
    return Noise(env.get_wrapper_attr("sensitivity"))


def composed(mechanism: Mechanism, guarantee: PrivacyGuarantee, inputs: InputFacts) -> PrivacyGuarantee:
    """Return the guarantee of a mechanism and all layers below it, with its coverage and one step per layer."""
    total = after_noise_below(guarantee, inputs)
    if inputs.is_private:
        step = "post-processing of what is released below, which costs nothing (Dwork and Roth 2014, proposition 2.1)"
    elif total.model != "none":
        step = f"{guarantee.numbers()}: {guarantee.theorem or 'no theorem is stated'}"
    else:
        step = f"no guarantee: {total.theorem}"
        sensitivity = mechanism.sensitivity(inputs)
        if isinstance(sensitivity, (int, float)) and 0 < sensitivity < inputs.sensitivity:
            step += f"; lowers the sensitivity from {inputs.sensitivity:.4g} to {sensitivity:.4g}"
    layers = () if inputs.guarantee is None else inputs.guarantee.steps
    return dataclasses.replace(
        total,
        covers="nothing" if total.model == "none" else "arms and releases",
        steps=(*layers, f"{type(mechanism).__name__}: {step}"),
    )


def after_noise_below(guarantee: PrivacyGuarantee, inputs: InputFacts) -> PrivacyGuarantee:
    """Return the guarantee of a mechanism with its own noise, above mechanisms that may have added noise already."""
    inner = inputs.guarantee
    if inner is None:
        return guarantee
    if inner.model != "none":
        # The guarantee below covers all of its releases, so layers above are post-processing.
        added = "" if guarantee.model == "none" else "; the noise added above it is post-processing"
        return dataclasses.replace(inner, theorem=inner.theorem + added)
    if inputs.withheld and guarantee.model != "none":
        return PrivacyGuarantee.none(
            "a mechanism below may withhold a gain because of its value, which noise above shows"
        )
    # Mechanisms below may store true gains for some rounds, as batches do, so they must be trusted.
    return dataclasses.replace(guarantee, model="central") if guarantee.model == "local" else guarantee


def for_rounds(guarantee: PrivacyGuarantee, sensitivity: float, theorem: str) -> PrivacyGuarantee:
    """Turn a guarantee for one item of one arm's sum into one for a round, and state why it carries over."""
    if guarantee.model == "none":
        return guarantee
    reason = (
        "a round influences the sum of one arm, so arms compose in parallel"
        if sensitivity <= 1
        else f"a round changes all sums together by at most {sensitivity:.4g}, which multiplies the noise"
    )
    return dataclasses.replace(guarantee, neighbours=REPLACE_ONE_ROUND, theorem=f"{theorem}; {reason}")
