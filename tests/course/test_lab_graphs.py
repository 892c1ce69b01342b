"""The checks of the lab on graph feedback: solutions pass, and each kind of wrong answer gets the words that fit."""

import networkx as nx
import numpy as np
import pytest

from dp_bandit_envs.course.lab_graphs import RegretCurve, check_clique_cover, check_noise_factor, regret_picture
from dp_bandit_envs.graphs import as_feedback_graph
from dp_bandit_envs.labs.solutions.graph_feedback import clique_cover


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda reveals: (reveals | reveals.T).sum(axis=1).max() + (reveals != reveals.T).any(), "both directions"),
        (lambda reveals: 2 * reveals.sum(axis=1).max(), "more than needed"),
        (lambda reveals: reveals.sum(axis=1), "one number"),
    ],
)
def test_a_wrong_factor_is_explained(wrong, said):
    verdict = check_noise_factor(wrong)
    assert not verdict.passed
    assert said in verdict.says


def components(reveals):
    return [sorted(each) for each in nx.connected_components(nx.from_numpy_array(reveals))]


def neighbourhoods(reveals):
    left, groups = set(range(len(reveals))), []
    while left:
        arm = min(left)
        group = [int(other) for other in np.flatnonzero(reveals[arm]) if other in left]
        groups.append(group)
        left -= set(group)
    return groups


def pairs_only(reveals):
    return [sorted(pair) for pair in nx.max_weight_matching(nx.from_numpy_array(reveals))]


def maximal_cliques(reveals):
    return list(nx.find_cliques(nx.from_numpy_array(reveals)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (components, "are in one group, but"),
        (neighbourhoods, "not only the first one"),
        (lambda reveals: [[arm] for arm in range(len(reveals))], "together are a clique"),
        (lambda reveals: [[arm] for arm in range(len(reveals) - 1)], "is in no group"),
        (pairs_only, "is in no group"),
        (maximal_cliques, "in two groups"),
        (lambda reveals: [[arm + 1 for arm in group] for group in clique_cover(reveals)], "there is no arm 7"),
        (lambda reveals: [[arm + 0.5 for arm in group] for group in clique_cover(reveals)], "there is no arm 0.5"),
        (lambda reveals: [list(map(str, group)) for group in clique_cover(reveals)], "has to be a list of arms"),
        (lambda reveals: [list(range(len(reveals)))], "are in one group, but"),
        (lambda reveals: len(clique_cover(reveals)), "list of groups"),
        (lambda reveals: list(range(len(reveals))), "has to be a list of arms"),
        (lambda reveals: "cliques", "list of groups"),
    ],
)
def test_a_wrong_cover_is_explained(wrong, said):
    verdict = check_clique_cover(wrong)
    assert not verdict.passed
    assert said in verdict.says


def in_order(rng, *, largest):
    """Return a greedy cover in a random order: first fit, or one clique that nobody else fits after the other."""

    def cover(reveals):
        arms = rng.permutation(len(reveals)).tolist()
        if not largest:
            groups = []
            for arm in arms:
                fitting = [group for group in groups if reveals[np.ix_([*group, arm], [*group, arm])].all()]
                (fitting[0] if fitting else groups.append([]) or groups[-1]).append(arm)
            return [set(group) for group in groups]
        groups = []
        while arms:
            group = [arms[0]]
            for arm in arms[1:]:
                if reveals[np.ix_([*group, arm], [*group, arm])].all():
                    group.append(arm)
            groups.append(tuple(group))
            arms = [arm for arm in arms if arm not in group]
        return groups

    return cover


@pytest.mark.parametrize(
    "written",
    [
        lambda groups: np.array(groups, dtype=object),
        lambda groups: {frozenset(group) for group in groups},
        lambda groups: (np.array(group) for group in groups),
        lambda groups: [*map(tuple, groups), ()],
    ],
    ids=["array", "sets", "generator", "empty group"],
)
def test_a_cover_may_be_written_in_many_ways(written):
    assert check_clique_cover(lambda reveals: written(clique_cover(reveals)))


@pytest.mark.parametrize(
    "factor", [lambda reveals: max(map(sum, reveals)), lambda reveals: np.linalg.norm(reveals, np.inf)]
)
def test_other_right_factors_pass(factor):
    assert check_noise_factor(factor)


def test_the_cover_of_the_package_passes():
    assert check_clique_cover(lambda reveals: as_feedback_graph(reveals).clique_cover).passed


@pytest.mark.slow
def test_no_false_alarm_for_200_greedy_covers():
    for number in range(200):
        verdict = check_clique_cover(in_order(np.random.default_rng(number), largest=number % 2 == 0))
        assert verdict.passed, verdict


def test_the_picture_of_regrets_names_its_axes_and_the_scale():
    curve = RegretCurve(np.array([1, 2]), np.array([1.0, 2.0]), np.array([0.1, 0.1]))
    (axes,) = regret_picture({"TS-N": curve}).axes
    assert axes.get_xlabel() == "rounds" and axes.get_ylabel() == "regret, in gains (log scale)"
    assert axes.get_yscale() == "log"
