"""Plays a study, judges it, and writes its figure, tables and report."""

import dataclasses
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dp_bandit_envs.comparison.compared import Comparison, comparison_of
from dp_bandit_envs.comparison.saving import write_tables
from dp_bandit_envs.plots.curves_figure import ROUND, Curve, Panel, curves_figure
from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.runs.experiment import GameSpec, Results, labels_in
from dp_bandit_envs.runs.run_report import Claim, Note, Study, View, numbers_json, report_md
from dp_bandit_envs.runs.running import Progress, run
from dp_bandit_envs.runs.store import ResultsFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    results: Mapping[str, Comparison]
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
    study: Study, folders: Sequence[ResultsFolder], *, jobs: int, progress: Progress | None = None, cluster: Any = None
) -> list[Results]:
    """Run what the folders of the experiments do not contain yet; return all results. Arguments as for `run`."""
    return [
        run(one, folder, jobs=jobs, progress=progress, cluster=cluster)
        for one, folder in zip(study.experiments, folders[1:], strict=True)
    ]


def played_in_memory(
    study: Study, *, jobs: int, progress: Progress | None = None, cluster: Any = None
) -> list[Results]:
    """Run all experiments and keep their results in memory only."""
    with tempfile.TemporaryDirectory() as path:
        found = played(study, folders_of(study, Path(path)), jobs=jobs, progress=progress, cluster=cluster)
        return [Results(one.experiment, dict(one.arrays)) for one in found]


def report_on(
    study: Study,
    results: Sequence[Results],
    *,
    command: str,
    folders: Sequence[ResultsFolder] = (),
    netcdf: bool = False,
) -> Report:
    """Draw and judge the results of a study; write figure, tables and report if there are folders.

    Args:
        study: What was played.
        results: The results of its experiments.
        command: The exact command, for the report.
        folders: Those of `folders_of`, or none.
        netcdf: Whether to write `results.nc`, too.
    """
    figure = draw_over_time(results[0], study.view) if study.draw is None else study.draw(results)
    compared = {one.experiment.name: comparison_of(one.experiment.configuration(), one.arrays) for one in results}
    claims, notes = tuple(study.claims(results)), tuple(study.notes(results))
    text = report_md(results, title=study.title, command=command, view=study.view, notes=notes, claims=claims)
    numbers = numbers_json(results, study.view, study.numbers(results))
    written = []
    if folders:
        whole, *parts = folders
        written += [whole.write_again(f"figure.{kind}", as_bytes(figure, kind)) for kind in ("png", "svg")]
        for comparison, folder in zip(compared.values(), parts, strict=True):
            written += write_tables(comparison, folder, study.view.measure, netcdf=netcdf)
        written += [whole.write_again("report.md", text), whole.write_again("numbers.json", numbers)]
    return Report(
        title=study.title,
        figure=figure,
        claims=claims,
        notes=notes,
        results=compared,
        numbers=json.loads(numbers),
        text=text,
        folder=folders[0].path if folders else None,
        is_written=bool(written) and all(written),
    )


def draw_over_time(results: Results, view: View) -> "Figure":
    """Draw regret over time, one panel a game."""
    return curves_figure(
        [regret_panel(results, panel, view.measure) for panel in results.experiment.panels],
        across=ROUND,
        measure=view.measure,
        band=view.band,
        x_scale=results.experiment.checkpoints,
        y_scale=view.scale,
        columns=view.columns,
    )


def regret_panel(results: Results, panel: GameSpec, measure: str) -> Panel:
    """Return a panel with the regret of each algorithm over time, labelled by its guarantee."""
    labels, rounds = labels_in(results.experiment, panel), results.rounds(panel.key)
    return Panel(
        panel.title,
        [
            Curve(name, labels[name], rounds, results.regret(panel.key, name, measure))
            for name in results.names_in(panel)
        ],
    )
