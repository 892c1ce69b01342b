"""Labs that run in a reader's browser, by Pyodide: `make browser-labs`.

marimo writes the pages, and needs uv for that; this package goes beside them as a wheel. Pages load Pyodide, marimo's
and Gymnasium's wheels from the network. There is no compiler in a browser, so games are short.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from dp_bandit_envs.course.notebooks import Lab, find

ROOT = Path(__file__).parents[2]
LABS = ("what-is-a-bandit", "price-of-privacy", "counters")
SHORT = {
    '"LAB_HORIZON", "10000"': '"LAB_HORIZON", "400"',
    "    TRIALS = 60\n": "    TRIALS = 5\n",
    "LEARNERS, trials=20,": "LEARNERS, trials=2,",
}
"""What makes a lab's games short enough for Python without a compiler."""
INSTALL = """\
    import marimo as mo
    import micropip

    await micropip.install(["matplotlib", str(mo.notebook_location() / "public" / "{wheel}")])
"""
NOTE = '''

@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    *This page runs in your browser, in Python without a compiler: games have 400 rounds in place of 10,000, and 5 of
    them are played in place of 60. So numbers differ from those that the text tells of, and a slider takes some
    seconds. `dp-bandit lab` has the whole games.*
    """)
    return
'''


def notebook(lab: Lab, wheel: str) -> str:
    """Return a lab's source for the browser: with short games, a note that says so, and the package's wheel."""
    source = (ROOT / "examples" / "labs" / lab.file).read_text(encoding="utf-8")
    for long, short in SHORT.items():
        source = source.replace(long, short)
    source = source.replace("    import marimo as mo\n", INSTALL.format(wheel=wheel), 1)
    source = source.replace("@app.cell(hide_code=True)\ndef _():", "@app.cell(hide_code=True)\nasync def _():", 1)
    first, cell, rest = source.partition("\n\n@app.cell(hide_code=True)\ndef _(")
    note = NOTE if "LAB_HORIZON" in first else ""
    return f"{first.rstrip()}\n{note}{cell}{rest}"


def write(folder: Path) -> list[Path]:
    """Write the pages of all these labs, with the files that they share; return the pages.

    Raises:
        RuntimeError: If the wheel or a page cannot be made.
    """
    public = folder / "public"
    public.mkdir(parents=True, exist_ok=True)
    _do([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", public, ROOT])
    (wheel,) = public.glob("*.whl")
    pages = []
    with tempfile.TemporaryDirectory() as sources:
        for lab in map(find, LABS):
            source, page = Path(sources, lab.file), folder / f"{lab.name}.html"
            source.write_text(notebook(lab, wheel.name), encoding="utf-8")
            _do(
                [
                    sys.executable,
                    "-m",
                    "marimo",
                    "-q",
                    "export",
                    "html-wasm",
                    source,
                    "-o",
                    page,
                    "--mode",
                    "edit",
                    "-f",
                ]
            )
            pages.append(page)
    return pages


def _do(command: list) -> None:
    done = subprocess.run(command, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{command[2]} failed: {done.stderr[-2000:]}")


if __name__ == "__main__":
    print("See", *write(Path(sys.argv[1])), sep="\n")
