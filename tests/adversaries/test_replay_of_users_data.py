"""The user's own data as a game: each accepted form of file gives its gains; an error names file, line and rule."""

import contextlib
import gzip
import io
import re
import tracemalloc

import gymnasium as gym
import numpy as np
import pytest

import dp_bandit_envs  # noqa: F401 - registers the ids
from dp_bandit_envs import files
from dp_bandit_envs.adversaries import OutcomePools, Replay, Trial
from dp_bandit_envs.errors import GainFileError
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


def test_left_out_gains_are_the_trials_outcomes():
    np.testing.assert_array_equal(gains_of(Replay()), gains_of(Trial()))
    assert Replay(horizon=10).horizon == 10


# ---- wrong files of gains ------------------------------------------------------------------------------------------


def refused_by_name(path, *words):
    """Assert that `path` is refused with a message that starts with its name and names all the words."""
    with pytest.raises(GainFileError) as caught:
        Replay(path)
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


def test_a_small_file_that_grows_without_end_takes_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_TEXT_BYTES", 2**24)
    path = tmp_path / "gains.csv.gz"
    path.write_bytes(gzip.compress(bytes(2**20)) * 17)
    with no_more_memory_than(2**22):
        refused_by_name(path, f"{2**24:,} bytes", ".npy")


def test_a_pickle_is_never_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (tmp_path.joinpath("exploded").touch, ())

    path = tmp_path / "gains.npy"
    path.write_bytes(npy(np.array([[Bomb(), Bomb()]], dtype=object), allow_pickle=True))
    refused_by_name(path)
    assert not (tmp_path / "exploded").exists()


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


@pytest.mark.parametrize("name", ["gains.txt", "gains", "gains.npy.gz"])
def test_another_ending_is_refused(tmp_path, name):
    (tmp_path / name).write_text("0.5,0.5\n", encoding="utf-8")
    refused_by_name(tmp_path / name, ".npy", ".csv", ".csv.gz", repr(name))


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


def test_a_number_out_of_range_is_not_shown_as_it_may_be_private(tmp_path):
    table, recorded = ([[0.5, 0.5], [0.5, 1.23456789]], "arm,gain\n0,0.5\n1,1.23456789\n")
    for given in (table, write(tmp_path / "a.csv", "0.5,1.23456789\n"), write(tmp_path / "b.csv", recorded)):
        with pytest.raises(GainFileError) as caught:
            Replay(given)
        assert "1.23456789" not in str(caught.value)
