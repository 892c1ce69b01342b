"""`dp-bandit run --at-guarantee`: what `simulate(at_guarantee=...)` plays, its parameters in words, clear refusals."""

import json
import sys

import numpy as np
import pytest

from dp_bandit_envs import make_algorithm, simulate
from dp_bandit_envs.cli import main
from dp_bandit_envs.cli.run_commands import experiment_of
from dp_bandit_envs.errors import UnreachableGuaranteeError, WrongGameError
from tests.tools.refusals import missing, refused

SIZE = {"n_arms": 2, "horizon": 300}


def calibrated(*algorithms, target, environment="Stochastic:means=[.9,.6]"):
    epsilon, delta = target
    options = {"epsilon": epsilon, "delta": delta, "trials": 2, "horizon": 300, "seed": 0}
    return experiment_of([environment], list(algorithms), at_guarantee=True, **options)


def test_a_run_plays_what_simulate_plays(monkeypatch, capsys, tmp_path):
    """The same parameters, hence the same noise; the words on the terminal are in the report, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    words = "run Stochastic:means=[.9,.6] Private-UCB DP-UCB-INT --epsilon 1 --delta 1e-6 --at-guarantee"
    words += " --horizon 300 --trials 2 --out mine"
    monkeypatch.setattr(sys, "argv", ["dp-bandit", *words.split()])
    main()
    out, err = capsys.readouterr()
    assert err == ""
    saved = json.loads((tmp_path / "mine" / "configuration.json").read_text(encoding="utf-8"))["contestants"]
    report = (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")
    options = {"trials": 2, "env_kwargs": {"means": [0.9, 0.6]}, "horizon": 300}
    names = ["Private-UCB", "DP-UCB-INT"]
    outcomes = simulate("DPBandit-Stochastic-v0", names, at_guarantee=(1.0, 1e-6), **options)
    with np.load(tmp_path / "mine" / "results.npz") as arrays:
        for one in saved:
            assert 0.97 < make_algorithm(one["name"], **one["parameters"]).guarantee(**SIZE).epsilon_at(1e-6) <= 1
            (key,) = (key for key in arrays if key.endswith(f"/{one['name']}/collected"))
            assert np.array_equal(arrays[key][:, -1], outcomes[one["name"]].collected[:, -1])
            said = f"epsilon = {one['parameters']['epsilon']:.7g}"
            assert said in report and said in " ".join(out.split())


def test_what_the_user_sets_is_kept():
    one, other = calibrated("DP-UCB-INT:v=1.3,delta=1e-8", "EXP3-tau", target=(5.0, 1e-6)).contestants
    assert (one.parameters["v"], one.parameters["delta"], one.label) == (1.3, 1e-8, "DP-UCB-INT (v=1.3, delta=1e-08)")
    assert set(other.parameters) == {"batch_size"}
    size = other.parameters["batch_size"]
    reached = [
        make_algorithm("EXP3-tau", batch_size=tau).guarantee(**SIZE).epsilon_at(1e-6) for tau in (size - 1, size)
    ]
    assert reached[0] > 5 >= reached[1]


def test_the_game_that_is_played_counts():
    """Private-UCB spends its epsilon on K arms and needs K times the target."""
    for n_arms in (3, 5):
        (one,) = calibrated("Private-UCB", target=(0.5, 0.0), environment=f"Stochastic:n_arms={n_arms}").contestants
        assert one.parameters["epsilon"] == pytest.approx(0.5 * n_arms, rel=2e-6)


def test_an_algorithm_without_any_guarantee_plays_for_comparison():
    one, other = calibrated("DP-SE", "UCB", target=(1.0, 0.0)).contestants
    assert (one.asked, other.asked, dict(other.parameters)) == (1.0, None, {})


@pytest.mark.parametrize(
    ("epsilon", "delta", "word"),
    [
        (None, None, "epsilon"),
        (-1.0, None, "epsilon"),
        (np.inf, None, "epsilon"),
        (1.0, 1.0, "delta"),
        (1.0, -1, "delta"),
    ],
)
def test_targets_out_of_range_are_refused(epsilon, delta, word):
    with refused(ValueError, word):
        calibrated("DP-SE", target=(epsilon, delta))


def test_algorithms_that_cannot_meet_it_are_refused_by_name(monkeypatch, capsys, tmp_path):
    with refused(UnreachableGuaranteeError, "EXP3", "1"):
        calibrated("DP-SE", "EXP3", target=(1.0, 0.0))
    with refused(UnreachableGuaranteeError, "EXP3-tau"):
        calibrated("EXP3-tau:batch_size=2", target=(0.1, 1e-6))
    with refused(WrongGameError, "DP-Hedge"):
        calibrated("DP-Hedge", target=(1.0, 1e-6))
    monkeypatch.chdir(tmp_path)
    for words, named in (("EXP3 --epsilon 1 --at-guarantee", "EXP3"), ("DP-SE --at-guarantee", "epsilon")):
        monkeypatch.setattr(sys, "argv", ["dp-bandit", "run", "Stochastic", *words.split(), "--horizon", "50"])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2 and missing(capsys.readouterr().err, named) == []
    assert list(tmp_path.iterdir()) == []
