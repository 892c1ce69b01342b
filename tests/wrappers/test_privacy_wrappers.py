"""Each mechanism of the table has a wrapper for one game and one for many, with its own arguments and docs."""

import inspect
import pickle

import gymnasium as gym
import pytest

from dp_bandit_envs import wrappers
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers import PrivacyBoundary, vector
from dp_bandit_envs.wrappers.vector import VectorPrivacyBoundary

PACKAGES = ((wrappers, PrivacyBoundary), (vector, VectorPrivacyBoundary))


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
def test_each_mechanism_of_the_table_has_a_wrapper_and_each_wrapper_a_mechanism(package, boundary):
    made = {name for name in package.__all__ if issubclass(getattr(package, name), boundary)} - {boundary.__name__}
    missing = set(MECHANISMS) - made
    assert not missing, f"write a class for {missing} in wrappers/privacy_wrappers.py and vector/vector_wrappers.py"
    assert made == set(MECHANISMS)


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_wrapper_takes_what_its_mechanism_takes(package, boundary, name):
    """The signatures are written out, so that nothing else would notice a default that differs."""
    _, *taken = inspect.signature(getattr(package, name)).parameters.values()
    assert taken == [*inspect.signature(MECHANISMS[name]).parameters.values()]


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_wrapper_hands_each_argument_to_its_mechanism_and_shows_it(package, boundary, name):
    given = {
        "epsilon": 0.75,
        "delta": 0.01,
        "v": 1.25,
        "counter": "binary",
        "noise": "gaussian",
        "bound": 3.5,
        "outside": "clip",
        "batch_size": 3,
        "ratio": 1.5,
        "first": 4,
        "keep": True,
        "lengths": (2, 5),
        "release": "redraw",
        "intervals": "pure",
        "pad_unplayed": True,
    }
    takes = [key for key in inspect.signature(MECHANISMS[name]).parameters if key not in ("options", "draws")]
    arguments = {key: given[key] for key in takes}
    if name == "BlockSums":  # lengths take the place of its ratio and first
        del arguments["lengths"]
    if boundary is PrivacyBoundary:
        env = getattr(package, name)(gym.make("DPBandit-Stochastic-v0", horizon=24), **arguments)
    else:
        env = getattr(package, name)(gym.make_vec("DPBandit-Stochastic-v0", num_envs=2, horizon=24), **arguments)
    assert vars(env.mechanism).keys() == vars(MECHANISMS[name](**arguments)).keys()
    assert repr(sorted(vars(env.mechanism).items())) == repr(sorted(vars(MECHANISMS[name](**arguments)).items()))
    assert {key: getattr(env, key) for key in arguments if key != "noise"} == {
        key: argument for key, argument in arguments.items() if key != "noise"
    }


@pytest.mark.parametrize(("package", "boundary"), PACKAGES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_help_has_the_mechanisms_arguments_and_source_below_the_wrappers_own_sentence(package, boundary, name):
    kind, mechanism = getattr(package, name), MECHANISMS[name]
    docs = inspect.getdoc(kind)
    assert docs.count("Args:\n    env: ") == 1 and "\n\n" in docs
    for line in inspect.getdoc(mechanism).partition("Args:")[2].partition("Example:")[0].splitlines():
        assert line in docs
    assert ("Example:" in docs) == (boundary is PrivacyBoundary)
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_a_near_miss_is_named():
    with pytest.raises(AttributeError, match="Did you mean LaplaceClipRescale"):
        wrappers.LaplaceClipRescal  # noqa: B018 (looking it up is the test)
