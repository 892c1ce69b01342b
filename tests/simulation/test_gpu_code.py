"""The code for GPUs: compiled without one, free of fused operations, run on the processor, and on a GPU if there is."""

import contextlib
import re
import subprocess
import sys

import gymnasium as gym
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.compiling import cuda_code
from dp_bandit_envs.errors import DeviceError, GainRangeError
from dp_bandit_envs.simulation import gpu_games
from dp_bandit_envs.simulation.prepared import prepare
from tests.simulation.test_gpu_games import GAMES, STOCHASTIC, above_one
from tests.tools.gpu_machines import (
    assembler,
    assert_same_games,
    code_of,
    needs_c,
    needs_extra,
    ptx_machine,
    simulate_on,
)
from tests.tools.playable import BANDITS, FULL_INFORMATION

FAMILY = ["EXP3", "DP-EXP3-Lap", "EXP3-tau"]
EXPERTS = "DPBandit-Experts-v0"


def arguments_of_kernel(name, horizon=1000):
    """Return what `gpu_games.kernel` is called with for an algorithm's games."""
    id_ = STOCHASTIC if name in BANDITS else EXPERTS
    work = prepare(id_, [name], horizon=horizon, seed=0, checkpoints=None, env_kwargs=None).works[0]
    found = []
    gpu_games.GpuGames(work, name, work.plans[name], lambda *arguments: found.append(arguments))
    return found[0]


@needs_extra
@needs_c
@pytest.mark.parametrize("name", FAMILY)
def test_code_run_on_the_processor_plays_the_same_games(name, monkeypatch, tmp_path):
    monkeypatch.setattr(gpu_games, "ROUNDS_AT_ONCE", 77)
    assert_same_games(monkeypatch, ptx_machine(tmp_path), STOCHASTIC, [name], trials=40)


@needs_extra
@needs_c
@pytest.mark.slow
@pytest.mark.parametrize("name", [*BANDITS, *FULL_INFORMATION])
def test_every_algorithm_plays_a_thousand_games_alike(name, monkeypatch, tmp_path):
    id_ = STOCHASTIC if name in BANDITS else EXPERTS
    assert_same_games(monkeypatch, ptx_machine(tmp_path), id_, [name], trials=1000)


@needs_extra
@needs_c
@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_games_of_every_kind_are_played_alike(game, monkeypatch, tmp_path):
    id_, names, arguments = GAMES[game]
    for name in names:
        assert_same_games(monkeypatch, ptx_machine(tmp_path), id_, [name], trials=100, **arguments)


@needs_extra
@needs_c
def test_a_thread_whose_game_raises_ends_and_the_error_is_raised_here(monkeypatch, tmp_path):
    monkeypatch.setattr(Stochastic, "next_round", staticmethod(above_one))
    with pytest.raises(GainRangeError, match="Stochastic returned others"):
        simulate_on(monkeypatch, ptx_machine(tmp_path, compare=False), STOCHASTIC, ["EXP3"], horizon=50)


@needs_extra
@needs_c
def test_fused_code_plays_other_games(monkeypatch, tmp_path):
    """The weights differ in their last bits, so that the comparisons above can fail."""
    monkeypatch.setattr(cuda_code, "unfused", contextlib.nullcontext)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        simulate_on(monkeypatch, ptx_machine(tmp_path), STOCHASTIC, ["EXP3"], horizon=300, trials=40)


@needs_extra
def test_without_the_option_operations_are_fused_and_the_code_is_refused(monkeypatch):
    arguments = arguments_of_kernel("EXP3")
    code = code_of(*arguments)
    cuda_code.refuse_fused(code)
    assert code.count("mul.rn.f64") > 20
    # A division is rounded as IEEE 754 says.
    assert "div.rn.f64" in code and not re.search(r"div\.(?!rn)\w+\.f64", code)
    monkeypatch.setattr(cuda_code, "unfused", contextlib.nullcontext)
    fused = code_of(*arguments)
    assert "fma.rn.f64" in fused
    with pytest.raises(DeviceError, match=r"must round as the processor's does; NVVM wrote .*fma\.rn\.f64"):
        cuda_code.refuse_fused(fused)


@needs_extra
@pytest.mark.slow
@pytest.mark.parametrize("capability", [(8, 0), (9, 0)], ids=["sm_80", "sm_90"])
@pytest.mark.parametrize("name", [*BANDITS, *FULL_INFORMATION])
def test_every_algorithm_compiles_and_the_family_of_exp3_does_not_spill(name, capability, tmp_path):
    code = code_of(*arguments_of_kernel(name), capability)
    cuda_code.refuse_fused(code)
    tool = assembler()
    if tool is None:
        pytest.skip("ptxas is not installed")
    file = tmp_path / "kernel.ptx"
    file.write_text(code)
    target = f"-arch=sm_{capability[0]}{capability[1]}"
    command = [str(tool), "-v", target, "-o", str(tmp_path / "kernel.cubin"), str(file)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    stores, loads = map(int, re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said).groups())
    if "EXP3" in name and name != "EXP3-SET":
        assert stores == loads == 0


def a_gpu_is_here():
    """Return whether this machine has a GPU that numba-cuda can use."""
    try:
        cuda_code.check_there()
    except (DeviceError, ImportError):
        return False
    return True


@pytest.mark.skipif(not a_gpu_is_here(), reason="there is no GPU, or the extra gpu is not installed")
@pytest.mark.parametrize("name", [*BANDITS, *FULL_INFORMATION])
def test_a_gpu_plays_a_thousand_games_alike(name, monkeypatch):
    id_ = STOCHASTIC if name in BANDITS else EXPERTS
    assert_same_games(monkeypatch, gpu_games.kernel, id_, [name], trials=1000)


@needs_extra
@pytest.mark.skipif(a_gpu_is_here(), reason="there is a GPU")
def test_without_a_gpu_the_error_says_so():
    with pytest.raises(DeviceError, match=r"needs an NVIDIA GPU and its driver; none was found .* Use device='cpu'"):
        simulate(STOCHASTIC, ["EXP3"], horizon=20, device="cuda")


def test_without_the_extra_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    with pytest.raises(ImportError, match=r"pip install 'dp-bandit-envs\[gpu\]'"):
        simulate(STOCHASTIC, ["EXP3"], horizon=20, device="cuda")


def test_every_algorithm_of_a_game_with_arms_is_carried(monkeypatch):
    monkeypatch.setattr(gpu_games, "check_there", lambda: None)
    for id_, names in ((STOCHASTIC, BANDITS), (EXPERTS, FULL_INFORMATION)):
        env = gym.make(id_, horizon=50)
        names = [name for name in names if make_algorithm(name).refusal(env) is None]
        prepared = prepare(id_, names, horizon=50, seed=0, checkpoints=None, env_kwargs=None)
        assert gpu_games.for_device(prepared, "cuda").on_gpu
