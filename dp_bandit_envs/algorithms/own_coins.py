"""Where the guarantees of an agent's own randomness hold: their proofs are for gains that count once, in [0, 1]."""

from dp_bandit_envs.protocols import Environment, plays_points
from dp_bandit_envs.wrappers.inspect_below import boundaries_below


def proofs_do_not_cover(env: Environment, algorithm: str) -> str | None:
    """Return why the guarantee of an agent's own randomness does not hold in a game, or None if it does.

    An agent sees what the wrappers let through. Its proof assumes that a changed round changes each arm's gain once, by
    at most 1; batches, which change it by less, are covered.

    Args:
        env: The game, without the algorithm's wrappers.
        algorithm: The algorithm's name, for the reason.
    """
    try:
        boundaries = boundaries_below(env, algorithm)
    except TypeError:
        return f"a wrapper may change what {algorithm} observes, and its proof assumes the game's own observations"
    values = getattr(env.unwrapped, "values", None)
    if values is not None and not plays_points(env) and not (values.low >= 0 and values.high <= 1):
        return f"the proof is for gains in [0, 1]; this game reveals values in [{values.low:g}, {values.high:g}]"
    if boundaries:
        game, seen = boundaries[-1].below, boundaries[0].above
        most = max(game.sensitivity, game.values.width * game.gains_in_a_round)
        if seen.gains_in_a_round > game.gains_in_a_round or seen.sensitivity > most:
            return "a mechanism below lets one round count more than once, or more than its gains do"
    return None
