"""`load` reads any finished folder that carries digests, by whatever code it was made, and says by which."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import dp_bandit_envs
from dp_bandit_envs import compare, load
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.experiments import Comparison
from tests.tools.refusals import refused

SMALL = {"horizon": 30, "trials": 7}


@pytest.fixture(scope="module")
def compared():
    return compare(["Stochastic:means=[.9,.5]", "Switching"], ["EXP3", "DP-SE"], epsilon=[1, 2], **SMALL)


@pytest.fixture
def saved(compared, tmp_path):
    return compared.save(tmp_path / "mine")


def same(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a.values(measure), b.values(measure))
        and (a.title, a.name, a.level) == (b.title, b.name, b.level)
        for a, b in zip(one, other, strict=True)
        for measure in ("external_regret", "collected")
    )


def as_before_growth(configuration):
    """Return what the first version wrote, which described less and could not grow."""
    new = ("source", "trials", "parameters", "calibrated", "paper", "all_games", "bounds")
    games = [
        {**game, "results": [{key: one[key] for key in one if key not in new} for one in game["results"]]}
        for game in configuration["described"]
    ]
    games = [{key: game[key] for key in game if key != "source"} for game in games]
    more = {"format": 3, "trials": 7, "horizon": 30, "panels": [], "contestants": [], "described": games}
    return {**configuration, **more}


def test_a_finished_folder_of_before_growth_loads_and_reports_and_does_not_grow(compared, tmp_path):
    Comparison(compared.entries, as_before_growth(compared.configuration)).save(tmp_path / "old")
    old = load(tmp_path / "old")
    assert same(old, compared) and old.table() == compared.table()
    assert "none known" in old.report().text and old.report().numbers == compared.report().numbers
    with refused(ResultsError, "format: 3 there, 4 here"):
        compare("Switching", "EXP3", **SMALL, folder=tmp_path / "old")
    with refused(ResultsError, "format"):
        old + compared
    with refused(ResultsError, "format: 3 there, 3 here", "neither grows nor joins"):
        old + old.select(algorithm=old.algorithms[0])
    assert old + old is old


@pytest.mark.thorough
def test_what_is_saved_is_loaded(compared, saved):
    loaded = load(saved)
    assert same(loaded, compared) and loaded.table() == compared.table()
    assert loaded.made_by["version"] == dp_bandit_envs.__version__ and loaded.seed == 0


@pytest.mark.thorough
def test_another_process_loads_without_the_code_that_made_it(saved):
    code = f"from dp_bandit_envs import load; print(load({str(saved)!r}).made_by['code'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == load(saved).made_by["code"]


def test_a_selection_can_be_saved(compared, tmp_path):
    chosen = compared.select(environment="Switching", epsilon=2)
    assert same(load(chosen.save(tmp_path / "part")), chosen)


def test_a_folder_by_other_code_is_loaded_and_says_so(saved):
    """The version is part of what the digests cover, so both files are changed as an older version wrote them."""
    import hashlib

    file = saved / "configuration.json"
    text = file.read_text(encoding="utf-8").replace('"version": "0.1.0"', '"version": "0.0.7"')
    file.write_text(text, encoding="utf-8")
    with zipfile.ZipFile(saved / "results.npz") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    manifest["origin"]["configuration"] = hashlib.sha256(text.encode()).hexdigest()
    written = json.dumps(manifest).encode()
    with zipfile.ZipFile(saved / "results.npz", "w") as archive:
        for name, content in {**parts, "manifest.json": written}.items():
            archive.writestr(name, content)
        archive.comment = hashlib.sha256(written).hexdigest().encode()
    assert load(saved).made_by["version"] == "0.0.7"


def test_a_changed_guarantee_is_refused(saved):
    """A guarantee that is edited by hand no longer belongs to the numbers."""
    file = saved / "configuration.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"epsilon": 2.0', '"epsilon": 1.0'), encoding="utf-8")
    with refused(ResultsError, "results.npz"):
        load(saved)


def test_other_folders_are_refused_by_name(saved, tmp_path):
    with refused(ResultsError, str(tmp_path / "nothing"), "configuration.json"):
        load(tmp_path / "nothing")
    configuration = json.loads((saved / "configuration.json").read_text(encoding="utf-8"))
    old = tmp_path / "old"
    old.mkdir()
    del configuration["described"]
    (old / "configuration.json").write_text(json.dumps(configuration), encoding="utf-8")
    with refused(ResultsError, str(old), "damaged"):
        load(old)
    (old / "configuration.json").write_text("{", encoding="utf-8")
    with refused(ResultsError, str(old), "damaged"):
        load(old)
    (old / "configuration.json").write_text(json.dumps({"experiments": {"a": {}, "b": {}}}), encoding="utf-8")
    with refused(ResultsError, str(old / "a"), str(old / "b")):
        load(old)
    (saved / "results.npz").unlink()
    with refused(ResultsError, str(saved), "finished"):
        load(saved)
    np.savez(saved / "results.npz", anything=np.zeros(2))
    with refused(ResultsError, str(saved), "damaged"):
        load(saved)


def test_xarray_reads_the_numbers_of_the_old_dataset(compared):
    """The line of the changelog in place of `to_xarray`."""
    pytest.importorskip("xarray")
    index = ["environment", "algorithm", "asked_epsilon", "trial", "round"]
    read = compared.to_pandas().set_index(index).to_xarray()
    assert read.external_regret.dims == tuple(index)
    chosen = read.sel(environment="Switching", algorithm="DP-SE", asked_epsilon=2)
    (entry,) = compared.select(environment="Switching", algorithm="DP-SE", epsilon=2)
    assert np.array_equal(chosen.external_regret, entry.values("external_regret"))
    assert (chosen.epsilon == 2.0).all() and (chosen.delta == 0.0).all()
    # No means are known in Switching, and none are made up.
    assert np.isnan(read.sel(environment="Switching").pseudo_regret).all()


def test_pandas_gets_a_row_for_each_number(compared):
    pytest.importorskip("pandas")
    frame = compared.to_pandas()
    assert len(frame) == sum(entry.values("collected").size for entry in compared)
    last = frame[(frame["round"] == 30) & (frame.environment == "Switching") & (frame.asked_epsilon == 2)]
    (entry,) = compared.select(environment="Switching", algorithm="DP-SE", epsilon=2)
    assert last.external_regret.tolist() == entry.values("external_regret")[:, -1].tolist()
    assert set(last.epsilon) == {2.0}


@pytest.mark.thorough
def test_two_saves_have_the_same_bytes(compared, tmp_path):
    one, other = compared.save(tmp_path / "one"), compared.save(tmp_path / "other")
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes(), file.name


@pytest.mark.parametrize("write", [Comparison.save, Comparison.report])
def test_finished_results_are_not_overwritten_by_others(write, tmp_path):
    """They could only grow to these: `save` replaced results.npz beside a configuration of before."""
    there = compare("Stochastic", "UCB", horizon=20, trials=2, progress=False)
    folder = there.save(tmp_path / "mine")
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    for other in (
        compare("Stochastic", "Uniform", horizon=20, trials=2, progress=False),
        compare("Stochastic", "UCB", horizon=20, trials=3, progress=False),
    ):
        with refused(ResultsError, "mine", "other finished results"):
            write(other, folder)
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == files
    fewer = compare("Stochastic", "UCB", horizon=20, trials=1, progress=False)
    write(fewer, folder)
    assert same(load(folder), there)


@pytest.mark.parametrize("write", ["save", "report"])
def test_games_of_one_secret_seed_do_not_replace_those_of_another(tmp_path, write):
    gains = np.random.default_rng(1).random((50, 2))
    first, second = (compare(gains, "DP-EXP3-Lap", epsilon=1, trials=2, seed=None, progress=False) for _ in range(2))
    folder = tmp_path / "results"
    getattr(first, write)(folder)
    before = (folder / "results.npz").read_bytes()
    with refused(ResultsError, "secret seed", "another folder"):
        getattr(second, write)(folder)
    assert (folder / "results.npz").read_bytes() == before
    getattr(first, write)(folder)
    assert np.array_equal(load(folder)[0].values("external_regret"), first[0].values("external_regret"))
