"""Plays a study, judges it, and writes its figure, tables and report, with what a reader must know of its privacy."""

import dataclasses
import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dp_bandit_envs.experiments.experiment import Experiment, GameSpec, Results, described, labels_in, labels_of
from dp_bandit_envs.experiments.run_report import Claim, Note, Study, View, numbers_json, report_md
from dp_bandit_envs.experiments.running import Progress, run
from dp_bandit_envs.experiments.store import ResultsFolder
from dp_bandit_envs.experiments.tables import summary_csv
from dp_bandit_envs.privacy.guarantee import label_of, shown_epsilon
from dp_bandit_envs.seeding import KNOWN_SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dp_bandit_envs.experiments.comparison import Comparison
    from dp_bandit_envs.plots.curves_figure import Panel

SECRET_SEED = (
    "The data are real, so the seed is a secret one, drawn from the operating system and written nowhere: this run"
    " cannot be repeated, nor continued after an interruption. With a given one it could, but whoever knows a seed can"
    " subtract the noise."
)
HARDLY = 10.0
"""An epsilon from which on what is seen is 20,000 times as likely with these data as with others."""


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """What the games of a study show: a figure, its numbers, and which claims hold. A notebook shows the figure.

    Attributes:
        title: The study's title.
        figure: The figure.
        claims: Every claim in order: what it `says`, what is `seen` here, its `verdict`, and `why`.
        notes: What a reader must know before the results.
        results: A `Comparison` for each experiment, by its name.
        numbers: The numbers of the tables, and further ones that claims compare, by name; None where there is none.
        text: The whole report in Markdown.
        folder: Where all of it was written; None if nowhere.
        is_written: Whether all files could be written; a folder with results may be read-only.
    """

    title: str
    figure: "Figure"
    claims: tuple[Claim, ...]
    notes: tuple[Note, ...]
    results: "Mapping[str, Comparison]"
    numbers: Mapping[str, Mapping[str, float | None]]
    text: str
    folder: Path | None = None
    is_written: bool = False

    @property
    def verdicts(self) -> dict[str, str]:
        """Whether each claim holds, by its words: `"yes"`, `"no"` or `"cannot tell"`."""
        return {claim.says: claim.verdict.value for claim in self.claims}

    def __repr__(self) -> str:
        lines = [f"{self.title}" + ("" if self.folder is None else f", in {self.folder}")]
        lines += [note.warning for note in self.notes if note.warning]
        return "\n".join([*lines, *(f"- {claim.says} {claim.answer}" for claim in self.claims)])

    def _repr_png_(self) -> bytes:
        from dp_bandit_envs.plots.plot_style import as_bytes

        return as_bytes(self.figure, "png")


def folders_of(study: Study, path: Path) -> list[ResultsFolder]:
    """Return the folder of the report, and then that of each experiment: the same one, or subfolders for several."""
    settings = {one.name: one.configuration() for one in study.experiments}
    if len(settings) == 1:
        (configuration,) = settings.values()
        return [ResultsFolder(path, configuration)] * 2
    whole = ResultsFolder(path, {"name": study.name, "experiments": settings})
    return [whole, *(ResultsFolder(path / name, configuration) for name, configuration in settings.items())]


def played(
    study: Study, folders: Sequence[ResultsFolder], *, jobs: int, progress: Progress | None = None
) -> list[Results]:
    """Run what the folders of the experiments do not contain yet; return all results. Arguments as for `run`."""
    return [
        run(one, folder, jobs=jobs, progress=progress)
        for one, folder in zip(study.experiments, folders[1:], strict=True)
    ]


def played_in_memory(study: Study, *, jobs: int, progress: Progress | None = None) -> list[Results]:
    """Run all experiments and keep their results in memory only."""
    with tempfile.TemporaryDirectory() as path:
        found = played(study, folders_of(study, Path(path)), jobs=jobs, progress=progress)
        return [Results(one.experiment, dict(one.arrays)) for one in found]


def report_on(
    study: Study,
    results: Sequence[Results],
    compared: "Sequence[Comparison]",
    *,
    command: str = "",
    folders: Sequence[ResultsFolder] = (),
) -> Report:
    """Draw and judge the results of a study; write figure, tables and report if there are folders.

    Args:
        study: What was played.
        results: The results of its experiments.
        compared: The same as comparisons.
        command: The exact command, for the report.
        folders: Those of `folders_of`, or none.
    """
    figure = figure_of(study, results)
    claims, notes = tuple(study.claims(results)), tuple(study.notes(results))
    text = report_md(results, title=study.title, command=command, view=study.view, notes=notes, claims=claims)
    numbers = numbers_json(results, study.view, study.numbers(results))
    written = []
    if folders:
        from dp_bandit_envs.plots.plot_style import as_bytes

        whole, *parts = folders
        written += [whole.write_again(f"figure.{kind}", as_bytes(figure, kind)) for kind in ("png", "svg")]
        for comparison, folder in zip(compared, parts, strict=True):
            written.append(folder.write_again("summary.csv", summary_csv(comparison.entries, study.view.measure)))
        written += [whole.write_again("report.md", text), whole.write_again("numbers.json", numbers)]
    return Report(
        title=study.title,
        figure=figure,
        claims=claims,
        notes=notes,
        results={one.experiment.name: each for one, each in zip(results, compared, strict=True)},
        numbers=json.loads(numbers),
        text=text,
        folder=folders[0].path if folders else None,
        is_written=bool(written) and all(written),
    )


def figure_of(study: Study, results: Sequence[Results], columns: int | None = None) -> "Figure":
    """Draw the results of a study; with one column the figure is as narrow as a telephone."""
    if study.draw is not None:
        return study.draw(results, columns)
    return draw_over_time(results[0], study.view if columns is None else study.view._replace(columns=columns))


def draw_over_time(results: Results, view: View) -> "Figure":
    """Draw regret over time, one panel a game."""
    from dp_bandit_envs.plots.curves_figure import ROUND, curves_figure  # so that no import needs matplotlib

    return curves_figure(
        [regret_panel(results, panel, view.measure) for panel in results.experiment.panels],
        across=ROUND,
        measure=view.measure,
        band=view.band,
        x_scale=results.experiment.checkpoints,
        y_scale=view.scale,
        columns=view.columns,
    )


def regret_panel(results: Results, panel: GameSpec, measure: str) -> "Panel":
    """Return a panel with the regret of each algorithm over time, labelled by its guarantee."""
    from dp_bandit_envs.plots.curves_figure import Curve, Panel

    labels, rounds = labels_in(results.experiment, panel), results.rounds(panel.key)
    return Panel(
        panel.title,
        [
            Curve(name, labels[name], rounds, results.regret(panel.key, name, measure))
            for name in results.names_in(panel)
        ],
    )


def notes_on(experiment: Experiment) -> list[Note]:
    """Return what a reader must know before the results of games that no paper describes: epsilons, seed, real data."""
    at_guarantee = any(one.calibrated for one in experiment.all_contestants)
    asked = _about_guarantees(experiment) if at_guarantee else _about_epsilons(experiment)
    found = [Note(asked, on_terminal=True)] if asked else []
    silent = _about_silence(experiment)
    found += [Note(silent, on_terminal=True)] if silent else []
    if not experiment.is_real:
        return found
    known = Note(f"{KNOWN_SEED[0].upper()}{KNOWN_SEED[1:]}", warning="The noise can be subtracted.")
    return [*found, Note(SECRET_SEED) if experiment.seed is None else known, _about_results(experiment)]


def _about_epsilons(experiment: Experiment) -> str:
    """Return a sentence on which algorithms got an epsilon, with which delta, and which have another guarantee."""
    has: dict[float | None, dict[str, None]] = {}
    others: dict[str, None] = {}
    labels = labels_of([experiment])
    for one in experiment.all_contestants:
        if one.asked is not None:
            has.setdefault(one.parameters.get("delta"), {})[one.shown_as or one.name] = None
        else:
            others[labels[one.label or one.name]] = None
    if not has:
        return ""
    usual = {float(horizon) ** -2 for horizon in experiment.horizons.values()}
    parts = [
        ", ".join(names)
        + ("" if delta is None else f" with delta = {delta:.3g}" + (" = T^-2" if delta in usual else ""))
        for delta, names in has.items()
    ]
    epsilons = dict.fromkeys(one.asked for one in experiment.all_contestants if one.asked is not None)
    goes = "goes" if len(epsilons) == 1 else "go"
    text = f"epsilon = {' and '.join(f'{one:g}' for one in epsilons)} {goes} to {'; '.join(parts)}."
    return text + (f" Not to {', '.join(others)}." if others else "")


def _about_guarantees(experiment: Experiment) -> str:
    """Return a sentence on the parameters at which algorithms really have the guarantee that was asked for."""

    def in_words(name: str, value: Any) -> str:
        return f"{name} = {value:.7g}" if isinstance(value, float) else f"{name} = {value}"

    parts = []
    for panel in experiment.panels:
        of_panel = [
            f"{one.label or one.name} with {', '.join(in_words(*pair) for pair in one.parameters.items())}"
            for one in experiment.contestants_of(panel)
            if one.asked is not None and one.parameters
        ]
        parts.append((f"{panel.title}: " if len(experiment.panels) > 1 else "") + "; ".join(of_panel))
    return f"At the guarantees that were asked for, found by their real ones: {'. '.join(filter(None, parts))}."


def _about_silence(experiment: Experiment) -> str:
    """Return a sentence for each game on algorithms whose first release would come after its end."""
    sentences = []
    for game in described(experiment):
        names = [one["name"] for one in game["results"] if one["first_release"] > game["horizon"]]
        if names:
            where = f" of {game['title']}" if len(experiment.panels) > 1 else ""
            sentences.append(f"{', '.join(names)} released nothing in {game['horizon']:,} rounds{where}.")
    return f"{' '.join(sentences)} What is played so is chance, not learning." if sentences else ""


def _about_results(experiment: Experiment) -> Note:
    sentences = [
        "Regrets, figure and all files here are computed from true outcomes: they are NOT private, keep them where the"
        " data are. A guarantee is for the arms played in one game."
    ]
    if experiment.trials > 1:
        together = {
            player.name: shown_epsilon(player.guarantee_in(experiment.game(panel)).for_games(experiment.trials))
            for panel in experiment.panels
            for player in experiment.players(panel)
        }
        words = ", ".join(label_of(name, [level]) for name, level in together.items() if math.isfinite(level.epsilon))
        sentences.append(
            f"Showing the arms of all {experiment.trials} games spends it {experiment.trials} times"
            + (f", together {words}." if words else ".")
        )
    weak = _that_protect_nobody(experiment)
    if weak:
        sentences.append(f"An epsilon of {HARDLY:g} or more hardly protects anybody: {', '.join(weak)}.")
    return Note(" ".join(sentences), on_terminal=True)


def _that_protect_nobody(experiment: Experiment) -> list[str]:
    """Return algorithms that protect a round, or a record or person if it is known, with a large epsilon only."""
    found: dict[str, None] = {}
    for game in described(experiment):
        for one in game["results"]:
            levels = {"a round": one["level"][0], **{f"a {unit}": level[0] for unit, level in one["units"].items()}}
            what, worst = max(((unit, float(level)) for unit, level in levels.items()), key=lambda pair: pair[1])
            if worst >= HARDLY:
                # An epsilon of inf is text there.
                least = f"{worst:.4g}" if math.isfinite(worst) else "none"
                level = "none" if one["model"] == "none" else f"{least} for {what}"
                found[f"{one['name']} ({level})"] = None
    return list(found)
