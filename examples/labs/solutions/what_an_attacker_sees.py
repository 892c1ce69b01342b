"""The lab on attackers: a lower bound on epsilon from the counts of an event."""

import math

from scipy.stats import beta


def epsilon_bound(more, less, games, confidence):
    """Return a lower bound on epsilon that holds with the confidence; 0 if the counts show nothing."""
    failure = (1 - confidence) / 2  # each of the two bounds may fail
    low = beta.ppf(failure, more, games - more + 1) if more > 0 else 0.0
    high = beta.ppf(1 - failure, less + 1, games - less) if less < games else 1.0
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def accused(tables, confidence):
    """Return the letter of the suspect who cannot have kept epsilon = 1, for each table of suspects."""
    return "".join(
        each.letter
        for suspects in tables
        for each in suspects
        if epsilon_bound(each.counts.more, each.counts.less, each.counts.games, confidence) > 1
    )
