"""Upper bounds on the expected external regret against oblivious adversaries, non-asymptotic, with explicit constants.

K is the number of arms and T the horizon; all bounds are in units of gain. The module also has the batch sizes of the
papers, and the epsilons that Tossou and Dimitrakakis (2017) print for EXP3's own randomness. Some of these epsilons are
wrong; see `dp_bandit_envs.privacy.exp3_privacy` for correct ones.
"""

import math
from collections.abc import Callable
from typing import Final

from dp_bandit_envs.theory.argument_ranges import checked

SKIP_SHARE: Final = 1 - 2 ** (-1 / 3)
"""Theta of Huang, Dai and Huang (2022) for tail index 2: about 0.206."""


@checked()
def uniform_regret_bound(n_arms: int, horizon: int) -> float:
    """Return T (1 - 1 / K): a round of uniform play costs at most 1, and 0 if it plays the best arm."""
    return horizon * (1 - 1 / n_arms)


@checked()
def exp3_regret_bound(n_arms: int, horizon: int) -> float:
    """Return 2 sqrt((e - 1) T K ln K) (Auer et al. 2003, corollary 3.2)."""
    return 2 * math.sqrt((math.e - 1) * horizon * n_arms * math.log(n_arms))


@checked()
def exp3_tau_regret_bound(n_arms: int, horizon: int, memory: int, batch_size: int) -> float:
    """Return sqrt(7 T tau K ln K) + T m / tau + tau, the bound of EXP3 on batches of tau rounds.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        memory: The adversary's memory m. The bound is inf if m is not shorter than a batch.
        batch_size: Rounds in a batch, tau.

    Source: Tossou and Dimitrakakis (2017), theorem 3.4; Dekel, Tewari and Arora (2012).
    """
    if memory >= batch_size and memory > 0:
        return math.inf
    of_batches = math.sqrt(7 * horizon * batch_size * n_arms * math.log(n_arms))
    return of_batches + horizon * memory / batch_size + batch_size


@checked()
def tsallis_regret_bound(n_arms: int, horizon: int) -> float:
    """Return 4 sqrt(K T) + 1 (Zimmert and Seldin 2021, theorem 1)."""
    return 4 * math.sqrt(n_arms * horizon) + 1


@checked()
def exp3_set_regret_bound(n_arms: int, horizon: int, independent: int, cover: int) -> float:
    r"""Return :math:`\ln K / \eta + \eta \chi T / 2` at :math:`\eta = \sqrt{2 \ln K / (a T)}`, proved in the docs.

    Args:
        n_arms: Number of arms K, at least 2.
        horizon: Number of rounds T, at least 1.
        independent: The size a of the independent set that sets the learning rate; K without a graph.
        cover: The number chi of cliques that cover all arms, on an undirected graph with self-loops; K without a graph.

    Source: Alon, Cesa-Bianchi, Gentile and Mansour (2013), with the independence number instead of chi.
    """
    rate = math.sqrt(2 * math.log(n_arms) / (independent * horizon))
    return math.log(n_arms) / rate + rate * cover * horizon / 2


@checked()
def htinf_regret_bound(n_arms: int, horizon: int, sigma: float) -> float:
    r"""Return the bound of HTINF for losses with :math:`E[\ell^2] \le \sigma^2` and tail index 2; inf for sigma < 1.

    Derived here, for losses whose part beyond any threshold has a mean of at least 0 (noise that is symmetric around a
    loss in [0, 1]). The regulariser costs :math:`2 \sigma \sqrt T (\sqrt K - 1)`. Each round costs at most
    :math:`2 \eta_t \sigma^2 \sqrt K`, as the thresholds keep :math:`(1 - \Theta)^{-3} = 2`. Skipping costs
    :math:`E[|\ell|; |\ell| > r_i] \le \sigma^2 / r_i`, on average over the arms at most
    :math:`\eta_t \sigma^2 \sqrt K / \Theta`. Summed with :math:`\sum_t \eta_t \le 2 \sqrt T / \sigma`.
    """
    if sigma < 1:
        # A loss may be 1, so no smaller sigma covers all.
        return math.inf
    root = math.sqrt(horizon * n_arms)
    return sigma * (2 * (root - math.sqrt(horizon)) + 4 * root + 2 * root / SKIP_SHARE)


@checked()
def rescaled_regret_bound(bound: Callable[[int, int], float], n_arms: int, steps: int, noise_scale: float) -> float:
    r"""Return the bound of a base algorithm on gains with Laplace noise, rescaled to [0, 1]; without `rejection_bias`.

    A noisy gain counts if it is in :math:`[-B, 1 + B]` with :math:`B = b \ln n` for n steps and noise of scale b, so
    the base sees gains divided by :math:`2 B + 1`, and its regret is multiplied by this factor.

    Args:
        bound: The base's bound for `(n_arms, steps)` and gains in [0, 1].
        n_arms: Number of arms K, at least 2.
        steps: Number of gains that the base sees, at least 1.
        noise_scale: Scale b of the noise, at least 0.

    Source: Tossou and Dimitrakakis (2017), theorem 3.1.
    """
    return (2 * (noise_scale * math.log(steps)) + 1) * bound(n_arms, steps)


@checked()
def rejection_bias(steps: int, noise_scale: float) -> float:
    """Return a bound on the regret from rejecting noisy gains outside the interval of `rescaled_regret_bound`.

    A rejected gain counts like an end of the interval: the lower end for EXP3, the upper end for agents that learn from
    losses. Over the game the bias differs between arms by at most (ln n + 1) b + 1/2, for n steps and a scale b > 0.

    Source: Tossou and Dimitrakakis (2017), theorem 3.1.
    Differs from the source in: it prints 2 K + sqrt(32 T) / epsilon instead, which is larger.
    """
    return (math.log(steps) + 1) * noise_scale + 0.5 if noise_scale > 0 else 0.0


@checked()
def without_memory(bound: Callable[[int, int], float]) -> Callable[[int, int, int], float]:
    """Extend a bound for oblivious adversaries by inf for adversaries with memory."""

    def with_memory(n_arms: int, horizon: int, memory: int) -> float:
        return bound(n_arms, horizon) if memory == 0 else math.inf

    return with_memory


@checked()
def capped_batch_size(batch_size: int, horizon: int) -> int:
    """Return the batch size, capped at the horizon, so that defaults work for short games too."""
    return max(1, min(batch_size, horizon))


@checked()
def laplace_batch_size(epsilon: float) -> int:
    """Return ceil(1 / epsilon), so that the noise on an average has a scale of at most 1.

    Source: Asi, Raman and Talwar (2025).

    Raises:
        ValueError: If 1 / epsilon does not fit a float.
    """
    if math.isinf(1 / epsilon):
        raise ValueError(f"epsilon must be large enough for a batch of 1 / epsilon rounds; received {epsilon!r}.")
    return max(1, math.ceil(1 / epsilon))


@checked()
def switching_batch_size(n_arms: int, horizon: int) -> int:
    """Return ceil((T / (7 K ln K))^(1/3)), EXP3-tau's best batch size against switching costs.

    Source: Tossou and Dimitrakakis (2017), corollary 3.2.
    """
    return math.ceil(math.cbrt(horizon / (7 * n_arms * math.log(n_arms))))


@checked()
def exp3_printed_epsilon(n_arms: int, horizon: int, exploration_rate: float) -> float:
    """Return the epsilon of theorem 3.3 for EXP3, as printed."""
    ratio = math.log((n_arms * (1 - exploration_rate) + exploration_rate) / exploration_rate)
    chernoff = 2 * (1 - exploration_rate) * horizon + 2 * math.sqrt(2 * math.log(horizon) / horizon)
    return min(2 * horizon, horizon * ratio, chernoff)


@checked()
def exp3_tau_printed_epsilon(horizon: int, batch_size: int) -> float:
    """Return the epsilon of theorem 3.5 for EXP3-tau, with delta = T^-2 and the root over T / tau^3 too."""
    share = horizon / batch_size**3
    return 4 * share + math.sqrt(16 * math.log(horizon) * share)


@checked()
def paper_epsilon(n_arms: int, horizon: int) -> float:
    """Return 28 K ln K + sqrt(112 K ln K ln T): the epsilon of corollary 3.2, used in all of the paper's figure 1."""
    share = n_arms * math.log(n_arms)
    return 28 * share + math.sqrt(112 * share * math.log(horizon))
