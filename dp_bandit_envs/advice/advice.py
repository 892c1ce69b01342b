"""The advice: what was compared, which algorithm to take, and from which horizon on privacy pays."""

import dataclasses
import math
from typing import Final, NamedTuple

from dp_bandit_envs.advice.situations import Standing
from dp_bandit_envs.algorithms import Algorithm

LARGEST: Final = 2**18
"""The largest horizon at which privacy is tried to pay."""
SHARE: Final = 0.5
"""Privacy pays if mean regret is below this share of uniform play's."""
NOT_PRIVATE_ADVICE: Final = (
    "NOT PRIVATE: the outcomes in {} were looked at, and this advice depends on them; no noise protects them here."
    " Treat it as you treat the data, and publish neither the numbers nor the choice."
)
SHAPE_ONLY: Final = (
    "Of {} only the number of arms, the number of records and the most records of a person were used, which count as"
    " public; no outcome was used."
)
FOR_CHANGES: Final = ("Restarted-AdaP-UCB", "SW-KLUCB-CF")
"""Those that are made for means that change."""
ASSUMPTIONS: Final = {
    "stable": "If patients arrive in no particular order and the effects do not change",
    "drifting": "If effects or patients may change over time",
    "local": "If nobody may be trusted with a true outcome (local privacy)",
}


class Safer(NamedTuple):
    """An algorithm whose bad games are much better, and its mean regret over that of uniform play."""

    name: str
    algorithm: Algorithm
    share: float


@dataclasses.dataclass(frozen=True)
class Pick:
    """An algorithm to take.

    Attributes:
        name: Its name; `"Uniform"` if no private algorithm is better than arms at random.
        algorithm: The algorithm, calibrated to the guarantee; for uniform play too.
        share: Its mean regret over that of uniform play, averaged over the situations that count.
        interval: The 95 % interval of that share.
        safer: One with nearly the same mean whose bad games are much better; None if there is none.
    """

    name: str
    algorithm: Algorithm
    share: float
    interval: tuple[float, float]
    safer: Safer | None = None


class InReplay(NamedTuple):
    """What a replay of all records of a file needs to give a person the guarantee that the advice is for.

    Attributes:
        records: Number of records, and of rounds of the replay.
        rounds: In how many of them one person serves, at most.
        algorithms: Those to take, calibrated to these rounds, by name; without those that cannot meet the guarantee.
    """

    records: int
    rounds: int
    algorithms: dict[str, Algorithm]


@dataclasses.dataclass(frozen=True)
class Advice:
    """Which algorithm to take; its `str` says why in words.

    Attributes:
        n_arms: Number of arms K.
        horizon: Number of rounds T.
        epsilon: What each private algorithm guarantees to a person, at most.
        delta: At this delta.
        rounds_per_person: The most rounds of a person.
        trials: Number of games of each algorithm in each situation.
        situations: Name and kind, `"stable"` or `"drifting"`, of each situation.
        standings: Of each situation the algorithms by mean regret, the least first.
        stable: The algorithm to take where arms do not change.
        drifting: The one where they may: of those whose regret is bounded whatever the gains are, and those made for
            changes; None if none is.
        local: The one of those with local privacy; None if none meets the guarantee.
        pays_from: Of each stable situation the smallest power of two T at which the best one of `leaders` has less
            than half of uniform play's mean regret; None if there is none up to 2^18. Empty if it was not searched for.
        leaders: The algorithm that loses least here where arms do not change, and those that do in long games.
        left_out: Algorithms that do not meet the guarantee, and why.
        data: The name of the file; "" without one.
        looked_at_gains: Whether its gains were used, so that the advice is not private.
        in_replay: What a replay of the file needs for the same guarantee; None without a file.

    Example:
        >>> from dp_bandit_envs import advise
        >>> advice = advise(
        ...     n_arms=2, horizon=500, epsilon=1, gap=0.3, algorithms=["DP-IMED"], trials=20, find_horizon=False
        ... )
        >>> [standing.algorithm for standing in advice.standings][:3]
        ['TS', 'DP-IMED', 'Tsallis-INF']
    """

    n_arms: int
    horizon: int
    epsilon: float
    delta: float
    rounds_per_person: int
    trials: int
    situations: tuple[tuple[str, str], ...]
    standings: tuple[Standing, ...] = dataclasses.field(repr=False)
    stable: Pick | None
    drifting: Pick | None
    local: Pick | None
    pays_from: dict[str, int | None]
    leaders: tuple[str, ...]
    left_out: dict[str, str] = dataclasses.field(repr=False)
    data: str = ""
    looked_at_gains: bool = False
    in_replay: InReplay | None = dataclasses.field(default=None, repr=False)

    def ranking(self, situation: str) -> list[Standing]:
        """Return the standings in one situation, the least mean regret first.

        Args:
            situation: Its name, as in `situations`.
        """
        return [one for one in self.standings if one.situation == situation]

    def __str__(self) -> str:
        parts = [self._about(), *(self._table(name) for name, _ in self.situations), self._what_to_take()]
        if self.in_replay:
            parts.append(self._in_replay(self.in_replay))
        if self.pays_from:
            parts.append(self._where_it_pays())
        if self.left_out:
            parts.append(f"Not compared, as they do not give this guarantee: {', '.join(self.left_out)}.")
        if self.data:
            parts.append((NOT_PRIVATE_ADVICE if self.looked_at_gains else SHAPE_ONLY).format(self.data))
        return "\n\n".join(parts)

    def _about(self) -> str:
        at = f", delta = {self.delta:g}" if self.delta else ""
        whom = "a person, who has one round"
        if self.rounds_per_person > 1:
            whom = f"all {self.rounds_per_person} rounds of a person together, so that each round gets less"
        return (
            f"{self.n_arms} arms, {self.horizon:,} rounds; every private algorithm guarantees epsilon ="
            f" {self.epsilon:g}{at} for {whom}.\n"
            "Regret is the expected gain lost against the best arm of each round; a success is a gain of 1."
            f" Means of {self.trials} simulated games\nwith their 95 % intervals; in one game of a hundred regret"
            " is above the 99 % quantile."
        )

    def _table(self, situation: str) -> str:
        rows = [("", "", "mean regret", "95 % interval", "99 % quantile")]
        place = 0
        for one in self.ranking(situation):
            place += one.role == "private"
            low, high = one.interval
            shown = f"{place}." if one.role == "private" else ""
            name = one.algorithm + {"uniform": " (arms at random)", "not private": " (NO PRIVACY)"}.get(one.role, "")
            rows.append((shown, name, f"{one.mean:,.1f}", f"{low:,.1f} to {high:,.1f}", f"{one.tail:,.1f}"))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join([row[0].rjust(widths[0]), row[1].ljust(widths[1]), *map(str.rjust, row[2:], widths[2:])]).rstrip()
            for row in rows
        ]
        return "\n".join([f"{situation[0].upper()}{situation[1:]}", *lines])

    def _what_to_take(self) -> str:
        lines = ["What to take"]
        for key, chosen in (("stable", self.stable), ("drifting", self.drifting), ("local", self.local)):
            lines.append(f"- {ASSUMPTIONS[key]}: {self._sentence(key, chosen)}")
        return "\n".join(lines)

    def _sentence(self, key: str, chosen: Pick | None) -> str:
        if chosen is None:
            return "none of those compared is made for that."
        if chosen.name == "Uniform":
            return (
                "play arms at random (Uniform). No private algorithm of this kind is clearly better at this size, and"
                " arms at random cost no privacy."
            )
        low, high = chosen.interval
        safer = "" if chosen.safer is None else _safer_first(chosen, chosen.safer)
        text = f"{safer}take {typed(chosen.algorithm)}. It loses {chosen.share:.0%} ({low:.0%} to {high:.0%})"
        text += " of what arms at random lose"
        if key == "drifting":
            text += (
                ", and is made for changes"
                if chosen.name in FOR_CHANGES
                else ", and its expected regret is bounded whatever the outcomes are"
            )
            best = next(one for one in self.standings if self._is(one, "drifting") and one.role == "private")
            if best.algorithm != chosen.name:
                text += f"; {best.algorithm} lost less in this game, but no bound covers it in others"
        return f"{text}."

    def _in_replay(self, replay: InReplay) -> str:
        text = (
            f"All this is for a NEW trial. A REPLAY of the {replay.records:,} records of {self.data} plays them again"
            f" and again, so that one person serves in up to {replay.rounds:,} rounds."
        )
        if replay.algorithms:
            return (
                f"{text} For the same guarantee in a replay take {' or '.join(map(typed, replay.algorithms.values()))}."
            )
        if all(one is None or one.name == "Uniform" for one in (self.stable, self.drifting, self.local)):
            return f"{text} Arms at random protect everybody there, too."
        return f"{text} No algorithm named above gives the same guarantee there."

    def _where_it_pays(self) -> str:
        *others, last = self.leaders
        who = f"the best of {', '.join(others)} and {last}" if others else last
        lines = [
            f"Privacy pays from the smallest power of two T at which {who},\ncalibrated anew"
            f" for each T, has less than {SHARE:g} of the mean regret of arms at random:"
        ]
        for name, rounds in self.pays_from.items():
            shown = f"none up to {LARGEST:,} rounds" if rounds is None else f"T = {rounds:,}"
            lines.append(f"- {name}: {shown}")
        return "\n".join(lines)

    def _is(self, one: Standing, kind: str) -> bool:
        return dict(self.situations)[one.situation] == kind


def _safer_first(chosen: Pick, safer: Safer) -> str:
    """Return which algorithm to take for a study that runs once, before the one that loses least on average."""
    more = f", {safer.share / chosen.share - 1:.0%} more than {chosen.name}" if chosen.share > 0 else ""
    return (
        f"for a study that runs once, take {typed(safer.algorithm)}. It loses {safer.share:.0%} of what arms at random"
        f" lose{more}, but much less in a bad game (99 % quantile). For the least loss averaged over many studies, "
    )


def typed(algorithm: Algorithm) -> str:
    """Return an algorithm as `dp-bandit run` takes it, with the parameters that fix its privacy."""
    has = algorithm.parameters
    name, _, given = algorithm.name.partition(" (")
    keys = ["batch_size"] if name == "EXP3-tau" else ["epsilon", "delta"]
    written = [f"{key}={rounded_down(has[key])}" for key in keys if has.get(key) is not None]
    written += [part for part in filter(None, given.rstrip(")").split(", ")) if part.partition("=")[0] not in keys]
    return f"{name}:{','.join(written)}" if written else name


def rounded_down(value: float) -> str:
    """Return a number with six digits that is not larger, so that what is typed protects at least as much."""
    if isinstance(value, int):
        return str(value)
    digit = 10.0 ** (math.floor(math.log10(value)) - 5)
    rounded = float(f"{math.floor(value / digit * (1 + 1e-12)) * digit:.6g}")
    return f"{rounded if rounded <= value else rounded - digit:.6g}"
