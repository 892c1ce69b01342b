"""The table of the rules of conformance, read from their source: the sentences with which an error can begin."""

import ast
import re
from pathlib import Path

from dp_bandit_envs import conformance

FOLDER = Path(conformance.__path__[0])
ARGUMENT = {"require": 1, "same": 1, "must_not_fail": 0, "require_hidden": 0}
"""The place of the rule among the arguments of the functions that report one."""
MODULES = {
    "check_agent": ("agent_rules",),
    "check_adversary": ("adversary_rules",),
    "check_wrapper": ("wrapper_rules", "wrapper_trials", "mechanism_rules"),
    "check_algorithm": ("algorithm_rules",),
    "all of them": ("rules", "trial_games"),
}
"""The files of `dp_bandit_envs/conformance/` in which each check has its rules."""


def rules_of(module: str) -> set[str]:
    """Return the rules of a file as they are written there, with ... for what is put in."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named.setdefault(node.targets[0].id, []).append(node.value)
    rules = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ARGUMENT):
            continue
        rule = node.args[ARGUMENT[node.func.id]]
        choices = named.get(rule.id, []) if isinstance(rule, ast.Name) else [rule]
        choices = [
            text for node in choices for text in ([node.body, node.orelse] if isinstance(node, ast.IfExp) else [node])
        ]
        ending = " must not fail" if node.func.id == "must_not_fail" else ""
        rules |= {written(one) + ending for one in choices if isinstance(one, (ast.Constant, ast.JoinedStr, ast.BinOp))}
    # What only passes on another one's rule.
    return {rule for rule in rules if rule.strip(". ,") and rule != "with ..., ..."}


def written(node: ast.expr) -> str:
    """Return a text as it is written in the source, with ... for what is put in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)
    if isinstance(node, ast.BinOp):
        return written(node.left) + written(node.right)
    return "..."


def page() -> str:
    """Return the page: a table for each check."""
    lines = [
        "# Rules of conformance",
        "Made from the code: the words with which an error of each [check](../conformance.md) begins, with ... for"
        " names and numbers.",
    ]
    for check, modules in MODULES.items():
        rules = sorted(set().union(*map(rules_of, modules)), key=lambda rule: rule.lstrip(". ").lower())
        title = "Asked by all of them" if check == "all of them" else f"`{check}`"
        lines += [f"## {title}", "\n".join(["| rule |", "| --- |", *(f"| {_cell(rule)} |" for rule in rules)])]
    return "\n\n".join(lines) + "\n"


def _cell(rule: str) -> str:
    return re.sub(r"([\\|\[\]*<>{}])", r"\\\1", rule)
