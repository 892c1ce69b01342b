"""What `list`, `show` and `lab` do: every name, everything about one, the counters compared, and the labs."""

import importlib
import inspect
import math
import re
import signal
import textwrap
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import gymnasium as gym
from rich.table import Table

from dp_bandit_envs import agents, checks, wrappers
from dp_bandit_envs.adversaries import Stochastic
from dp_bandit_envs.adversaries.adversary import Adversary
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.algorithms.specs import algorithm_of, imported, loaded, short_name
from dp_bandit_envs.cli.terminal import console, say
from dp_bandit_envs.decisions import DECISION_SETS
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.envs.registration import GAMES, IDS
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.privacy.counters import COUNTERS, make_counter
from dp_bandit_envs.privacy.counters.table import compare
from dp_bandit_envs.privacy.guarantee import CONVENTION, shown_epsilon
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.privacy.mechanisms import MECHANISMS
from dp_bandit_envs.wrappers import PrivacyBoundary

N_ARMS, HORIZON = 4, 2**18
WIDTH = 80
MEANS = (0.9, 0.6)
"""The means for which bounds of stochastic algorithms are shown."""
BASES = ("PrivacyBoundary", "ProjectToSet", "FunctionalAgent")
"""Names of base classes."""


def environments() -> dict[str, Any]:
    """Return the class of each registered id."""
    found = {}
    for id_ in IDS:
        module, _, name = str(gym.spec(id_).entry_point).partition(":")
        found[id_] = getattr(importlib.import_module(module), name)
    return found


def _exported(module: Any) -> dict[str, Any]:
    return {name: getattr(module, name) for name in sorted(set(module.__all__) - set(BASES))}


KINDS: dict[str, Callable[[], Mapping[str, Any]]] = {
    "environment": environments,
    "algorithm": lambda: ALGORITHMS,
    "agent": lambda: _exported(agents),
    "wrapper": lambda: _exported(wrappers),
    "counter": lambda: COUNTERS,
}
"""All named things, by kind."""


def listed(kind: str | None = None) -> list[str]:
    """Return a line for each environment and algorithm, and the names of the rest; or all of one kind.

    No line is longer than 80 characters; a description goes on below.
    """
    kinds = [f"{one}s" for one in KINDS]
    if kind in ("lab", "labs"):
        return listed_labs()
    wanted = kinds if kind is None else [f"{kind}s" if kind in KINDS else checks.known_name("kind", kind, kinds)]
    lines = []
    for one in wanted:
        things = KINDS[one.removesuffix("s")]()
        if one == "environments":
            lines += ["", "Environments (DPBandit-...-v0)"]
            lines += [_row(f"  {short_name(name):<14} ", first_line(thing), 17 * " ") for name, thing in things.items()]
        elif one == "algorithms":
            lines += ["", f"Algorithms, with their default guarantees at K = {N_ARMS}, T = {HORIZON:,};", CONVENTION]
            width = max(map(len, things))
            for name, maker in things.items():
                level = shown_epsilon(make_algorithm(name).guarantee(n_arms=N_ARMS, horizon=HORIZON))
                lines.append(_row(f"  {name:<{width}} {level!s:<25} ", first_line(maker).partition(": ")[2]))
        else:
            lines += ["", one.capitalize(), _row("  ", ", ".join(things), "  ")]
    return [*lines[1:], "", "dp-bandit show NAME says more: parameters, guarantee, bound, source."]


def _row(start: str, what: str, below: str = "      ") -> str:
    whole: Any = {"initial_indent": start, "subsequent_indent": below}
    # Nothing is filled without a word: what has no description is there all the same.
    return textwrap.fill(what, WIDTH, break_on_hyphens=False, break_long_words=False, **whole) or start.rstrip()


def listed_labs() -> list[str]:
    """Return a line for each lab, and where the teacher's pages are: in the repository, not in what is installed."""
    from dp_bandit_envs.course.notebooks import LABS

    width = max(len(lab.name) for lab in LABS)
    lines = [f"{n:>2}  {lab.name:<{width}}  {lab.question} ({lab.minutes} min)" for n, lab in enumerate(LABS, 1)]
    lines += ["", "For teachers, in the repository: examples/labs/README.md, examples/labs/teacher, .../solutions."]
    with resources.as_file(resources.files("dp_bandit_envs.labs")) as folder:
        if (folder / "teacher").is_dir():
            lines.append(f"This clone has them in {folder.resolve()}.")
    return lines


def shown(name: str) -> str:
    """Return everything about a name; for each kind, if several things share the name."""
    return "\n\n".join(about(kind, known, thing) for kind, known, thing in named(name))


def named(name: str) -> list[tuple[str, str, Any]]:
    """Return kind, name and thing of every match for `name`: exact matches, or else matches that ignore case.

    Raises:
        UnknownNameError: If nothing has this name; the message suggests similar names.
    """
    if ":" in name and name.partition(":")[0] not in {*ALGORITHMS, *IDS}:
        return [_importable(name)]
    every = [(kind, known, thing) for kind, things in KINDS.items() for known, thing in things().items()]
    spellings = {spelling: None for kind, known, _ in every for spelling in {known, short_name(known)}}
    wanted = checks.known_name("name", name, [*spellings, "counters"]).lower()
    found = [each for each in every if wanted in (each[1].lower(), short_name(each[1]).lower())]
    exact = [each for each in found if name in (each[1], short_name(each[1]))]
    return exact or found


def _importable(text: str) -> tuple[str, str, Any]:
    """Return kind, name and thing of `module:Name`.

    Raises:
        ValueError: If the module does not have it, or it is nothing to play.
    """
    module, _, name = text.partition(":")
    loaded(module)
    if name in GAMES:
        return "environment", name, environments()[name]
    own = imported(text)
    if own is None or own.given:
        raise ValueError(f"show takes a name without parameters, such as mine:Name; received {text!r}.")
    name, found = own.name, own.thing
    if found is None:
        return "algorithm", name, ALGORITHMS[name]
    if isinstance(found, Mechanism):
        return "mechanism", name, found
    bases = {"environment": Adversary, "mechanism": Mechanism, "wrapper": PrivacyBoundary}
    for kind, base in bases.items():
        if isinstance(found, type) and issubclass(found, base):
            return kind, name, found
    one = algorithm_of(found)
    if one.maker is None:
        raise ValueError(f"{name} must be an algorithm, an agent, an adversary or a mechanism; received {text!r}.")
    return "agent" if isinstance(found, type) else "algorithm", name, found


def about(kind: str, name: str, thing: Any) -> str:
    """Return everything known about a thing."""
    what = plain(inspect.getdoc(thing) or "").strip()
    lines = [f"{name}: {kind}", *(["", what] if what else []), "", "Parameters", *parameters_of(thing)]
    facts: dict[str, str] = {}
    if kind == "algorithm":
        facts = _of_algorithm(make_algorithm(name) if name in ALGORITHMS else made_without_arguments(thing))
    elif kind in ("wrapper", "mechanism"):
        facts["Guarantee"] = _of_noise(name, thing)
    elif kind == "counter":
        facts["Guarantee"] = f"epsilon = 1, T = 1,000: {make_counter(name, epsilon=1.0, horizon=1000).guarantee}"
    for title, text in facts.items():
        lines += ["", title, *(_wrapped(line, "  ") for line in text.splitlines())]
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def parameters_of(thing: Any) -> list[str]:
    """Return a line for each parameter, with its default."""
    lines = []
    if isinstance(thing, (Algorithm, Mechanism)):
        return ["  none"]
    for key, one in inspect.signature(thing).parameters.items():
        if key in ("label", "env", "rng") or one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL):
            continue
        lines.append(f"  {key}" + ("" if one.default is one.empty else f" = {one.default!r}"))
    return lines or ["  none"]


def first_line(thing: Any) -> str:
    """Return the first line of a docstring."""
    return plain(inspect.getdoc(thing) or "").split("\n", 1)[0]


def made_without_arguments(thing: Any) -> Algorithm:
    """Return the algorithm that an object is, or that a function makes: at epsilon 1, if it has no default."""
    one = algorithm_of(thing)
    assert one.maker is not None
    needed = {key for key, each in one.takes.items() if each.default is each.empty}
    return one.maker(**{key: 1.0 if key == "epsilon" else 1e-6 for key in needed & {"epsilon", "delta"}})


def _of_algorithm(algorithm: Algorithm) -> dict[str, str]:
    size = {"n_arms": N_ARMS, "horizon": HORIZON}
    holds, claimed = algorithm.guarantee(**size), algorithm.paper_guarantee(**size)
    at = f"K = {N_ARMS}, T = {HORIZON:,}"
    external = algorithm.regret_bound(**size)
    pseudo = algorithm.pseudo_regret_bound(means=MEANS, horizon=HORIZON)
    bounds = [
        f"{kind}: {bound:,.1f} at most"
        for kind, bound in (
            (f"external regret against an oblivious adversary, {at}", external),
            (f"pseudo-regret with means {MEANS[0]:g} and {MEANS[1]:g}, T = {HORIZON:,}", pseudo),
        )
        if bound < math.inf
    ]
    paper = f"the paper's figure: epsilon = {claimed.epsilon:.6g}" + (
        f", delta = {claimed.delta:.3g}" if claimed.delta else ""
    )
    games = _games_of(algorithm)
    return {
        **({"Games": games} if games else {}),
        "Guarantee": f"with the defaults, {at}: {shown_epsilon(holds)} ({CONVENTION})"
        + ("" if holds.model == "none" else f"\n{holds.scope()}")
        + ("" if holds == claimed else f"\n{paper}"),
        "It covers": holds.covers,
        "Layer by layer": "\n".join(holds.steps),
        "Regret bound": "\n".join(bounds) or "none with explicit constants is known",
        **({"Source": algorithm.reference} if algorithm.reference else {}),
    }


def _games_of(algorithm: Algorithm) -> str:
    """Return which games an algorithm is for, one kind a line; nothing if it is for all games with arms."""
    lines = []
    if algorithm.make_agent is not None and algorithm.feedback == "full":
        lines.append("only those that reveal all gains: DPBandit-Experts-v0, or DPBandit-Graph-v0 with graph=complete")
    elif algorithm.make_agent is not None and algorithm.make_point_agent is not None:
        lines.append("all with arms")
    if algorithm.make_point_agent is not None:
        sets = ", ".join(f"DPBandit-{name.capitalize()}-v0" for name in algorithm.decision_sets or DECISION_SETS)
        lines.append(f"points, with feedback='{'bandit' if algorithm.feedback == 'payoff' else 'full'}': {sets}")
    return "\n".join(lines)


def _of_noise(name: str, thing: Any) -> str:
    """Return the guarantee of a wrapper, or of a mechanism, with the arguments of its `example`."""
    game = BanditEnv(Stochastic(N_ARMS, HORIZON))
    if isinstance(thing, Mechanism):
        return str(PrivacyBoundary(game, thing).guarantee)
    takes = {key: one for key, one in inspect.signature(thing).parameters.items() if key != "env"}
    example = getattr(MECHANISMS.get(name, thing), "example", Mechanism.example)
    arguments = {key: value for key, value in example.items() if key in takes}
    needed = [key for key, one in takes.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    if missing := [f"{key!r}: ..." for key in needed if key not in arguments]:
        return f"to see it here, write arguments into the class: example = {{{', '.join(missing)}}}"
    env = PrivacyBoundary(game, thing(**arguments)) if issubclass(thing, Mechanism) else thing(game, **arguments)
    shown = ", ".join(f"{key} = {value}" for key, value in arguments.items())
    return f"{shown}{': ' if shown else ''}{env.guarantee}"


def plain(text: str) -> str:
    """Return a docstring without the roles of Sphinx."""
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text)


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
    if not all(math.isfinite(row.maximum) for row in rows):
        raise ValueError(f"epsilon must leave variances that fit a float; received {epsilon!r}.")
    privacy = f"epsilon = {epsilon:g}" + (f", delta = {delta:g} for square-root" if delta is not None else "")
    table = Table(title=f"Variance of released sums, T = {horizon:,}, {privacy}", title_justify="left")
    for column in ("counter", "mean", "maximum", "must know T", "guarantee"):
        table.add_column(column, justify="right" if column in ("mean", "maximum") else "left", overflow="fold")
    for row in rows:
        known = "yes" if row.counter.needs_horizon else "no"
        kind = "pure" if row.counter.guarantee.delta == 0 else "(epsilon, delta)"
        table.add_row(row.name, f"{row.mean:,.1f}", f"{row.maximum:,.1f}", known, kind)
    console.print(table)
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


def open_lab(name: str | None, folder: Path, *, read_only: bool, host: str, port: int | None, headless: bool) -> None:
    """Copy the labs to a folder, and serve them until Ctrl-C."""
    from dp_bandit_envs.checks import require
    from dp_bandit_envs.course.notebooks import START_PAGE, copy_labs, find, outdated, served, show_in_browser

    page = find(name).file if name else START_PAGE
    require("marimo", extra="labs")
    copied = copy_labs(folder)
    if copied:
        say(f"Copied {len(copied)} notebooks to {folder}.")
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
