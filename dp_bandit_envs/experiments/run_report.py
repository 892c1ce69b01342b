"""A study: experiments with the claims that they test; and its report: command, results, guarantees, verdicts."""

import dataclasses
import enum
import importlib.metadata
import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from dp_bandit_envs.adversaries import Oblivious
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.algorithm import hides_own_gains
from dp_bandit_envs.envs.bandit_env import BanditEnv
from dp_bandit_envs.experiments.experiment import Experiment, Results, units_of
from dp_bandit_envs.metrics import median_of_means, summary
from dp_bandit_envs.privacy.guarantee import CONVENTION, UNITS, shown_epsilon
from dp_bandit_envs.protocols import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXTREMES = "least to greatest"
STATISTICS = {"mean": "mean", "error": "standard_error", "median": "median", "tail": "quantile_99"}
"""Statistics of `numbers.json`, by their names there."""
FOR_UNITS = tuple(f"for a {unit}" for unit in UNITS)
PACKAGES = ("dp-bandit-envs", "gymnasium", "numpy", "numba", "matplotlib")


ABOUT_GUARANTEES = """\
A guarantee covers the arms played in one game. It does not cover this report: regrets, figure and raw arrays are
computed from true gains, for the evaluator. If the gains are real data, every trial on the same data spends its
guarantee again, a person whose data are used in r rounds is protected at r times epsilon, and anyone who knows the seed
can subtract the noise. Where the game is played on records, the columns "for a record" and "for a person" say
what is left of the guarantee for all rounds in which the data of one of them can serve."""
Numbers: TypeAlias = Mapping[str, float]
"""Numbers by name, such as a `"mean"` and its standard `"error"`."""
CENTRES = {"ci": "mean", "quantiles": "median", "spread": "median of means"}
"""The statistic of a line, by the kind of its band."""


class Verdict(enum.Enum):
    """Whether the results support a claim; the values are the words in the report."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "cannot tell"


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of a paper with its verdict.

    Attributes:
        numbers: The numbers that decide.
        verdict: Whether the claim holds.
        says: The claim in words.
        seen: The numbers in words.
        why: The reason for the verdict.
    """

    numbers: Any
    verdict: Verdict
    says: str
    seen: str
    why: str = ""

    @property
    def answer(self) -> str:
        """The verdict with its reason, as in "no, it grows for two arms"."""
        between = " " if self.verdict is Verdict.UNDECIDED else ", "
        return f"{self.verdict.value}{between}{self.why}" if self.why else self.verdict.value


class Note(NamedTuple):
    """Something that a reader must know before the results.

    Attributes:
        text: Markdown.
        warning: A warning before it, which the terminal shows too.
        on_terminal: Whether the terminal shows the note even without a warning.
    """

    text: str
    warning: str = ""
    on_terminal: bool = False

    def __str__(self) -> str:
        return f"**{self.warning}** {self.text}" if self.warning else self.text


class View(NamedTuple):
    """How to show regret in figure, tables and report.

    Attributes:
        measure: What is shown, such as `"external_regret"`.
        centre: The statistic of a line, a value of `CENTRES`.
        scale: The axis of regret, `"linear"` or `"log"`.
        columns: Number of panels in a row of the figure; None for the figure's default.
        claimed_by: The author of the claims, for a heading.
    """

    measure: str = "external_regret"
    centre: str = "median of means"
    scale: str = "linear"
    columns: int | None = None
    claimed_by: str = "The paper"

    @property
    def band(self) -> str:
        """The kind of line and band in the figure, a key of `dp_bandit_envs.metrics.BANDS`."""
        return next(band for band, centre in CENTRES.items() if centre == self.centre)


AS_IN_2017 = View()
"""As in Tossou and Dimitrakakis (2017)."""


@dataclasses.dataclass(frozen=True)
class Study:
    """What to run, and what to report. Each function takes the results of all experiments.

    Attributes:
        name: The folder's name below `results/`.
        title: The report's heading.
        experiments: What to run; if several, each has a folder with its name.
        view: How to show regret.
        notes: Returns the notes that precede the results.
        claims: Returns every claim with its verdict.
        numbers: Returns what `numbers.json` has beside regrets, by name.
        draw: Draws the results in so many columns, None for the figure's default; without it there are lines over
            time, a panel for each game.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    view: View = AS_IN_2017
    notes: Callable[[Sequence[Results]], Sequence[Note]] = lambda _: ()
    claims: Callable[[Sequence[Results]], list[Claim]] = lambda _: []
    numbers: Callable[[Sequence[Results]], Mapping[str, Numbers]] = lambda _: {}
    draw: "Callable[[Sequence[Results], int | None], Figure] | None" = None


def report_md(
    results: Sequence[Results],
    *,
    title: str,
    command: str,
    view: View = AS_IN_2017,
    notes: Sequence[Note] = (),
    claims: Sequence[Claim] = (),
) -> str:
    """Return a report in Markdown.

    Args:
        results: The raw numbers of each experiment.
        title: Its heading.
        command: The exact command or call in Python, or "" if it is not known.
        view: How to show regret.
        notes: Paragraphs before the numbers.
        claims: Claims with their verdicts, shown in a table if there are any.
    """
    parts = [f"# {title}", _settings([one.experiment for one in results], command)]
    parts += map(str, notes)
    parts.append("![Regret against time](figure.png)")
    for one in results:
        where = f", {one.experiment.name}" if len(results) > 1 else ""
        parts.append(f"## {in_words(view.measure)} after the last round{where}\n\n{_regrets(one, view)}")
    parts.append(f"## Privacy guarantees: {CONVENTION}\n\n{_guarantees(results)}\n\n{ABOUT_GUARANTEES}")
    if claims:
        rows = [(claim.says, claim.seen, claim.answer) for claim in claims]
        head = (f"{view.claimed_by[0].lower()}{view.claimed_by[1:]} says", "seen here", "holds?")
        parts.append(f"## {view.claimed_by}'s claims\n\n{table(head, rows)}")
    files = (
        "`results.npz`: raw arrays, named `panel/algorithm/measure`, shape (trials, checkpoints).\n"
        "`summary.csv`: one row for each panel, algorithm and checkpoint. `figure.png`, `figure.svg`: the figure.\n"
        "`numbers.json`: these tables' numbers with all digits, and further ones that claims compare.\n"
        "`configuration.json`: everything that determines the numbers."
    )
    if len(results) > 1:
        folders = " and ".join(f"`{one.experiment.name}/`" for one in results)
        files += f"\nNumbers and tables are in {folders}, one experiment each."
    parts.append(f"## Files\n\n{files}")
    return "\n\n".join(parts) + "\n"


def numbers_json(results: Sequence[Results], view: View, more: Mapping[str, Numbers]) -> str:
    """Return the numbers of a report, and more, as JSON: an entry a line, named `experiment/panel/algorithm`.

    Args:
        results: The raw numbers of each experiment; a single one is left out of the names.
        view: How to show regret.
        more: Further numbers, by name.
    """
    found: dict[str, Numbers] = {
        f"{one.experiment.name + '/' if len(results) > 1 else ''}{panel.key}/{name}": _at_the_end(
            one.regret(panel.key, name, view.measure)[:, -1]
        )
        for one in results
        for panel in one.experiment.panels
        for name in one.names_in(panel)
    }
    lines = []
    for name, entry in {**found, **more}.items():
        # JSON has no NaN, as the error of a single trial is.
        plain = {key: value if math.isfinite(value) else None for key, value in entry.items()}
        lines.append(f"{json.dumps(name)}: {json.dumps(plain)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _at_the_end(last: FloatArray) -> Numbers:
    of = summary(last)
    found = {name: of[word] for name, word in STATISTICS.items()} | {"least": last.min(), "most": last.max()}
    return {"trials": len(last), **{name: float(value) for name, value in found.items()}}


def in_words(measure: str) -> str:
    """Return the name of a measure for readers, such as "External regret" or "Pseudo-regret"."""
    return measure.replace("_", "-" if measure.startswith("pseudo") else " ").capitalize()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def _there(package: str) -> bool:
    """Return whether a distribution is installed; without Numba, algorithms are played."""
    return any(importlib.metadata.distributions(name=package))


def _settings(experiments: Sequence[Experiment], command: str) -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES if _there(name))
    first = experiments[0]
    sizes = [f"{_trials(one)}, horizon {_horizon(one)}" for one in experiments]
    if len(experiments) > 1:
        sizes = [f"{size} ({one.name})" for size, one in zip(sizes, experiments, strict=True)]
    typed = "Command" if command.startswith("dp-bandit") else "Call"
    seed = "A secret seed" if first.seed is None else f"Seed {first.seed}"
    again = (
        "Nobody knows the seed, so the run cannot be repeated."
        if first.seed is None
        else f"The same {typed.lower()} gives the same numbers to the last bit, whatever the number of cores."
    )
    top = f"{typed}: `{command}`\n\n" if command else ""
    return f"{top}{seed}; {'; '.join(sizes)}. Python {platform.python_version()}, {versions}. {again}"


def _trials(experiment: Experiment) -> str:
    more = f" ({experiment.more_trials})" if experiment.more_trials else ""
    return f"{experiment.trials:,} trial{'' if experiment.trials == 1 else 's'}{more}"


def _horizon(experiment: Experiment) -> str:
    return "each game's own" if experiment.horizon is None else f"{experiment.horizon:,}"


def _regrets(results: Results, view: View) -> str:
    rows: list[dict[str, str]] = []
    for panel in results.experiment.panels:
        game = results.experiment.game(panel)
        for algorithm in results.experiment.players(panel):
            last = results.regret(panel.key, algorithm.name, view.measure)[:, -1]
            of = {name: float(value) for name, value in summary(last).items()}
            bound = _bound(algorithm, game, view)
            confidence = median_of_means(last).confidence
            rows.append(
                {
                    "game": panel.title,
                    "algorithm": algorithm.name,
                    f"guarantee ({CONVENTION})": str(shown_epsilon(algorithm.guarantee_in(game))),
                    "trials": f"{len(last):,}",
                    "median of means": f"{of['median_of_means']:,.1f}",
                    f"its interval ({confidence:.3f})": f"{of['interval_low']:,.1f} to {of['interval_high']:,.1f}",
                    "Gini's mean difference below / above": f"{of['gini_below']:,.1f} / {of['gini_above']:,.1f}",
                    "mean ± s.e.": f"{of['mean']:,.1f} ± {of['standard_error']:,.1f}",
                    "median / 99 % quantile": f"{of['median']:,.1f} / {of['quantile_99']:,.1f}",
                    EXTREMES: f"{last.min():,.1f} to {last.max():,.1f}",
                    "bound on the mean": f"{bound:,.0f}" if bound < math.inf else "none known",
                }
            )
            # Only the claims about figure 2 mention the extremes.
            if view.measure != "pseudo_regret":
                del rows[-1][EXTREMES]
    return table(list(rows[-1]), [list(row.values()) for row in rows])


def _bound(algorithm: Algorithm, game: BanditEnv, view: View) -> float:
    """Return an upper bound on the mean of the regret that is shown; inf if none is known."""
    means = game.adversary.means
    if not view.measure.endswith("regret"):
        return math.inf
    if view.measure == "dynamic_regret" and means is None:
        return math.inf
    if view.measure in ("pseudo_regret", "dynamic_regret") and means is not None:
        # The proofs are for rounds that are independent of each other and reveal the gain of the arm played.
        repeated = isinstance(game.adversary, Oblivious) and game.adversary.period > 1
        if repeated or hides_own_gains(game):
            return math.inf
        return algorithm.pseudo_regret_bound(means=means.tolist(), horizon=game.horizon, sensitivity=game.sensitivity)
    return algorithm.regret_bound_in(game)


def _guarantees(results: Sequence[Results]) -> str:
    rows: dict[tuple[str, ...], list[str]] = {}
    games: dict[str, int] = {}
    for one in results:
        units = units_of([one.experiment])
        for panel in one.experiment.panels:
            game = one.experiment.game(panel)
            for algorithm in one.experiment.players(panel):
                holds = algorithm.guarantee_in(game)
                claimed = algorithm.paper_guarantee_in(game)
                paper = f"{claimed.epsilon:.6g}" + (f", delta = {claimed.delta:.2g}" if claimed.delta else "")
                paper = paper if algorithm.reference else ""
                of_units = [units.get(unit, {}).get(algorithm.name, "") for unit in UNITS]
                row = (algorithm.name, str(shown_epsilon(holds)), *of_units, paper, str(holds))
                rows.setdefault(row, []).append(panel.title)
                games[algorithm.name] = games.get(algorithm.name, 0) + 1
    cells = [
        (*row[:-1], "all" if len(titles) == games[row[0]] else "; ".join(dict.fromkeys(titles)), row[-1])
        for row, titles in rows.items()
    ]
    head = ("algorithm", "guaranteed", *FOR_UNITS, "the paper's figure", "games", "guarantee and reason")
    kept = [index for index, title in enumerate(head) if title not in FOR_UNITS or any(row[index] for row in cells)]
    return table([head[index] for index in kept], [[row[index] for index in kept] for row in cells])
