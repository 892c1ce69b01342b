"""The labs as pages to read, by `marimo export html`: with the first answer to each prediction, and without checks."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from dp_bandit_envs.course.notebooks import LABS, Lab, linked as with_links
from generators import ROOT

ABOVE = '''
@app.cell(hide_code=True)
def _(mo):
    mo.md("""
    *To read only: this is how the lab looks when it has run, with the first answer to each question for a prediction.
    `dp-bandit lab {name}` opens the lab, for about {minutes} minutes: see [labs](../docs/labs.html).*
    """)
    return

'''
CHECK = """\
    def judged(*answers, **limits):
        mo.stop(True, mo.md("*In the lab, a check says here what is wrong.*"))

"""


def source_of(lab: Lab) -> str:
    """Return a lab's notebook."""
    return (ROOT / "examples" / "labs" / lab.file).read_text(encoding="utf-8")


def to_read(lab: Lab) -> str:
    """Return the notebook of a lab's page, which has links to the site's pages."""
    source = with_links(source_of(lab), "..")
    # An option of a choice comes first in its list, and a page has it chosen.
    source = re.sub(r'mo\.ui\.radio\((\s*\[\s*)("[^"]*")', r"mo.ui.radio(value=\2, options=\1\2", source)
    source = source.replace("    from dp_bandit_envs.course.checking import judged\n", CHECK)
    return source.replace("\n@app.cell", f"{ABOVE.format(name=lab.name, minutes=lab.minutes)}\n@app.cell", 1)


def page(lab: Lab) -> str:
    """Run a lab and return its page, which takes marimo's own scripts from the network.

    Raises:
        RuntimeError: If marimo fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, lab.file).write_text(to_read(lab), encoding="utf-8")
        command = [sys.executable, "-m", "marimo", "-q", "export", "html", lab.file, "-o", "page.html"]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
        if done.returncode:
            raise RuntimeError(f"marimo could not run {lab.name}: {done.stderr[-2000:]}")
        return Path(folder, "page.html").read_text(encoding="utf-8").replace(f"{Path(folder).resolve()}/", "")


def linked(text: str) -> str:
    """Return the course's page with each lab's name in a table as a link to the page that shows it."""
    for lab in LABS:
        text = text.replace(f"| `{lab.name}` |", f'| <a href="../labs/{lab.name}.html"><code>{lab.name}</code></a> |')
    return text
