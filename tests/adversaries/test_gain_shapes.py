"""An own adversary that returns another number of arms or rounds is named, also where NumPy could stretch its array."""

import pickle

import numpy as np
import pytest

from dp_bandit_envs import Adversary, BanditEnv, LaplaceClipRescale, Uniform, play, simulate
from dp_bandit_envs.errors import BoundaryError, WrongGainsError
from tests.tools.refusals import refused


class Shaped(Adversary):
    """Three arms and nine rounds, whatever it returns."""

    def __init__(self, shape):
        super().__init__(3, 9)
        self.shape = shape

    def begin(self, rng):
        """Do nothing."""

    def next_gains(self, rounds):
        """Return gains of a shape."""
        return np.zeros(self.shape)


@pytest.mark.parametrize("shape", [(9, 7), (9, 1), (1, 3), (3,), (9, 3, 1), ()])
def test_gains_of_another_shape_are_refused(shape):
    with refused(WrongGainsError, "Shaped", "(9, 3)", str(shape)):
        play(BanditEnv(Shaped(shape)), Uniform(), seed=0)
    with refused(WrongGainsError, "Shaped", "(9, 3)", str(shape)):
        simulate(lambda: BanditEnv(Shaped(shape)), {"uniform": Uniform}, trials=4, seed=0)


class Written(Shaped):
    """Returns something else."""

    def next_gains(self, rounds):
        """Return what was given."""
        return self.shape


@pytest.mark.parametrize(
    "values", [[["cell-17", 0, 1]] * 9, [[0.5, 0.5, {}]] * 9, [[0.5, 0.5], [0.5]], {"cell-17": 1}, "cell-17"]
)
def test_what_is_no_table_of_numbers_is_refused_without_showing_it(values):
    with refused(WrongGainsError, "Written", "(9, 3)") as error:
        play(BanditEnv(Written(values)), Uniform(), seed=0)
    assert "cell-17" not in str(error.value)
    with refused(WrongGainsError, "Written") as error:
        simulate(lambda: BanditEnv(Written(values)), {"uniform": Uniform}, trials=4, seed=0)
    assert "cell-17" not in str(error.value)


def test_the_right_shape_is_played_and_a_boundary_withholds_the_error():
    assert play(BanditEnv(Shaped((9, 3))), Uniform(), seed=0).gains.sum() == 0
    with pytest.raises(BoundaryError):
        play(LaplaceClipRescale(BanditEnv(Shaped((9, 1))), epsilon=1.0), Uniform(), seed=0)


def test_the_error_comes_back_from_another_process():
    error = WrongGainsError("Shaped", (9, 3), (9, 1))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    unreadable = WrongGainsError("Shaped", (9, 3), None)
    assert str(pickle.loads(pickle.dumps(unreadable))) == str(unreadable)
