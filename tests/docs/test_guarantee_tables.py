"""The tables of docs/algorithms.md and docs/environments.md name all there is, with the guarantees of the code."""

import re

import pytest

from dp_bandit_envs import algorithm_names, make_algorithm
from dp_bandit_envs.envs.registration import IDS
from tests.tools.pages import PAGES
from tests.tools.playable import FULL_INFORMATION

PAGE = PAGES["docs/algorithms.md"]


def test_every_environment_is_in_the_table():
    assert all(f"| `{id_}` |" in PAGES["docs/environments.md"] for id_ in IDS)


@pytest.mark.parametrize(
    ("row", "name", "parameters"),
    [
        ("`EXP3`", "EXP3", {}),
        ("`DP-EXP3-Lap`", "DP-EXP3-Lap", {"epsilon": 1.0}),
        ("`DP-Lambda-Lap`", "DP-Lambda-Lap", {"epsilon": 1.0}),
        ("`Batched-Lap-EXP3`", "Batched-Lap-EXP3", {"epsilon": 0.1}),
        ("`Batched-Lap-HTINF`", "Batched-Lap-HTINF", {"epsilon": 0.1}),
        ("`Uniform`", "Uniform", {}),
    ],
)
def test_the_table_states_the_guarantee(row, name, parameters):
    line = next(line for line in PAGE.splitlines() if line.startswith(f"| {row}"))
    guarantee = make_algorithm(name, **parameters).guarantee(n_arms=4, horizon=2**18)
    assert f"epsilon = {guarantee.epsilon:g}" in line
    assert "local" not in line or guarantee.model == "local"


def test_the_table_states_the_guarantee_of_exp3_tau_and_the_papers_figures():
    table = PAGE.split("<!-- guarantees")[1].split("<!-- end of guarantees")[0]
    lines = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    tau = make_algorithm("EXP3-tau")
    exp3 = make_algorithm("EXP3")
    size = {"n_arms": 4, "horizon": 2**18}
    assert f"epsilon = {tau.guarantee(**size).epsilon_at(2.0**-36):.2f} at delta" in lines["EXP3-tau"]
    assert f"| {tau.paper_guarantee(**size).epsilon:.0f} |" in lines["EXP3-tau"]
    assert f"| {exp3.paper_guarantee(**size).epsilon:.0f} |" in lines["EXP3"]


@pytest.mark.parametrize("name", algorithm_names())
def test_every_algorithm_is_in_a_table_of_guarantees(name):
    rows = [line.split("|")[1] for line in PAGE.split("## Sources")[0].splitlines() if line.startswith("| `")]
    assert any(f"`{name}`" in row for row in rows)


def test_the_second_table_states_the_guarantees_of_stochastic_algorithms():
    table = PAGE.split("<!-- stochastic guarantees")[1].split("<!-- end of stochastic guarantees")[0]
    rows = [line.split("|")[1:5] for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 12
    for names, _, stated, claimed in rows:
        for name in re.findall("`([^`]+)`", names):
            algorithm = make_algorithm(name)
            guarantee = algorithm.guarantee(n_arms=4, horizon=2**18)
            if guarantee.model == "none":
                assert stated.strip() == "none"
                continue
            assert stated.strip().startswith(f"epsilon = {guarantee.epsilon:.3g}")
            assert f"{guarantee.model}" in stated or guarantee.delta > 0
            paper = algorithm.paper_guarantee(n_arms=4, horizon=2**18).epsilon
            assert paper == 1.0 and (claimed.strip().startswith("the same") == (guarantee.epsilon == 1.0))


def test_the_third_table_states_the_guarantees_of_full_information():
    table = PAGE.split("<!-- full information guarantees")[1].split("<!-- end of full information guarantees")[0]
    rows = {line.split("`")[1]: line.split("|")[3] for line in table.splitlines() if line.startswith("| `")}
    assert sorted(rows) == sorted(FULL_INFORMATION)
    for name, stated in rows.items():
        guarantee = make_algorithm(name).guarantee(n_arms=4, horizon=2**18)
        at = "at delta = 1e-6" in stated
        epsilon = guarantee.epsilon_at(1e-6) if at else guarantee.epsilon
        assert stated.strip().startswith(f"epsilon = {epsilon:.3g}")
        assert guarantee.delta <= (1e-6 if at else 0)
        assert guarantee.model in stated or name == "Hedge"


def test_the_fourth_table_states_the_guarantees_of_algorithms_that_learn_from_payoffs():
    table = PAGE.split("### Points and features")[1].split("## Sources")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == 3
    for names, _, stated in rows:
        given = re.search(r"epsilon = ([\d.]+)", names)
        for name in re.findall("`([^`]+)`", names):
            algorithm = make_algorithm(name, **({"epsilon": float(given[1])} if given else {}))
            guarantee = algorithm.guarantee(n_arms=4, horizon=2**18)
            assert stated.strip() == (f"epsilon = {guarantee.epsilon:g}, {guarantee.model}" if given else "none")
            assert given or guarantee.model == "none"


def test_sources_are_those_that_the_algorithms_name():
    for line in PAGE.split("## Sources")[1].splitlines():
        if line.startswith("| `"):
            names, sources = line.split("|")[1:3]
            for name in re.findall("`([^`]+)`", names):
                reference = make_algorithm(name).reference
                found = re.findall(r"(\w+)[^;(]* \((\d{4})\)", sources.replace("after ", ""))
                assert any(author in reference and year in reference for author, year in found), name
