"""Runs of two machines are joined by copying the files of one folder into the other, as docs/suite.md says."""

import shutil

from dp_bandit_envs import evaluate
from dp_bandit_envs.suite import evaluation

SETTINGS = {"size": "tiny", "epsilon": 1, "tasks": "stochastic/gap-0.3", "progress": False}


def test_a_folder_with_the_files_of_another_plays_nothing_and_gives_the_card_of_one_run(tmp_path, monkeypatch):
    evaluate(["DP-KLUCB"], folder=tmp_path / "here", **SETTINGS)
    evaluate(["DP-IMED"], folder=tmp_path / "there", **SETTINGS)
    shutil.copytree(tmp_path / "there", tmp_path / "here", dirs_exist_ok=True)
    played, simulate = [], evaluation.simulate

    def counted(*args, **kwargs):
        played.append(args)
        return simulate(*args, **kwargs)

    monkeypatch.setattr(evaluation, "simulate", counted)
    joined = evaluate(["DP-KLUCB", "DP-IMED"], folder=tmp_path / "here", **SETTINGS)
    assert not played
    assert evaluate(["DP-KLUCB", "DP-IMED"], **SETTINGS).card() == joined.card()
    assert len(played) == 2
