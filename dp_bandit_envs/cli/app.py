"""The commands: `list`, `show`, `run`, `reproduce`, `counters` and `audit`."""

import codecs
import os
import shlex
import sys
import threading
import unicodedata
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dp_bandit_envs import checks

app = typer.Typer(
    help="Differentially private bandits: play them, compare them, reproduce the papers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
INTERRUPTED = 130
console = Console()
errors = Console(stderr=True)

Epsilon = Annotated[
    float | None,
    typer.Option(
        help="Privacy parameter of every algorithm that takes one (with delta = T^-2 if it takes a delta too);"
        " by default each algorithm's own, see show."
    ),
]
Trials = Annotated[int | None, typer.Option(help="Number of games of each algorithm in each environment.")]
Horizon = Annotated[int | None, typer.Option(help="Number of rounds of each game; by default the environment's.")]
Seed = Annotated[int, typer.Option(help="The seed of everything random.")]
Jobs = Annotated[int, typer.Option(help="Games to play at a time; 0 for as many as there are cores.")]
Cluster = Annotated[
    str | None, typer.Option(help="Address of a dask scheduler whose workers play all games, in place of --jobs.")
]
Out = Annotated[Path | None, typer.Option(help="Folder for the results; by default one below results/.")]


def main() -> None:
    """Run the command line; an error is one sentence, not a traceback."""
    codecs.register_error("dp-bandit", _nearest)
    # Only stdout: stderr never raises for unknown characters. A handler that the user chose is kept.
    if getattr(sys.stdout, "errors", "") in ("strict", "surrogateescape") and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="dp-bandit")
    try:
        # Newer versions of typer turn Ctrl-C into the exit code 130, older ones into an exception.
        code = app(standalone_mode=False, prog_name="dp-bandit")
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code:
            sys.exit(code)
    except typer.Exit as leave:
        sys.exit(leave.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        errors.print("\nInterrupted. Finished work is saved; the same command continues from there.")
        _leave_at_once(INTERRUPTED)
    except Exception as error:
        # Click's own errors print themselves, with the usage of the command.
        show = getattr(error, "show", None)
        if callable(show):
            show()
            sys.exit(2)
        if not isinstance(error, (ValueError, TypeError, OSError, RuntimeError, ImportError)):
            raise
        errors.print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


@app.command("list")
def list_() -> None:
    """List environments, algorithms with their guarantees, agents, wrappers and counters."""
    from dp_bandit_envs.cli.list_command import show_all

    show_all(console)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="An environment, algorithm, agent, wrapper or counter, as in list.")],
) -> None:
    """Show everything about one name: parameters, guarantee, bound, source, and differences from the source."""
    from dp_bandit_envs.cli.show_command import show_name

    show_name(console, name)


@app.command()
def run(
    environment: Annotated[
        str,
        typer.Argument(
            help="An id, with arguments if you like: Graph:graph=cycle,n_arms=10; or a file of gains (.npy, .csv)."
        ),
    ],
    algorithms: Annotated[list[str], typer.Argument(help="Names, with parameters if you like: EXP3-tau:batch_size=19")],
    epsilon: Epsilon = None,
    trials: Trials = None,
    horizon: Horizon = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    cluster: Cluster = None,
    spacing: Annotated[str, typer.Option(help="Spacing of the rounds that are recorded: linear or log.")] = "linear",
    out: Out = None,
) -> None:
    """Play algorithms against one environment or your own data, and write figure, tables and report."""
    from dp_bandit_envs.cli.run_and_report import produce
    from dp_bandit_envs.cli.run_arguments import about_epsilon, comparison, readable
    from dp_bandit_envs.experiments.claim import Note
    from dp_bandit_envs.experiments.reproduction import Reproduction

    experiment = comparison(
        environment,
        algorithms,
        epsilon=epsilon,
        trials=100 if trials is None else trials,
        horizon=horizon,
        seed=seed,
        spacing=spacing,
    )
    names = ", ".join(contestant.make().name for contestant in experiment.contestants)
    folder = out or Path("results") / f"{experiment.name}-{experiment.digest()}"
    about = about_epsilon(experiment, epsilon)
    title = f"{names} on {readable(environment)}"
    notes = [Note(about, on_terminal=True)] if about else []
    plan = Reproduction(experiment.name, title, (experiment,), notes=lambda _: notes)
    produce(console, plan, folder, jobs=_jobs(jobs), command=_command(), cluster=cluster)


@app.command()
def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="figure-1: Tossou and Dimitrakakis (AAAI 2017), adversaries; figure-2: the same (AAAI 2016), coins;"
            " figure-modern: stochastic algorithms since, beside the lower bound; figure-graph: graph feedback;"
            " price-of-privacy: what privacy costs with full information and with bandits."
        ),
    ],
    epsilon: Annotated[
        float | None, typer.Option(help="figure-1 only: another privacy parameter, and more algorithms.")
    ] = None,
    modern: Annotated[bool, typer.Option("--modern", help="figure-2 only: add algorithms published since.")] = False,
    trials: Annotated[int | None, typer.Option(help="Number of runs; by default the paper's.")] = None,
    horizon: Annotated[int | None, typer.Option(help="Number of rounds of each game; by default the paper's.")] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    cluster: Cluster = None,
    out: Out = None,
) -> None:
    """Run a paper's experiment at full size and compare its claims with the results."""
    from dp_bandit_envs.cli.reproduce_figures import figure
    from dp_bandit_envs.cli.run_and_report import produce

    options = {"epsilon": epsilon, "modern": modern or None, "trials": trials, "horizon": horizon}
    chosen = {key: value for key, value in options.items() if value is not None}
    plan, draw = figure(what, seed=seed, **chosen)
    folder = out or Path("results") / plan.name
    produce(console, plan, folder, jobs=_jobs(jobs), command=_command(), draw=draw, cluster=cluster)


@app.command()
def counters(
    horizon: Annotated[int, typer.Option(help="Number of items T.")] = 100_000,
    epsilon: Annotated[float, typer.Option(help="Privacy parameter of all releases together.")] = 1.0,
    delta: Annotated[float | None, typer.Option(help="Also show the Gaussian counter at this delta.")] = None,
    out: Annotated[Path | None, typer.Option(help="Save a plot of the errors against time here, .png or .svg.")] = None,
) -> None:
    """Compare counters for private running sums, and say which has the least noise."""
    from dp_bandit_envs.cli.counters_command import show_counters

    show_counters(console, horizon, epsilon, delta, out)


@app.command()
def audit(
    name: Annotated[str, typer.Argument(help="An algorithm, with parameters if you like: DP-UCB:epsilon=.5")],
    epsilon: Epsilon = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the sampled lower bound, in (0, 1).")] = 0.99,
    horizon: Annotated[int, typer.Option(help="Number of rounds of each audited game.")] = 12,
    games: Annotated[
        int, typer.Option(help="Games on each table for each test, at least 100; 0 leaves sampling out.")
    ] = 200_000,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Save the bars as a plot here, .png or .svg.")] = None,
) -> None:
    """Compare the privacy that an algorithm declares with what its noise loses, and what arms and releases reveal."""
    from dp_bandit_envs.cli.audit_command import show_audit

    show_audit(console, name, epsilon=epsilon, confidence=confidence, horizon=horizon, games=games, seed=seed, out=out)


def _leave_at_once(code: int) -> None:
    """Exit without waiting seconds for a background compilation."""
    # With a single thread nothing compiles, and importing the simulation would take a second.
    if threading.active_count() > 1:
        from dp_bandit_envs.simulation.spreading import COMPILER

        if any(thread.name == COMPILER for thread in threading.enumerate()):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


def _jobs(jobs: int) -> int:
    return checks.integer("jobs", jobs, at_least=0) or os.cpu_count() or 1


def _command() -> str:
    from dp_bandit_envs.cli.run_arguments import readable

    return readable(shlex.join(["dp-bandit", *sys.argv[1:]]))


def _nearest(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode a character that the terminal does not support: a file name's bytes unchanged, others without accents.

    An error handler for `codecs.register_error`.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter, end = error.object[error.start], error.start + 1
    if "\udc80" <= letter <= "\udcff":
        return letter.encode("ascii", "surrogateescape"), end
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode("ascii") or "?", end
