"""The user's own data as a game: each accepted form of file gives its gains; an error names file, line and rule."""

import contextlib
import gzip
import io
import re
import tracemalloc
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest

from dp_bandit_envs import OutsideGame, compare, files, play
from dp_bandit_envs.adversaries import GainTable, OutcomePools, Replay, VectorTable
from dp_bandit_envs.errors import GainFileError, MadeUpGainsWarning, WrongTypeError
from dp_bandit_envs.privacy.participation import Participation
from dp_bandit_envs.simulation.provenance import code_digest
from tests.tools.doors import one_each
from tests.tools.refusals import missing, refused

TABLE = [[0.25, 1.0], [0.5, 0.0], [0.125, 0.75]]
WIDE = "0.25,1\n0.5,0\n0.125,0.75\n"
LONG = "arm,gain\n1,0.75\n0,0.25\n1,0.5\n0,1\n0,0\n"


def gains_of(adversary):
    adversary.begin(np.random.default_rng(0))
    return adversary.next_gains(adversary.horizon)


def write(path, text, encoding="utf-8"):
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_arrays_and_npy_files_are_played_row_by_row(tmp_path):
    assert gains_of(Replay(np.array(TABLE))).tolist() == TABLE
    assert gains_of(Replay(TABLE, horizon=2)).tolist() == TABLE[:2]
    for kind, order in one_each(["float16", "float32", "longdouble", "bool", "uint8", ">f8", ">i2"], ["C", "F"]):
        whole = np.array([[0, 1, 1], [1, 0, 0]])
        np.save(tmp_path / "gains.npy", np.array(whole, dtype=kind, order=order))
        for path in (tmp_path / "gains.npy", str(tmp_path / "gains.npy")):
            np.testing.assert_array_equal(gains_of(Replay(path)), whole)


@pytest.mark.parametrize("name", ["gains.csv", "trial.2.csv.gz"])
@pytest.mark.parametrize("first_line", ["", "control,treatment\n", '"arm 1","arm 2, high dose"\n'])
def test_a_csv_table_is_played_row_by_row_with_and_without_names(tmp_path, name, first_line):
    path = write(tmp_path / name, first_line + WIDE)
    env = gym.make("DPBandit-Replay-v0", gains=str(path))
    env.reset(seed=0)
    assert [env.step(arm)[1] for arm in (0, 1, 1)] == [0.25, 0.0, 0.75]
    assert gains_of(Replay(path)).tolist() == TABLE


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + WIDE,  # a byte order mark, as spreadsheets write
        "\ufeffa,b\n" + WIDE,
        "\n\n" + WIDE.replace("\n", "\n\n") + "\n",  # blank lines
        WIDE.replace("\n", "\r\n").replace(",", " , "),
        '"0.25","1"\n5e-1,0.0\n.125,75e-2',
    ],
    ids=["BOM", "BOM and names", "blank lines", "CRLF and spaces", "other spellings"],
)
def test_a_csv_table_may_be_written_in_other_ways(tmp_path, text):
    assert gains_of(Replay(write(tmp_path / "gains.csv", text))).tolist() == TABLE


@pytest.mark.parametrize(
    "text",
    [LONG, "\ufeff" + LONG, LONG.replace("\n", "\n\n"), "gain,arm\n0.75,1\n0.25,0\n0.5,1\n1,0\n0,0\n"],
    ids=["as documented", "BOM", "blank lines", "columns swapped"],
)
def test_recorded_gains_become_one_pool_for_each_arm(tmp_path, text):
    adversary = Replay(write(tmp_path / "log.csv.gz", text))
    pools = OutcomePools([np.array([0.25, 1, 0]), np.array([0.75, 0.5])])
    assert (adversary.n_arms, adversary.horizon) == (2, 5)
    np.testing.assert_array_equal(gains_of(adversary), gains_of(pools))
    np.testing.assert_array_equal(adversary.means, pools.means)


@pytest.mark.parametrize("header", ["Arm,Gain", "ARM,GAIN", "arm, gain"])
def test_recorded_gains_are_recognised_however_their_names_are_written(tmp_path, header):
    """Taken for a table, the arms' numbers 0 and 1 would silently become gains."""
    adversary = Replay(write(tmp_path / "log.csv", f"{header}\n0,0.25\n1,0.75\n1,0.5\n"))
    np.testing.assert_allclose(adversary.means, [0.25, 0.625], rtol=1e-15)


def test_recorded_gains_may_be_played_beyond_their_number(tmp_path):
    adversary = Replay(write(tmp_path / "log.csv", LONG), horizon=50)
    gains = gains_of(adversary)
    assert gains.shape == (50, 2)
    assert set(gains[:, 1]) == {0.75, 0.5}


def test_without_gains_a_made_up_table_is_played_with_a_warning():
    with pytest.warns(MadeUpGainsWarning, match="made-up") as caught:
        game = gym.make("DPBandit-Replay-v0").unwrapped
    assert len(caught) == 1
    assert (game.n_arms, game.horizon, game.is_real) == (4, 1000, False)
    assert game.data_use.person is None
    assert Replay(horizon=10).horizon == 10
    assert set(np.unique(gains_of(Replay()))) == {0, 1}


# ---- data frames

FRAME = {"a": [0.0, 1.0, 1.0], "b": [1.0, 0.0, 0.5]}
HALF = {"a": [False, True, True], "b": [1, 0, 0.5]}
GAP = {**FRAME, "b": [1.0, 0.0, None]}
RECORDS = {"Arm": [1, 0, 1, 0, 0], "gain": [0.75, 0.25, 0.5, 1, False], "person": ["a", "b", "a", "c", "b"]}


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def encoded(columns):
    """Return an Arrow table whose columns are numbers of values: NumPy sees a number in place of a null there."""
    pa = pytest.importorskip("pyarrow")
    return pa.table({name: pa.array([*map(cast, cells)]).dictionary_encode() for name, cells in columns.items()})


def cast(cell):
    return None if cell is None else float(cell)


def records(columns):
    """Return a structured array."""
    rows = list(zip(*columns.values(), strict=True))
    kinds = [int if name == "Arm" else "U1" if name == "person" else float for name in columns]
    return np.array(rows, dtype=list(zip(columns, kinds, strict=True)))


FRAMES = {
    "pandas": pd.DataFrame,
    "objects": lambda columns: pd.DataFrame(columns).astype(object),
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "categories": lambda columns: pd.DataFrame(columns).astype("category"),
    "pandas on Arrow": lambda columns: arrow(columns).to_pandas().convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda columns: SimpleNamespace(columns=list(columns), to_arrow=lambda: arrow(columns)),
    "Arrow": arrow,
}


@pytest.mark.parametrize("frame", [*FRAMES.values(), encoded, records], ids=[*FRAMES, "Arrow, encoded", "structured"])
def test_a_data_frame_of_any_kind_is_a_table(frame):
    for columns in (FRAME, HALF):
        made = frame(columns)
        for adversary in (Replay(made), GainTable(made), VectorTable(made)):
            assert gains_of(adversary).tolist() == [[0, 1], [1, 0], [1, 0.5]]


@pytest.mark.parametrize("frame", [*FRAMES.values(), records], ids=[*FRAMES, "structured"])
def test_a_data_frame_with_columns_arm_and_gain_is_records_as_a_file_is(frame, tmp_path):
    made = frame({**RECORDS, "gain": [float(gain) for gain in RECORDS["gain"]]})
    adversary, file = Replay(made, persons="Person"), Replay(write(tmp_path / "log.csv", LONG))
    np.testing.assert_array_equal(gains_of(adversary), gains_of(file))
    np.testing.assert_array_equal(adversary.means, file.means)
    assert adversary.data_use == Participation(3, 5)
    with refused(GainFileError, "'person'", "persons='person'"):
        Replay(made)
    for table in (GainTable, VectorTable):
        with refused(GainFileError, "'arm'", "'gain'", "dp_bandit_envs.adversaries.Replay"):
            table(made)


@pytest.mark.thorough
def test_every_door_takes_a_data_frame_and_none_shows_it(tmp_path):
    frame = pd.DataFrame(RECORDS).drop(columns="person").astype({"gain": float})
    other = frame.rename(columns={"Arm": "left", "gain": "right"})
    for one, size in ((frame, (2, 5)), (other, (2, 5))):
        env = gym.make("DPBandit-Replay-v0", gains=one).unwrapped
        assert (env.n_arms, env.horizon) == size
    played = [
        play(game, "Uniform", seed=1).gains.tolist()
        for game in (frame, ("Replay", {"gains": frame}), Replay(frame), gym.make("DPBandit-Replay-v0", gains=frame))
    ]
    assert played == [played[0]] * 4 and set(played[0]) <= {0, 0.25, 0.5, 0.75, 1}
    assert gym.make("DPBandit-Ball-v0", gains=pd.DataFrame(FRAME) / 2).unwrapped.horizon == 3
    assert code_digest(frame) != code_digest(frame.set_axis(["gain", "arm"], axis=1))
    compared = compare(frame, "Uniform", trials=1, seed=None, folder=tmp_path / "mine")
    assert "0.75" not in (tmp_path / "mine" / "configuration.json").read_text(encoding="utf-8") + repr(compared)


GAPS = {
    **{f"{name}, a gap": (lambda frame=frame: frame(GAP)) for name, frame in FRAMES.items()},
    "Arrow, encoded, a gap": lambda: encoded(GAP),
    "masked": lambda: np.ma.array([[0, 1], [1, 0], [1, 0.5]], mask=[[0, 0], [0, 0], [0, 1]]),
    "a masked row": lambda: [[0, 1], [1, 0], np.ma.array([1, 0.5], mask=[0, 1])],
    "None": lambda: [[0, 1], [1, 0], [1, None]],
    "a text": lambda: [[0, 1], [1, 0], [1, "0.5"]],
    "a text among objects": lambda: pd.DataFrame({"a": [0, 1, 1], "b": [0, 1, "0.5"]}),
    "beyond floats": lambda: [[0, 1], [1, 0], [1, 10**400]],
    "too large": lambda: [[0, 1], [1, 0], [1, 1.5]],
}


@pytest.mark.parametrize("table", GAPS.values(), ids=GAPS.keys())
def test_a_cell_without_a_gain_is_refused_by_row_and_column(table):
    for kind in (Replay, GainTable, VectorTable):
        with refused(GainFileError, "row 3, column 2", "number"):
            kind(table())


WRONG_FRAMES = {
    "a gap in a gain": ({"gain": [0.5, None, 1]}, ["row 2, column 2"]),
    "half an arm": ({"arm": [0, 0.5, 1]}, ["row 2, column 1 ('arm')"]),
    "an arm's name": ({"arm": ["a", "b", "b"]}, ["row 1, column 1 ('arm')"]),
    "an arm left out": ({"arm": [0, 2, 2]}, ["column 1 ('arm')", "[0, 2]"]),
    "no person": ({"person": ["a", None, "b"]}, ["missing"]),
}


@pytest.mark.parametrize(("columns", "words"), WRONG_FRAMES.values(), ids=WRONG_FRAMES.keys())
def test_wrong_records_in_a_data_frame_are_refused(columns, words):
    made = pd.DataFrame({"arm": [0, 1, 1], "gain": [0.5, 0.5, 1], "person": ["a", "b", "c"], **columns})
    with refused(ValueError, *words):
        Replay(made, persons="person")


def test_true_is_one_and_false_is_zero_at_every_door(tmp_path):
    flags = [[False, True], [True, False]]
    frame = pd.DataFrame(flags, columns=["a", "b"])
    frame.to_csv(tmp_path / "names.csv", index=False)
    frame.to_csv(tmp_path / "none.csv", index=False, header=False)
    for given in (flags, frame, [[False, 1.0], [True, 0]], tmp_path / "names.csv", tmp_path / "none.csv"):
        assert gains_of(Replay(given)).tolist() == [[0, 1], [1, 0]]
    assert OutcomePools([[True, 0.5], [np.False_]]).means.tolist() == [0.75, 0]
    with OutsideGame("Uniform", n_arms=2, horizon=4, low=-1) as game:
        for reward in (True, np.False_, np.array(True)):
            game.learn(game.next_arm(), reward)
        assert game.rounds == 3


def test_pools_of_texts_or_gaps_are_refused_without_a_word_of_them():
    for cells in (["0.25"], [None], np.ma.array([0.25], mask=[1])):
        with refused(ValueError, "arm 1", "entry 1") as caught:
            OutcomePools([[1.0], cells])
        assert "25" not in str(caught.value)


# ---- wrong files of gains


def refused_by_name(path, *words, persons=None):
    """Assert that `path` is refused with a message that starts with its name and names all the words."""
    with pytest.raises(GainFileError) as caught:
        Replay(path, persons=persons)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert re.search(r"[.]$", message)
    assert missing(message, *words) == []
    return message


def npy(array, allow_pickle=False):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


@contextlib.contextmanager
def no_more_memory_than(most):
    """Assert that what runs inside takes no more bytes at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def npz(array):
    buffer = io.BytesIO()
    np.savez(buffer, gains=array)
    return buffer.getvalue()


def header(shape, content=bytes(8), kind="<f8"):
    """Return a `.npy` file whose header claims this shape."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


TABLES = {
    "gain above 1": ("0.5,0.5\n0.5,1.5\n", ["line 2, column 2", "in [0, 1]", "Rescale"]),
    "NaN": ("a,b\n0.5,0.5\n0.5,nan\n", ["line 3, column 2"]),
    "not a number": ("0.5,0.5\n0.5,high\n", ["line 2, column 2"]),
    "missing gain": ("0.5,0.5\n,0.5\n", ["line 2, column 1"]),
    "decimal commas": ("a,b,c\n0,5;0,5\n", ["line 2, column 2"]),
    "ragged, too short": ("0.5,0.5,0.5\n0.5,0.5\n", ["line 2", "3 columns", "received 2"]),
    "ragged after blank lines": ("\n\n0.5,0.5\n\n0.5\n", ["line 5", "2 columns", "received 1"]),
    "one column": ("0.5\n0.5\n", ["line 1", "2", "received 1", "'arm,gain'"]),
    "empty file": ("", ["line"]),
    "names only": ("a,b\n", ["line", "names"]),
    "digits of another alphabet": ("0.5,0.5\n٠.٥,0.5\n", ["line 2, column 1"]),
    "underscores as Python reads them": ("0.5,0.5\n0.0_5,0.5\n", ["line 2, column 1"]),
    "semicolons": ("arm;gain\n0;0.5\n", ["line 1", "commas"]),
    "tabs": ("arm\tgain\n0\t0.5\n", ["line 1", "commas"]),
    "JSON": ('[{"arm":0,"gain":0.5},{"arm":1,"gain":0.5}]', ["line 1", "JSON"]),
    "a field without end": ('0.5,0.5\n"0.5,' + "0.5,\n" * 30_000, ["line", "131,072"]),
}


FIRST_LINES = {
    line: (f"{line}\n0.1,0.2,0.3\n", ["line 1", "column"]) for line in ("0.5,,0.25", "0.5,high,0.25", "n/a,0.5,0.5")
}
"""With a number and a gap: taken for names, the first round would be dropped without a word."""

RECORDED = {
    "wrong column": ("arm,reward\n0,0.5\n", ["line 1", "'arm'", "'gain'", "'reward'"]),
    "one column too many": ("patient,arm,gain\n7,0,0.5\n", ["line 1", "'patient'", "'arm'", "'gain'"]),
    "a column twice": ("arm,gain,gain\n0,0.5,0.5\n", ["line 1", "'arm', 'gain', 'gain'"]),
    "gain above 1, columns swapped": ("gain,arm\n0.5,0\n2,1\n", ["line 3, column 1"]),
    "NaN": ("arm,gain\n0,nan\n1,0.5\n", ["line 2, column 2"]),
    "half an arm": ("arm,gain\n0,0.5\n0.5,0.5\n", ["line 3, column 1 ('arm')"]),
    "a digit of another alphabet": ("arm,gain\n0,0.5\n٣,0.5\n", ["line 3, column 1 ('arm')"]),
    "arm left out": ("arm,gain\n0,0.5\n2,0.5\n", ["column 1 ('arm')", "[0, 2]"]),
    "arms from 1": ("arm,gain\n1,0.5\n2,0.5\n", ["column 1 ('arm')", "[1, 2]"]),
    "one arm": ("arm,gain\n0,0.5\n0,0.25\n", ["column 1 ('arm')", "2", "[0]"]),
    "ragged": ("arm,gain\n0,0.5\n1\n", ["line 3", "2 columns", "received 1"]),
    "names only": ("arm,gain\n", ["arm"]),
    "an arm of 5,000 digits": (f"arm,gain\n0,0.5\n{'9' * 5000},0.5\n", ["arm"]),
}


WRONG_TEXTS = {**TABLES, **FIRST_LINES, **{f"recorded, {name}": one for name, one in RECORDED.items()}}


@pytest.mark.parametrize(("text", "words"), WRONG_TEXTS.values(), ids=WRONG_TEXTS.keys())
def test_wrong_texts_are_refused_with_line_and_column(tmp_path, text, words):
    refused_by_name(write(tmp_path / "gains.csv", text), *words)


ARRAYS = {
    "gain above 1": (npy(np.array([[0.5, 0.5], [1.5, 0.5]])), ["row 2, column 1", "[0, 1]"]),
    "NaN": (npy(np.array([[0.5, np.nan]])), ["row 1, column 2"]),
    "one dimension": (npy(np.ones(4)), ["(rounds, n_arms)", "(4,)"]),
    "one arm": (npy(np.ones((5, 1))), ["2 arms", "(5, 1)"]),
    "no rounds": (npy(np.ones((0, 4))), ["1 round", "(0, 4)"]),
    "words": (npy(np.array([["a", "b"]])), ["number"]),
    "pickled": (npy(np.array([[0.5, None]], dtype=object), allow_pickle=True), ["numpy.save"]),
    "cut off": (npy(np.ones((9, 4)))[:-8], ["numpy.save"]),
    "cut off in its header": (npy(np.ones((9, 4)))[:20], ["numpy.save"]),
    "a number too large for float64": (npy(np.full((2, 2), np.longdouble("1e4000"))), ["row 1, column 1"]),
    "a whole npz": (npz(np.ones((9, 4))), ["numpy.save"]),
    "numbers behind the end": (npy(np.ones((9, 4))) + b"\0" * 8, ["296 bytes", "(9, 4)"]),
    "a giant shape": (header("(1000000000000, 4)"), ["8 bytes", "(1000000000000, 4)"]),
    "a shape beyond int64": (header(f"({10**60}, 4)"), ["8 bytes"]),
    "a negative shape": (header("(-1, 4)"), ["(-1, 4)"]),
    "a deep header": (header("(" * 3000 + ")" * 3000), ["numpy.save"]),
    "a header that is no literal": (header("(__import__('os').getpid(), 1)"), ["numpy.save"]),
    "version 3": (npy(np.ones((2, 2)))[:6] + b"\x03" + npy(np.ones((2, 2)))[7:], ["numpy.save"]),
    "empty file": (b"", ["numpy.save"]),
}


@pytest.mark.parametrize(("data", "words"), ARRAYS.values(), ids=ARRAYS.keys())
def test_wrong_npy_files_are_refused(tmp_path, data, words):
    path = tmp_path / "gains.npy"
    path.write_bytes(data)
    refused_by_name(path, *words)


def test_a_header_that_claims_a_giant_takes_no_memory(tmp_path):
    path = tmp_path / "gains.npy"
    path.write_bytes(header(f"({2**28}, 4)"))
    with no_more_memory_than(2**20):
        refused_by_name(path)

    # A pickle is never run.
    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("exploded").touch, ())

    path = tmp_path / "gains.npy"
    path.write_bytes(npy(np.array([[Bomb(), Bomb()]], dtype=object), allow_pickle=True))
    refused_by_name(path)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.thorough
def test_a_small_file_that_grows_without_end_takes_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_TEXT_BYTES", 2**24)
    path = tmp_path / "gains.csv.gz"
    path.write_bytes(gzip.compress(bytes(2**20)) * 17)
    with no_more_memory_than(2**22):
        refused_by_name(path, f"{2**24:,} bytes", ".npy")


UNREADABLE = {
    "binary garbage as csv": ("gains.csv", bytes(range(256)), ["line 3", "UTF-8"]),
    "binary garbage as gz": ("gains.csv.gz", bytes(range(256)), ["gzip"]),
    "gz cut off": ("gains.csv.gz", gzip.compress(b"0.5,0.5\n" * 1000)[:-12], ["gzip"]),
    "gz with a wrong checksum": ("gains.csv.gz", gzip.compress(b"0.5,0.5\n" * 9)[:-6] + b"\xff" * 6, ["gzip"]),
}


@pytest.mark.parametrize(("name", "data", "words"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_unreadable_text_is_refused(tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    refused_by_name(tmp_path / name, *words)


@pytest.mark.parametrize("name", ["gains.txt", "gains", "gains.npy.gz", "gains.feather", "gains.csv.bz2", "gains.CSV"])
def test_another_ending_is_refused(tmp_path, name):
    (tmp_path / name).write_text("0.5,0.5\n", encoding="utf-8")
    for persons in (None, "person"):
        refused_by_name(tmp_path / name, ".npy", ".csv", ".csv.gz", "not read", repr(name), persons=persons)
    if "." in name:
        with refused(ValueError, ".csv.gz", "not read", repr(name)):
            play(name, "Uniform")


WRONG_ARRAYS = {
    "gain above 1": ([[0.5, 0.5], [0.5, 2.0]], ["gains", "[0, 1]", "row 2, column 2"]),
    "NaN": ([[0.5, np.nan]], ["row 1, column 2"]),
    "ragged": ([[0.5, 0.5], [0.5]], ["row"]),
    "word": ([[0.5, "high"]], ["number"]),
    "empty": ([], ["(0,)"]),
}


@pytest.mark.parametrize(("table", "words"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS.keys())
def test_wrong_arrays_are_refused(table, words):
    with refused(GainFileError, *words):
        Replay(table)


ONE_THING = {
    "text": ("abc", "received a str"),
    "path in an array": (np.array("gains.csv"), "a str or a Path"),
    "bytes": (b"abc", "bytes"),
    "None in an array": (np.array(None), "(rounds, n_arms)"),
    "number": (0.5, "received a float"),
    "columns in a dict": ({"a": [0.5], "b": [0.5]}, "DataFrame"),
    "one record": (np.array((1, 0.5), [("arm", int), ("gain", float)]), "records"),
    "one row with names": (np.array((1, 0.5), [("a", float), ("b", float)]), "shape ()"),
    "rows of rows with names": (np.zeros((2, 3), [("a", float), ("b", float)]), "shape (2, 3)"),
}


@pytest.mark.parametrize(("table", "word"), ONE_THING.values(), ids=ONE_THING.keys())
def test_what_is_no_table_is_refused_at_every_door(table, word):
    """Most ended in an AttributeError; rows of rows were played as a table of six arms."""
    doors = [GainTable, VectorTable]
    if not isinstance(table, str):
        doors += [Replay, lambda gains: gym.make("DPBandit-Replay-v0", gains=gains)]
    for door in doors:
        with refused(GainFileError, *([word] if door in (GainTable, VectorTable) else [])):
            door(table)


@pytest.mark.parametrize("pools", ["abc", np.array("abc"), 5, None])
def test_what_is_no_list_of_pools_is_refused(pools):
    with refused(WrongTypeError, "pools", "each arm"):
        OutcomePools(pools)


def test_a_number_out_of_range_is_not_shown_as_it_may_be_private(tmp_path):
    table, recorded = ([[0.5, 0.5], [0.5, 1.23456789]], "arm,gain\n0,0.5\n1,1.23456789\n")
    for given in (table, write(tmp_path / "a.csv", "0.5,1.23456789\n"), write(tmp_path / "b.csv", recorded)):
        with pytest.raises(GainFileError) as caught:
            Replay(given)
        assert "1.23456789" not in str(caught.value)
