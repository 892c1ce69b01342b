"""The commands, from `list` to `lab`; those with many options have a file of their own."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dp_bandit_envs.cli import (
    advise_command,
    calibrate_command,
    data_command,
    lab_command,
    ledger_command,
    tournament_command,
)
from dp_bandit_envs.cli.options import (
    Cluster,
    Epsilon,
    Jobs,
    Out,
    Seed,
    Version,
    command_line,
    cores,
    find_modules_here,
    number,
    picture,
    whole,
)
from dp_bandit_envs.cli.run_command import EXAMPLES, run
from dp_bandit_envs.cli.terminal import INTERRUPTED, console, errors, leave_at_once, write_any_letter
from dp_bandit_envs.cli.words import in_words, users_line

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; an error is one sentence, not a traceback."""
    write_any_letter()
    find_modules_here()
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
        leave_at_once(INTERRUPTED)
    except Exception as error:
        # Click's own errors print themselves, with the usage of the command.
        show = getattr(error, "show", None)
        if callable(show):
            show()
            sys.exit(2)
        where = users_line(error)
        if not where and not isinstance(error, (ValueError, TypeError, OSError, RuntimeError, ImportError)):
            raise
        said = f"{where} raises {type(error).__name__}: {error}" if where else in_words(str(error), sys.argv[1:])
        errors.print(f"error: {said}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


@app.callback()
def common(version: Version = False) -> None:
    """Differentially private bandits: play them, compare them, reproduce the papers."""


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


app.command(epilog=EXAMPLES)(run)


@app.command(
    epilog="Examples: dp-bandit reproduce figure-1; dp-bandit reproduce figure-1 --epsilon 1 --trials 50 --horizon 1e4"
)
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
        float | None,
        typer.Option(
            parser=number, metavar="NUMBER", help="figure-1 only: another privacy parameter, and more algorithms."
        ),
    ] = None,
    modern: Annotated[bool, typer.Option("--modern", help="figure-2 only: add algorithms published since.")] = False,
    trials: Annotated[
        int | None, typer.Option(parser=whole, metavar="NUMBER", help="Number of runs; by default the paper's.")
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="NUMBER", help="Number of rounds of each game; by default the paper's."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    cluster: Cluster = None,
    out: Out = None,
) -> None:
    """Run a paper's experiment at full size and compare its claims with the results."""
    from dp_bandit_envs.cli.run_and_report import produce
    from dp_bandit_envs.figures.reproduction import study_of

    options = {"epsilon": epsilon, "modern": modern or None, "trials": trials, "horizon": horizon}
    chosen = {key: value for key, value in options.items() if value is not None}
    study = study_of(what, seed=seed, **chosen)
    folder = out or Path("results") / study.name
    produce(console, study, folder, jobs=cores(jobs), command=command_line(), cluster=cluster)


@app.command()
def counters(
    horizon: Annotated[int, typer.Option(parser=whole, metavar="NUMBER", help="Number of items T.")] = 100_000,
    epsilon: Annotated[
        float, typer.Option(parser=number, metavar="NUMBER", help="Privacy parameter of all releases together.")
    ] = 1.0,
    delta: Annotated[
        float | None,
        typer.Option(parser=number, metavar="NUMBER", help="Also show the Gaussian counter at this delta."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=picture, metavar="FILE", help="Save a plot of the errors against time here, .png or .svg."),
    ] = None,
) -> None:
    """Compare counters for private running sums, and say which has the least noise."""
    from dp_bandit_envs.cli.counters_command import show_counters

    show_counters(console, horizon, epsilon, delta, out)


@app.command(epilog="Examples: dp-bandit audit DP-KLUCB --epsilon 1 --out audit.png; dp-bandit audit --gallery")
def audit(
    name: Annotated[
        str | None,
        typer.Argument(
            help="An algorithm, with parameters if you like: DP-UCB:epsilon=.5; or mine:Name, also of a mechanism."
        ),
    ] = None,
    epsilon: Epsilon = None,
    confidence: Annotated[
        float, typer.Option(parser=number, metavar="NUMBER", help="Confidence of the sampled lower bound, in (0, 1).")
    ] = 0.99,
    horizon: Annotated[
        int, typer.Option(parser=whole, metavar="NUMBER", help="Number of rounds of each audited game.")
    ] = 12,
    games: Annotated[
        int | None,
        typer.Option(
            parser=whole,
            metavar="NUMBER",
            help="Games on each table for each test, at least 100; 0 leaves sampling out. By default 200000, or 1000 if"
            " they cannot be compiled.",
        ),
    ] = None,
    seed: Seed = 0,
    gallery: Annotated[
        bool, typer.Option("--gallery", help="Show parts that are broken on purpose, with what an attacker sees.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(parser=picture, metavar="FILE", help="Save the bars as a plot here, .png or .svg."),
    ] = None,
) -> None:
    """Compare the privacy that an algorithm declares with what its noise loses, and what arms and releases reveal.

    The exit code is 1 if a claim is refuted, and 3 if nothing could be judged.
    """
    if gallery:
        from dp_bandit_envs.cli.gallery_command import show_gallery

        show_gallery(console)
        return
    if name is None:
        raise ValueError("audit needs the name of an algorithm, as in list; or --gallery.")
    from dp_bandit_envs.cli.audit_command import show_audit

    settings: dict[str, Any] = {"confidence": confidence, "horizon": horizon, "games": games, "seed": seed}
    if code := show_audit(console, name, epsilon=epsilon, out=out, **settings):
        raise typer.Exit(code)


app.command(epilog=data_command.EXAMPLES)(data_command.data)
app.command(epilog=advise_command.EXAMPLES)(advise_command.advise)
app.command(epilog=calibrate_command.EXAMPLES)(calibrate_command.calibrate)
app.command(epilog=ledger_command.EXAMPLES)(ledger_command.ledger)
app.command(epilog=tournament_command.EXAMPLES)(tournament_command.tournament)
app.command(epilog=lab_command.EXAMPLES)(lab_command.lab)
