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
from dp_bandit_envs.adversaries import OutcomePools, Replay, Trial
from dp_bandit_envs.errors import GainFileError
from dp_bandit_envs.files import MOST_TEXT_BYTES
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


def test_an_array_is_played_row_by_row():
    assert gains_of(Replay(np.array(TABLE))).tolist() == TABLE
    assert gains_of(Replay(TABLE)).tolist() == TABLE


def test_an_npy_file_is_played_row_by_row(tmp_path):
    np.save(tmp_path / "gains.npy", TABLE)
    assert gains_of(Replay(tmp_path / "gains.npy")).tolist() == TABLE
    assert gains_of(Replay(str(tmp_path / "gains.npy"))).tolist() == TABLE


def test_an_npy_file_of_whole_numbers_is_played_as_gains(tmp_path):
    np.save(tmp_path / "gains.npy", np.array([[0, 1], [1, 0]]))
    assert gains_of(Replay(tmp_path / "gains.npy")).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("name", ["gains.csv", "gains.csv.gz", "trial.2.csv", "trial.2.csv.gz"])
@pytest.mark.parametrize("first_line", ["", "control,treatment\n", '"arm 1","arm 2, high dose"\n'])
def test_a_csv_table_is_played_row_by_row_with_and_without_names(tmp_path, name, first_line):
    assert gains_of(Replay(write(tmp_path / name, first_line + WIDE))).tolist() == TABLE


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + WIDE,  # a byte order mark, as spreadsheets write
        "\ufeffa,b\n" + WIDE,
        "\n\n" + WIDE.replace("\n", "\n\n") + "\n",  # blank lines
        WIDE.replace("\n", "\r\n"),
        WIDE.rstrip("\n"),
        WIDE.replace(",", " , "),
        '"0.25","1"\n5e-1,0.0\n.125,75e-2\n',
    ],
    ids=["BOM", "BOM and names", "blank lines", "CRLF", "no last line end", "spaces", "other spellings"],
)
def test_a_csv_table_may_be_written_in_other_ways(tmp_path, text):
    assert gains_of(Replay(write(tmp_path / "gains.csv", text))).tolist() == TABLE


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
@pytest.mark.parametrize(
    "text",
    [LONG, "\ufeff" + LONG, LONG.replace("\n", "\n\n"), "gain,arm\n0.75,1\n0.25,0\n0.5,1\n1,0\n0,0\n"],
    ids=["as documented", "BOM", "blank lines", "columns swapped"],
)
def test_recorded_gains_become_one_pool_for_each_arm(tmp_path, name, text):
    adversary = Replay(write(tmp_path / name, text))
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


def test_a_shorter_horizon_plays_the_first_rows():
    assert gains_of(Replay(TABLE, horizon=2)).tolist() == TABLE[:2]


def test_a_table_cannot_be_played_beyond_its_end():
    with refused(ValueError, "horizon", 3, 4):
        Replay(TABLE, horizon=4)


@pytest.mark.parametrize("horizon", [0, -1, 1.5, "2", True])
def test_horizon_must_be_a_number_of_rounds(horizon):
    with refused(ValueError, "horizon", 1, repr(horizon)):
        Replay(TABLE, horizon=horizon)


def test_left_out_gains_are_the_trials_outcomes():
    np.testing.assert_array_equal(gains_of(Replay()), gains_of(Trial()))
    assert Replay(horizon=10).horizon == 10


def test_the_users_array_is_copied():
    table = np.array(TABLE)
    adversary = Replay(table)
    table[:] = 0.0
    assert gains_of(adversary).tolist() == TABLE


def test_a_file_can_be_played_through_gym_make(tmp_path):
    path = write(tmp_path / "gains.csv", WIDE)
    env = gym.make("DPBandit-Replay-v0", gains=str(path))
    env.reset(seed=0)
    assert [env.step(arm)[1] for arm in (0, 1, 1)] == [0.25, 0.0, 0.75]


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
    "gain below 0": ("-0.1,0.5\n", ["line 1, column 1"]),
    "NaN": ("a,b\n0.5,0.5\n0.5,nan\n", ["line 3, column 2"]),
    "infinity": ("0.5,inf\n", ["line 1, column 2", "in [0, 1]"]),
    "not a number": ("0.5,0.5\n0.5,high\n", ["line 2, column 2"]),
    "missing gain": ("0.5,0.5\n,0.5\n", ["line 2, column 1"]),
    "decimal commas": ("a,b,c\n0,5;0,5\n", ["line 2, column 2"]),
    "ragged, too short": ("0.5,0.5,0.5\n0.5,0.5\n", ["line 2", "3 columns", "received 2"]),
    "ragged, too long": ("0.5,0.5\n0.5,0.5,0.5\n", ["line 2", "2 columns", "received 3"]),
    "ragged after blank lines": ("\n\n0.5,0.5\n\n0.5\n", ["line 5", "2 columns", "received 1"]),
    "one column": ("0.5\n0.5\n", ["line 1", "2", "received 1", "'arm,gain'"]),
    "empty file": ("", ["line"]),
    "blank lines only": ("\n\n\n", ["line"]),
    "names only": ("a,b\n", ["line", "names"]),
    "digits of another alphabet": ("0.5,0.5\n٠.٥,0.5\n", ["line 2, column 1"]),
    "underscores as Python reads them": ("0.5,0.5\n0.0_5,0.5\n", ["line 2, column 1"]),
    "a field without end": ('0.5,0.5\n"0.5,' + "0.5,\n" * 30_000, ["line", "131,072"]),
    "two lines of names": ("a,b\nunit,unit\n0.5,0.5\n", ["line 2, column 1"]),
}


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize(("text", "words"), TABLES.values(), ids=TABLES.keys())
def test_wrong_tables_are_refused_with_line_and_column(tmp_path, text, words, suffix):
    path = tmp_path / f"gains{suffix}"
    path.write_bytes(gzip.compress(text.encode()) if suffix == ".csv.gz" else text.encode())
    refused_by_name(path, *words)


@pytest.mark.parametrize("first_line", ["0.5,,0.25", "0.5,high,0.25", "n/a,0.5,0.5"])
def test_a_first_line_with_a_number_and_a_gap_is_not_taken_for_names(tmp_path, first_line):
    """Taken for names, the first round would be dropped without a word."""
    path = tmp_path / "gains.csv"
    path.write_text(f"{first_line}\n0.1,0.2,0.3\n", encoding="utf-8")
    refused_by_name(path, "line 1", "column")


RECORDED = {
    "wrong column": ("arm,reward\n0,0.5\n", ["line 1", "'arm'", "'gain'", "'reward'"]),
    "one column too many": ("patient,arm,gain\n7,0,0.5\n", ["line 1", "'patient'", "'arm'", "'gain'"]),
    "a column twice": ("arm,gain,gain\n0,0.5,0.5\n", ["line 1", "'arm', 'gain', 'gain'"]),
    "gain above 1": ("arm,gain\n0,0.5\n1,2\n", ["line 3, column 2", "in [0, 1]"]),
    "gain above 1, columns swapped": ("gain,arm\n0.5,0\n2,1\n", ["line 3, column 1"]),
    "NaN": ("arm,gain\n0,nan\n1,0.5\n", ["line 2, column 2"]),
    "not a number": ("arm,gain\n0,good\n1,0.5\n", ["line 2, column 2"]),
    "missing gain": ("arm,gain\n0,\n1,0.5\n", ["line 2, column 2"]),
    "negative arm": ("arm,gain\n-1,0.5\n", ["line 2, column 1 ('arm')"]),
    "half an arm": ("arm,gain\n0,0.5\n0.5,0.5\n", ["line 3, column 1 ('arm')"]),
    "an arm by name": ("arm,gain\nplacebo,0.5\n", ["line 2, column 1 ('arm')"]),
    "a superscript": ("arm,gain\n²,0.5\n", ["line 2, column 1 ('arm')"]),
    "a digit of another alphabet": ("arm,gain\n0,0.5\n٣,0.5\n", ["line 3, column 1 ('arm')"]),
    "missing arm": ("arm,gain\n,0.5\n", ["line 2, column 1 ('arm')"]),
    "arm left out": ("arm,gain\n0,0.5\n2,0.5\n", ["column 1 ('arm')", "[0, 2]"]),
    "arms from 1": ("arm,gain\n1,0.5\n2,0.5\n", ["column 1 ('arm')", "[1, 2]"]),
    "one arm": ("arm,gain\n0,0.5\n0,0.25\n", ["column 1 ('arm')", "2", "[0]"]),
    "ragged": ("arm,gain\n0,0.5\n1\n", ["line 3", "2 columns", "received 1"]),
    "names only": ("arm,gain\n", ["arm"]),
}


@pytest.mark.parametrize(("text", "words"), RECORDED.values(), ids=RECORDED.keys())
def test_wrong_recorded_gains_are_refused_with_line_and_column(tmp_path, text, words):
    path = tmp_path / "log.csv"
    path.write_text(text, encoding="utf-8")
    refused_by_name(path, *words)


def test_an_arm_of_five_thousand_digits_is_refused_like_any_other(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(f"arm,gain\n0,0.5\n{'9' * 5000},0.5\n", encoding="utf-8")
    refused_by_name(path, "arm")


ARRAYS = {
    "gain above 1": (npy(np.array([[0.5, 0.5], [1.5, 0.5]])), ["row 2, column 1", "[0, 1]"]),
    "NaN": (npy(np.array([[0.5, np.nan]])), ["row 1, column 2"]),
    "one dimension": (npy(np.ones(4)), ["(rounds, n_arms)", "(4,)"]),
    "three dimensions": (npy(np.ones((2, 2, 2))), ["(2, 2, 2)"]),
    "one arm": (npy(np.ones((5, 1))), ["2 arms", "(5, 1)"]),
    "no rounds": (npy(np.ones((0, 4))), ["1 round", "(0, 4)"]),
    "words": (npy(np.array([["a", "b"]])), ["number"]),
    "records": (npy(np.zeros(3, [("a", float), ("b", float)])), ["number"]),
    "pickled": (npy(np.array([[0.5, None]], dtype=object), allow_pickle=True), ["numpy.save"]),
    "cut off": (npy(np.ones((9, 4)))[:-8], ["numpy.save"]),
    "cut off in its header": (npy(np.ones((9, 4)))[:20], ["numpy.save"]),
    "complex": (npy(np.ones((2, 2), complex)), ["complex128"]),
    "dates": (npy(np.zeros((2, 2), "datetime64[s]")), ["datetime64[s]"]),
    "a number too large for float64": (npy(np.full((2, 2), np.longdouble("1e4000"))), ["row 1, column 1"]),
    "zip magic": (b"PK\x03\x04" + npy(np.ones((9, 4)))[4:], ["numpy.save"]),
    "a whole npz": (npz(np.ones((9, 4))), ["numpy.save"]),
    "numbers behind the end": (npy(np.ones((9, 4))) + b"\0" * 8, ["296 bytes", "(9, 4)"]),
    "a giant shape": (header("(1000000000000, 4)"), ["8 bytes", "(1000000000000, 4)"]),
    "a shape beyond int64": (header(f"({10**60}, 4)"), ["8 bytes"]),
    "a shape of 5,000 digits": (header(f"({'9' * 5000}, 4)"), ["numpy.save"]),
    "a negative shape": (header("(-1, 4)"), ["(-1, 4)"]),
    "two negatives": (header("(-1, -1)"), ["(-1, -1)"]),
    "no rounds of many arms": (header("(0, 1000000000000)", b""), ["1 round"]),
    "a deep header": (header("(" * 3000 + ")" * 3000), ["numpy.save"]),
    "a header that is no literal": (header("(__import__('os').getpid(), 1)"), ["numpy.save"]),
    "a type of no size": (header("(4, 2)", b"", "|V0"), ["number"]),
    "version 3": (npy(np.ones((2, 2)))[:6] + b"\x03" + npy(np.ones((2, 2)))[7:], ["numpy.save"]),
    "empty file": (b"", ["numpy.save"]),
    "binary garbage": (bytes(range(256)), ["numpy.save"]),
    "text": (b"0.5,0.5\n", ["numpy.save"]),
}


@pytest.mark.parametrize(("data", "words"), ARRAYS.values(), ids=ARRAYS.keys())
def test_wrong_npy_files_are_refused(tmp_path, data, words):
    path = tmp_path / "gains.npy"
    path.write_bytes(data)
    refused_by_name(path, *words)


@pytest.mark.parametrize("kind", ["float16", "float32", "longdouble", "bool", "uint8", ">f8", ">i2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files_of_every_kind_of_number_are_read(tmp_path, kind, order):
    table = np.array([[0, 1, 1], [1, 0, 0]])
    path = tmp_path / "gains.npy"
    path.write_bytes(npy(np.array(table, dtype=kind, order=order)))
    adversary = Replay(path)
    adversary.begin(np.random.default_rng(0))
    np.testing.assert_array_equal(adversary.next_gains(2), table)


def test_a_header_that_claims_a_giant_takes_no_memory(tmp_path):
    path = tmp_path / "gains.npy"
    path.write_bytes(header(f"({2**28}, 4)"))
    with no_more_memory_than(2**20):
        refused_by_name(path)


def test_a_small_file_that_grows_without_end_takes_little_memory(tmp_path):
    path = tmp_path / "gains.csv.gz"
    path.write_bytes(gzip.compress(bytes(2**20)) * (MOST_TEXT_BYTES // 2**20 + 1))
    with no_more_memory_than(2**22):
        refused_by_name(path, f"{MOST_TEXT_BYTES:,} bytes", ".npy")


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
    "UTF-16": ("gains.csv", "0.5,0.5\n".encode("utf-16"), ["line 1", "UTF-16", "UTF-8"]),
    "UTF-16 without its mark": ("gains.csv", "0,1\n0,1\n".encode("utf-16-le"), ["line 1", "NUL", "UTF-8"]),
    "Latin-1": ("gains.csv", "a,b\n0.5,0.5\ncafé,1\n".encode("latin-1"), ["line 3", "Latin-1", "UTF-8"]),
    "NUL": ("gains.csv", b"a,b\r\n0.5,0.5\r0.5,0\0.5\n", ["line 3", "NUL"]),
    "binary garbage as gz": ("gains.csv.gz", bytes(range(256)), ["gzip"]),
    "plain text as gz": ("gains.csv.gz", b"0.5,0.5\n0.5,0.5\n", ["gzip"]),
    "gz cut off": ("gains.csv.gz", gzip.compress(b"0.5,0.5\n" * 1000)[:-12], ["gzip"]),
    "gz with a wrong checksum": (
        "gains.csv.gz",
        gzip.compress(b"0.5,0.5\n" * 1000)[:-6] + b"\xff" * 6,
        ["gzip"],
    ),
    "gz damaged in the middle": ("gains.csv.gz", gzip.compress(b"0.5,0.5\n")[:10] + b"\xff" * 20, ["gzip"]),
    "gz of binary garbage": ("gains.csv.gz", gzip.compress(bytes(range(256))), ["line 3", "UTF-8"]),
}


@pytest.mark.parametrize(("name", "data", "words"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_unreadable_text_is_refused(tmp_path, name, data, words):
    (tmp_path / name).write_bytes(data)
    refused_by_name(tmp_path / name, *words)


def test_a_missing_file_is_refused(tmp_path):
    refused_by_name(tmp_path / "nowhere.csv")


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    refused_by_name(tmp_path / "folder.csv")


@pytest.mark.parametrize("name", ["gains.txt", "gains.xlsx", "gains", "gains.gz", "gains.npy.gz", "gains.csv.zip"])
def test_another_ending_is_refused(tmp_path, name):
    (tmp_path / name).write_text("0.5,0.5\n", encoding="utf-8")
    refused_by_name(tmp_path / name, ".npy", ".csv", ".csv.gz", repr(name))


WRONG_ARRAYS = {
    "gain above 1": ([[0.5, 0.5], [0.5, 2.0]], ["gains", "[0, 1]", "row 2, column 2"]),
    "gain below 0": ([[0.5, -0.25]], ["row 1, column 2"]),
    "NaN": ([[0.5, np.nan]], ["row 1, column 2"]),
    "ragged": ([[0.5, 0.5], [0.5]], ["row"]),
    "word": ([[0.5, "high"]], ["number"]),
    "empty": ([], ["(0,)"]),
    "flat": ([0.5, 0.5], ["(2,)"]),
    "one arm": ([[0.5], [0.5]], ["(2, 1)"]),
}


@pytest.mark.parametrize(("table", "words"), WRONG_ARRAYS.values(), ids=WRONG_ARRAYS.keys())
def test_wrong_arrays_are_refused(table, words):
    with refused(GainFileError, *words):
        Replay(table)


def test_a_message_about_an_array_holds_no_gain():
    """An array's gains may be private and its message travels far; files are named by line instead."""
    with pytest.raises(GainFileError) as caught:
        Replay([[0.5, 0.5], [0.5, 7.625]])
    assert "7.625" not in str(caught.value)


@pytest.mark.parametrize("text", ["0.5,1.23456789\n", "arm,gain\n0,0.5\n1,1.23456789\n"])
def test_a_number_out_of_range_is_not_shown_as_it_may_be_private(text, tmp_path):
    file = tmp_path / "gains.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(GainFileError) as caught:
        Replay(file)
    assert "1.23456789" not in str(caught.value)
