"""Counts how often digits occur among 1, ..., T, in integers; the counters' exact mean variances are made from it."""


def ones(items: int, level: int) -> int:
    """Return how many of the numbers 0, ..., items have a one at `level` in base 2."""
    whole, rest = divmod(items + 1, 2 << level)
    return (whole << level) + max(rest - (1 << level), 0)


def all_ones(items: int) -> int:
    """Return the total number of ones of 0, ..., items in base 2."""
    return sum(ones(items, level) for level in range(items.bit_length()))


def octaves(items: int) -> list[tuple[int, int, int]]:
    """Return (k, numbers, ones) for each place k: how many of 1, ..., items are in [2^k, 2^(k + 1)), and their ones.

    The ones are those below place k, of all these numbers together.
    """
    found = []
    for place in range(items.bit_length()):
        last = min(items - (1 << place), (1 << place) - 1)
        found.append((place, last + 1, all_ones(last)))
    return found


def balanced_digit_sum(items: int, base: int) -> int:
    """Return the sum of the absolute balanced digits of 1, ..., items in an odd base.

    The digit of t at level i is the lowest digit of u, which is t without its lower digits. Each u comes from base^i
    numbers t around u base^i; the last u may come from fewer.
    """
    half, power, total = base // 2, 1, 0
    while (top := (items + (power - 1) // 2) // power) > 0:
        below = (power - 1) // 2
        last = items - (top * power - below) + 1
        total += power * _absolute_digits(top - 1, base) + last * abs((top + half) % base - half)
        power *= base
    return total


def _absolute_digits(top: int, base: int) -> int:
    """Return the sum of the absolute lowest balanced digits of 0, ..., top."""
    half = base // 2
    whole, rest = divmod(top + 1, base)
    rising = min(rest, half + 1)
    # One period is 0, 1, ..., half, half, half - 1, ..., 1.
    falling = rest - rising
    return whole * half * (half + 1) + rising * (rising - 1) // 2 + falling * half - falling * (falling - 1) // 2
