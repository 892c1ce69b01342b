"""`reproduce` from Python: the picture, the verdicts and the results, in memory or in the command's folder."""

import io
import json

import numpy as np
import pytest

from dp_bandit_envs import load, reproduce
from dp_bandit_envs.errors import ResultsError, UnknownNameError, WrongTypeError
from dp_bandit_envs.experiments import progress
from dp_bandit_envs.figures.reproduction import FIGURES, study_of
from dp_bandit_envs.plots.plot_style import as_bytes
from tests.tools.processes import files
from tests.tools.refusals import refused

SMALL = {"horizon": 40, "trials": 5}


@pytest.fixture(scope="module")
def figure_1():
    return reproduce("figure-1", **SMALL)


@pytest.mark.thorough
def test_what_was_drawn_and_judged_is_returned(figure_1):
    assert figure_1.figure.axes[0].get_title(loc="left") == "(a) Deterministic"
    assert [claim.verdict.value for claim in figure_1.claims] == list(figure_1.verdicts.values())
    assert len(figure_1.claims) == 8 and figure_1.verdicts.keys() == {claim.says for claim in figure_1.claims}
    (compared,) = figure_1.results.values()
    assert compared.algorithms[:2] == ["EXP3", "DP-EXP3-Lap"]
    last = compared[0].values("external_regret")[:, -1]
    assert figure_1.numbers["deterministic/EXP3"]["mean"] == pytest.approx(last.mean())
    assert "Call: `reproduce('figure-1', horizon=40, trials=5, seed=0)`" in figure_1.text
    assert figure_1.folder is None and not figure_1.is_written


@pytest.mark.thorough
def test_it_reads_as_its_verdicts_and_shows_the_picture(figure_1):
    first, warning, *rest = repr(figure_1).splitlines()
    assert first == "Figure 1 of Achieving Privacy in the Adversarial Multi-Armed Bandit (AAAI 2017)"
    assert warning == "This is 5 runs of 40 rounds instead of 720 of 262,144."
    assert rest == [f"- {claim.says} {claim.answer}" for claim in figure_1.claims]
    assert figure_1._repr_png_().startswith(b"\x89PNG")


@pytest.mark.thorough
def test_nothing_is_written_unless_a_folder_is_given(tmp_path, monkeypatch, figure_1):
    monkeypatch.chdir(tmp_path)
    again = reproduce("figure-1", **SMALL)
    assert files(tmp_path) == {}
    kept = reproduce("figure-1", folder="kept", **SMALL)
    assert set(files(tmp_path / "kept")) == {
        *("configuration.json", "figure.png", "figure.svg", "numbers.json", "report.md", "results.npz", "summary.csv")
    }
    assert (kept.folder.name, kept.is_written) == ("kept", True) and "in kept" in repr(kept)
    assert again.text == kept.text == figure_1.text == (tmp_path / "kept" / "report.md").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "kept" / "numbers.json").read_text(encoding="utf-8")) == figure_1.numbers
    assert (tmp_path / "kept" / "figure.png").read_bytes() == again._repr_png_()
    for one, other in zip(load("kept"), figure_1.results["figure-1"], strict=True):
        assert np.array_equal(one.values("external_regret"), other.values("external_regret"))
    before = files(tmp_path / "kept")
    reproduce("figure-1", folder="kept", **SMALL)
    assert files(tmp_path / "kept") == before
    with refused(ResultsError, "kept", "another configuration"):
        reproduce("figure-1", folder="kept", horizon=41, trials=5)


@pytest.mark.thorough
def test_several_experiments_have_a_comparison_each():
    report = reproduce("figure-graph", horizon=64, trials=2, seed=3)
    assert {name: len(one) for name, one in report.results.items()} == {"graphs": 28, "feedback": 30}
    assert {one.seed for one in report.results.values()} == {3}


def test_a_figure_is_chosen_by_its_name_alone():
    assert [study_of(name).name for name in FIGURES] == list(FIGURES)
    other = study_of("figure-1-epsilon-0.5", horizon=64)
    assert other.name == "figure-1-epsilon-0.5"
    private = [spec for spec in other.experiments[0].algorithms if spec.label != "EXP3"]
    assert {spec.parameters.get("epsilon") for spec in private} == {0.5}
    for name, near in (("figure-1-epsilon-x", "figure-1-epsilon-1"), ("figure-graph-modern", "figure-graph")):
        with refused(UnknownNameError, name, near):
            study_of(name)


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"name": "figure-3"}, UnknownNameError, ("figure-3", "figure-2")),
        ({"horizon": 0}, ValueError, ("horizon", 0)),
        ({"horizon": 2.5}, TypeError, ("horizon", 2.5)),
        ({"trials": 0}, ValueError, ("trials", 0)),
        ({"seed": -1}, ValueError, ("seed", -1)),
        ({"jobs": 0}, ValueError, ("jobs", 0)),
        ({"name": "figure-1-epsilon-0"}, ValueError, ("epsilon", 0.0)),
        ({"progress": "yes"}, WrongTypeError, ("progress", "yes")),
        ({"folder": 7}, WrongTypeError, ("folder", "int")),
        ({"folder": ""}, ValueError, ("folder",)),
    ],
)
def test_wrong_values_are_refused_before_anything_is_played(given, error, says, tmp_path):
    with refused(error, *says):
        reproduce(**{"name": "figure-1", "folder": tmp_path / "out", **SMALL, **given})
    assert files(tmp_path) == {}


@pytest.mark.thorough
def test_progress_is_shown_as_by_compare(monkeypatch):
    told = []
    reproduce("figure-1", progress=lambda *call: told.append(call), horizon=40, trials=2)
    assert told[-1] == (5 * 3 * 2 * 40,) * 2
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    reproduce("figure-1", horizon=40, trials=2)
    assert stream.getvalue().startswith("reproduce: ")


@pytest.mark.thorough
def test_an_interruption_says_that_nothing_is_lost(tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        reproduce("figure-1", folder=tmp_path / "out", progress=stop, **SMALL)
    assert str(tmp_path / "out") in str(caught.value) and "goes on there" in str(caught.value)
    assert reproduce("figure-1", folder=tmp_path / "out", **SMALL).is_written


@pytest.mark.thorough
@pytest.mark.slow_cases("figure-2-modern", "price-of-privacy")
@pytest.mark.parametrize("name", FIGURES)
def test_settings_are_plain_and_decide_the_digests(name):
    digests = []
    for given in ({}, {"seed": 1}, {"trials": 3}, {"horizon": 65}, {}):
        study = study_of(name, **{"horizon": 64, "trials": 2, **given})
        for experiment in study.experiments if not given and not digests else ():
            text = json.dumps(experiment.configuration(), sort_keys=True)
            assert json.dumps(json.loads(text), sort_keys=True) == text
            keys = [panel.key for panel in experiment.games]
            assert len(set(keys)) == len(keys) == len(json.loads(text)["described"])
        digests.append(tuple(experiment.digest() for experiment in study.experiments))
    assert digests[0] == digests[-1] and len(set(digests)) == 4
    with refused((ValueError, TypeError), "horizon", 0):
        study_of(name, horizon=0)


@pytest.mark.thorough
def test_each_of_several_figures_has_a_file_and_is_in_the_report(tmp_path):
    report = reproduce("price-of-privacy", folder=tmp_path / "price", horizon=16, trials=2, progress=False)
    assert list(report.figures) == ["full-information", "bandits", "epsilon", "many-experts"]
    for picture, figure in zip(report.pictures, report.figures.values(), strict=True):
        assert (tmp_path / "price" / picture).read_bytes() == as_bytes(figure, "png")
        assert f"]({picture})" in report.text
    assert report.figure is report.figures["full-information"]
