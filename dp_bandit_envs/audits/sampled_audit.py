"""A lower bound on the privacy loss from many games on two neighbouring tables: from arms alone, or from releases."""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, SupportsFloat, SupportsIndex

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.algorithms import Algorithm, make_algorithm
from dp_bandit_envs.audits.arm_events import ArmEvent
from dp_bandit_envs.audits.attack_search import Candidate, Sampler, best_attacks, first_candidates
from dp_bandit_envs.audits.event_bounds import least_epsilon
from dp_bandit_envs.audits.neighbours import Pair
from dp_bandit_envs.audits.release_events import ReleaseEvent
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.experts_env import ExpertsEnv
from dp_bandit_envs.errors import NotAuditedError
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.protocols import FloatArray
from dp_bandit_envs.wrappers import PrivacyBoundary

Games = Callable[[FloatArray], BanditEnv]
Of = Literal["arms", "releases"]
TESTED = 2
"""How many events are tested in fresh games."""


@dataclasses.dataclass(frozen=True)
class SampledLoss:
    """A lower bound on the privacy loss, and the event that shows it.

    Attributes:
        name: The algorithm's or mechanism's name.
        declared: The guarantee that is declared.
        epsilon: With the confidence, no (epsilon', declared delta)-DP with epsilon' below this holds; at least 0.
        confidence: The probability of that statement, in (0, 1).
        games: Games on each of two tables, for each event that was tested.
        pair: The two tables of gains, each `(rounds, n_arms)`, and the round that differs.
        event: What is more frequent on one of the tables; None if the bound is 0.
        held: The arms that were held, one for each step; empty for events of the arms.
        note: Why games were played in ordinary Python; "" if they were compiled.
    """

    name: str
    declared: PrivacyGuarantee
    epsilon: float
    confidence: float
    games: int
    pair: Pair
    event: ArmEvent | ReleaseEvent | None
    held: tuple[int, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        what = "nothing is declared" if self.declared.model == "none" else "not refuted" if self.holds else "refuted"
        claim, sure = f"declared epsilon = {self.declared.epsilon:.6g}", f"with confidence {self.confidence:.4g}"
        return f"{self.name}: {claim}, at least {self.epsilon:.6g} {sure}: {what}"

    @property
    def holds(self) -> bool:
        """Whether the claim survives: the bound is not above the declared epsilon. A low bound proves nothing."""
        return self.epsilon <= self.declared.epsilon


def sampled_loss(
    algorithm: Algorithm | Mechanism | str,
    *,
    of: Of = "arms",
    games: SupportsIndex = 200_000,
    confidence: SupportsFloat = 0.99,
    horizon: SupportsIndex = 12,
    n_arms: SupportsIndex = 2,
    game: Games | None = None,
    seed: int = 0,
) -> SampledLoss:
    """Attack an algorithm: find neighbouring tables and an event that tells them apart.

    Neighbours are searched for among tables of constant, alternating and random gains with one changed round, and
    among small variations of the best of them. An event of the arms is a set of sequences. An event of what is released
    is a set of released numbers while given arms are played, which is allowed: the agent sees releases only, so given
    the arms their density changes by the same factor as the joint one. All this is chosen on samples of its own. On
    fresh games, each of the last two events gets a Clopper-Pearson lower bound on its probability on one table and an
    upper bound on the other; all of them hold together with the confidence (Bonferroni).

    Args:
        algorithm: An algorithm that plays arms, or the name of one; or a mechanism, of which releases are attacked.
        of: `"arms"` or `"releases"`, that is, what the attacker sees.
        games: Fresh games on each table for each event, at least 100; the search takes about 40 times as many in all.
        confidence: In (0, 1).
        horizon: Number of rounds T, at least 2. From arms, long enough for several releases of each arm.
        n_arms: Number of arms, at least 2.
        game: Makes a game of a table of gains, `(rounds, n_arms)`; by default one that reveals the arm played, or all
            arms if the algorithm needs them.
        seed: The seed of tables and games, which are the same whatever the number of cores.

    Raises:
        NotAuditedError: If the algorithm plays no arms, or releases are asked for that its guarantee does not cover.
        ImportError: If SciPy is missing (extra `audits`).

    Source: Ding, Wang, Wang, Zhang and Kifer (2018) for the search for events; Bichsel, Steffen, Bogunovic and Vechev
    (2021) for sets of most likely outcomes; Clopper and Pearson (1934).
    """
    checks.one_of("of", of, ("arms", "releases"))
    algorithm = _as_algorithm(algorithm, of)
    if algorithm.make_agent is None:
        raise NotAuditedError(f"{algorithm.name} plays points; only games with arms are sampled here.")
    number = checks.integer("games", games, at_least=100)
    k, t = checks.integer("n_arms", n_arms, at_least=2), checks.integer("horizon", horizon, at_least=2)
    sure = checks.greater_than("confidence", confidence, 0)
    if not sure < 1:
        raise ValueError(f"confidence must be in (0, 1); received {confidence!r}.")
    sampler = Sampler(
        algorithm, game or (_experts if algorithm.feedback == "full" else _bandit), of == "releases", seed
    )
    candidates = first_candidates(sampler, t, k)
    declared = algorithm.guarantee_in(sampler.game(candidates[0].pair.one))
    if of == "releases" and "releases" not in declared.covers:
        raise NotAuditedError(
            f"{algorithm.name} declares nothing for releases: its guarantee covers {declared.covers}."
        )
    chosen = best_attacks(sampler, candidates, number, delta=declared.delta)[:TESTED]
    tested: list[tuple[float, ArmEvent | ReleaseEvent | None, Candidate]] = [(0.0, None, candidates[0])]
    for event, candidate in chosen:
        hits = sampler.hits((event, candidate), number)
        more, less = hits if event.first else hits[::-1]
        bound = least_epsilon(more, less, number, declared.delta, (1 - sure) / len(chosen))
        tested.append((bound, event, candidate))
    epsilon, event_shown, candidate = max(tested, key=lambda each: each[0])
    return SampledLoss(
        algorithm.name,
        declared,
        epsilon,
        sure,
        number,
        candidate.pair,
        event_shown,
        candidate.held,
        sampler.note(candidate),
    )


def _as_algorithm(given: Algorithm | Mechanism | str, of: Of) -> Algorithm:
    if isinstance(given, str):
        return make_algorithm(given)
    if not isinstance(given, Mechanism):
        return given
    if of == "arms":
        raise NotAuditedError(f"{type(given).__name__} plays no arms. Use of='releases'.")
    return Algorithm(type(given).__name__, Uniform, wrapping=lambda env: PrivacyBoundary(env, given))


def _bandit(table: FloatArray) -> BanditEnv:
    return BanditEnv(GainTable(table))


def _experts(table: FloatArray) -> BanditEnv:
    made: Any = ExpertsEnv(gains=GainTable(table))
    env: BanditEnv = made
    return env
