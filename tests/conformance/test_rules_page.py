"""The site's table of conformance rules has every rule of every check, as the source has it."""

import re

from tests.docs.test_generated_pages import rule_tables

SECTIONS = dict(re.findall(r"^## `?([\w ]+?)`?\n(.*?)(?=^##|\Z)", rule_tables.page(), re.MULTILINE | re.DOTALL))


def test_the_table_has_rules_of_every_kind():
    """A sentence of each check that the reader may meet, written as in the error."""
    plain = {title: body.replace("\\", "") for title, body in SECTIONS.items()}
    assert "| begin must forget the game before |" in plain["check_agent"]
    assert "| gains must be in [..., 1], and not NaN |" in plain["check_adversary"]
    assert "| a step must not fail |" in plain["check_wrapper"]
    assert "| a regret bound must not fail |" in plain["check_algorithm"]
    assert (
        "| ... must play the same games by play and by simulate (...), to the last bit |"
        in plain["Asked by all of them"]
    )
    assert sum(body.count("\n| ") for body in SECTIONS.values()) > 120


def test_every_file_with_rules_is_among_them():
    known = {module for modules in rule_tables.MODULES.values() for module in modules}
    assert {path.stem for path in rule_tables.FOLDER.glob("*.py") if rule_tables.rules_of(path.stem)} == known
