"""The tables of docs/algorithms.md and docs/environments.md name all there is, with the guarantees of the code."""

import re

import pytest

from dp_bandit_envs import algorithm_names, make_algorithm
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.privacy.guarantee import CONVENTION, DELTA, PURE, shown_epsilon
from tests.tools.pages import PAGES
from tests.tools.playable import FULL_INFORMATION

PAGE = PAGES["docs/algorithms.md"]


def test_every_environment_and_algorithm_is_in_a_table_and_tables_of_guarantees_name_their_convention():
    assert all(f"| `{id_}` |" in PAGES["docs/environments.md"] for id_ in IDS)
    listed = {name for line in PAGE.splitlines() if line.startswith("| `") for name in names_in(line.split("|")[1])}
    assert set(algorithm_names()) <= listed
    heads = [line for line in PAGE.splitlines() if line.startswith("| algorithm |") and "guarantee" in line]
    assert len(heads) == 4 and all("| guarantee (pure up to 30, else at delta = 1e-6) |" in line for line in heads)
    assert (PURE, DELTA) == (30, 1e-6) and "pure up to 30" in CONVENTION and "delta = 1e-6" in CONVENTION


def shown(guarantee):
    """Return what a table says of a guarantee: the level that every other table shows, too."""
    epsilon, delta, exact = shown_epsilon(guarantee)
    return f"epsilon = {epsilon:.3g}" + (" at delta = 1e-6" if delta == DELTA else "") + (" with exact noise" * exact)


def rows_of(name):
    """Return the cells of the rows of a table that stands between marks, or below a heading."""
    start, _, end = name.partition(" ... ")
    text = PAGE.split(start)[1].split(end)[0] if end else PAGE.split(start)[1]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")]


def names_in(cell):
    return re.findall("`([^`]+)`", cell)


SIZE = {"n_arms": 4, "horizon": 2**18}


def test_the_first_table_states_the_guarantees_and_the_papers_figures():
    rows = {names_in(row[0])[0]: row for row in rows_of("<!-- guarantees ... <!-- end of guarantees")}
    epsilons = {"DP-EXP3-Lap": 1.0, "DP-Lambda-Lap": 1.0}
    epsilons |= dict.fromkeys(("Batched-Lap-EXP3", "Batched-Lap-HTINF", "Clipped-Lap"), 0.1)
    for name in ("EXP3", "Uniform", "EXP3-tau", *epsilons):
        parameters = {"epsilon": epsilons[name]} if name in epsilons else {}
        guarantee = make_algorithm(name, **parameters).guarantee(**SIZE)
        line = " | ".join(rows[name])
        assert f"| {shown(guarantee)}" in line and ("local" not in line or guarantee.model == "local"), name
    for name in ("EXP3-tau", "EXP3"):
        assert f"{make_algorithm(name).paper_guarantee(**SIZE).epsilon:.0f}" in rows[name]


@pytest.mark.thorough
def test_the_second_table_states_the_guarantees_of_stochastic_algorithms():
    rows = rows_of("<!-- stochastic guarantees ... <!-- end of stochastic guarantees")
    assert len(rows) == 19
    for names, _, stated, claimed in (row[:4] for row in rows):
        for name in names_in(names):
            algorithm = make_algorithm(name)
            guarantee = algorithm.guarantee(**SIZE)
            if guarantee.model == "none":
                assert stated == "none"
                continue
            assert stated.startswith(shown(guarantee)) and guarantee.model in stated
            # The pair that DP-UCB-INT was asked for.
            assert guarantee.delta in (0, DELTA) or f"({guarantee.epsilon:.3g} at delta = e⁻¹⁰)" in stated
            paper = algorithm.paper_guarantee(**SIZE).epsilon
            assert paper == 1.0 and (claimed.startswith("the same") == (guarantee.epsilon == 1.0))


def test_the_third_and_fourth_table_state_the_guarantees_of_full_information_and_of_payoffs():
    rows = {
        names_in(row[0])[0]: row[2]
        for row in rows_of("<!-- full information guarantees ... <!-- end of full information guarantees")
    }
    assert sorted(rows) == sorted(FULL_INFORMATION)
    for name, stated in rows.items():
        guarantee = make_algorithm(name).guarantee(**SIZE)
        assert stated.startswith(shown(guarantee)) and (guarantee.model in stated or name == "Hedge")
    of_payoffs = rows_of("### Points and features")
    assert len(of_payoffs) == 6
    for names, _, stated in (row[:3] for row in of_payoffs):
        given = re.search(r"epsilon = ([\d.]+)", names)
        for name in names_in(names):
            guarantee = make_algorithm(name, **({"epsilon": float(given[1])} if given else {})).guarantee(**SIZE)
            assert stated == (f"{shown(guarantee)}, {guarantee.model}" if given else "none")
            assert given or guarantee.model == "none"


def test_every_algorithm_has_its_source_with_a_link():
    rows = PAGES["docs/api.md"].partition("## Sources")[2].partition("\n## ")[0].splitlines()
    found = {name: row for row in rows if "|" in row for name in names_in(row.split("|")[1])}
    assert set(found) == set(algorithm_names())
    for name, row in found.items():
        years = re.findall(r"\((\d{4})\)", make_algorithm(name).reference)
        assert len(years) == row.count("](http"), name
        assert all(f"({year})](http" in row for year in years), name
