"""A finished comparison grows: what is missing is played and nothing else, with the numbers of a single call."""

from collections import Counter

import numpy as np
import pytest

from dp_bandit_envs import Algorithm, Exp3, LaplaceClipRescale, Ledger, compare, load
from dp_bandit_envs.cli import main
from dp_bandit_envs.errors import ResultsError, WrongTypeError
from dp_bandit_envs.experiments import running
from dp_bandit_envs.experiments.configurations import DESCRIBED, MADE_BY
from tests.tools.processes import POSIX, files
from tests.tools.refusals import refused
from tests.tools.toys import USERS_AGENT

SIZE = {"horizon": 40, "progress": False}


@pytest.fixture
def games(monkeypatch):
    """Count the games that are played, by game and algorithm."""
    counts, put = Counter(), running._Queue.put

    def counted(queue, chunks, trials, columns):
        counts.update({(chunks[0].game.key, name): len(trials) for name in columns})
        put(queue, chunks, trials, columns)

    monkeypatch.setattr(running._Queue, "put", counted)
    return counts


BASE = {"environments": "Stochastic", "algorithms": ["UCB", "DP-SE"], "epsilon": 1, "trials": 4}
GROWTH = {
    "algorithm": ({"algorithms": ["EXP3", "UCB", "DP-SE"]}, {("stochastic", "EXP3"): 4}),
    "epsilon": ({"epsilon": [0.5, 1]}, {("stochastic", "DP-SE (epsilon=0.5)"): 4}),
    "environment": (
        {"environments": ["Deterministic", "Stochastic"]},
        {("deterministic", "UCB"): 4, ("deterministic", "DP-SE"): 4},
    ),
    "trials": ({"trials": 7}, {("stochastic", "UCB"): 3, ("stochastic", "DP-SE"): 3}),
    "trials and an algorithm": (
        {"trials": 7, "algorithms": ["UCB", "DP-SE", "EXP3"]},
        {("stochastic", "UCB"): 3, ("stochastic", "DP-SE"): 3, ("stochastic", "EXP3"): 7},
    ),
    "horizon": (
        {"horizon": [40, 60]},
        {("stochastic-horizon=60", "UCB"): 4, ("stochastic-horizon=60", "DP-SE"): 4},
    ),
}


@pytest.mark.parametrize("growth", GROWTH)
def test_what_is_missing_is_played_and_the_folder_is_that_of_one_call(growth, games, tmp_path):
    more, missing = GROWTH[growth]
    compare(**{**SIZE, **BASE}, folder=tmp_path / "mine")
    games.clear()
    grown = compare(**{**SIZE, **BASE, **more}, folder=tmp_path / "mine")
    assert games == missing
    once = compare(**{**SIZE, **BASE, **more}, folder=tmp_path / "once")
    assert files(tmp_path / "mine") == files(tmp_path / "once")
    assert grown.table() == once.table() and [entry.name for entry in grown] == [entry.name for entry in once]
    games.clear()
    compare(**{**SIZE, **BASE, **more}, folder=tmp_path / "mine")
    assert not games


def test_a_smaller_call_gets_what_it_names_and_the_folder_keeps_the_rest(games, tmp_path):
    whole = compare(**SIZE, **BASE, folder=tmp_path)
    before = files(tmp_path)
    games.clear()
    few = compare("Stochastic", "UCB", trials=2, **SIZE, folder=tmp_path)
    assert not games and files(tmp_path) == before
    assert [entry.name for entry in few] == ["UCB"] and few[0].trials == 2
    assert np.array_equal(few[0].values("collected"), whole[0].values("collected")[:2])
    compare("Stochastic", "EXP3", trials=2, **SIZE, folder=tmp_path)
    assert games == {("stochastic", "EXP3"): 2}
    assert [(entry.name, entry.trials) for entry in load(tmp_path)] == [("EXP3", 2), ("UCB", 4), ("DP-SE", 4)]
    assert (tmp_path / "summary.csv").read_text(encoding="utf-8").count("DP-SE") == 40


def test_a_loaded_comparison_that_grew_reports(tmp_path):
    compare(**SIZE, **BASE, folder=tmp_path / "mine")
    compare(**{**SIZE, **BASE, "trials": 7}, folder=tmp_path / "mine")
    once = compare(**{**SIZE, **BASE, "trials": 7})
    assert load(tmp_path / "mine").report().text == once.report().text


def test_another_seed_is_refused_by_name_and_so_are_other_checkpoints_and_horizons(tmp_path):
    compare(**SIZE, **BASE, folder=tmp_path)
    before = files(tmp_path)
    for other, named in (
        ({"seed": 1}, "seed: 0 there, 1 here"),
        ({"checkpoints": "log"}, "checkpoints: 'linear' there, 'log' here"),
        ({"horizon": 41}, "horizon: 40 there, 41 here"),
        ({"epsilon": 2}, "give both, epsilon=[1, 2]"),
    ):
        with refused(ResultsError, named):
            compare(**{**SIZE, **BASE, "algorithms": ["DP-SE", "EXP3"], **other}, folder=tmp_path)
    assert files(tmp_path) == before


# ---- faults of an earlier attempt


@pytest.mark.thorough
def test_the_code_of_every_part_counts(written, tmp_path):
    """What was added later is compared, too, and not only what the first call played."""
    given = {**SIZE, "folder": tmp_path / "mine"}
    written(growing_part=USERS_AGENT.format(arm=0))
    compare("Stochastic", "UCB", trials=2, **given)
    compare("Stochastic", ["UCB", "growing_part:Fixed"], trials=2, **given)
    written(growing_part=USERS_AGENT.format(arm=1))
    for game, algorithms, trials in (
        ("Stochastic", "growing_part:Fixed", 3),
        ("Stochastic", ["UCB", "growing_part:Fixed", "EXP3"], 3),
        ("Deterministic", "growing_part:Fixed", 2),
    ):
        with refused(ResultsError, "growing_part"):
            compare(game, algorithms, trials=trials, **given)


def test_the_data_of_every_part_count(tmp_path):
    for name, arm in (("first", 0), ("second", 1)):
        np.save(tmp_path / f"{name}.npy", np.tile(np.eye(2)[arm], (40, 1)))
    data = [str(tmp_path / f"{name}.npy") for name in ("first", "second")]
    with pytest.warns(Warning, match="seed"):
        compare(data[0], "Uniform", trials=2, seed=1, progress=False, folder=tmp_path / "mine")
        compare(data, "Uniform", trials=2, seed=1, progress=False, folder=tmp_path / "mine")
        np.save(data[1], np.full((40, 2), 0.5))
        with refused(ResultsError, "second.npy", "other content"):
            compare(data[1], "UCB", trials=2, seed=1, progress=False, folder=tmp_path / "mine")


@pytest.mark.skipif(not POSIX, reason="permissions are POSIX's")
def test_real_data_do_not_grow_into_a_folder_that_others_can_open(tmp_path):
    np.save(tmp_path / "gains.npy", np.full((40, 2), 0.5))
    folder = tmp_path / "mine"
    compare("Stochastic", "UCB", trials=2, seed=1, **SIZE, folder=folder)
    folder.chmod(0o755)
    both = ["Stochastic", str(tmp_path / "gains.npy")]
    with pytest.warns(Warning, match="seed"):
        with refused(ResultsError, "others can open", "chmod 700"):
            compare(both, "UCB", trials=2, seed=1, **SIZE, folder=folder)
        folder.chmod(0o700)
        compare(both, "UCB", trials=2, seed=1, **SIZE, folder=folder)
    assert len(load(folder)) == 2


def test_one_algorithm_under_two_names_is_played_once(games, tmp_path):
    first = compare("Stochastic", ["UCB", "EXP3"], trials=3, **SIZE, folder=tmp_path)
    games.clear()
    again = compare("Stochastic", {"baseline": "UCB", "other": "DP-SE"}, trials=3, **SIZE, folder=tmp_path)
    assert games == {("stochastic", "other"): 3}
    assert np.array_equal(again[0].values("collected"), first[0].values("collected"))
    assert [entry.name for entry in load(tmp_path)] == ["baseline", "other", "EXP3"]


def with_rate(rate):
    return lambda: Algorithm("mine", lambda: Exp3(exploration_rate=rate))


def test_two_lambdas_are_two_algorithms(games, tmp_path):
    """Of one name, and with one code; they differ in what they close over."""
    compare("Stochastic", {"slow": with_rate(0.01)}, trials=3, **SIZE, folder=tmp_path)
    games.clear()
    both = compare("Stochastic", {"slow": with_rate(0.01), "fast": with_rate(0.9)}, trials=3, **SIZE, folder=tmp_path)
    assert games == {("stochastic", "fast"): 3}
    assert not np.array_equal(both[0].values("collected"), both[1].values("collected"))
    with refused(ResultsError, "algorithms: fast", "another name"):
        compare("Stochastic", {"fast": with_rate(0.5)}, trials=3, **SIZE, folder=tmp_path)


@pytest.mark.thorough
def test_growth_that_is_interrupted_shows_what_was_finished_and_goes_on(games, tmp_path, monkeypatch):
    more = {"trials": 9, "algorithms": ["UCB", "DP-SE", "EXP3"]}
    monkeypatch.setattr(running, "CHUNK", 2)
    compare(**SIZE, **BASE, folder=tmp_path / "mine")
    save, saved = running.Chunk.save, []

    def stop(chunk, folder, arrays):
        if len(saved) == 2:
            raise KeyboardInterrupt
        saved.append(chunk.name)
        save(chunk, folder, arrays)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(running.Chunk, "save", stop)
        compare(**{**SIZE, **BASE, **more}, folder=tmp_path / "mine")
    assert [entry.trials for entry in load(tmp_path / "mine")] == [4, 4]
    with refused(ResultsError, "growth", "another configuration"):
        compare(**{**SIZE, **BASE, "trials": 8}, folder=tmp_path / "mine")
    games.clear()
    compare(**{**SIZE, **BASE, **more}, folder=tmp_path / "mine")
    assert games == {("stochastic", "UCB"): 5, ("stochastic", "DP-SE"): 5, ("stochastic", "EXP3"): 5}
    compare(**{**SIZE, **BASE, **more}, folder=tmp_path / "once")
    assert files(tmp_path / "mine") == files(tmp_path / "once")


def test_a_secret_seed_does_not_grow_and_nothing_is_played(games, tmp_path):
    np.save(tmp_path / "gains.npy", np.full((40, 2), 0.5))
    words = {"environments": str(tmp_path / "gains.npy"), "seed": None, "progress": False, "folder": tmp_path / "mine"}
    first = compare(algorithms="UCB", trials=2, **words)
    games.clear()
    for more in ({"algorithms": ["UCB", "EXP3"], "trials": 2}, {"algorithms": "UCB", "trials": 3}):
        with refused(ResultsError, "secret seed does not grow"):
            compare(**words, **more)
    assert not games
    assert compare(algorithms="UCB", trials=2, **words).table() == first.table()


@pytest.mark.thorough
def test_a_run_with_a_ledger_does_not_grow_and_nothing_is_charged(tmp_path, monkeypatch, capsys):
    np.save(tmp_path / "gains.npy", np.full((40, 2), 0.5))
    Ledger.create(tmp_path / "my.ledger", epsilon=3.0)
    monkeypatch.chdir(tmp_path)

    def spent(*names):
        words = f"dp-bandit run gains.npy {' '.join(names)} --epsilon .1 --ledger my.ledger --out mine"
        monkeypatch.setattr("sys.argv", words.split())
        try:
            main()
        except SystemExit as stop:
            assert stop.code == 2
        return Ledger.load(tmp_path / "my.ledger").spent

    first = spent("DP-SE")
    assert first.games == 1
    assert spent("DP-SE", "DP-KLUCB") == first
    assert "secret seed does not grow" in " ".join(capsys.readouterr().err.split())
    # Games that could grow have a known seed, which no ledger counts.
    assert spent("DP-SE", "DP-KLUCB", "--seed", "1") == first
    assert "Leave --seed out" in " ".join(capsys.readouterr().err.split())


def noisy(*, epsilon=1.0):
    return Algorithm("Noisy", Exp3, lambda env: LaplaceClipRescale(env, epsilon=epsilon))


@pytest.mark.thorough
def test_comparisons_are_joined_where_they_agree():
    first = compare("Stochastic", ["UCB", noisy], epsilon=1, trials=4, **SIZE)
    second = compare(["Stochastic", "Deterministic"], ["UCB", noisy], epsilon=[0.5, 1], trials=3, **SIZE)
    joined = second + first
    names = ["UCB", "Noisy (epsilon=0.5)", "Noisy (epsilon=1)"]
    assert [(entry.title, entry.name, entry.trials) for entry in joined] == [
        *zip(["Stochastic"] * 3, names, (4, 3, 4), strict=True),
        *zip(["Deterministic"] * 3, names, (3, 3, 3), strict=True),
    ]
    once = compare(["Stochastic", "Deterministic"], ["UCB", noisy], epsilon=[0.5, 1], trials=4, **SIZE)
    for entry, whole in zip(joined, once, strict=True):
        assert np.array_equal(entry.values("collected"), whole.values("collected")[: entry.trials])
    assert first.join(first).table() == first.table()
    assert joined.report().text.count("Deterministic") > 1
    with refused(ResultsError, "seed: 1 there, 0 here"):
        first.join(compare("Stochastic", "UCB", trials=2, seed=1, **SIZE))
    with refused(WrongTypeError, "another comparison"):
        first.join("UCB")


def test_two_runs_with_secret_seeds_are_not_joined_though_their_configurations_are_equal():
    first, second = (compare("Stochastic", "Uniform", horizon=100, trials=2, seed=None) for _ in range(2))
    with refused(ResultsError, "secret seed does not grow"):
        first.join(second)
    assert first + first is first


def test_a_joined_comparison_is_saved_and_grows(games, tmp_path):
    joined = compare("Stochastic", "UCB", trials=3, **SIZE) + compare("Stochastic", "EXP3", trials=3, **SIZE)
    joined.save(tmp_path)
    games.clear()
    compare("Stochastic", ["UCB", "EXP3"], trials=3, **SIZE, folder=tmp_path)
    assert not games and len(load(tmp_path)) == 2
    assert {"described", MADE_BY} <= set(joined.configuration) and DESCRIBED == "described"
