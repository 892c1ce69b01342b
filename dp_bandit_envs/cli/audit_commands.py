"""The command `audit`: the declared, the exact and the sampled epsilons of one algorithm as bars; or the gallery."""

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries import GainTable
from dp_bandit_envs.agents import Uniform
from dp_bandit_envs.algorithms import Algorithm
from dp_bandit_envs.algorithms.specs import AlgorithmSpec, read_algorithm, read_import, refuse_unknown_parameters
from dp_bandit_envs.audits import ExactLoss, SampledLoss, exact_loss, float_loss, sampled_loss
from dp_bandit_envs.audits.exact import ROUNDS
from dp_bandit_envs.audits.fixed_play import horizon_with_release
from dp_bandit_envs.audits.gallery import LESSONS
from dp_bandit_envs.cli.terminal import table_of
from dp_bandit_envs.envs.graph_env import GraphEnv
from dp_bandit_envs.errors import NotAuditedError, NothingReleasedError
from dp_bandit_envs.files import write_whole
from dp_bandit_envs.plots.plot_style import as_bytes
from dp_bandit_envs.plots.privacy_figures import Bar, audit_figure, longest_of
from dp_bandit_envs.privacy.guarantee import PrivacyGuarantee
from dp_bandit_envs.privacy.mechanism import Mechanism
from dp_bandit_envs.text import in_brackets
from dp_bandit_envs.wrappers import PrivacyBoundary

REFUTED = "refuted: more is lost than declared"
REFUTED_CODE = 1
"""The exit code if an audit refutes the claim."""
NOT_AUDITED_CODE = 3
"""The exit code without a release, or if no audit covers the algorithm; 2 is for errors."""
LONGER = 64
"""The rounds of the game in which the exact audit looks for noise that changes later."""
LATE = 200
"""The rounds of the games whose last releases are also examined."""
LAST = 12
"""How many steps at their end these are."""
FEWEST_LATE = 500
"""The fewest of these games, on each table for each test."""
LOW_BITS = 320
"""The number of releases whose low bits are examined: 20 of each of 16; of plain doubles, a third reveal a gain."""
MOST_ROUNDS = 100_000
"""The most rounds of an audited game: all its noise is held as a table."""
BITS = "bits"
"""The kind of the row on low bits, which has no bar in a plot."""
BAR = 20
"""The length of the longest bar, in characters."""


class AuditRow(NamedTuple):
    """One bar with its remark, and the number of games on each table if it is sampled."""

    bar: Bar
    verdict: str
    games: int = 0


def show_audit(
    console: Console,
    text: str,
    *,
    epsilon: float | None,
    confidence: float,
    horizon: int,
    games: int | None,
    seed: int,
    out: Path | None = None,
) -> int:
    """Print the table with bars, and save a plot if `out` is set; return the exit code.

    `text` is as for `read_audited`; the other arguments are those of `sampled_loss`, where 0 games skip sampling.
    """
    horizon = checks.integer("horizon", horizon, at_least=2, at_most=MOST_ROUNDS)
    games = None if games is None else checks.integer("games", games, at_least=0)
    seed = checks.integer("seed", seed, at_least=0)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1); received {confidence!r}. Use 0.99, for example.")

    def at(horizon: int) -> tuple[Algorithm | Mechanism, str, dict[str, Any]]:
        return read_audited(text, None if epsilon is None else checks.epsilon(epsilon), horizon)

    algorithm, name, parameters = at(horizon)
    if epsilon is not None and parameters.get("epsilon") != epsilon:
        raise ValueError(
            f"epsilon must be for an algorithm that takes one; {name} takes none, or has it written after its"
            " name. Leave --epsilon out."
        )
    settings: dict[str, Any] = {"confidence": confidence, "horizon": horizon, "games": games, "seed": seed}
    try:
        rows, declared, note, code = _audited(algorithm, **settings)
    except NothingReleasedError:
        # A delta of T^-2 changes with T, and so may the first release.
        longer = horizon_with_release(lambda rounds: at(rounds)[0], horizon, seed)
        way_out = f"in {longer:,} something is: --horizon {longer}" if longer else "nor in longer games"
        why = f"nothing was released in {horizon:,} rounds; {way_out}"
        rows, declared, note, code = (
            [AuditRow(Bar("exact", "exact, of the noise", None), why)],
            None,
            "",
            NOT_AUDITED_CODE,
        )
    if declared is not None:
        total = declared.delta_at(declared.epsilon)
        delta = f"delta = {total:.3g}" + ("" if declared.delta > 0 else " from fast draws") if total > 0 else ""
        rows.insert(0, AuditRow(Bar("declared", "declared", declared.epsilon), delta))
    bars = [row.bar for row in rows]
    title = f"Privacy of {name}, T = {horizon:,}, K = 2"
    longest, block = longest_of(bars), "#" if console.options.ascii_only else "█"
    table = Table(title=title, title_justify="left")
    for column in ("loss for a round", "epsilon", "", " "):
        right = column == "epsilon"
        table.add_column(column, justify="right" if right else "left", no_wrap=column != " ", overflow="fold")
    for bar, verdict, _ in rows:
        share = min((bar.epsilon or 0.0) / longest, 1.0)
        table.add_row(bar.label, _number(bar), block * round(BAR * share), verdict)
    console.print(table, highlight=False)
    if sampled := [row.games for row in rows if row.games]:
        console.print(f">= is a lower bound from games, with confidence {confidence:.4g} for each.", highlight=False)
        often = float(f"{math.sqrt(max(sampled)):.1g}")
        console.print(f"A leak in fewer than about 1 of {often:,.0f} games is not seen.", highlight=False)
    if note:
        console.print(f"Played in ordinary Python, which takes longer: {note}.", highlight=False)
    if out is not None:
        title += f"; lower bounds with confidence {confidence:.4g}" if games != 0 else ""
        figure = audit_figure([bar for bar in bars if bar.kind != BITS], title)
        write_whole(out, as_bytes(figure, out.suffix[1:]))
        console.print(f"See {out}.", highlight=False, soft_wrap=True)
    return code


def _audited(
    algorithm: Algorithm | Mechanism, *, confidence: float, horizon: int, games: int | None, seed: int
) -> tuple[list[AuditRow], PrivacyGuarantee | None, str, int]:
    """Return a row for each audit, the guarantee, why games were not compiled, and the exit code.

    Raises:
        NothingReleasedError: If games of that length have no release.
    """
    rows: list[AuditRow] = []
    losses: list[ExactLoss | SampledLoss] = []
    sampling = "the sampled bounds below" if games != 0 else "--games 1000"

    def typed(reason: object) -> str:
        """Return a Python message with function names replaced by the command line's."""
        return str(reason).replace("sampled_loss", sampling)

    silent = False

    def add(bar: Bar, audit: Callable[[], ExactLoss | SampledLoss]) -> None:
        nonlocal silent
        try:
            loss = audit()
        except NothingReleasedError as reason:
            if not losses and (games == 0 or bar.kind != "exact"):
                raise
            silent = not losses
            rows.append(AuditRow(bar, typed(reason)))
            return
        except NotAuditedError as reason:
            rows.append(AuditRow(bar, typed(reason)))
            return
        losses.append(loss)
        verdict = typed(loss.verdict)
        if isinstance(loss, ExactLoss):
            if not loss.attained:
                bar = bar._replace(label=bar.label.replace("exact", "at most"))
            if not (loss.holds or loss.refuted):
                # No bar, as one beyond the claim would look as if it refuted it.
                rows.append(AuditRow(bar, f"at most {loss.epsilon:.6g}: {verdict}"))
                return
        played = loss.games if isinstance(loss, SampledLoss) else 0
        rows.append(AuditRow(bar._replace(epsilon=loss.epsilon), REFUTED if verdict == "refuted" else verdict, played))

    settings: dict[str, Any] = {"horizon": horizon, "seed": seed}
    add(Bar("exact", "exact, of the noise", None), lambda: exact_loss(algorithm, **settings))
    if losses and losses[0].declared.model != "none" and _has_noise(algorithm):
        if horizon < LONGER:
            label = f"exact, {LONGER} rounds"
            add(Bar("exact", label, None), lambda: exact_loss(algorithm, horizon=LONGER, seed=seed))
        if getattr(algorithm, "feedback", "any") != "full":
            gains = GainTable(np.random.default_rng(seed).random((max(horizon, ROUNDS), 2)))
            both = GraphEnv("complete", n_arms=2, gains=gains)
            bar = Bar("exact", "exact, two gains a round", None)
            try:
                add(bar, lambda: exact_loss(algorithm, environment=both, seed=seed))
            except ValueError as reason:  # made up gains, so that it may be shown
                # A part that is for games of one gain a round refuses others, and the audit of those goes on.
                rows.append(AuditRow(bar, f"not looked at: {type(reason).__name__}: {reason}"))
    if games != 0:
        settings |= {"games": games, "confidence": confidence}
        # Arms played without releases are uninformative.
        if not silent:
            arms = Bar("arms", "sampled, arms", None, at_least=True)
            add(arms, lambda: sampled_loss(algorithm, of="arms", **settings))
        releases = Bar("releases", "sampled, releases", None, at_least=True)
        add(releases, lambda: sampled_loss(algorithm, of="releases", **settings))
        if horizon < LATE:
            # Long games take longer, and what is sought there is a mistake, not the last percent.
            number = next((loss.games for loss in losses if isinstance(loss, SampledLoss)), FEWEST_LATE)
            settings |= {"horizon": LATE, "last": LAST, "games": max(FEWEST_LATE, number // 10)}
            late = Bar("releases", "sampled, late releases", None, at_least=True)
            add(late, lambda: sampled_loss(algorithm, of="releases", **settings))
    if not losses:
        return rows, None, "", NOT_AUDITED_CODE
    if losses[0].declared.model != "none":
        low_bits = _low_bits(algorithm, confidence, seed)
        rows.append(low_bits)
        if low_bits.verdict.startswith(UNSEEN) and rows[0].verdict == "within the claim":
            rows[0] = rows[0]._replace(verdict=f"within the claim; {UNSEEN}")
    note = next((loss.note for loss in losses if isinstance(loss, SampledLoss) and loss.note), "")
    code = REFUTED_CODE if any(row.verdict.startswith("refuted") for row in rows) else 0
    return rows, losses[0].declared, note, code


def _has_noise(algorithm: Algorithm | Mechanism) -> bool:
    """Whether the audited part is a mechanism, or an algorithm on arms with a mechanism."""
    return isinstance(algorithm, Mechanism) or (algorithm.make_agent is not None and algorithm.own_guarantee is None)


UNSEEN = "low bits not looked at"


def _low_bits(algorithm: Algorithm | Mechanism, confidence: float, seed: int) -> AuditRow:
    bar = Bar(BITS, "low bits", None)
    try:
        loss = float_loss(algorithm, games=LOW_BITS, confidence=confidence, seed=seed)
    except NotAuditedError as reason:
        covered = isinstance(algorithm, Mechanism) or algorithm.own_guarantee is None
        return AuditRow(bar, f"{UNSEEN}: {reason}" if covered else str(reason))
    if loss.holds:
        return AuditRow(bar, f"show no gain in {loss.games} releases ({_which(loss.numbers, loss.releases)})")
    return AuditRow(bar, f"refuted: {loss.impossible} of {loss.games} releases are impossible for another gain")


def _which(numbers: Sequence[int], releases: int) -> str:
    if len(numbers) == releases:
        return f"all {releases} of a game" if releases > 1 else "the only one of a game"
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    return f"of a game's {releases:,}: {', '.join(words)}"


def _number(bar: Bar) -> str:
    if bar.epsilon is None:
        return "-"
    number = "inf" if math.isinf(bar.epsilon) else f"{bar.epsilon:.6g}"
    return f">= {number}" if bar.at_least else number


def read_audited_algorithm(text: str, epsilon: float | None, horizon: int) -> AlgorithmSpec:
    """Return the algorithm of `NAME` or `NAME:parameter=value,...`, at this epsilon if it takes one.

    An algorithm with both epsilon and delta gets delta = T^-2.
    """
    spec = read_algorithm(text)
    return dataclasses.replace(spec, parameters=spec.parameters_at(epsilon, None, horizon))


def read_audited(text: str, epsilon: float | None, horizon: int) -> tuple[Algorithm | Mechanism, str, dict[str, Any]]:
    """Return the audited part of `NAME` or `mine:Name`, its display name, and its parameters.

    It is an algorithm as for `read_audited_algorithm`; or a mechanism, or a class of one or of a wrapper, in a module.
    """
    named = read_import(text)
    kind = named.imported if named is not None else None
    if isinstance(kind, Mechanism):
        return kind, type(kind).__name__, {}
    if named is None or not (isinstance(kind, type) and issubclass(kind, (Mechanism, PrivacyBoundary))):
        spec = read_audited_algorithm(text, epsilon, horizon)
        return spec.build_with_own_noise(), spec.label, dict(spec.parameters)
    signature = {key: one for key, one in inspect.signature(kind).parameters.items() if key != "env"}
    refuse_unknown_parameters(named.name, named.parameters, signature)
    takes_epsilon = epsilon is not None and "epsilon" in signature
    parameters = {**({"epsilon": epsilon} if takes_epsilon else {}), **named.parameters}
    needed = [key for key, one in signature.items() if one.default is one.empty and one.kind in (0, 1, 3)]
    if missing := [key for key in needed if key not in parameters]:
        raise ValueError(f"{named.name} needs {', '.join(missing)}; write {text.rstrip(':')}:{missing[0]}=VALUE.")
    name = f"{named.name}{in_brackets(parameters)}"
    if issubclass(kind, Mechanism):
        return kind(**parameters), name, parameters
    return Algorithm(name, Uniform, lambda env: kind(env, **parameters), parameters=parameters), name, parameters


def show_gallery(console: Console) -> None:
    """Run every audit on each broken part and on its repaired twin, and print the attacker's view."""
    rows = []
    for name, lesson in LESSONS.items():
        verdicts = ("refuted" if lesson.rejects(make(1.0)) else "passes" for make in (lesson.broken, lesson.repaired))
        rows.append((name, *verdicts, lesson.seen))
    head = ("fault", "broken", "repaired", "what an attacker sees")
    console.print(table_of("Broken on purpose, at epsilon = 1", head, rows), highlight=False)
