"""The CSS of drawings that move: one sweep through the rounds, then a rest, and again.

Who asks for less motion, or reads with something that does not move, sees the end of the game; a pointer on the drawing
stops it.
"""

from collections.abc import Iterable, Sequence

FRAMES = 40
SECONDS = 12
REST = 0.15
"""The share of the time for which the end is shown."""


def moment(share: float) -> str:
    """Return when a share of the rounds has been played, as the percentage of an animation."""
    return f"{100 * (1 - REST) * share:.2f}%".replace(".00", "")


def keyframes(name: str, steps: Iterable[tuple[float, str]]) -> str:
    """Return an animation from (share of the rounds, declarations), the last of which stays."""
    found = list(steps)
    body = "".join(f"{moment(share)}{{{what}}}" for share, what in found)
    return f"@keyframes {name}{{{body}100%{{{found[-1][1]}}}}}"


def moves(name: str, selector: str, animation: str, *, steps: bool = False) -> str:
    """Return the rule by which a part of the drawing `name` follows an animation."""
    how = "step-end" if steps else "linear"
    return f"#{name} {selector}{{animation:{animation} {SECONDS}s {how} infinite}}"


def only_if_wanted(name: str, rules: Sequence[str], frames: Sequence[str]) -> str:
    """Return the whole style of a drawing."""
    return (
        "".join(frames)
        + "@media (prefers-reduced-motion:no-preference){"
        + "".join(rules)
        + f"#{name}:hover *{{animation-play-state:paused}}}}"
        + "@media (prefers-reduced-motion:reduce){"
        + f"#{name} .now{{display:none}}}}"
    )


def appearing(name: str, frame: int, frames: int = FRAMES) -> str:
    """Return the animation of what is there from a frame on."""
    return keyframes(f"{name}-from-{frame}", [(0, "opacity:0"), (frame / frames, "opacity:1")])


def passing(name: str, frame: int, frames: int = FRAMES) -> str:
    """Return the animation of what is there in one frame only; the last one stays."""
    steps = [(0.0, "opacity:0"), (frame / frames, "opacity:1")]
    if frame == 0:
        steps = [(0.0, "opacity:1")]
    if frame < frames - 1:
        steps.append(((frame + 1) / frames, "opacity:0"))
    return keyframes(f"{name}-at-{frame}", steps)
