"""The suite itself: its helper for errors, its costly tests, its names, and its chances of false alarms."""

import ast
import collections
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.refusals import missing, refused


def test_a_word_is_found_wherever_it_stands_and_a_part_of_one_is_not():
    text = "Ucb: arm must be in [0, 3]; received -1. Use math.inf, --out or 'a b'; nan"
    assert missing(text, "arm", "[0, 3]", "-1", -1, "Ucb", "math.inf", "--out", "'a b'", math.nan) == []
    parts = (1, 10, "rm", "tau", "inf", 2, 1000)
    assert missing("arms -1 10.5 EXP3-tau math.inf 2.5 1000,5", *parts) == [*map(str, parts)]


def test_a_refusal_has_the_type_and_names_every_word():
    with refused(ValueError, "arm", 3) as caught:
        raise ValueError("arm 3")
    assert caught.type is ValueError
    with pytest.raises(AssertionError, match="epsilon"), refused(ValueError, "arm", "epsilon"):
        raise ValueError("arm 3")
    with pytest.raises(TypeError), refused(ValueError):
        raise TypeError
    with pytest.raises(pytest.fail.Exception), refused(ValueError):
        pass


TESTS = Path(__file__).parent
ALL = [
    f"{path.relative_to(TESTS.parent).as_posix()}::{name}"
    for path in sorted(TESTS.rglob("test_*.py"))
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
]


def thorough_tests():
    """Return the names of the tests that `make quick` leaves out, as in `ALL`."""
    return [
        f"{path.relative_to(TESTS.parent).as_posix()}::{node.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and "pytest.mark.thorough" in map(ast.unparse, node.decorator_list)
    ]


@pytest.mark.thorough
def test_every_part_keeps_most_of_its_tests():
    """Otherwise `make quick` would say nothing of that part."""
    all_of, left_out = (
        collections.Counter(str(Path(name).parent) for name in names) for names in (ALL, thorough_tests())
    )
    assert len(all_of) > 12 and left_out.total() > 100
    assert [part for part in all_of if left_out[part] > all_of[part] / 2] == []


def collected(hash_seed):
    """Return the names of all tests, as a process of its own finds them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "PYTEST_ADDOPTS": ""}
    done = subprocess.run([*command, "tests"], cwd=TESTS.parent, env=environment, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_names_of_tests_are_the_same_in_every_process(request):
    """Parallel workers compare names, and a name with a memory address or from a set's order differs between them."""
    here = [item.nodeid for item in request.session.items]
    # Where the whole suite is run it was collected here, with another hash seed; otherwise a second process tells.
    whole = len(here) > 1000 and request.config.getoption("markexpr") != "slow"
    whole = whole and os.environ.get("PYTHONHASHSEED", "random") == "random"
    first, second = here if whole else collected(1), collected(2)
    # With `-m` this process may have left some out.
    known = set(first if whole else second)
    assert first == [name for name in second if name in known]
    assert [name for name in second if "0x" in name] == []
    assert len(second) == len(set(second)) > 1000


HIGHEST = 1e-4
STATED = re.compile(r"False alarm: (?:below |at most )?(none|[\d.]+(?:e-\d+)?)")
WORDS = re.compile(
    r"allow (four|five|six)|(four|five|six) (of (them|those|each)|(combined )?standard (errors|deviations))"
)


def spreads(node):
    """Return whether an expression contains a number of standard errors: `5 * error`, `5 * math.sqrt(...)`."""
    for product in ast.walk(node):
        if not (isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult)):
            continue
        factor = product
        while isinstance(factor, ast.BinOp):
            factor = factor.left
        if isinstance(factor, ast.Constant) and factor.value in (3, 4, 5, 5.5, 6, 7):
            words = set(re.findall(r"\w+", ast.unparse(product)))
            if words & {"sqrt", "hypot", "error", "spread", "std", "sigma"}:
                return True
    return False


def statistical(function):
    """Return whether a test or helper has a tolerance that comes from a standard error."""
    asserts = [each for each in ast.walk(function) if isinstance(each, ast.Assert)]
    compares = [part for each in asserts for part in ast.walk(each.test) if isinstance(part, ast.Compare)]
    compares = [part for part in compares if not any(isinstance(kind, (ast.Eq, ast.NotEq)) for kind in part.ops)]
    tails = {"ppf", "sf", "pvalue", "kstest", "ks_2samp", "chisquare"}
    names = {getattr(part, "attr", getattr(part, "id", "")) for each in asserts for part in ast.walk(each)}
    return bool(
        (asserts and WORDS.search(ast.get_docstring(function) or "")) or any(map(spreads, compares)) or names & tails
    )


def functions(text):
    return [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)]


FILES = sorted(path for path in TESTS.rglob("*.py") if path.parent.name != "benchmarks" and path.name != "__init__.py")
# What looks like a tolerance and is none: exact numbers by hand, and figures that show errors.
EXACT = {
    "test_the_interval_is_that_of_the_difference",
    "test_lower_bound_by_hand",
    "test_thirty_three_leagues_are_enough_at_the_rates_of_the_binomial_law",
}


@pytest.mark.thorough
def test_statistical_tests_state_their_chance_of_a_false_alarm():
    for path in FILES:
        for function in functions(path.read_text(encoding="utf-8")):
            stated = STATED.search(ast.get_docstring(function) or "")
            assert stated or function.name in EXACT or not statistical(function), f"{path.stem}: {function.name}"
            if stated and stated[1] != "none":
                assert float(stated[1]) <= HIGHEST, f"{path.stem}: {function.name}"


@pytest.mark.parametrize(
    "code",
    [
        "assert abs(mean - 2) < 5 * error",
        "assert np.all(np.abs(counts - n * p) < 5 * np.sqrt(n * p * (1 - p)))",
        "assert difference.mean() > 4 * difference.std(ddof=1) / math.sqrt(30)",
        "assert binom.sf(failures - 1, n, chance) > 1e-6",
        "'''Counts have standard deviation sqrt(n) / 2: allow five.'''; assert close(counts)",
    ],
)
def test_a_tolerance_from_a_standard_error_is_recognised(code):
    (function,) = functions(f"def test():\n    {code}")
    assert statistical(function)
