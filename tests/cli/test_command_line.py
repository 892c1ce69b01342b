"""`dp-bandit`: what it writes, what it refuses, and that an error is one line with exit code 2."""

import csv
import hashlib
import inspect
import json
import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from dp_bandit_envs.algorithms import ALGORITHMS, algorithm_names, make_algorithm, paper_epsilon
from dp_bandit_envs.cli import app
from dp_bandit_envs.cli.audit_commands import read_audited_algorithm
from dp_bandit_envs.cli.show_commands import KINDS, describe, find_parts, first_line, plain
from dp_bandit_envs.envs.registration import IDS
from dp_bandit_envs.experiments.arguments import experiment_from
from dp_bandit_envs.experiments.report import Verdict
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.figures import figure_graph
from dp_bandit_envs.privacy.counters import COUNTERS
from dp_bandit_envs.typesetting import typeset
from tests.tools.playable import BANDITS, FULL_INFORMATION, arguments_of, home_of, names_for
from tests.tools.plays import ARM_IDS, POINT_IDS
from tests.tools.refusals import missing

FILES = {"configuration.json", "results.npz", "summary.csv", "figure.png", "figure.svg", "report.md", "numbers.json"}


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def drawn(svg, text):
    """Return whether a text is in a figure; mathematics is drawn letter by letter, after a comment with its source."""
    shown = typeset(text)
    one_line = " ".join(re.findall(">([^<]*)</text>", svg))  # titles may be in two
    return f">{shown}</" in svg or f"<!-- {shown} -->" in svg or shown in one_line


def arrays_in(file):
    with np.load(file) as saved:
        return dict(saved)


SMALL = ("--horizon", 64, "--trials", 3)


@pytest.mark.thorough
def test_run_writes_all_files(dp_bandit, tmp_path):
    code, out, err = dp_bandit("run", "Stochastic", "EXP3", "Uniform", *SMALL, "--out", "mine", "--seed", 5)
    assert (code, err) == (0, "")
    assert names_in(tmp_path / "mine") == FILES
    report = (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")
    assert "dp-bandit run Stochastic EXP3 Uniform --horizon 64 --trials 3 --out mine --seed 5" in report
    assert "Seed 5; 3 trials, horizon 64" in report
    assert re.search(r"rounds in [\d.]+ s", out) and "report.md" in out
    arrays = arrays_in(tmp_path / "mine" / "results.npz")
    assert arrays["stochastic/EXP3/external_regret"].shape == (3, 64)
    for name in ("EXP3", "Uniform"):
        last = arrays[f"stochastic/{name}/external_regret"][:, -1]
        mean, median, tail = last.mean(), np.median(last), np.quantile(last, 0.99)
        assert f"{mean:,.1f} ({median:,.1f} / {tail:,.1f})" in out and abs(mean - median) > 0.1
    png = (tmp_path / "mine" / "figure.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    ElementTree.fromstring((tmp_path / "mine" / "figure.svg").read_text(encoding="utf-8"))


RECORDED = [id_ for id_ in ARM_IDS if "Trial" in id_ or "Replay" in id_]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("ids", "player", "horizon"),
    [
        ([id_ for id_ in ARM_IDS if id_ not in RECORDED], "EXP3", ("--horizon", 40)),
        (RECORDED, "EXP3", ()),
        (POINT_IDS, "AS-FTRL", ("--horizon", 40)),
    ],
    ids=["arms", "recorded", "points"],
)
def test_every_environment_runs(dp_bandit, ids, player, horizon):
    assert dp_bandit("run", *ids, player, *horizon, "--trials", 1, "--out", "mine")[0] == 0


@pytest.mark.thorough
def test_lists_pairs_and_yes_or_no_can_be_written(dp_bandit):
    def arguments(environment):
        return experiment_from([environment], ["EXP3"], epsilon=None, trials=1, horizon=5, seed=0).games[0].env_kwargs

    assert arguments("Graph:graph=cycle,means=[.1,.5,.9]") == {"graph": "cycle", "means": [0.1, 0.5, 0.9]}
    assert arguments("Graph:prior=(2,3),self_loops=false") == {"prior": [2, 3], "self_loops": False}
    given = arguments("Graph:graph=[[0,1],[1,0]],max_revealed=None")
    assert given["graph"].tolist() == [[0, 1], [1, 0]] and given["max_revealed"] is None
    games = ("Graph:graph=cycle,means=[.1,.5,.9]", "Graph:graph=star,n_arms=5,prior=(2,3)", "Graph:gains=Switching")
    assert dp_bandit("run", *games, "TS-N", "UCB", "--horizon", 30, "--trials", 2)[0] == 0


def game_of(name):
    given = "".join(f":{key}={value}" for key, value in arguments_of(name).items())
    return "Oblivious" if name in BANDITS else home_of(name) + given


@pytest.mark.thorough
@pytest.mark.parametrize("game", sorted({game_of(name) for name in algorithm_names()}))
def test_every_algorithm_runs(dp_bandit, tmp_path, game):
    names = [name for name in algorithm_names() if game_of(name) == game]
    code, _, err = dp_bandit("run", game, *names, "--horizon", 16, "--trials", 2, "--out", "all")
    assert (code, err) == (0, "")
    rows = csv.DictReader((tmp_path / "all" / "summary.csv").read_text(encoding="utf-8").splitlines())
    assert {row["algorithm"].split(" (")[0] for row in rows} == {*names}


@pytest.mark.thorough
def test_show_says_which_algorithms_need_all_gains_and_which_play_points_where():
    for name in algorithm_names():
        says_so = "\nGames\n  only those that reveal all gains" in describe("algorithm", name, ALGORITHMS[name])
        assert says_so == (name in FULL_INFORMATION)
    for name in algorithm_names():
        text = " ".join(describe("algorithm", name, ALGORITHMS[name]).split())
        for id_ in POINT_IDS:
            for feedback in ("full", "bandit"):
                plays = name in names_for(id_, feedback=feedback)
                found = re.search(rf"points, with feedback='{feedback}': ((?:DPBandit-\w+-v0(?:, )?)+)", text)
                assert (found is not None and id_ in found[1]) == plays, (id_, feedback)


def test_a_file_of_gains_is_a_game(dp_bandit, tmp_path):
    file = tmp_path / "my.gains.csv"
    np.savetxt(file, np.tile([[0.25, 0.75], [0.5, 0.0]], (10, 1)), delimiter=",")
    code, _, err = dp_bandit("run", file.name, "EXP3", "--trials", 2, "--out", "mine")
    assert (code, err) == (0, "")
    arrays = arrays_in(tmp_path / "mine" / "results.npz")
    assert arrays["my/checkpoints"][-1] == 20
    # Arm 0 pays 7.5 in all, arm 1 too.
    best = arrays["my/EXP3/external_regret"] + arrays["my/EXP3/collected"]
    assert best[:, -1].tolist() == [7.5, 7.5]
    saved = json.loads((tmp_path / "mine" / "configuration.json").read_text(encoding="utf-8"))
    assert saved["data_sha256"] == {file.name: hashlib.sha256(file.read_bytes()).hexdigest()}


@pytest.mark.thorough
def test_parameters_follow_a_name(dp_bandit, tmp_path):
    words = ["EXP3-tau:batch_size=5", "EXP3-tau:epsilon=2.0,delta=1e-6", "DP-Lambda-Lap:base=Tsallis-INF,epsilon=3"]
    code, _, err = dp_bandit("run", "Switching", *words, "--horizon", 400, "--trials", 2, "--out", "mine")
    assert (code, err) == (0, "")
    arrays = arrays_in(tmp_path / "mine" / "results.npz")
    # Batches of 5 leave room for 79 changes of arm.
    assert arrays["switching/EXP3-tau (batch_size=5)/switches"][:, -1].max() < 80
    labels = {name.split("/")[1] for name in arrays if name.count("/") == 2}
    assert {"EXP3-tau (epsilon=2.0, delta=1e-06)", "DP-Lambda-Lap (base=Tsallis-INF, epsilon=3)"} <= labels


@pytest.mark.parametrize(
    ("text", "epsilon", "parameters"),
    [
        ("DP-EXP3-Lap", 0.5, {"epsilon": 0.5}),
        ("DP-EXP3-Lap:epsilon=2", 0.5, {"epsilon": 2}),
        ("DP-EXP3-Lap:epsilon=inf", None, {"epsilon": math.inf}),
        ("EXP3", 0.5, {}),
        ("Batched-Lap-HTINF:sigma=3", 0.5, {"epsilon": 0.5, "sigma": 3}),
        ("EXP3-tau", 0.5, {"epsilon": 0.5, "delta": 1e-4}),
        ("DP-UCB-INT", 0.5, {"epsilon": 0.5, "delta": 1e-4}),
        ("EXP3-tau:delta=1e-6", 0.5, {"epsilon": 0.5, "delta": 1e-6}),
        # An epsilon of its own too; DP-UCB-INT has a delta by default, which then stays.
        ("EXP3-tau:epsilon=2", None, {"epsilon": 2, "delta": 1e-4}),
        ("DP-UCB-INT:epsilon=2", 0.5, {"epsilon": 2}),
        # Who asks for a batch size has chosen the privacy; without any epsilon all is as in the paper.
        ("EXP3-tau:batch_size=5", 0.5, {"batch_size": 5}),
        ("AdaC-GOPE:rho=0.1", 0.5, {"rho": 0.1}),
        ("EXP3-tau", None, {}),
    ],
)
def test_one_epsilon_is_for_all_that_take_one_with_the_inverse_square_of_the_horizon_as_delta(
    text, epsilon, parameters
):
    assert read_audited_algorithm(text, epsilon, 100).parameters == parameters


def test_delta_follows_the_horizon_of_the_game(dp_bandit, tmp_path):
    """Given in rounds, or that of a file of 40 lines; one round leaves no delta below 1."""
    np.save(tmp_path / "gains.npy", np.full((40, 2), 0.5))
    for environment, horizon, rounds in (("Switching", 64, 64), ("gains.npy", None, 40), ("gains.npy", 20, 20)):
        made = experiment_from([environment], ["EXP3-tau"], epsilon=30.0, trials=1, horizon=horizon, seed=0)
        assert made.all_algorithms[0].parameters["delta"] == float(rounds) ** -2
    code, _, err = dp_bandit("run", "Stochastic", "EXP3-tau", "--epsilon", 1, "--horizon", 1, "--trials", 1)
    assert code == 2 and missing(err, "horizon", 2, "EXP3-tau", 1) == []


@pytest.mark.thorough
def test_one_epsilon_is_the_guarantee_of_every_algorithm_everywhere(dp_bandit, tmp_path):
    """EXP3-tau's used to be dropped without a word: epsilon 26 beside an epsilon of 5 (horizon 400, delta T^-2)."""
    words = ("run", "Stochastic", "UCB", "DP-EXP3-Lap", "EXP3-tau", "EXP3-tau:batch_size=50")
    code, out, err = dp_bandit(*words, "--epsilon", 5, "--horizon", 400, "--trials", 3, "--out", "mine")
    assert (code, err) == (0, "")
    rows = {cells[0]: cells[1] for line in out.splitlines() if len(cells := re.split(r"\s{2,}", line)) > 2}
    assert rows["UCB"] == "no privacy" and rows["DP-EXP3-Lap"] == "eps 5"
    # Tables show it at 1e-6, where it is a little larger.
    level = re.fullmatch(r"eps ([\d.]+), delta 1e-06", rows["EXP3-tau"])
    assert level and 2.5 < float(level[1]) <= 5.5
    (about,) = (line for line in out.splitlines() if line.startswith("epsilon = 5 "))
    assert re.search(r"EXP3-tau with delta = 6.25e-06 = T\^-2", about) and "EXP3-tau (batch_size=50) (eps " in about
    report = (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")
    assert about in report
    svg = (tmp_path / "mine" / "figure.svg").read_text(encoding="utf-8")
    del rows["algorithm"]
    for name, guarantee in rows.items():
        assert f"| {name} | {f'({guarantee})' if name == 'UCB' else guarantee} |" in report
        assert drawn(svg, f"{name} ({guarantee})")
    table = (tmp_path / "mine" / "summary.csv").read_text(encoding="utf-8").splitlines()
    for line in table[1:]:
        _, name, epsilon, delta = line.split(",")[:4]
        assert (float(epsilon) <= 5) == (name in ("DP-EXP3-Lap", "EXP3-tau")) or name == "EXP3-tau (batch_size=50)"
        assert float(delta) == (1e-06 if name == "EXP3-tau" else 0)


@pytest.mark.thorough
def test_tables_fit_the_terminal_and_show_median_and_quantile(dp_bandit, monkeypatch):
    """It is played once; the same command again prints what is saved."""
    for columns in (60, 80, 150):
        monkeypatch.setenv("COLUMNS", str(columns))
        words = ("run", "Stochastic", "Switching", "Oblivious", "EXP3", "DP-EXP3-Lap", "--epsilon", 1)
        code, out, _ = dp_bandit(*words, *SMALL, "--out", "mine")
        assert code == 0
        lines = out.partition("algorithm ")[2].partition("\nThe report")[0].splitlines()[1:]
        assert len(lines) >= 6 and max(map(len, lines)) <= columns
        assert "99 % quantile" in " ".join(out.split())
        assert all(any(name in line for line in lines) for name in ("Stochastic", "Switching", "Oblivious"))


def test_results_go_below_results_by_default(dp_bandit, tmp_path):
    dp_bandit("run", "Stochastic", "EXP3:exploration_rate=0.5", "Uniform", *SMALL)
    folder = next((tmp_path / "results").iterdir())
    assert names_in(folder) == FILES
    assert re.fullmatch(r"run-stochastic-[0-9a-f]{8}", folder.name)


@pytest.mark.thorough
def test_reproduce_writes_all_files_and_every_claim(dp_bandit, tmp_path):
    code, out, err = dp_bandit("reproduce", "figure-1", "--trials", 6, "--horizon", 128, "--out", "mine", "--jobs", 1)
    assert (code, err) == (0, "")
    assert names_in(tmp_path / "mine") == FILES
    report = (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")
    assert "`dp-bandit reproduce figure-1 --trials 6 --horizon 128 --out mine --jobs 1`" in report
    claims = report.partition("| the paper says | seen here | holds? |\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert len(claims) == 8
    for claim in claims:
        says, seen, holds = claim.strip("| ").split(" | ")
        assert (
            len(says) > 20 and re.search(r"\d", seen) and holds.startswith(tuple(verdict.value for verdict in Verdict))
        )
        assert says in out
    assert missing(report, f"{paper_epsilon(4, 128):.2f}") == []
    table = (tmp_path / "mine" / "summary.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 1 + 5 * 3 * 100
    arrays = arrays_in(tmp_path / "mine" / "results.npz")
    assert arrays["switching/EXP3-tau/external_regret"].shape == (6, 100)


@pytest.mark.thorough
def test_another_epsilon_draws_five_algorithms(dp_bandit, tmp_path):
    code, _, err = dp_bandit("reproduce", "figure-1-epsilon-1", "--trials", 2, "--horizon", 64)
    assert (code, err) == (0, "")
    folder = tmp_path / "results" / "figure-1-epsilon-1"
    assert "All private algorithms have epsilon = 1 " in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_figure_graph_writes_two_experiments_and_goes_on_where_it_was_stopped(dp_bandit, tmp_path, monkeypatch):
    """With random graphs of 40 arms instead of 500, stopped in the second experiment."""
    monkeypatch.setattr(figure_graph, "N_ARMS", 40)
    command = ("reproduce", "figure-graph", "--trials", 2, "--horizon", 4, "--jobs", 1, "--out", "mine")
    save, saved = ResultsFolder.save, []

    def interrupted(folder, name, arrays, **origin):
        save(folder, name, arrays, **origin)
        saved.append(name)
        if len(saved) == 10:
            raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(ResultsFolder, "save", interrupted)
        assert dp_bandit(*command)[0] == 130
    # Seven panels and the results of the first experiment, two panels of the second.
    assert [name.split("/")[0] for name in saved] == ["chunks"] * 7 + ["results"] + ["chunks"] * 2
    code, out, err = dp_bandit(*command)
    # Three panels are left: 6 levels, 2 games, 40 rounds each.
    assert (code, err) == (0, "") and "1,440 rounds in" in out
    both = {"graphs", "feedback"}
    pictures = {f"figure-{part}.{kind}" for part in both for kind in ("png", "svg")}
    alone = {"results.npz", "summary.csv", "figure.png", "figure.svg"}
    assert names_in(tmp_path / "mine") == {*FILES - alone, *both, *pictures}
    for part in both:
        assert names_in(tmp_path / "mine" / part) == {"configuration.json", "results.npz", "summary.csv"}
    report = (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")
    assert report.count("| cannot tell from 2 runs: that is too few |") == 4
    assert missing(report, 2, 4, 210, "10,000") == [] and "nan" not in report
    assert "| the thesis says | seen here | holds? |" in report
    arrays = arrays_in(tmp_path / "mine" / "graphs" / "results.npz")
    assert arrays["erdos-renyi/TS-N/pulls"].shape == (2, 40) and arrays["power-law/checkpoints"][-1] == 4


def test_log_spacing_reaches_the_results(dp_bandit, tmp_path):
    dp_bandit("run", "Stochastic", "EXP3", "--horizon", 10_000, "--trials", 2, "--checkpoints", "log", "--out", "mine")
    rounds = arrays_in(tmp_path / "mine" / "results.npz")["stochastic/checkpoints"]
    assert rounds[0] == 1 and rounds[-1] == 10_000 and np.median(rounds) < 300


def test_list_names_everything_there_is_on_one_screen(dp_bandit):
    """Of 24 lines and 80 columns, also with games that other tests have registered; each algorithm has a family."""
    code, out, err = dp_bandit("list")
    assert (code, err) == (0, "")
    short = [id_.removeprefix("DPBandit-").removesuffix("-v0") for id_ in IDS]
    for name in [*short, *algorithm_names(), "LaplaceClipRescale", "HybridSums", *COUNTERS]:
        assert re.search(rf"(^|[\s,]){re.escape(name)}(,|$)", out, re.MULTILINE), name
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) <= 24
    assert "registered" not in out
    assert next(line for line in lines if "TS-MaxN" in line).startswith("  Thompson ")


def test_a_kind_is_listed_with_a_sentence_about_each(dp_bandit):
    texts = {kind: dp_bandit("list", kind)[1] for kind in ("environments", "algorithms", "agents", "wrappers")}
    assert (
        "DP-IMED" in texts["algorithms"]
        and "DP-IMED" not in texts["environments"] == dp_bandit("list", "environment")[1]
    )
    out = "\n".join(texts.values())
    for name in ("LaplaceClipRescale", "HybridSums", "Exp3", "Htinf"):
        assert re.search(rf"(^|\W){re.escape(name)}(\W|$)", out), name
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) < 180
    row = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert " eps 1 " in row["DP-EXP3-Lap"] and " (no privacy) " in row["UCB"]
    assert " eps 0.851, delta 1e-06 " in row["EXP3-tau"]
    # Descriptions are whole.
    for thing in (*KINDS["environment"]().values(), *ALGORITHMS.values()):
        what = first_line(thing).partition(": ")[2] if thing in ALGORITHMS.values() else first_line(thing)
        assert what and what in " ".join(out.split())


def test_what_is_listed_can_be_shown(dp_bandit):
    """In any case; two kinds may share a name."""
    for name in ("dp-imed", "DP-IMED", "Dp-Imed"):
        code, out, err = dp_bandit("show", name)
        assert (code, err) == (0, "") and out.startswith("DP-IMED: algorithm")
    assert [kind for kind, _, _ in find_parts("Exp3")] == ["agent"]
    assert [kind for kind, _, _ in find_parts("EXP3")] == ["algorithm"]
    assert [kind for kind, _, _ in find_parts("exp3")] == ["algorithm", "agent"]
    assert [kind for kind, _, _ in find_parts("Uniform")] == ["algorithm", "agent"]
    assert [known for _, known, _ in find_parts("stochastic")] == ["DPBandit-Stochastic-v0"]
    code, out, err = dp_bandit("show", "DP-IMAD")
    assert (code, out) == (2, "") and missing(err, "DP-IMED") == [] and err.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_every_name_can_be_shown_with_its_parameters(kind):
    for name, thing in KINDS[kind]().items():
        text = describe(kind, name, thing)
        assert text.startswith(f"{name}: {kind}\n") and len(text) > 100
        if kind in ("wrapper", "counter", "algorithm"):
            assert re.search(r"\nGuarantee\n  \S", text)
        assert not re.findall(r":\w+:`", text), name


def test_the_long_form_of_an_algorithm_holds_its_numbers_and_what_its_guarantee_covers_layer_by_layer():
    text = describe("algorithm", "DP-UCB-INT", ALGORITHMS["DP-UCB-INT"])
    for part in ("  epsilon = 1.0", f"  delta = {math.exp(-10)!r}", "  v = 1.1", "  mode = 'once'"):
        assert part in text.splitlines()
    assert "Tossou and Dimitrakakis (2016), algorithm 3" in text
    bound = make_algorithm("LDP-UCB-B").pseudo_regret_bound(means=[0.9, 0.6], horizon=2**18)
    assert f"{bound:,.1f} at most" in describe("algorithm", "LDP-UCB-B", ALGORITHMS["LDP-UCB-B"])
    text = " ".join(describe("algorithm", "EXP3-tau", ALGORITHMS["EXP3-tau"]).split())
    guarantee = make_algorithm("EXP3-tau").guarantee(n_arms=4, horizon=2**18)
    assert "It covers arms Layer by layer MiniBatchAverage: " in text
    assert all(" ".join(step.split()) in text for step in guarantee.steps) and len(guarantee.steps) == 2
    assert "It covers arms and releases Layer by layer CounterSums: " in " ".join(
        describe("algorithm", "Private-UCB", ALGORITHMS["Private-UCB"]).split()
    )


DIFFERS = "Differs from the source in: "


@pytest.mark.thorough
def test_every_algorithm_declares_its_source_and_what_differs_from_it():
    for name in algorithm_names():
        assert len(make_algorithm(name).reference) > 10
        what, _, differs = plain(inspect.getdoc(ALGORITHMS[name])).partition(DIFFERS)
        assert what and differs, name
        assert " ".join(differs.split()) in " ".join(describe("algorithm", name, ALGORITHMS[name]).split())


def test_our_own_bugs_keep_their_traceback(dp_bandit, monkeypatch):
    """An error that is nobody's input must not be dressed up as one."""
    names = {}
    bug = "def broken(*given):\n    raise AssertionError('a bug')\n"
    exec(compile(bug, app.__file__, "exec"), names)
    monkeypatch.setattr(app, "cores", names["broken"])
    with pytest.raises(AssertionError, match="a bug"):
        dp_bandit("run", "Stochastic", "EXP3", *SMALL)


def test_an_environment_takes_arguments_after_a_colon(dp_bandit, tmp_path):
    words = ("run", "Graph:graph=cycle,n_arms=5", "TS-N", "DP-KLUCB", *SMALL, "--out", "mine")
    code, _, err = dp_bandit(*words)
    assert (code, err) == (0, "")
    assert "Graph (graph=cycle, n_arms=5)" in (tmp_path / "mine" / "report.md").read_text(encoding="utf-8")
    kept = json.loads((tmp_path / "mine" / "configuration.json").read_text(encoding="utf-8"))
    assert kept["described"][0]["source"]["env_kwargs"] == {"graph": "cycle", "n_arms": 5}
    key = "graph-graph=cycle-n_arms=5"
    assert arrays_in(tmp_path / "mine" / "results.npz")[f"{key}/TS-N/pulls"].shape == (3, 5)
    assert experiment_from(["Stochastic"], ["UCB"], epsilon=None, trials=1, horizon=5, seed=0).games[0].env_kwargs == {}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "epsilon", "words"),
    [
        ("DP-IMED", 1e-30, ()),
        ("DP-KLUCB", 1e-300, ()),
        ("AdaP-UCB", 1e-300, ()),
        ("LDP-UCB-L", 1e-160, ("epsilon", 1e-160)),
        ("DP-SE", 5e-324, (5e-324, "epsilon")),
    ],
)
def test_tiny_epsilons_play_or_say_why_not(dp_bandit, name, epsilon, words):
    code, _, err = dp_bandit("run", "Stochastic", name, "--epsilon", epsilon, "--horizon", 40, "--trials", 1)
    assert (code, missing(err, *words)) == (2 if words else 0, [])
