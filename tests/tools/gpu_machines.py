"""What stands for a GPU in tests, and how to compare its games with the processor's."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pytest

from dp_bandit_envs import simulate
from dp_bandit_envs.compiling import cuda_code
from dp_bandit_envs.compiling.compiled import compile_with
from dp_bandit_envs.simulation import gpu_games
from dp_bandit_envs.simulation.game_alone import play_games
from dp_bandit_envs.simulation.tasks import Column
from tests.tools.ptx_on_processor import COMPILER, Processor

needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="the extra gpu (numba-cuda) is not installed"
)
needs_c = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


class OneThread:
    """Plays games with the function of a GPU's thread, compiled for the processor."""

    def __init__(self, parts, words):
        self._play, self._own = compile_with(play_games, dict(parts)), np.zeros(words, np.int64)

    def put(self, array):
        """Return a copy."""
        return array.copy()

    def get(self, array):
        """Return the array itself."""
        return array

    def __call__(self, threads, block, *arguments):
        """Play the games."""
        self._play(block, self._own, 0, threads, *arguments)


def code_of(parts, words, capability=(9, 0)):
    """Return the PTX of games."""
    return cuda_code.code_for(cuda_code.kernel_of(play_games, dict(parts), words), capability)


def ptx_machine(folder, compare=True):
    """Return a machine that runs PTX on the processor, by default beside `OneThread`: all words must be the same."""

    class Machine(OneThread):
        def __init__(self, parts, words):
            super().__init__(parts, words)
            self._ptx = Processor(code_of(parts, words), folder)

        def __call__(self, threads, *arguments):
            copies = [np.copy(one) if isinstance(one, np.ndarray) else one for one in arguments]
            self._ptx(threads, *arguments)
            if compare:
                super().__call__(threads, *copies)
                for got, wanted in zip(arguments, copies, strict=True):
                    np.testing.assert_array_equal(got, wanted)

    return Machine


def assert_same_games(monkeypatch, machine, id_, names, *, trials=5, horizon=331, seed=20170208, **env_kwargs):
    """Compare what a machine plays with what the processor plays, to the last bit."""
    options = {"horizon": horizon, "trials": trials, "seed": seed, "checkpoints": 7, "env_kwargs": env_kwargs}
    expected = simulate(id_, names, **options)
    played = simulate_on(monkeypatch, machine, id_, names, **options)
    for name, outcome in played.items():
        assert outcome.engine == "cuda"
        for measure in Column._fields:
            got, wanted = getattr(outcome, measure), getattr(expected[name], measure)
            assert (got is None) == (wanted is None), (name, measure)
            if wanted is not None:
                assert got.dtype == wanted.dtype
                np.testing.assert_array_equal(got, wanted, err_msg=f"{name} {measure}")
    return played


def simulate_on(monkeypatch, machine, id_, names, **options):
    """Simulate with a machine in place of a GPU."""
    with monkeypatch.context() as changed:
        changed.setattr(gpu_games, "check_there", lambda: None)
        changed.setattr(gpu_games, "kernel", machine)
        return simulate(id_, names, device="cuda", **options)


def assembler():
    """Return the path of NVIDIA's assembler, from the extra or the system, or None."""
    found = importlib.util.find_spec("nvidia.cuda_nvcc") if importlib.util.find_spec("nvidia") else None
    for folder in [] if found is None else found.submodule_search_locations:
        if (Path(folder) / "bin" / "ptxas").exists():
            return Path(folder) / "bin" / "ptxas"
    return shutil.which("ptxas")
