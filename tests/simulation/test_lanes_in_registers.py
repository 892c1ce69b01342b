"""Machine code of lanes: many games in a vector register, and every operation rounded by itself."""

import os
import re
import subprocess
import sys

import gymnasium as gym
import pytest
from numba.core.registry import cpu_target

from dp_bandit_envs import make_algorithm
from dp_bandit_envs.compiling import numba_functions
from dp_bandit_envs.simulation import lanes
from dp_bandit_envs.simulation.compiled_game import make_compiled_game
from dp_bandit_envs.simulation.lanes import LaneGains, LaneLoop

TRIPLE, _, FEATURES = cpu_target.target_context.codegen().magic_tuple()
pytestmark = [
    pytest.mark.skipif(
        not (TRIPLE.startswith("x86_64") and "+avx2" in FEATURES), reason="instructions of x86-64 with AVX2"
    )
]
DIVISION = re.compile(r"\bvdivpd\s.*%[yz]mm")
FUSED = re.compile(r"\bvf(n?m(add|sub)|maddsub|msubadd)\w+")


def slow(*cases):
    """Return cases that `make test-slow` runs."""
    return [pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.slow) for case in cases]


@pytest.fixture(autouse=True)
def compiled_afresh(monkeypatch):
    """Machine code from disk has no assembly to show."""

    def nowhere(*arguments):
        raise RuntimeError

    monkeypatch.setattr(numba_functions, "MachineCode", nowhere)
    for name in ("_play_loop", "_draw_loop"):
        monkeypatch.setattr(lanes, name, getattr(lanes, name).__wrapped__)


def assembly(loop):
    """Return the machine code of a loop as text."""
    assert loop.address
    (text,) = loop.compiled._dispatcher.inspect_asm().values()
    return text


def of_algorithm(name, n_arms, env_id="DPBandit-Stochastic-v0", *, alone=False):
    env = gym.make(env_id, n_arms=n_arms, horizon=100)
    adversary = env.unwrapped.adversary
    assert not alone or type(adversary) in lanes.DRAWN_ALONE
    return assembly(LaneLoop(make_compiled_game(make_algorithm(name), env), (adversary, adversary) if alone else None))


def divisions(text):
    """Return how many divisions are of vectors, in code where nothing is fused."""
    assert not FUSED.search(text)
    return len(DIVISION.findall(text))


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["Stochastic", *slow("FullyOblivious", "Oblivious", "Deterministic")])
def test_games_are_divided_side_by_side_where_an_algorithm_draws_the_gains(game):
    """EXP3 divides twice a round, so that a loop without vectors has no such division."""
    assert divisions(of_algorithm("EXP3", 4, f"DPBandit-{game}-v0", alone=True)) >= 2


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "n_arms"), [("DP-EXP3-Lap", 16), *slow(("Batched-Lap-EXP3", 8), ("EXP3-tau", 2))])
def test_so_they_are_where_gains_are_given(name, n_arms):
    """With 16 arms LLVM thinks that vectors do not pay, and uses them because it is told to."""
    assert divisions(of_algorithm(name, n_arms)) >= 2


def test_these_instructions_would_be_found():
    assert divisions("\tvdivpd\t%zmm1, %zmm2, %zmm3") == 1 and divisions("\tvdivpd\t%xmm1, %xmm2, %xmm3") == 0
    assert FUSED.search("\tvfmadd213pd\t%ymm1") and FUSED.search("\tvfnmsub231sd\t%xmm1")


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["Switching", *slow("Stochastic", "FullyOblivious")])
def test_nothing_is_fused_in_the_loops_of_gains(game):
    adversary = gym.make(f"DPBandit-{game}-v0", horizon=100).unwrapped.adversary
    text = assembly(LaneGains(adversary, adversary))
    assert not FUSED.search(text)
    assert re.search(r"\bv(add|sub|cmp\w*|mul)pd\s.*%[yz]mm", text)


AVX512 = "+avx,+avx2,+avx512f,+avx512bw,+avx512dq,+avx512vl,+prefer-256-bit"
"""What LLVM says of Intel's processors."""
FOR_INTEL = """
import numpy
from dp_bandit_envs.compiling.compiled import AddressedFunction

def twice(numbers):
    for i in range(len(numbers)):
        numbers[i] = numbers[i] / 3.0

loop = AddressedFunction(twice, {})
loop.address(numpy.zeros(2))
print(*loop._dispatcher.inspect_asm().values())
"""


@pytest.mark.thorough
def test_registers_of_512_bits_are_used_in_full():
    """The machine code is made for such a processor, and not run."""
    settings = {**os.environ, "NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": AVX512}
    command = [sys.executable, "-c", FOR_INTEL]
    text = subprocess.run(command, env=settings, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert re.search(r"\bvdivpd\s.*%zmm", text)
