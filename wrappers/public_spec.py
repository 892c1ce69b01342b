"""The spec of a privacy boundary: which game and which wrappers, without any of their arguments."""

from gymnasium.envs.registration import EnvSpec, WrapperSpec


def public_spec(below: EnvSpec | None, boundary: type) -> EnvSpec | None:
    """Return a spec from which all arguments are left out, as they may be private gains or functions that hold them.

    `gym.make` refuses to make an environment from it, since it cannot repeat the wrappers without their arguments.

    Args:
        below: The spec of the environment below the boundary.
        boundary: The boundary's class.
    """
    if below is None:
        return None
    own = WrapperSpec(boundary.__name__, f"{boundary.__module__}:{boundary.__name__}", None)
    inner = [WrapperSpec(one.name, one.entry_point, None) for one in below.additional_wrappers]
    # An entry point in text; any other may be a function that holds gains.
    entry_point = below.entry_point if isinstance(below.entry_point, str) else None
    return EnvSpec(id=below.id, entry_point=entry_point, additional_wrappers=(*inner, own))
