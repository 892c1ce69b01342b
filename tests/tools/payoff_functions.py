"""Payoff functions for tests; plain functions at the top of a module, as users write them."""

import math

import numpy as np

WEIGHT = 0.25
TABLE = np.array([0.5, 0.25, 0.125, 1.0])
TABLE.flags.writeable = False


def late(gains, arms, t):
    """Pay the gain of the oldest arm, so that the arm of this round makes no difference to this round."""
    return gains[arms[0]]


def weighted(gains, arms, t):
    """Depend on everything: every arm, its place, all gains and the round."""
    total = 0.0
    for place in range(len(arms)):
        total += gains[arms[place]] * (place + 1)
    total /= len(arms) * (len(arms) + 1) / 2
    return total if t % 3 else math.sqrt(total) * gains[0]


def helped(gains, arms, t):
    """Call another function, and use a number, a read-only array and a default."""
    return halved(gains[arms[-1]]) + WEIGHT * TABLE[arms[0] % 4]


def halved(gain, by=0.5):
    return by * gain


def repeated(gains, arms, t):
    """Return a truth value: whether the arm is that of m rounds before."""
    return arms[0] == arms[-1]


def interpreted(gains, arms, t):
    """Pay as `weighted` does, in a way that Numba cannot compile."""
    return float(str(weighted(gains, arms, t)))


def too_much(gains, arms, t):
    return 1.25 if t == 7 and arms[-1] == 1 else 0.5


def negative(gains, arms, t):
    return -0.001 if t == 7 else 0.5


def not_a_number(gains, arms, t):
    return math.nan if t == 7 else 0.5


def nothing(gains, arms, t):
    if t != 7:
        return 0.5


def only_constant_play_is_too_much(gains, arms, t):
    for each in arms:
        if each != 2:
            return 0.5
    return 2.0


def beyond_the_arms(gains, arms, t):
    return gains[arms[-1] + 1]


WRONG = [too_much, negative, not_a_number, nothing, only_constant_play_is_too_much]


def writes_gains(gains, arms, t):
    gains[0] = 0.0
    return 0.5


def writes_arms(gains, arms, t):
    arms[0] = 0
    return 0.5
