"""Options that several commands share: whole numbers as people write them, folders, the version."""

import sys

import pytest
import typer

from dp_bandit_envs import __version__, algorithm_names, make_algorithm
from dp_bandit_envs.cli import main
from dp_bandit_envs.cli.audit_commands import contestant
from dp_bandit_envs.cli.options import folder, whole


@pytest.mark.parametrize(
    ("text", "number"),
    [("1000", 1000), ("1e5", 100_000), ("2.5e3", 2500), ("100_000", 100_000), ("1,000,000", 10**6), (7, 7), ("0", 0)],
)
def test_whole_numbers_are_read_as_people_write_them(text, number):
    assert whole(text) == number and isinstance(whole(text), int)


@pytest.mark.parametrize("text", ["", "many", "1.5", "1e-1", "nan", "inf", "1,00", "1,0000", "10,00,000", "1e5x"])
def test_other_words_are_refused(text):
    with pytest.raises(typer.BadParameter, match="whole number"):
        whole(text)


def test_a_folder_is_not_named_like_a_file(tmp_path):
    assert folder(tmp_path / "results.v2") == tmp_path / "results.v2"
    with pytest.raises(typer.BadParameter, match="folder"):
        folder(tmp_path / "plot.PNG")
    (tmp_path / "plot.png").mkdir()
    assert folder(tmp_path / "plot.png").is_dir()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("--version", 0, __version__),
        ("run Stochastic EXP3 --horizon 1.5", 2, "whole number"),
        ("run Stochastic EXP3 --out plot.png", 2, "folder"),
        ("run Stochastic DP-UCB:epsilon=1,epsilon=2", 2, "given once"),
        ("run Stochastic EXP3 --horizon 2e2 --trials 1 --out mine", 0, "200 rounds"),
    ],
)
def test_the_command_line_says_so(words, code, said, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr(sys, "argv", ["dp-bandit", *words.split()])
    left = 0
    try:
        main()
    except SystemExit as leave:
        left = leave.code
    assert left == code and said in "".join(capsys.readouterr())


@pytest.mark.parametrize("name", algorithm_names())
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_every_algorithm_can_be_made_at_an_epsilon_of_the_command_line(name, epsilon):
    """With delta = T^-2 where it has one, which AS-FTRL does with normal noise only."""
    chosen = contestant(name, epsilon, 100)
    assert make_algorithm(chosen.name, **chosen.parameters).name == name
    if name == "AS-FTRL":
        gaussian = contestant("AS-FTRL:noise=gaussian,counter=square-root", epsilon, 100)
        assert chosen.parameters == {"epsilon": epsilon} and gaussian.parameters["delta"] == 1e-4
