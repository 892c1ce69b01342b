"""The registered environments: one class for each id, which says what its adversary does."""

from dp_bandit_envs import adversaries
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.bandit_vector_env import BanditVectorEnv
from dp_bandit_envs.envs.graph_env import GraphEnv as GraphEnv
from dp_bandit_envs.envs.graph_env import GraphVectorEnv as GraphVectorEnv


class DeterministicEnv(BanditEnv):
    """A game against the deterministic adversary: fixed rhythms that make the best arm look worse than it is.

    ## Description
    Arm 0 always pays 0.38, arm 1 pays 1 in every even round, arm 2 in every third round, the others nothing.

    ## Arguments
    `n_arms=4` (at least 2), `horizon=2**18`.

    ## Version History
    v0: first version.

    ## References
    Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    adversary_class = adversaries.Deterministic


class StochasticEnv(BanditEnv):
    """A game against the stochastic adversary: every arm is a coin with a bias of its own.

    ## Description
    Gains are independent Bernoulli draws; arm 0 has mean 0.55 and the others 0.5, unless `means` says otherwise.

    ## Arguments
    `n_arms=4` (at least 2), `horizon=2**18`, `means=None` (one number in [0, 1] for each arm).

    ## Version History
    v0: first version.

    ## References
    Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    adversary_class = adversaries.Stochastic


class FullyObliviousEnv(BanditEnv):
    """A game against the fully oblivious adversary: coins whose biases are drawn anew in every round.

    ## Description
    In every round arm 0 draws its bias from [0.5, 0.5 + 2 gap] and the others from [0.5 - gap, 0.5 + gap].

    ## Arguments
    `n_arms=4` (at least 2), `horizon=2**18`, `gap=0.05` (in [0, 0.25]).

    ## Version History
    v0: first version.

    ## References
    Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4;
    Audibert and Bubeck (2010), Regret bounds and minimax policies under partial monitoring, JMLR 11.
    """

    adversary_class = adversaries.FullyOblivious


class ObliviousEnv(BanditEnv):
    """A game against the oblivious adversary: coins as in the fully oblivious game, each result held for 200 rounds.

    ## Description
    Gains are drawn in round 1 and in every round that is a multiple of `period`, and held in between.

    ## Arguments
    `n_arms=4` (at least 2), `horizon=2**18`, `gap=0.05` (in [0, 0.25]), `period=200`.

    ## Version History
    v0: first version.

    ## References
    Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    adversary_class = adversaries.Oblivious


class SwitchingEnv(BanditEnv):
    """A game against the switching-cost adversary: one arm is ahead by a hair, and every change of arm costs the round.

    ## Description
    All gains follow one multi-scale random walk; a hidden arm is ahead of it by a gap of order T^(-1/3). In a round
    in which the agent changes its arm, the gain is 0. The first round is not a change.

    ## Arguments
    `n_arms=4` (at least 2), `horizon=2**18` (at least 2).
    `observe_charge=True`: whether the agent sees the gain of 0 (the game with memory 1) or the gain before it.

    ## Version History
    v0: first version.

    ## References
    Dekel, Ding, Koren and Peres (2014), Bandits with Switching Costs: T^(2/3) Regret, STOC, figure 1;
    Tossou and Dimitrakakis (2017), Achieving Privacy in the Adversarial Multi-Armed Bandit, AAAI, section 4.
    """

    adversary_class = adversaries.SwitchingCost


class MemoryBoundedEnv(BanditEnv):
    """A game against an m-bounded memory adversary: a gain counts only after m rounds with the same arm.

    ## Description
    A gain is 0 unless the same arm was also played in the `memory` rounds before (or in all, while there are fewer).
    The gains before that charge come from any other adversary, by default the switching-cost walk.

    ## Arguments
    `n_arms=4` (at least 2), `horizon=2**18` (at least 2), `memory=2` (m, at least 0; 1 is a cost for switching),
    `gains=None` (an adversary that writes the gains and brings its own `n_arms` and `horizon`).

    ## Version History
    v0: first version.

    ## References
    Arora, Dekel and Tewari (2012), Online Bandit Learning against an Adaptive Adversary, ICML.
    """

    adversary_class = adversaries.MemoryBounded


class TrialEnv(BanditEnv):
    """A real clinical trial as a game: every round is a patient with HIV, every arm one of four treatments.

    ## Description
    Each arm pays the recorded outcomes of its own patients in random order, reshuffled when used up: 1 for a good
    outcome, 0 otherwise. Arms: zidovudine; zidovudine + didanosine; zidovudine + zalcitabine; didanosine.

    ## Arguments
    `horizon=2139` (the number of patients), `outcome="event_free"` or `"cd4_not_fallen"`.

    ## Version History
    v0: first version.

    ## References
    Hammer et al. (1996), New England Journal of Medicine 335:1081-1090 (AIDS Clinical Trials Group Study 175).
    """

    adversary_class = adversaries.Trial


class ReplayEnv(BanditEnv):
    """Your own data as a game.

    ## Description
    Plays a table of gains row by row, or lets each arm pay its recorded gains in random order.

    ## Arguments
    `gains`: an array `(rounds, n_arms)`; the path of one as `.npy`, `.csv` or `.csv.gz`; or the path of a CSV file with
    the columns `arm,gain`. A `DataFile` may take the place of a path. Left out, the outcomes of the clinical trial, so
    that the id works out of the box.
    `horizon=None`: all rows.

    ## Version History
    v0: first version.

    ## References
    None: the gains are yours.
    """

    adversary_class = adversaries.Replay


class DeterministicVectorEnv(BanditVectorEnv):
    """Many games of `DeterministicEnv` in lockstep."""

    adversary_class = DeterministicEnv.adversary_class


class StochasticVectorEnv(BanditVectorEnv):
    """Many games of `StochasticEnv` in lockstep."""

    adversary_class = StochasticEnv.adversary_class


class FullyObliviousVectorEnv(BanditVectorEnv):
    """Many games of `FullyObliviousEnv` in lockstep."""

    adversary_class = FullyObliviousEnv.adversary_class


class ObliviousVectorEnv(BanditVectorEnv):
    """Many games of `ObliviousEnv` in lockstep."""

    adversary_class = ObliviousEnv.adversary_class


class SwitchingVectorEnv(BanditVectorEnv):
    """Many games of `SwitchingEnv` in lockstep."""

    adversary_class = SwitchingEnv.adversary_class


class MemoryBoundedVectorEnv(BanditVectorEnv):
    """Many games of `MemoryBoundedEnv` in lockstep."""

    adversary_class = MemoryBoundedEnv.adversary_class


class TrialVectorEnv(BanditVectorEnv):
    """Many games of `TrialEnv` in lockstep."""

    adversary_class = TrialEnv.adversary_class


class ReplayVectorEnv(BanditVectorEnv):
    """Many games of `ReplayEnv` in lockstep."""

    adversary_class = ReplayEnv.adversary_class
