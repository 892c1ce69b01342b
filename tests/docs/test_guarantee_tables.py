"""The tables of docs/algorithms.md and docs/environments.md name all there is, with the guarantees of the code."""

import re

import pytest

from dp_bandit_envs import algorithm_names, make_algorithm
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.privacy.guarantee import CONVENTION, DELTA, PURE, shown_epsilon
from tests.tools.pages import PAGES
from tests.tools.playable import FULL_INFORMATION

PAGE = PAGES["docs/algorithms.md"]


def test_every_environment_is_in_the_table():
    assert all(f"| `{id_}` |" in PAGES["docs/environments.md"] for id_ in IDS)


def shown(guarantee):
    """Return what a table says of a guarantee: the level that every other table shows, too."""
    epsilon, delta, exact = shown_epsilon(guarantee)
    return f"epsilon = {epsilon:.3g}" + (" at delta = 1e-6" if delta == DELTA else "") + (" with exact noise" * exact)


def test_every_table_of_guarantees_names_its_convention():
    heads = [line for line in PAGE.splitlines() if line.startswith("| algorithm |") and "guarantee" in line]
    assert len(heads) == 4 and all("| guarantee (pure up to 30, else at delta = 1e-6) |" in line for line in heads)
    assert (PURE, DELTA) == (30, 1e-6) and "pure up to 30" in CONVENTION and "delta = 1e-6" in CONVENTION


@pytest.mark.parametrize(
    ("row", "name", "parameters"),
    [
        ("`EXP3`", "EXP3", {}),
        ("`DP-EXP3-Lap`", "DP-EXP3-Lap", {"epsilon": 1.0}),
        ("`DP-Lambda-Lap`", "DP-Lambda-Lap", {"epsilon": 1.0}),
        ("`Batched-Lap-EXP3`", "Batched-Lap-EXP3", {"epsilon": 0.1}),
        ("`Batched-Lap-HTINF`", "Batched-Lap-HTINF", {"epsilon": 0.1}),
        ("`Clipped-Lap`", "Clipped-Lap", {"epsilon": 0.1}),
        ("`Uniform`", "Uniform", {}),
        ("`EXP3-tau`", "EXP3-tau", {}),
    ],
)
def test_the_table_states_the_guarantee(row, name, parameters):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {row}"))
    guarantee = make_algorithm(name, **parameters).guarantee(n_arms=4, horizon=2**18)
    assert f"| {shown(guarantee)}" in line
    assert "local" not in line or guarantee.model == "local"


def test_the_table_states_the_papers_figures():
    table = PAGE.split("<!-- guarantees")[1].split("<!-- end of guarantees")[0]
    lines = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    tau = make_algorithm("EXP3-tau")
    exp3 = make_algorithm("EXP3")
    size = {"n_arms": 4, "horizon": 2**18}
    assert f"| {tau.paper_guarantee(**size).epsilon:.0f} |" in lines["EXP3-tau"]
    assert f"| {exp3.paper_guarantee(**size).epsilon:.0f} |" in lines["EXP3"]


def test_every_algorithm_is_in_a_table_of_guarantees():
    for name in algorithm_names():
        rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
        assert any(f"`{name}`" in row for row in rows)


@pytest.mark.thorough
def test_the_second_table_states_the_guarantees_of_stochastic_algorithms():
    table = PAGE.split("<!-- stochastic guarantees")[1].split("<!-- end of stochastic guarantees")[0]
    rows = [line.split("|")[1:5] for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 19
    for names, _, stated, claimed in rows:
        for name in re.findall("`([^`]+)`", names):
            algorithm = make_algorithm(name)
            guarantee = algorithm.guarantee(n_arms=4, horizon=2**18)
            if guarantee.model == "none":
                assert stated.strip() == "none"
                continue
            assert stated.strip().startswith(shown(guarantee)) and guarantee.model in stated
            # The pair that DP-UCB-INT was asked for.
            assert guarantee.delta in (0, DELTA) or f"({guarantee.epsilon:.3g} at delta = e⁻¹⁰)" in stated
            paper = algorithm.paper_guarantee(n_arms=4, horizon=2**18).epsilon
            assert paper == 1.0 and (claimed.strip().startswith("the same") == (guarantee.epsilon == 1.0))


def test_the_third_table_states_the_guarantees_of_full_information():
    table = PAGE.split("<!-- full information guarantees")[1].split("<!-- end of full information guarantees")[0]
    rows = {line.split("`")[1]: line.split("|")[3] for line in table.splitlines() if line.startswith("| `")}
    assert sorted(rows) == sorted(FULL_INFORMATION)
    for name, stated in rows.items():
        guarantee = make_algorithm(name).guarantee(n_arms=4, horizon=2**18)
        assert stated.strip().startswith(shown(guarantee))
        assert guarantee.model in stated or name == "Hedge"


def test_the_fourth_table_states_the_guarantees_of_algorithms_that_learn_from_payoffs():
    table = PAGE.split("### Points and features")[1]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 6
    for names, _, stated in rows:
        given = re.search(r"epsilon = ([\d.]+)", names)
        for name in re.findall("`([^`]+)`", names):
            algorithm = make_algorithm(name, **({"epsilon": float(given[1])} if given else {}))
            guarantee = algorithm.guarantee(n_arms=4, horizon=2**18)
            assert stated.strip() == (f"{shown(guarantee)}, {guarantee.model}" if given else "none")
            assert given or guarantee.model == "none"


def test_every_algorithm_has_its_source_with_a_link():
    rows = PAGES["docs/api.md"].partition("## Sources")[2].partition("\n## ")[0].splitlines()
    found = {
        name: row for row in rows for name in re.findall("`([^`]+)`", row.split("|")[1:2][0] if "|" in row else "")
    }
    assert set(found) == set(algorithm_names())
    for name, row in found.items():
        reference = make_algorithm(name).reference
        years = re.findall(r"\((\d{4})\)", reference)
        assert len(years) == row.count("](http"), name
        assert all(f"({year})](http" in row for year in years), name
