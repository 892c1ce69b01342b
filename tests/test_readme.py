"""Runs every code block of the README, and compares its table of guarantees with what the algorithms say."""

import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import fftconvolve
from typer.testing import CliRunner

from dp_bandit_envs import algorithm_names, make_algorithm
from dp_bandit_envs.cli.app import app
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.privacy.counters.comparison import compare
from dp_bandit_envs.privacy.counters.exponentials import exponentials
from tests.tools.playable import FULL_INFORMATION

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
LINES = [line for language, code in BLOCKS if language == "bash" for line in code.strip().splitlines()]


def test_there_is_nothing_but_python_and_bash():
    assert {language for language, _ in BLOCKS} == {"python", "bash"}


@pytest.mark.parametrize("code", PYTHON)
def test_python_blocks_run_as_they_stand(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("make ")])
def test_make_targets_exist(line):
    done = subprocess.run(
        ["make", "--dry-run", *shlex.split(line)[1:]], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("dp-bandit ")])
def test_commands_run_at_a_small_size(line, tmp_path):
    words = shlex.split(line)[1:]
    if words[0] in ("run", "reproduce"):
        # The last one given counts, so the size written in the README gives way.
        words += ["--trials", "2", "--horizon", "600", "--jobs", "1", "--out", str(tmp_path / "results")]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert words[0] not in ("run", "reproduce") or (tmp_path / "results" / "report.md").is_file()


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("python ")])
def test_named_examples_exist(line):
    assert (ROOT / line.split()[1]).is_file()


def test_no_line_is_left_unchecked():
    assert all(line.startswith(("make ", "dp-bandit ", "python ")) for line in LINES)


def test_every_environment_is_in_the_table():
    assert all(f"| `{id_}` |" in README for id_ in IDS)


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
    line = next(line for line in README.splitlines() if line.startswith(f"| {row}"))
    guarantee = make_algorithm(name, **parameters).guarantee(n_arms=4, horizon=2**18)
    assert f"epsilon = {guarantee.epsilon:g}" in line
    assert "local" not in line or guarantee.model == "local"


def test_the_table_states_the_guarantee_of_exp3_tau_and_the_papers_figures():
    lines = {line.split("`")[1]: line for line in README.splitlines() if line.startswith("| `")}
    tau = make_algorithm("EXP3-tau")
    exp3 = make_algorithm("EXP3")
    size = {"n_arms": 4, "horizon": 2**18}
    assert f"epsilon = {tau.guarantee(**size).epsilon_at(2.0**-36):.2f} at delta" in lines["EXP3-tau"]
    assert f"| {tau.paper_guarantee(**size).epsilon:.0f} |" in lines["EXP3-tau"]
    assert f"| {exp3.paper_guarantee(**size).epsilon:.0f} |" in lines["EXP3"]


@pytest.mark.parametrize("name", algorithm_names())
def test_every_algorithm_is_in_a_table(name):
    rows = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `")]
    assert any(f"`{name}`" in row for row in rows)


def test_the_second_table_states_the_guarantees_of_stochastic_algorithms():
    table = README.split("<!-- stochastic guarantees")[1].split("<!-- end of stochastic guarantees")[0]
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
    table = README.split("<!-- full information guarantees")[1].split("<!-- end of full information guarantees")[0]
    rows = {line.split("`")[1]: line.split("|")[3] for line in table.splitlines() if line.startswith("| `")}
    assert sorted(rows) == sorted(FULL_INFORMATION)
    for name, stated in rows.items():
        guarantee = make_algorithm(name).guarantee(n_arms=4, horizon=2**18)
        at = "at delta = 1e-6" in stated
        epsilon = guarantee.epsilon_at(1e-6) if at else guarantee.epsilon
        assert stated.strip().startswith(f"epsilon = {epsilon:.3g}")
        assert guarantee.delta <= (1e-6 if at else 0)
        assert guarantee.model in stated or name == "Hedge"


@pytest.mark.parametrize(("column", "horizon"), [(2, 1_000), (3, 100_000), (4, 2**20)])
def test_the_table_of_counters_states_their_variances(column, horizon):
    """Against the command's numbers, and against a look at every time with each counter's own formula."""
    rows = {row.name: row for row in compare(horizon, 1.0, 1e-6)}
    every = variances_at_every_time(horizon, rows["k-ary"].counter.base, rows["square-root"].counter.sigma)
    assert set(rows) == set(every)
    for name, row in rows.items():
        assert cells(name)[column] == f"{row.mean:,.1f} / {row.maximum:,.1f}"
        assert cells(name)[column] == f"{every[name].mean():,.1f} / {every[name].max():,.1f}"


def variances_at_every_time(horizon, base, sigma):
    """Return each counter's variances after 1, ..., T items at epsilon = 1, a draw of scale b having 2 b^2."""
    t = np.arange(1, horizon + 1)
    levels = horizon.bit_length()
    place = np.floor(np.log2(t)).astype(int)
    bits = [(t >> level) & 1 for level in range(levels)]
    ones = sum(bits)
    roots = np.concatenate([[0], np.cumsum(np.arange(1, levels + 1) ** 2)])[place]
    height = next(h for h in range(2, 60, 2) if math.comb(h, h // 2) > horizon)
    tree, refined = 1.0, []
    for _ in range(levels):
        refined.append(tree)
        tree = 1 / (1 + 1 / (2 * tree))
    of_k_ary = next(h for h in range(1, 60) if (base**h - 1) // 2 >= horizon)
    rest, nodes = t, np.zeros(horizon)
    while rest.any():
        digit = np.where(rest % base > base // 2, rest % base - base, rest % base)
        nodes, rest = nodes + np.abs(digit), (rest - digit) // base
    releases, items = near_roots(horizon)
    return {
        "hybrid": 2 * 2**2 * (place + 1) + 2 * (2 * place) ** 2 * (ones - 1),
        "segment-trees": 2 * (1 + roots + (place + 1) ** 2 * (ones - 1)),
        "binary": 2 * levels**2 * ones,
        "honaker": 2 * levels**2 * sum(bit * each for bit, each in zip(bits, refined, strict=True)),
        "smooth-binary": np.full(horizon, 2 * (height // 2) ** 3),
        "k-ary": 2 * of_k_ary**2 * nodes,
        "square-root": sigma**2 * (items**2).sum() * np.cumsum(releases**2),
    }


def near_roots(horizon):
    """Return the entries of the square-root counter's two factors, the second one by inverting the first."""
    decay, weights = exponentials(horizon)
    k = np.arange(horizon)
    releases = sum(weight * np.exp(k * np.log(each)) for each, weight in zip(decay, weights, strict=True))
    # Newton's iteration for the reciprocal of a power series; each turn doubles the entries that are right.
    inverse, right = np.array([1 / releases[0]]), 1
    while right < horizon:
        right = min(2 * right, horizon)
        inverse = (
            2 * np.append(inverse, np.zeros(right - len(inverse)))
            - fftconvolve(fftconvolve(inverse, inverse)[:right], releases[:right])[:right]
        )
    return releases, np.cumsum(inverse)


def cells(counter):
    """Return the cells of a counter's line, with an empty one before."""
    line = next(line for line in README.splitlines() if line.startswith(f"| `{counter}` |"))
    return [cell.strip() for cell in line.split("|")]
