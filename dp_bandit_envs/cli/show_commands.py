"""The commands `list`, `show` and `lab`: all names, everything about one, the counters compared, and the labs."""

import importlib
import inspect
import math
import os
import re
import signal
import textwrap
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import gymnasium as gym

from dp_bandit_envs import agents, checks, wrappers
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.algorithms.specs import import_by_name, read_algorithm, read_import, refuse_python_file, short_name
from dp_bandit_envs.cli.options import TABLES
from dp_bandit_envs.cli.terminal import console, say, table_of
from dp_bandit_envs.decisions import DECISION_SETS
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import GAMES, IDS
from dp_bandit_envs.errors import ResultsError
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.counters.table import compare
from dp_bandit_envs.privacy.guarantee import CONVENTION, shown_epsilon
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.typesetting import as_plain_text
from dp_bandit_envs.wrappers import PrivacyBoundary

N_ARMS, HORIZON = 4, 2**18
WIDTH = 80
MEANS = (0.9, 0.6)
"""The means for which bounds of stochastic algorithms are shown."""
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
BASES = ("PrivacyBoundary", "ProjectToSet", "FunctionalAgent")
"""Names of base classes."""


def environments() -> dict[str, Any]:
    """Return the class of each registered id."""
    classes = {}
    for id_ in IDS:
        module, _, name = str(gym.spec(id_).entry_point).partition(":")
        classes[id_] = getattr(importlib.import_module(module), name)
    return classes


def _exported(module: Any) -> dict[str, Any]:
    return {name: getattr(module, name) for name in sorted(set(module.__all__) - set(BASES))}


KINDS: dict[str, Callable[[], Mapping[str, Any]]] = {
    "environment": environments,
    "algorithm": lambda: ALGORITHMS,
    "agent": lambda: _exported(agents),
    "wrapper": lambda: _exported(wrappers),
    "counter": lambda: COUNTERS,
}
"""All named parts, by kind."""


FAMILIES = {
    "exp3_family": "any gains",
    "standard_wrapper": "any gains",
    "ucb_family": "UCB",
    "kl_ucb_family": "KL-UCB",
    "thompson_family": "Thompson",
    "drifting_family": "means change",
    "identification_family": "best arm",
    "hedge_family": "experts",
    "leader_family": "leaders",
    "linear_family": "linear",
}
"""What algorithms have in common, by the module that defines them."""


def list_names(kind: str | None = None) -> list[str]:
    """Return all names by family, on one screen of 24 lines; or a line for each part of one kind.

    No line is longer than 80 characters; a description goes on below.
    """
    if kind in ("lab", "labs"):
        return list_labs()
    if kind is None:
        return _list_all()
    plurals = [f"{singular}s" for singular in KINDS]
    plural = f"{kind}s" if kind in KINDS else checks.known_name("kind", kind, [*plurals, "labs"])
    parts = KINDS[plural.removesuffix("s")]()
    if plural == "environments":
        lines = ["Environments (DPBandit-...-v0)"]
        lines += [_wrapped(first_line(part), f"  {short_name(name):<14} ", 17 * " ") for name, part in parts.items()]
    elif plural == "algorithms":
        lines = [f"Algorithms, with their default guarantees at K = {N_ARMS}, T = {HORIZON:,};", CONVENTION]
        width = max(map(len, parts))
        for name, factory in parts.items():
            level = shown_epsilon(make_algorithm(name).guarantee(n_arms=N_ARMS, horizon=HORIZON))
            lines.append(_wrapped(first_line(factory).partition(": ")[2], f"  {name:<{width}} {level!s:<25} "))
    else:
        lines = [plural.capitalize(), _wrapped(", ".join(parts), "  ", "  ")]
    return [*lines, "", "dp-bandit show NAME says more: parameters, guarantee, bound, source."]


def _list_all() -> list[str]:
    """Return the names of all parts, but for agents, and what lists and shows more of them."""
    families: dict[str, list[str]] = {}
    for name, factory in ALGORITHMS.items():
        families.setdefault(FAMILIES.get(factory.__module__.rpartition(".")[2], "registered"), []).append(name)
    parts = {"Environments": map(short_name, IDS), "Algorithms": (), **families}
    parts |= {"Wrappers": _exported(wrappers), "Counters": COUNTERS}
    lines = []
    for title, names in parts.items():
        indented = f"  {title}" if title in families else title
        lines += _wrapped(", ".join(names), f"{indented:<15} ", 16 * " ").splitlines()
    return [
        *lines,
        "More: dp-bandit list KIND, as algorithms, agents or labs; dp-bandit show NAME.",
    ]


def _wrapped(text: str, start: str, indent: str = "      ") -> str:
    """Return text in lines of at most 80 characters, the first after `start` and the others after `indent`."""
    lines = textwrap.fill(
        text, WIDTH, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    return lines or start.rstrip()  # without a word nothing is filled, not even the start


def list_labs() -> list[str]:
    """Return a line for each lab, and the place of the teacher's pages, in the repository (not installed)."""
    from dp_bandit_envs.course.notebooks import LABS

    width = max(len(lab.name) for lab in LABS)
    lines = [f"{n:>2}  {lab.name:<{width}}  {lab.question} ({lab.minutes} min)" for n, lab in enumerate(LABS, 1)]
    lines += ["", "For teachers, in the repository: examples/labs/README.md, examples/labs/teacher, .../solutions."]
    with resources.as_file(resources.files("dp_bandit_envs.labs")) as folder:
        if (folder / "teacher").is_dir():
            lines.append(f"This clone has them in {folder.resolve()}.")
    return lines


def describe_name(name: str) -> str:
    """Return all facts about a name; for each kind, if several parts share the name."""
    return "\n\n".join(describe(kind, full_name, part) for kind, full_name, part in find_parts(name))


def find_parts(name: str) -> list[tuple[str, str, Any]]:
    """Return kind, name and object of every match for `name`: exact matches, or else matches that ignore case.

    Raises:
        UnknownNameError: If the name is unknown; the message suggests similar names.
    """
    if ":" in name and name.partition(":")[0] not in {*ALGORITHMS, *IDS, *map(short_name, IDS)}:
        return [_import_part(name)]
    if ":" in name:
        raise ValueError(f"show takes a name without parameters, such as {name.partition(':')[0]}; received {name!r}.")
    parts = [(kind, full_name, part) for kind, of_kind in KINDS.items() for full_name, part in of_kind().items()]
    spellings = {spelling: None for _, full_name, _ in parts for spelling in {full_name, short_name(full_name)}}
    refuse_python_file(name)
    wanted = checks.known_name("name", name, [*spellings, "counters"]).lower()
    matches = [one for one in parts if wanted in (one[1].lower(), short_name(one[1]).lower())]
    exact = [one for one in matches if name in (one[1], short_name(one[1]))]
    return exact or matches


def _import_part(text: str) -> tuple[str, str, Any]:
    """Return kind, name and object of `module:Name`.

    Raises:
        ValueError: If the module lacks it, or it cannot be played.
    """
    module, _, name = text.partition(":")
    import_by_name(module)
    if name in GAMES:
        return "environment", name, environments()[name]
    named = read_import(text)
    if named is None or named.parameters:
        raise ValueError(f"show takes a name without parameters, such as mine:Name; received {text!r}.")
    name, imported = named.name, named.imported
    if imported is None:
        return "algorithm", name, ALGORITHMS[name]
    if isinstance(imported, Mechanism):
        return "mechanism", name, imported
    bases = {"environment": Adversary, "mechanism": Mechanism, "wrapper": PrivacyBoundary}
    for kind, base in bases.items():
        if isinstance(imported, type) and issubclass(imported, base):
            return kind, name, imported
    if read_algorithm(imported).factory is None:
        raise ValueError(f"{name} must be an algorithm, an agent, an adversary or a mechanism; received {text!r}.")
    return "agent" if isinstance(imported, type) else "algorithm", name, imported


def describe(kind: str, name: str, part: Any) -> str:
    """Return all facts about a part."""
    # A class without a docstring must not show that of its base class.
    docstring = _filled(plain(inspect.getdoc(part) or "").strip()) if part.__doc__ else ""
    lines = [f"{name}: {kind}", *(["", docstring] if docstring else []), "", "Parameters", *parameters_of(part)]
    facts: dict[str, str] = {}
    if kind == "algorithm":
        facts = _facts_of_algorithm(make_algorithm(name) if name in ALGORITHMS else build_with_defaults(part))
    elif kind in ("wrapper", "mechanism"):
        facts["Guarantee"] = _guarantee_of_noise(name, part)
    elif kind == "counter":
        facts["Guarantee"] = f"epsilon = 1, T = 1,000: {make_counter(name, epsilon=1.0, horizon=1000).guarantee}"
    for title, text in facts.items():
        lines += ["", title, *(_wrapped(line, "  ", "  ") for line in text.splitlines())]
    return "\n".join(lines)


def parameters_of(part: Any) -> list[str]:
    """Return a line for each parameter, with its default."""
    if isinstance(part, (Algorithm, Mechanism)):
        return ["  none"]
    lines = []
    for key, parameter in inspect.signature(part).parameters.items():
        if key in ("label", "env", "rng") or parameter.kind in VARIADIC:
            continue
        lines.append(f"  {key}" + ("" if parameter.default is parameter.empty else f" = {parameter.default!r}"))
    return lines or ["  none"]


def first_line(part: Any) -> str:
    """Return the first line of a docstring."""
    return plain(inspect.getdoc(part) or "").split("\n", 1)[0]


def build_with_defaults(part: Any) -> Algorithm:
    """Return the algorithm that an object is, or that a function makes: at epsilon 1, if it has no default."""
    spec = read_algorithm(part)
    assert spec.factory is not None
    return spec.factory(**{key: 1.0 if key == "epsilon" else 1e-6 for key in spec.needed})


def _facts_of_algorithm(algorithm: Algorithm) -> dict[str, str]:
    size = {"n_arms": N_ARMS, "horizon": HORIZON}
    holds, claimed = algorithm.guarantee(**size), algorithm.paper_guarantee(**size)
    at = f"K = {N_ARMS}, T = {HORIZON:,}"
    external = algorithm.regret_bound(**size)
    pseudo = algorithm.pseudo_regret_bound(means=MEANS, horizon=HORIZON)
    pair = f"means {MEANS[0]:g} and {MEANS[1]:g}"
    bounds = [
        f"{kind}: {bound:,.1f} at most"
        for kind, bound in (
            (f"external regret against an oblivious adversary, {at}", external),
            (f"pseudo-regret with {pair}, T = {HORIZON:,}", pseudo),
        )
        if bound < math.inf
    ]
    paper = f"the paper's figure: epsilon = {claimed.epsilon:.6g}" + (
        f", delta = {claimed.delta:.3g}" if claimed.delta else ""
    )
    games = _games_of(algorithm)
    least = algorithm.sample_lower_bound(means=MEANS)
    return {
        **({"Games": games} if games else {}),
        "Guarantee": f"with the defaults, {at}: {shown_epsilon(holds)} ({CONVENTION})"
        + ("" if holds.model == "none" else f"\n{holds.scope()}")
        + ("" if holds == claimed else f"\n{paper}"),
        "It covers": holds.covers,
        "Layer by layer": "\n".join(holds.steps),
        "Regret bound": "\n".join(bounds) or "none with explicit constants is known",
        **(
            {} if algorithm.sample_bound is None else {"Rounds until stop": f"coins with {pair}: {least:,.1f} at least"}
        ),
        **({"Source": algorithm.reference} if algorithm.reference else {}),
    }


def _games_of(algorithm: Algorithm) -> str:
    """Return the kinds of games of an algorithm, one per line; empty for all games with arms."""
    lines = []
    if algorithm.make_agent is not None and algorithm.feedback == "full":
        lines.append("only those that reveal all gains: DPBandit-Experts-v0, or DPBandit-Graph-v0 with graph=complete")
    elif algorithm.make_agent is not None and algorithm.make_point_agent is not None:
        lines.append("all with arms")
    if algorithm.make_point_agent is not None:
        sets = ", ".join(f"DPBandit-{name.capitalize()}-v0" for name in algorithm.decision_sets or DECISION_SETS)
        lines.append(f"points, with feedback='{'bandit' if algorithm.feedback == 'payoff' else 'full'}': {sets}")
    return "\n".join(lines)


def _guarantee_of_noise(name: str, part: Any) -> str:
    """Return the guarantee of a wrapper, or of a mechanism, with the arguments of its `example`."""
    game = BanditEnv(Stochastic(N_ARMS, HORIZON))
    if isinstance(part, Mechanism):
        return str(PrivacyBoundary(game, part).guarantee)
    signature = {key: one for key, one in inspect.signature(part).parameters.items() if key != "env"}
    example = getattr(MECHANISMS.get(name, part), "example", Mechanism.example)
    arguments = {key: argument for key, argument in example.items() if key in signature}
    needed = [key for key, one in signature.items() if one.default is one.empty and one.kind not in VARIADIC]
    if missing := [f"{key!r}: ..." for key in needed if key not in arguments]:
        return f"to see it here, write arguments into the class: example = {{{', '.join(missing)}}}"
    env = PrivacyBoundary(game, part(**arguments)) if issubclass(part, Mechanism) else part(game, **arguments)
    written = ", ".join(f"{key} = {argument}" for key, argument in arguments.items())
    return f"{written}{': ' if written else ''}{env.guarantee}"


def plain(text: str) -> str:
    """Return a docstring without the roles of Sphinx, and with formulas as a terminal shows them."""
    text = re.sub(r":math:`([^`]*)`", lambda match: as_plain_text(match[1]), text)
    block = re.compile(r"^( *)\.\. math:: ?(.*(?:\n\1 +\S.*)*)", re.MULTILINE)
    text = block.sub(lambda match: f"{match[1]}    {as_plain_text(match[2])}", text)
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text)


def _filled(docstring: str) -> str:
    """Return a docstring in lines of at most 80 characters, each paragraph and each argument on its own."""
    items: list[list[str]] = []
    for line in docstring.splitlines():
        last = items[-1][-1] if items else ""
        ends = (
            not line.strip() or not last.strip() or re.match(r" *(\w+:$|#|>>>)", last) or _indent(line) < _indent(last)
        )
        if ends or re.match(r" +[\w, ]+: | *(- |>>>)", line):
            items.append([line])
        else:
            items[-1].append(line)
    return "\n".join(map(_filled_item, items))


def _filled_item(lines: list[str]) -> str:
    text, indent = " ".join(map(str.strip, lines)), _indent(lines[0])
    hanging = max(_indent(lines[-1]), f"{indent}    " if indent and len(lines) == 1 else indent)
    return lines[0] if ">>>" in text else _wrapped(text, indent, hanging)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def show_counters(horizon: int, epsilon: float, delta: float | None, out: Path | None) -> None:
    """Print the table, and save the plot if `out` is set."""
    horizon = checks.integer("horizon", horizon, at_least=1)
    if horizon > 2**40:
        raise ValueError(f"horizon must be at most 2^40, about 1e12; received {horizon}.")
    epsilon = checks.greater_than("epsilon", epsilon, 0)
    try:
        rows = compare(horizon, epsilon, None if delta is None else checks.delta(delta))
    except OverflowError:
        raise ValueError(f"epsilon must leave variances that fit a float; received {epsilon!r}.") from None
    privacy = f"epsilon = {epsilon:g}" + (f", delta = {delta:g} for square-root" if delta is not None else "")
    cells = []
    for row in rows:
        needs_horizon = "yes" if row.counter.needs_horizon else "no"
        kind = "pure" if row.counter.guarantee.delta == 0 else "(epsilon, delta)"
        cells.append((row.name, f"{row.mean:,.1f}", f"{row.maximum:,.1f}", needs_horizon, kind))
    title, head = f"Variance of released sums, T = {horizon:,}, {privacy}", ("counter", "mean", "maximum")
    console.print(table_of(title, (*head, "must know T", "guarantee"), cells, head[1:]))
    best = rows[0]
    anytime = next(row for row in rows if not row.counter.needs_horizon)
    console.print(
        f"Smallest mean over t = 1, ..., T: {best.name}; for an unknown horizon, {anytime.name}.", highlight=False
    )
    if out is not None:
        from dp_bandit_envs.plots.plot_style import as_bytes
        from dp_bandit_envs.plots.privacy_figures import counters_figure

        figure = counters_figure(rows, horizon)
        write_whole(out, as_bytes(figure, out.suffix[1:]))
        console.print(f"See {out}.", highlight=False, soft_wrap=True)


def is_folder_of_results(name: str) -> bool:
    """Return whether a name means a folder: it is a path, or only a folder has this name."""
    if any(separator in name for separator in ("/", os.sep)):
        return True
    known = (spelling for of_kind in KINDS.values() for full in of_kind() for spelling in (full, short_name(full)))
    return Path(name).is_dir() and name.lower() not in {spelling.lower() for spelling in known}


def show_results(folder: Path, out: Path | None, **look: str) -> None:
    """Print the table of a finished folder, and draw its figure in a file or the folder, or write its table in a file.

    The `look` is that of `Comparison.plot`; a band may be `"none"`.
    """
    from dp_bandit_envs.cli.run_commands import print_notes, print_regrets
    from dp_bandit_envs.experiments.comparison import load
    from dp_bandit_envs.experiments.report import CENTRES, View, notes_on
    from dp_bandit_envs.plots.plot_style import as_bytes

    comparison = load(folder)
    settings: dict[str, Any] = {**look, "band": None if look.get("band") == "none" else look.get("band", "ci")}
    measure = look.get("measure", "external_regret")
    file = out or folder / "figure-shown.png"
    content: bytes
    if file.suffix in TABLES:
        drawn = [option for option in ("band", "against", "y_scale") if option in look]
        if drawn:
            raise ValueError(
                f"--{drawn[0].replace('_', '-')} is for a figure; received it with the table {file}. Leave it out."
            )
        wide = file.suffix != ".csv"
        content = f"{comparison.table(TABLES[file.suffix], measure=measure, wide=wide)}\n".encode()
    else:
        content = as_bytes(comparison.plot(**settings), file.suffix[1:])
    print_regrets(comparison, View(measure, CENTRES.get(settings["band"] or "ci", "mean")))
    print_notes(notes_on(comparison))
    try:
        write_whole(file, content)
    except OSError as error:
        raise ResultsError(f"{file} must be writable; {error.strerror}. Name another file with --out.") from None
    say(f"See {file}.")


def open_lab(name: str | None, folder: Path, *, read_only: bool, host: str, port: int | None, headless: bool) -> None:
    """Copy the labs to a folder, and host them until Ctrl-C."""
    from dp_bandit_envs.checks import require
    from dp_bandit_envs.course.notebooks import START_PAGE, copy_labs, find, outdated, served, show_in_browser

    page = find(name).file if name else START_PAGE
    require("marimo", extra="labs")
    copied = copy_labs(folder)
    if copied:
        labs = len(set(copied) - {START_PAGE})
        also = " and the page of all" * (START_PAGE in copied)
        say(f"Copied {labs} lab{'s' * (labs != 1)}{also} to {folder}.")
    for file in outdated(folder):
        say(
            f"{folder / file} is a copy from another version of dp-bandit-envs and does not run with this one: rename"
            " it, give this command again for a new copy, and take your answers over."
        )
    # Else whoever ends this command by a signal leaves marimo running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with served(folder, page, read_only=read_only, host=host, port=port) as (address, process):
        say(f"The labs are open at {address}")
        try:
            console.print("Press Ctrl-C here to close them.", highlight=False)
            if not headless and not show_in_browser(address):
                console.print("There is no browser here: open the address yourself.", highlight=False)
            process.wait()
        except KeyboardInterrupt:
            say(f"\nClosed. Your copies are in {folder}.")
