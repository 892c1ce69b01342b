"""The list of what `make quick` leaves out is true: its tests exist, and every part keeps most of its own."""

import collections
import re
from pathlib import Path

from tests.tools import thorough

TESTS = Path(__file__).parent
ALL = [
    f"{path.relative_to(TESTS.parent).as_posix()}::{name}"
    for path in sorted(TESTS.rglob("test_*.py"))
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
]


def test_listed_tests_exist_once_and_in_order():
    listed = thorough.names()
    assert set(listed) <= set(ALL)
    assert listed == sorted(set(listed))


def test_slow_cases_are_cases_of_tests_that_have_others_or_a_neighbour():
    """A case that was renamed would run in `make test` again, and nobody would see it."""
    listed = thorough.slow_cases()
    assert {thorough.function_of(name) for name in listed} <= set(ALL)
    for name in listed:
        part = thorough.function_of(name).partition("::")[0]
        assert [other for other in ALL if other.startswith(f"{part}::") and other != name], name


def test_every_part_keeps_most_of_its_tests():
    """Otherwise `make quick` would say nothing of that part."""
    all_of, left_out = (
        collections.Counter(str(Path(name).parent) for name in names) for names in (ALL, thorough.names())
    )
    assert len(all_of) > 12
    assert [part for part in all_of if left_out[part] > all_of[part] / 2] == []


def test_the_costliest_tests_are_listed_whatever_their_parameters(tmp_path):
    """Three cases of `b` take 12 of 100 seconds, `a` 84 and `c` 4: the first two take 95 % together."""
    cases = "".join(
        f'<testcase classname="tests.x.test_y" name="{name}" time="{time}"/>'
        for name, time in (("test_c", 4), ("test_b[1]", 4), ("test_b[2]", 4), ("test_a", 84), ("test_b[x[0]]", 4))
    )
    report = tmp_path / "times.xml"
    report.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>", encoding="utf-8")
    assert thorough.costly(report) == ["tests/x/test_y.py::test_a", "tests/x/test_y.py::test_b"]
