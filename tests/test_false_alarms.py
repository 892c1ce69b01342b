"""Tests whose verdict rests on random draws say how often a correct program would fail them."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
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
    "test_the_stated_rates_are_those_of_the_binomial_law",
}


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
