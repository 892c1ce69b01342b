r"""The privacy of EXP3's own randomness: arms are drawn at random, and one gain changes the probabilities only so far.

For the gain form of equation 2.1 with learning rate :math:`\eta = \gamma / K`, let d be the difference of the scaled
estimates :math:`\eta \tilde G` in two games that differ in one round :math:`t_0`.

1. The round :math:`t_0` itself. One coordinate of d becomes at most
   :math:`\eta s / p \le (\gamma / K) s (K / \gamma) = s`, where s is the sensitivity of the changed gain (1, or
   1 / tau for an average of tau gains).
2. Later rounds. Both games add :math:`\eta g / p` to the arm played, where p is its probability in that game. Write
   :math:`x \mapsto x + \eta g / p(x)`; since :math:`p' / p^2 \le K / (4 \gamma)`, the difference of that arm moves
   towards a value between the others' differences, by at most a quarter of the way. So :math:`\max d - \min d` never
   grows.
3. The probabilities are mixtures of softmax and uniform, so their ratio is at most
   :math:`e^{\max d - \min d} \le e^s`.

So the privacy loss of every draw after :math:`t_0` is at most s, and n draws are :math:`n s`-DP. A draw is also
:math:`s^2 / 8`-zCDP, because its privacy loss has a range of s. In the loss form (weights :math:`e^{-\eta L}`) step 2
moves the difference the other way, and the claim is false.

Where the exploration rate is not too large, `exp3_loss` proves more: the difference also shrinks each time the arm is
played, so that a draw loses little more than .341 s, and its Renyi divergences are far smaller than
:math:`\alpha s^2 / 8`; and `exp3_changed_round` adds that the arms for which it loses so much are drawn seldom. What is
declared is the smallest of all at each order.
"""

import math

from dp_bandit_envs.privacy.accounting import FINE_ORDERS, rho_from_renyi
from dp_bandit_envs.privacy.exp3_changed_round import WholeGame
from dp_bandit_envs.privacy.exp3_loss import draw_loss
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee

EXP3_ONLY = "Exp3 in gain form, learning rate exploration_rate / n_arms"


def exp3_guarantee(*, n_arms: int, draws: int, exploration_rate: float, sensitivity: float = 1.0) -> PrivacyGuarantee:
    """Return the guarantee of EXP3's own randomness when it sees gains without noise.

    It has a Renyi curve where the condition of `exp3_loss` holds; there `epsilon_at` is far below what `rho` gives.

    Args:
        n_arms: Number of arms K, at least 2.
        draws: Number of times that the agent draws an arm.
        exploration_rate: The gamma of equation 2.1, in (0, 1].
        sensitivity: By how much one gain that the agent sees differs between neighbouring games at most, in [0, 1].
    """
    ratio = math.log((n_arms * (1 - exploration_rate) + exploration_rate) / exploration_rate)
    per_draw = min(sensitivity, ratio)
    rho = per_draw**2 / 8
    curve = None
    proof = "exp3_privacy"
    loss = draw_loss(n_arms, exploration_rate, sensitivity)
    if loss is not None:
        together = [draws * min(loss.renyi(order), order * rho, per_draw) for order in FINE_ORDERS]
        if sensitivity > 0 and draws > 0:
            of_game = WholeGame(n_arms, exploration_rate, sensitivity).renyi(FINE_ORDERS, draws).tolist()
            together = [min(pair) for pair in zip(together, of_game, strict=True)]
        curve = tuple(zip(FINE_ORDERS, together, strict=True))
        per_draw = min(per_draw, loss.log_ratio)
        proof = "exp3_loss and exp3_changed_round"
    rho *= draws
    return PrivacyGuarantee(
        epsilon=draws * per_draw,
        rho=rho if curve is None else min(rho, rho_from_renyi(curve, draws * per_draw)),
        theorem=(
            f"{draws} draws, each with a privacy loss of at most {per_draw:.3g} (in place of theorems 3.3 and 3.5 of"
            f" Tossou and Dimitrakakis 2017; proof in dp_bandit_envs.privacy.{proof})"
        ),
        agents=EXP3_ONLY,
        curve=curve,
    )
