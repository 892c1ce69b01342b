"""The public names of adapters, which load no other package before they are called."""

import subprocess
import sys

import pytest

from dp_bandit_envs import adapters
from tests.tools.refusals import refused

CALLS = {
    "river": (lambda: adapters.from_river(None), ["river", "river.bandit.base"]),
    "mabwiser": (lambda: adapters.from_mabwiser(None), ["mabwiser", "mabwiser.mab"]),
    "vowpalwabbit": (lambda: adapters.from_vowpalwabbit(), ["vowpalwabbit"]),
    "stable_baselines3": (
        lambda: adapters.from_sb3(None),
        ["stable_baselines3", "stable_baselines3.common.base_class"],
    ),
}


@pytest.mark.parametrize("package", CALLS)
def test_a_missing_package_is_named_with_the_extra_that_installs_it(package, monkeypatch):
    call, modules = CALLS[package]
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with refused(ImportError, package, "pip install"):
        call()


def test_importing_all_adapters_loads_no_other_package():
    code = (
        "import sys; from dp_bandit_envs.adapters import *;"
        "print([name for name in ('river', 'mabwiser', 'vowpalwabbit', 'stable_baselines3', 'torch', 'sklearn')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, check=True)
    assert done.stdout.split() == [b"[]"]


def test_every_name_resolves_and_others_do_not():
    assert dir(adapters) == sorted(adapters.__all__)
    for name in adapters.__all__:
        assert callable(getattr(adapters, name))
    with refused(AttributeError, "'from_nothing'"):
        adapters.from_nothing  # noqa: B018 (looking it up is the test)


def test_arguments_of_vowpal_wabbit_are_text():
    with refused(TypeError, "arguments", "int"):
        adapters.from_vowpalwabbit(3)
    for wrong in ("--cb_explore 3", "--random_seed=3 --epsilon 0.1"):
        with refused(ValueError, "arguments", repr(wrong)):
            adapters.from_vowpalwabbit(wrong)
