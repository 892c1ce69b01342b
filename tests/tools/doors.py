"""Cases for several doors and several values, without all of their pairs."""


def one_each(doors, values):
    """Return (door, value) pairs: every value through the first door, and the first value through every other."""
    (first, *others), (value, *more) = doors, values
    return [(first, value), *((first, one) for one in more), *((one, value) for one in others)]
