"""Configurations of results folders: differences, growth from one to another, and union.

A configuration is plain JSON. It lists games, and in each game the results of algorithms. A game and a result have a
`source` that determines their numbers together with the seed; their names are for readers, and may change.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

FORMAT: Final = 4
"""The format version of results folders."""
MADE_BY: Final = "made_by"
"""The configuration key of code and library versions."""
DESCRIBED: Final = "described"
"""The configuration key of games and guarantees in plain values."""
DATA: Final = "data_sha256"
"""The configuration key of data files by content."""
LONGEST_VERSIONS: Final = 60
"""The most letters of two versions that are shown; a digest has more."""
LONGEST_DIFFERENCE: Final = 120
SECRET: Final = (
    "A run with a secret seed does not grow, as the seed went with its process, and games of another seed cannot be"
    " compared with its games"
)
Configuration: TypeAlias = Mapping[str, Any]


class Cell(NamedTuple):
    """The games of one algorithm in one game of a configuration.

    Attributes:
        game: The game's description.
        result: The description of the algorithm's results in it.
    """

    game: Mapping[str, Any]
    result: Mapping[str, Any]

    @property
    def identity(self) -> tuple[str, str]:
        """The sources of game and algorithm, which determine the numbers together with the seed, as text."""
        return _game_identity(self.game), json.dumps(self.result.get("source"), sort_keys=True)

    @property
    def prefix(self) -> str:
        """The prefix of its arrays' names."""
        return f"{self.game['key']}/{self.result['name']}/"

    @property
    def trials(self) -> int:
        """Number of its games."""
        return int(self.result["trials"])


def cells_of(configuration: Configuration) -> Iterator[Cell]:
    """Yield every cell of a configuration."""
    return (Cell(game, result) for game in configuration[DESCRIBED] for result in game["results"])


def stored_cells(stored: Configuration, wanted: Configuration) -> dict[str, Cell]:
    """Return, by the prefix of each wanted cell, the stored cell with the same numbers, under any name."""
    by_identity = {cell.identity: cell for cell in cells_of(stored)}
    pairs = ((cell.prefix, by_identity.get(cell.identity)) for cell in cells_of(wanted))
    return {prefix: cell for prefix, cell in pairs if cell is not None}


def why_not_joined(stored: Configuration, wanted: Configuration) -> str:
    """Return why results of two configurations must not share a folder; "" if they may.

    Code and data are compared with those of all stored results: a union lists all of them.
    """
    if stored == wanted:
        return ""
    if "seed" not in stored or DESCRIBED not in wanted:
        return difference(stored, wanted)
    if stored["seed"] is None and wanted["seed"] is None:
        return SECRET
    formats = stored.get("format"), wanted.get("format")
    if formats != (FORMAT, FORMAT):
        return (
            f"format: {formats[0]} there, {formats[1]} here; what an older version made can be read, but neither grows"
            " nor joins"
        )
    reasons = [
        f"{key}: {stored[key]!r} there, {wanted[key]!r} here"
        for key in ("seed", "checkpoints")
        if stored[key] != wanted[key]
    ]
    reasons += _changed_data(stored, wanted) + _changed_code(stored, wanted)
    return "; ".join(reasons or _clashes(stored, wanted))


def union(stored: Configuration, wanted: Configuration) -> dict[str, Any]:
    """Return the union of two configurations: the wanted one in its order and names, then the rest.

    Raises:
        KeyError: If `why_not_joined` gives a reason.
    """
    there = stored_cells(stored, wanted)
    taken = {cell.identity for cell in there.values()}
    leftover: dict[str, list[Mapping[str, Any]]] = {}
    games_left = {}
    for cell in cells_of(stored):
        if cell.identity not in taken:
            leftover.setdefault(_game_identity(cell.game), []).append(cell.result)
            games_left[_game_identity(cell.game)] = cell.game
    games = []
    for game in wanted[DESCRIBED]:
        results = [
            max((Cell(game, result), there.get(Cell(game, result).prefix, Cell(game, result))), key=_trials_of)
            for result in game["results"]
        ]
        named = [
            {**longest.result, "name": result["name"], "algorithm": result["algorithm"], "asked": result["asked"]}
            for longest, result in zip(results, game["results"], strict=True)
        ]
        games.append({**game, "results": named + leftover.pop(_game_identity(game), [])})
    games += [{**games_left[identity], "results": results} for identity, results in leftover.items()]
    merged = {**stored, **wanted, DESCRIBED: games, MADE_BY: in_order(stored[MADE_BY], wanted[MADE_BY])}
    if data := in_order(stored.get(DATA, {}), wanted.get(DATA, {})):
        merged[DATA] = data
    return merged


def in_order(*texts: Mapping[str, str]) -> dict[str, str]:
    """Return the merged mapping, sorted, so that a union is written like a single configuration."""
    return dict(sorted(pair for mapping in texts for pair in mapping.items()))


def difference(old: Configuration, new: Configuration) -> str:
    """Return the differences between two configurations, leaving out long values."""
    keys = [key for key in new if old.get(key) != new[key] and key not in (DESCRIBED, MADE_BY)]
    games = _different_games(old, new) if DESCRIBED in old and DESCRIBED in new else []
    code = _changed_code(old, new, all_keys=True)
    # A name follows from the games and algorithms, unless it is all that differs.
    keys = [key for key in keys if key != "name"] or ([] if games else keys)
    texts = {key: f"{key}: {old.get(key)!r} there, {new[key]!r} here" for key in keys}
    return "; ".join([*(text if len(text) < LONGEST_DIFFERENCE else key for key, text in texts.items()), *games, *code])


def _game_identity(game: Mapping[str, Any]) -> str:
    return json.dumps([game.get("source"), game["horizon"]], sort_keys=True)


def _trials_of(cell: Cell) -> int:
    return cell.trials


def _clashes(stored: Configuration, wanted: Configuration) -> list[str]:
    """Return the parts whose names other parts have there."""
    games = {game["key"]: game for game in stored[DESCRIBED]}
    reasons = []
    for game in wanted[DESCRIBED]:
        other = games.get(game["key"])
        if other is not None and _game_identity(other) != _game_identity(game):
            reasons += _different_game(other, game)
    by_name = {(cell.identity[0], cell.result["name"]): cell for cell in cells_of(stored)}
    for cell in cells_of(wanted):
        other_cell = by_name.get((cell.identity[0], cell.result["name"]))
        if other_cell is not None and other_cell.identity != cell.identity:
            reasons.append(_other_algorithm(other_cell.result, cell.result))
    return list(dict.fromkeys(reasons))


def _other_algorithm(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    name, asked = new["name"], (old["asked"], new["asked"])
    if None not in asked and asked[0] != asked[1]:
        both = ", ".join(f"{epsilon:g}" for epsilon in sorted(map(float, asked)))
        return f"algorithms: {name} has epsilon = {asked[0]} there, {asked[1]} here; give both, epsilon=[{both}]"
    return f"algorithms: {name}, in their parameters or code; give one of them another name"


def _different_games(old: Configuration, new: Configuration) -> list[str]:
    titles = [", ".join(game["title"] for game in both[DESCRIBED]) for both in (old, new)]
    names = [", ".join(dict.fromkeys(cell.result["name"] for cell in cells_of(both))) for both in (old, new)]
    lists = {"games": titles, "algorithms": names}
    texts = [f"{what}: {there} there, {here} here" for what, (there, here) in lists.items() if there != here]
    stored = stored_cells(old, new)
    pairs = [(stored[cell.prefix].trials, cell.trials) for cell in cells_of(new) if cell.prefix in stored]
    texts += [f"trials: {there} there, {here} here" for there, here in pairs if there != here]
    return list(dict.fromkeys([*texts, *_clashes(old, new)]))


def _different_game(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    texts = []
    if old["horizon"] != new["horizon"]:
        texts.append(f"horizon: {old['horizon']} there, {new['horizon']} here")
    if old.get("source") != new.get("source"):
        texts.append(f"games: {new['title']}, in its parameters")
    return texts


def _changed_data(old: Configuration, new: Configuration) -> list[str]:
    before, after = old.get(DATA, {}), new.get(DATA, {})
    return [f"data: {name} has other content" for name in before if name in after and before[name] != after[name]]


def _changed_code(old: Configuration, new: Configuration, *, all_keys: bool = False) -> list[str]:
    """Return a sentence on differing code; includes parts that only one has if `all_keys`."""
    before: dict[str, str] = old.get(MADE_BY) or {}
    after: dict[str, str] = new.get(MADE_BY) or {}
    pairs = {name: (before.get(name), after.get(name)) for name in {**before, **after}}
    changed = [
        f"{name} {there} there, {here} here" if len(f"{there}{here}") <= LONGEST_VERSIONS else name
        for name, (there, here) in pairs.items()
        if there != here and (all_keys or None not in (there, here))
    ]
    if not changed:
        return []
    return [f"other code made it ({'; '.join(changed)}), whose numbers are not mixed with those of this one"]
