"""The page of each algorithm: rule, guarantee with its reason, bound, measured curve, differences, source."""

import inspect
from typing import Any

import gymnasium as gym

import dp_bandit_envs
from dp_bandit_envs import agents
from dp_bandit_envs.algorithms import ALGORITHMS, Algorithm, make_algorithm
from dp_bandit_envs.privacy.guarantee import CONVENTION, PrivacyGuarantee, shown_epsilon
from generators import docstrings
from generators.bounds import bound
from generators.drawings import curve_picture
from generators.measured import TRIALS, lines_for
from generators.settings import GAMES, HORIZON, SETTINGS, TWINS, can_be_calibrated, setting_of, takes


def slug(name: str) -> str:
    """Return the page's name."""
    return name.lower()


def game_of(name: str) -> Any:
    """Return the first game in which the algorithm is measured."""
    game = GAMES[setting_of(name)][0]
    return gym.make(game.id, **game.arguments)


def link(kind: type) -> str:
    """Return a link to a class in the API."""
    name = kind.__name__
    if name in dp_bandit_envs.__all__:
        return f"{{py:obj}}`{name} <dp_bandit_envs.{name}>`"
    return f"{{py:obj}}`{name} <dp_bandit_envs.agents.{name}>`" if name in agents.__all__ else f"`{name}`"


def page(name: str, curve: str) -> str:
    """Return the page.

    Args:
        name: The algorithm.
        curve: Its measured curve, as SVG.
    """
    algorithm, parts = make_algorithm(name), docstrings.algorithm_parts(ALGORITHMS[name])
    env = game_of(name)
    holds = algorithm.guarantee_in(env)
    lines = [
        f"# {name}",
        parts.what,
        table(
            {
                "for": SETTINGS[setting_of(name)],
                "guarantee": "none"
                if holds.model == "none"
                else f"{shown_epsilon(holds)}, with its defaults in the game measured below ({CONVENTION})",
                "privacy": model_of(holds),
                "source": docstrings.escaped(algorithm.reference),
            }
        ),
        "## Rule",
        parts.rule,
        *inside(algorithm),
        "## Guarantee",
        *guarantee(name, algorithm, holds, env, parts.reason),
        "## Regret bound",
        bound(algorithm, env),
        "## Measured",
        docstrings.picture(curve, caption(name)),
    ]
    if parts.notes:
        lines += ["## What else to know", parts.notes]
    lines += ["## Differs from the source", parts.differs, "## Play it", f"```python\n{code(name)}\n```"]
    env.close()
    return "\n\n".join(lines) + "\n"


def table(rows: dict[str, str]) -> str:
    """Return a table of two columns without a head."""
    return "\n".join(["| | |", "| --- | --- |", *(f"| {key} | {value} |" for key, value in rows.items())])


def model_of(holds: PrivacyGuarantee) -> str:
    """Return who has to be trusted."""
    if holds.epsilon == 0:
        return "nobody's gains are used"
    return {
        "none": "none",
        "local": "local: noise before anything is stored",
        "central": "central: a trusted party sees the gains",
    }.get(holds.model, str(holds.model))


def inside(algorithm: Algorithm) -> list[str]:
    """Return what the docstrings of the agents inside say, with their formulas."""
    makers = [one for one in (algorithm.make_agent, algorithm.make_point_agent) if one is not None]
    kinds = dict.fromkeys(type(make()) for make in makers)
    return [part for kind in kinds for part in (f"### The agent inside: {link(kind)}", docstrings.description(kind))]


def guarantee(name: str, algorithm: Algorithm, holds: PrivacyGuarantee, env: Any, reason: str) -> list[str]:
    """Return what is guaranteed, why, how it is declared, and what the paper claims if that differs."""
    lines = [reason]
    if holds.model == "none":
        return [*lines, 'It declares no guarantee, and says so: `guarantee_in(env).model` is `"none"`.']
    if holds.steps:
        lines.append("What it declares, layer by layer, with its defaults in the game measured below:")
        lines.append("\n".join(f"- {docstrings.prose(step)}" for step in holds.steps))
    lines.append(f"In numbers: {shown_epsilon(holds)} ({docstrings.prose(holds.scope())}).")
    declared = [f"`{one}`" for one in ("epsilon", "delta") if one in takes(name)]
    if can_be_calibrated(name):
        lines.append(
            f"{' and '.join(declared)} {'are' if len(declared) > 1 else 'is'} declared when it is made, as in"
            f' `make_algorithm("{name}", ...)`; what holds in a game is `guarantee_in(env)`, and'
            f' `calibrate("{name}", epsilon=..., n_arms=..., horizon=...)` finds the parameter for a guarantee.'
        )
    claimed = algorithm.paper_guarantee_in(env)
    if claimed != holds and claimed.model != "none":
        lines.append(
            f"The paper's figure for the same game is {docstrings.prose(claimed.numbers())}"
            f" ({docstrings.prose(claimed.theorem)}); where the two differ, the [errata](/docs/errata.md) say why."
        )
    return lines


def caption(name: str) -> str:
    """Return what exactly was played."""
    games = GAMES[setting_of(name)]
    played = "; ".join(f"{game.id} with {words_of(game.arguments)}" for game in games)
    how = ""
    if can_be_calibrated(name):
        how = (
            " Private algorithms have the parameter at which their real guarantee is epsilon = 1 and 0.1, at the delta"
            " that their label says."
        )
    elif any(TWINS.get(one) == name and can_be_calibrated(one) for one in ALGORITHMS):
        how = " Private relatives beside it have the parameter at which their real guarantee is epsilon = 1."
    return f"PlayedGame: {played}; {TRIALS} games each, the same gains for all.{how}"


def words_of(arguments: dict[str, Any]) -> str:
    """Return arguments in Python."""
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())


def code(name: str) -> str:
    """Return code that plays it."""
    game = GAMES[setting_of(name)][0]
    lines = ["import gymnasium as gym", "import dp_bandit_envs", "from dp_bandit_envs import make_algorithm, play", ""]
    arguments = words_of(game.arguments | {"horizon": 1000}).replace("'", '"')
    lines.append(f'env = gym.make("{game.id}", {arguments})')
    parameters = inspect.signature(ALGORITHMS[name]).parameters
    with_epsilon = "epsilon" in parameters and parameters["epsilon"].default is not None
    factory = f'make_algorithm("{name}"{", epsilon=1.0" if with_epsilon else ""})'
    lines += [f"algorithm = {factory}", "print(algorithm.guarantee_in(env))"]
    lines.append("print(play(env, algorithm, seed=1).external_regret[-1])")
    return "\n".join(lines)


def curve_of(name: str) -> str:
    """Return the measured curve of an algorithm."""
    games = [(game, lines_for(name, game)) for game in GAMES[setting_of(name)]]
    return curve_picture(f"curve-{slug(name)}", games)


def index(names: list[str]) -> str:
    """Return the page with all algorithms."""
    rows = []
    for name in names:
        algorithm = make_algorithm(name)
        env = game_of(name)
        holds = algorithm.guarantee_in(env)
        env.close()
        model = "none" if holds.model == "none" else f"{holds.model}, {shown_epsilon(holds)}"
        paper = docstrings.escaped(algorithm.reference)
        rows.append(f"| [{name}]({slug(name)}.md) | {SETTINGS[setting_of(name)]} | {model} | {paper} |")
    lines = [
        "# All algorithms",
        f"The guarantee is that of the defaults in the game measured on each page, T = {HORIZON:,}; {CONVENTION}."
        " Which to take is said under [algorithms](/docs/algorithms.md).",
        "\n".join(["| algorithm | for | guarantee | source |", "| --- | --- | --- | --- |", *rows]),
        docstrings.contents(map(slug, names)),
    ]
    return "\n\n".join(lines) + "\n"
