"""The thesis' claims on graph feedback, and what is asked about privacy, held against the numbers of figure-graph."""

import math

import numpy as np

from dp_bandit_envs.experiments.claim import Claim, Verdict
from dp_bandit_envs.experiments.experiment import Results
from dp_bandit_envs.experiments.figure_graph import graph_setup as setup
from dp_bandit_envs.experiments.verdicts import (
    DECIDES,
    all_ahead,
    clearly_above,
    decided,
    over_error,
    with_names,
)
from dp_bandit_envs.metrics import mean_and_standard_error


def claims(graphs: Results, feedback: Results) -> list[Claim]:
    """Return every claim, with what was seen in both experiments."""
    return [
        _less(
            graphs, "TS-N, without a look at the graph, outperforms UCB-MaxN, which exploits it.", "TS-N", "UCB-MaxN"
        ),
        _less(graphs, "It is always better to play the best arm that reveals the one drawn.", "TS-MaxN", "TS-N"),
        _bound(graphs),
        _feedback(feedback),
    ]


def _less(results: Results, says: str, better: str, worse: str) -> Claim:
    leads, shown = {}, {}
    for panel in results.experiment.panels:
        one, other = (results.regret(panel.key, name, setup.VIEW.measure)[:, -1] for name in (better, worse))
        leads[panel.title] = over_error(other - one)
        mean, error = (float(value) for value in mean_and_standard_error(other - one))
        shown[panel.title] = f"{mean:,.1f} ± {1.96 * error:,.1f}"
    behind = [title for title, lead in leads.items() if lead < -DECIDES]
    close = [title for title, lead in leads.items() if abs(lead) <= DECIDES]
    return Claim(
        says,
        f"Bayesian regret of {worse} less that of {better}, with its 95% interval: {with_names(shown)}",
        decided(
            all_ahead(leads.values()),
            results,
            yes="on all graphs",
            no=f"not on {' and '.join(behind)}",
            unknown=f": too close on {' and '.join(close)}",
        ),
    )


def _bound(results: Results) -> Claim:
    shares, printed = {}, {}
    for panel in results.experiment.panels:
        rounds = results.rounds(panel.key)
        mean, _ = mean_and_standard_error(results.regret(panel.key, "TS-N", setup.VIEW.measure))
        bound = setup.bound(results, panel, rounds)
        arms = results.experiment.game(panel).n_arms
        shares[panel.title] = float(np.max(mean / bound))
        printed[panel.title] = shares[panel.title] * math.sqrt(math.log(arms))
    over = [title for title, share in shares.items() if share > 1]
    return Claim(
        "The Bayesian regret of TS-N is at most of order sqrt(chi T / 2).",
        f"most of the bound with the entropy of the best arm, at any round:"
        f" {with_names({title: f'{share:.2f}' for title, share in shares.items()})}; without the entropy,"
        f" as printed: {with_names({title: f'{share:.2f}' for title, share in printed.items()})}",
        decided(
            Verdict.NO if over else Verdict.YES,
            results,
            yes="with the factor H, the entropy of the best arm, which the proof of Russo and Van Roy needs and the"
            " statement leaves out",
            no=f"over it on {' and '.join(over)}",
        ),
    )


def _feedback(results: Results) -> Claim:
    """Judge, for each level, the most partial feedback and full information against bandit feedback."""
    pays, costs, whole_costs, again, shown = [], [], [], [], {}
    for epsilon in (*setup.LEVELS, None):
        label = setup.label_at(epsilon)
        regret = setup.by_feedback(results, label)
        means = regret.mean(axis=0)
        shown[label] = " / ".join(f"{mean:,.0f}" for mean in means)
        partial, whole = over_error(regret[:, 0] - regret[:, -2]), over_error(regret[:, 0] - regret[:, -1])
        if partial > DECIDES and whole > DECIDES:
            pays.append(label)
        elif partial < -DECIDES:
            costs.append(label)
            again.append(clearly_above(regret[:, -2] - regret[:, -1]))
        elif whole < -DECIDES:
            whole_costs.append(label)
    reasons = [
        f"it depends on what limits learning. It pays at {', '.join(pays)}, where chance does"
        if pays
        else "it pays at no level"
    ]
    if whole_costs:
        reasons.append(f"full information, not partial feedback, costs at {', '.join(whole_costs)}")
    if costs:
        reasons.append(
            f"partial feedback costs at {', '.join(costs)}, where noise does: s gains a round"
            " are s times the noise, so an arm needs s times the gains, and an arm whose neighbours are played is"
            " seen at rounds that do not need it"
        )
    better = ". Full information is better than partial again, as the best arm's own rounds reveal everything"
    numbers = " / ".join(map(str, setup.REVEALED))
    return Claim(
        "Feedback pays for the noise that it costs (a question that the thesis leaves open).",
        f"mean regret with {numbers} of {setup.PRIVATE_ARMS} gains revealed in a round: {with_names(shown)}",
        decided(
            Verdict.NO if costs or whole_costs else Verdict.YES if pays else Verdict.UNDECIDED,
            results,
            yes=f"at every level that tells ({', '.join(pays)})",
            no="; ".join(reasons) + (better if again and all(again) else ""),
            unknown=": too close at every level",
        ),
    )
