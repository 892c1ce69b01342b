"""The report's words for each claim about graph feedback."""

from dp_bandit_envs.experiments.figure_graph.graph_setup import PRIVATE_ARMS, REVEALED
from dp_bandit_envs.experiments.figure_graph.graph_statistics import BayesianBound, Feedback, LessRegret
from dp_bandit_envs.experiments.sentences import with_names
from dp_bandit_envs.experiments.verdicts import Words


def without_the_graph(found: LessRegret) -> Words:
    """Return the words for TS-N beside UCB-MaxN."""
    return _less_regret("TS-N, which ignores the graph, outperforms UCB-MaxN, which exploits it.", found)


def best_that_reveals(found: LessRegret) -> Words:
    """Return the words for TS-MaxN beside TS-N."""
    return _less_regret("It is always better to play the best arm that reveals the one drawn.", found)


def _less_regret(says: str, found: LessRegret) -> Words:
    shown = {title: f"{one.mean:,.1f} ± {one.half:,.1f}" for title, one in found.graphs.items()}
    return Words(
        says=says,
        seen=f"Bayesian regret of {found.worse} minus that of {found.better}, with its 95% interval:"
        f" {with_names(shown)}",
        yes="on all graphs",
        no=f"not on {' and '.join(found.behind)}",
        unknown=f": too close on {' and '.join(found.close)}",
    )


def bayesian_bound(found: BayesianBound) -> Words:
    """Return the words for TS-N beside its bound."""
    shares = with_names({title: f"{one.with_entropy:.2f}" for title, one in found.graphs.items()})
    printed = with_names({title: f"{one.as_printed:.2f}" for title, one in found.graphs.items()})
    return Words(
        says="The Bayesian regret of TS-N is at most of order sqrt(chi T / 2).",
        seen=f"largest share of the bound with the entropy of the best arm, at any round: {shares}; without the"
        f" entropy, as printed: {printed}",
        yes="with the factor H, the entropy of the best arm, which the proof of Russo and Van Roy needs and the"
        " statement leaves out",
        no=f"over it on {' and '.join(found.over)}",
    )


def feedback(found: Feedback) -> Words:
    """Return the words for whether feedback pays."""
    shown = {label: " / ".join(f"{mean:,.0f}" for mean in one.means) for label, one in found.levels.items()}
    pays = ", ".join(found.pays)
    reasons = [f"it depends on what limits learning. It pays at {pays}, where chance does"]
    if not pays:
        reasons = ["it pays at no level"]
    if found.only_whole_costs:
        reasons.append(f"full information, not partial feedback, costs at {', '.join(found.only_whole_costs)}")
    if found.costs:
        reasons.append(
            f"partial feedback costs at {', '.join(found.costs)}, where noise does: s gains a round"
            " are s times the noise, so an arm needs s times the gains, and an arm whose neighbours are played is"
            " seen at rounds that do not need it"
        )
    better = ". Full information is better than partial again, as the best arm's own rounds reveal everything"
    numbers = " / ".join(map(str, REVEALED))
    return Words(
        says="Feedback pays for the noise that it costs (a question that the thesis leaves open).",
        seen=f"mean regret with {numbers} of {PRIVATE_ARMS} gains revealed in a round: {with_names(shown)}",
        yes=f"at every level with a clear difference ({pays})",
        no="; ".join(reasons) + (better if found.whole_is_better_again else ""),
        unknown=": too close at every level",
    )
