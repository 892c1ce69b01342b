"""The bytes of a picture."""

import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from dp_bandit_envs.plots.plot_style import RC


def as_bytes(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a `"png"` or `"svg"` file; equal figures give equal bytes."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context(RC):
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
    return buffer.getvalue()
