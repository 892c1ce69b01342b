"""The commands of `dp-bandit` and their arguments; the other modules of this folder implement them."""

import os
import shlex
import sys
from pathlib import Path, PurePath
from typing import Annotated, Any

import typer
import typer.core

from dp_bandit_envs import checks
from dp_bandit_envs.cli.command_names import ABOUT, COMMANDS
from dp_bandit_envs.cli.options import (
    PICTURES,
    Epsilons,
    Jobs,
    Out,
    RoundsPerPerson,
    SecretSeed,
    Seed,
    float_option,
    folder,
    integer_option,
    parse_integers,
    parse_numbers,
    picture_option,
    picture_or_table,
)
from dp_bandit_envs.cli.terminal import INTERRUPTED, console, errors, leave_at_once, say, write_any_letter


class Groups(typer.core.TyperGroup):
    """The commands in the groups of `COMMANDS`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each group."""
        for title, names in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=200)) for name in names])


app = typer.Typer(
    cls=Groups,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its help has a column of types, and runs examples together
    context_settings={"max_content_width": 100},
)


@app.callback(help=ABOUT)
def common(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    """Accept options common to all commands; `main` of this package prints the version, which needs no typer."""


def examples(*lines: str) -> str:
    """Return the end of a command's help: examples, one per line."""
    return "\n".join(["\b", "Examples:", *(f"  dp-bandit {line}" for line in lines)])


def main() -> None:
    """Run the command line; an error is one sentence, not a traceback."""
    write_any_letter()
    # `mine:Name` finds a file mine.py in the working directory, after everything that is installed.
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
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
        said = f"{where} raises {type(error).__name__}: {error}" if where else str(error)
        errors.print(f"error: {said}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)


def users_line(error: BaseException) -> str:
    """Return the line of a user's file that raised an error, as "mine.py, line 7,"; "" for other errors."""
    from dp_bandit_envs.simulation.provenance import is_users_file, places_of

    places = places_of(error)
    if not places or not is_users_file(places[-1][0]):
        return ""
    file, line = places[-1]
    return f"{PurePath(file).name}, line {line},"


def cores(jobs: int) -> int:
    """Return the number of games to play in parallel: the argument, or for 0 the number of cores."""
    return checks.integer("jobs", jobs, at_least=0) or os.cpu_count() or 1


def command_line() -> str:
    """Return the command as a reader of the report can run it."""
    from dp_bandit_envs.algorithms.specs import readable

    return readable(shlex.join(["dp-bandit", *sys.argv[1:]]))


@app.command(
    epilog=examples(
        "run Switching EXP3 EXP3-tau:batch_size=100 --trials 50",
        "run Stochastic Oblivious DP-KLUCB DP-IMED --epsilon 0.1,1",
        "run my.csv Batched-Lap-HTINF --epsilon 0.5 --at-guarantee person --persons name",
        "run Stochastic EXP3 mine:MyAgent --horizon 1e5",
    )
)
def run(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="ENVIRONMENT... ALGORITHM...",
            help="Environments, with arguments if you like: Graph:graph=cycle,n_arms=10; or files of gains (.npy,"
            " .csv). Algorithms, with parameters if you like: EXP3-tau:batch_size=19. Your own of both as module:Name.",
        ),
    ],
    epsilon: Epsilons = None,
    delta: Annotated[
        float | None,
        float_option(
            "Delta of each algorithm that takes one beside its epsilon; by default T^-2, or your function's own."
        ),
    ] = None,
    at_guarantee: Annotated[
        bool,
        typer.Option(
            "--at-guarantee",
            help="Take --epsilon, and --delta or else 0, as what each algorithm really has to guarantee, and find the"
            " parameter for it. --at-guarantee person: for a person, in as many rounds as the data say (--persons).",
        ),
    ] = False,
    rounds_per_person: RoundsPerPerson = None,
    trials: Annotated[
        int | None,
        integer_option("Number of games of each algorithm in each environment; by default 100, with --ledger 1."),
    ] = None,
    horizon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER[,NUMBER...]",
            help="Number of rounds of each game, as 1e5, or several; by default the environment's.",
        ),
    ] = None,
    n_arms: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER[,NUMBER...]", help="Number of arms, or several; by default the environment's."),
    ] = None,
    seed: SecretSeed = None,
    jobs: Jobs = 0,
    checkpoints: Annotated[
        str, typer.Option(help="Spacing of the rounds that are recorded: linear or log.")
    ] = "linear",
    persons: Annotated[
        str | None,
        typer.Option(help="A file's column that says whose each line is, or the most lines of a person."),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Count all games on a file of gains in this ledger, which dp-bandit ledger makes."
        ),
    ] = None,
    out: Out = None,
) -> None:
    """Play algorithms in one or several environments, or on your own data, and write figure, tables and report."""
    from dp_bandit_envs.cli.run_commands import run_games

    run_games(
        names,
        epsilon=parse_numbers("--epsilon", epsilon),
        delta=delta,
        at_guarantee=at_guarantee,
        rounds_per_person=rounds_per_person,
        trials=trials,
        horizon=parse_integers("--horizon", horizon),
        n_arms=parse_integers("--n-arms", n_arms),
        seed=seed,
        checkpoints=checkpoints,
        persons=persons,
        ledger=ledger,
        out=out,
        jobs=cores(jobs),
        command=command_line(),
    )


@app.command(
    epilog=examples(
        "reproduce figure-1",
        "reproduce figure-1-epsilon-1 --trials 50 --horizon 1e4",
    )
)
def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="figure-1: Tossou and Dimitrakakis (AAAI 2017), adversaries; figure-1-epsilon-1: the same games at"
            " epsilon = 1, or any other, with newer algorithms; figure-2: the same authors (AAAI 2016), coins;"
            " figure-2-modern: beside algorithms published since; figure-graph: graph feedback;"
            " price-of-privacy: what privacy costs with full information and with bandits."
        ),
    ],
    trials: Annotated[int | None, integer_option("Number of runs; by default the paper's.")] = None,
    horizon: Annotated[int | None, integer_option("Number of rounds of each game; by default the paper's.")] = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    out: Out = None,
) -> None:
    """Run a paper's experiment at full size and compare its claims with the results."""
    from dp_bandit_envs.cli.run_commands import produce
    from dp_bandit_envs.figures.reproduction import study_of

    sizes = {"trials": trials, "horizon": horizon}
    study = study_of(what, seed=seed, **{size: number for size, number in sizes.items() if number is not None})
    produce(study, out or Path("results") / study.name, jobs=cores(jobs), command=command_line())


@app.command(
    epilog=examples(
        "suite mine:MyAgent --size quick --epsilon 0.1,1,10 --out results/mine",
        "suite DP-KLUCB Clipped-Lap:base=TS --axis switching,stochastic/rare --size tiny",
        "suite DP-TT mine:MyAgent --axis identification",
        "suite submissions --size tiny --epsilon 1 --seed 8251",
        "suite mine/card.json theirs/card.json --out results/both",
    )
)
def suite(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AGENT...]",
            help="Agents as module:Name, or algorithms, with parameters if you like; or a folder of Python files, each"
            " with a class MyAgent; or cards, which are joined. Without any, what the package's own algorithms score.",
        ),
    ] = None,
    list_tasks: Annotated[bool, typer.Option("--list", help="List tasks, sizes and levels.")] = False,
    size: Annotated[str, typer.Option(help="tiny, quick or full.")] = "quick",
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EPSILON[,EPSILON...]",
            help="What a round is guaranteed, at delta = 1e-6; none is without privacy. By default 0.1,1,10.",
        ),
    ] = None,
    axis: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS[,AXIS...]", help="Axes or tasks, such as switching; by default all but identification."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        integer_option("The seed of all games; by default the reference's. Nobody can prepare for one that you keep."),
    ] = None,
    seconds: Annotated[float, float_option("The most seconds for an agent at one epsilon in one task.")] = 1800.0,
    jobs: Jobs = 1,
    out: Out = None,
) -> None:
    """Score any agent in 20 games at calibrated privacy levels, and rank it among all algorithms."""
    from dp_bandit_envs.cli.suite_commands import score_agents, show_reference, show_tasks

    axes = [name.strip() for text in axis for name in text.split(",")] if axis else None
    if list_tasks:
        show_tasks()
    elif not agents:
        show_reference(size, axes, epsilon)
    else:
        settings: dict[str, Any] = {"size": size, "axes": axes, "seed": seed, "seconds": seconds, "jobs": cores(jobs)}
        score_agents(agents, epsilon=epsilon, out=out, **settings)


@app.command(
    "compile",
    epilog=examples(
        "compile",
        "compile Stochastic Switching EXP3 DP-KLUCB",
    ),
)
def compile_(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ENVIRONMENT...] [ALGORITHM...]",
            help="Environments and algorithms, as for run; by default all of the package, with their default"
            " parameters: some minutes.",
        ),
    ] = None,
) -> None:
    """Compile all machine code ahead of time, for the image of a lab or the disk of a cluster."""
    from dp_bandit_envs.cli.compile_command import compile_all
    from dp_bandit_envs.cli.run_commands import sort_kinds

    environments, algorithms = sort_kinds(names or [])
    compile_all(environments, algorithms)


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="environments, algorithms, agents, wrappers, counters or labs; by default all but labs.",
        ),
    ] = None,
) -> None:
    """List environments, algorithms with their guarantees, agents, wrappers, counters, labs."""
    from dp_bandit_envs.cli.show_commands import list_names

    say("\n".join(list_names(kind)))


@app.command(
    epilog=examples(
        "show DP-KLUCB",
        "show results/mine --y-scale log --out regret.pdf",
        "show results/mine --measure switches --out table.tex",
        "show counters --horizon 1e4 --epsilon 0.5",
    )
)
def show(
    name: Annotated[
        str,
        typer.Argument(
            help="An environment, algorithm, agent, wrapper or counter; a folder of results; or counters, to compare"
            " them."
        ),
    ],
    measure: Annotated[
        str | None,
        typer.Option(
            help="A folder: external_regret, pseudo_regret, dynamic_regret, policy_regret, collected, switches,"
            " rounds_until_stop or error; by default external_regret.",
            metavar="MEASURE",
        ),
    ] = None,
    band: Annotated[
        str | None,
        typer.Option(
            help="A folder: ci (mean, 95 % interval), quantiles (median, 10 % to 90 %), spread (median of means, Gini's"
            " mean difference) or none; by default ci.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="A folder: the horizontal axis is round, or the last round is drawn against epsilon, arms or horizon."
        ),
    ] = None,
    y_scale: Annotated[str | None, typer.Option(help="A folder: the vertical axis is linear or log.")] = None,
    horizon: Annotated[int | None, integer_option("counters: number of items T; by default 100000.")] = None,
    epsilon: Annotated[
        float | None, float_option("counters: privacy parameter of all releases together; by default 1.")
    ] = None,
    delta: Annotated[float | None, float_option("counters: also the Gaussian counter, at this delta.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=picture_or_table,
            metavar="FILE",
            help="A folder: where the figure goes (.png, .svg, .pdf; by default figure-shown.png in the folder), or the"
            " table (.tex, .md, .html, .csv). counters: where a plot of the errors goes.",
        ),
    ] = None,
) -> None:
    """Show an algorithm or environment, redraw a finished run, or compare counters by their noise."""
    from dp_bandit_envs.cli.show_commands import describe_name, is_folder_of_results, show_counters, show_results

    of_folder = {"--measure": measure, "--band": band, "--against": against, "--y-scale": y_scale}
    of_counters = {"--horizon": horizon, "--epsilon": epsilon, "--delta": delta}
    if name.lower() == "counters":
        refuse_options(of_folder, "a folder of results", name)
        if out is not None and out.suffix not in PICTURES:
            raise ValueError(f"--out must be a picture for counters ({', '.join(PICTURES)}); received {str(out)!r}.")
        show_counters(100_000 if horizon is None else horizon, 1.0 if epsilon is None else epsilon, delta, out)
    elif is_folder_of_results(name):
        refuse_options(of_counters, "`dp-bandit show counters`", name)
        look = {option[2:].replace("-", "_"): setting for option, setting in of_folder.items() if setting is not None}
        show_results(Path(name), out, **look)
    else:
        refuse_options(of_folder, "a folder of results", name)
        refuse_options({**of_counters, "--out": out}, "`dp-bandit show counters` or a folder of results", name)
        say(describe_name(name))


def refuse_options(options: dict[str, Any], whose: str, name: str) -> None:
    """Raise if an option is given that does not apply."""
    for option, setting in options.items():
        if setting is not None:
            raise ValueError(f"{option} is for {whose}; received it with {name!r}. Leave it out.")


@app.command(
    epilog=examples(
        "audit DP-KLUCB --epsilon 1 --out audit.png",
        "audit gallery",
    )
)
def audit(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="An algorithm, with parameters if you like: DP-UCB:epsilon=.5; or mine:Name, also of a mechanism; or"
            " gallery, for parts that are broken on purpose, with what an attacker sees.",
        ),
    ],
    epsilon: Annotated[
        float | None,
        float_option(
            "Privacy parameter of what takes one (with delta = T^-2 if it takes a delta too); by default"
            " its own, see show. inf is no privacy."
        ),
    ] = None,
    confidence: Annotated[float, float_option("Confidence of the sampled lower bound, in (0, 1).")] = 0.99,
    horizon: Annotated[int, integer_option("Number of rounds of each audited game.")] = 12,
    games: Annotated[
        int | None,
        integer_option(
            "Games on each table for each test, at least 100; 0 leaves sampling out. By default 200000, or 1000 if they"
            " cannot be compiled."
        ),
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, picture_option("Save the bars as a plot here, .png or .svg.")] = None,
) -> None:
    """Compare the privacy that an algorithm declares with the privacy loss of its noise, its releases and its arms.

    The exit code is 1 if a claim is refuted, and 3 if nothing could be judged.
    """
    from dp_bandit_envs.cli.audit_commands import show_audit, show_gallery

    if name == "gallery":
        show_gallery(console)
        return
    settings: dict[str, Any] = {"confidence": confidence, "horizon": horizon, "games": games, "seed": seed}
    if code := show_audit(console, name, epsilon=epsilon, out=out, **settings):
        raise typer.Exit(code)


@app.command(
    epilog=examples(
        "calibrate DP-KLUCB EXP3-tau --epsilon 1 --delta 1e-6 --n-arms 4 --horizon 5000 --rounds-per-person 3",
        "calibrate Private-UCB --epsilon 1 --n-arms 4 --horizon 1e4",
    )
)
def calibrate(
    names: Annotated[
        list[str],
        typer.Argument(metavar="ALGORITHM...", help="Algorithms, with other parameters if you like: DP-UCB-INT:v=1.3"),
    ],
    epsilon: Annotated[float, float_option("What is to be guaranteed, such as 1.")],
    n_arms: Annotated[int, integer_option("Number of arms.")],
    horizon: Annotated[int, integer_option("Number of rounds, as 5000 or 1e5.")],
    delta: Annotated[float, float_option("At this delta; 0 for pure differential privacy.")] = 0.0,
    rounds_per_person: RoundsPerPerson = None,
) -> None:
    """Find the parameters at which algorithms guarantee an epsilon, for a round or for a person."""
    from dp_bandit_envs.cli.data_commands import calibration_line

    for text in names:
        say(calibration_line(text, (epsilon, delta), (n_arms, horizon), rounds_per_person))


@app.command(
    epilog=examples(
        "ledger my.ledger --epsilon 3 --unit person",
        "run clean.csv DP-KLUCB --epsilon 0.1 --persons person --ledger my.ledger",
        "ledger my.ledger",
    )
)
def ledger(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ledger: one file for each data set.")],
    epsilon: Annotated[
        float | None, float_option("Make the file, with this budget for all games on the data together.")
    ] = None,
    delta: Annotated[
        float | None,
        float_option("The delta of that budget; a hundredth of it is kept for fast draws.", show_default="1e-06"),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Whom the budget is for: record, or person (games then need --persons).", show_default="record"
        ),
    ] = None,
) -> None:
    """Create a privacy budget for all games on the same data (--epsilon), or show its charges."""
    from dp_bandit_envs.cli.data_commands import describe_ledger, make_ledger, open_ledger, show_charges

    if epsilon is not None:
        opened = make_ledger(file, epsilon, delta, unit)
    elif delta is not None or unit is not None:
        raise ValueError("--epsilon must be given to make a ledger; --delta and --unit go with it.")
    else:
        opened = open_ledger(file)
        show_charges(opened)
    say(describe_ledger(opened, file))


@app.command(
    epilog=examples(
        "grade submissions",
        "grade submissions --out grades/monday --secret 'a sentence of mine'",
    )
)
def grade(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Has the students' copies of labs, or a folder of them for each.")
    ],
    secret: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Cases are drawn from it; by default from a new one.")
    ] = None,
    seconds: Annotated[float, float_option("By the clock, for a file; labs 9 and 10 have 15 times as much.")] = 60.0,
    jobs: Annotated[int, integer_option("Files to grade at a time; 0 for as many as there are cores.")] = 0,
    out: Annotated[
        Path, typer.Option(parser=folder, metavar="FOLDER", help="Where grades.csv and answers.csv are written.")
    ] = Path("grades"),
) -> None:
    """Grade students' copies of the labs: a table with a row for each student, and one of free answers.

    Each file runs in a process with a limit of time and with your rights: this is NO sandbox (see docs/grading.md).
    """
    from dp_bandit_envs.cli.run_commands import grade_labs

    grade_labs(folder, out, secret, seconds=seconds, jobs=cores(jobs))


@app.command(
    epilog=examples(
        "lab",
        "lab price-of-privacy",
        "lab --read-only --headless --port 8000",
    )
)
def lab(
    name: Annotated[
        str | None, typer.Argument(help="A lab, by its name or number as in list labs; by default the page of all.")
    ] = None,
    folder: Annotated[
        Path,
        typer.Option(
            parser=folder,
            metavar="FOLDER",
            help="Where your copies are. A lab is copied there once and never overwritten: rename or remove your copy"
            " to get a new one.",
        ),
    ] = Path("labs"),
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Show the labs as apps, for a lecture: sliders move, code is hidden.")
    ] = False,
    port: Annotated[int | None, integer_option("Port to listen at; by default a free one.")] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 lets others on the network in.")
    ] = "127.0.0.1",
    headless: Annotated[bool, typer.Option("--headless", help="Open no browser; the address is printed.")] = False,
) -> None:
    """Open the labs of the course in the browser: questions, sliders, and tasks that check themselves."""
    from dp_bandit_envs.cli.show_commands import open_lab

    open_lab(name, folder, read_only=read_only, host=host, port=port, headless=headless)
