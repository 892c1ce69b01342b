"""The start page of the course: all labs, with their questions."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Nine labs on private bandits")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    from dp_bandit_envs.course.lab_list import LABS

    return LABS, mo


@app.cell(hide_code=True)
def _(LABS, mo):
    lines = [
        f"| {place} | [{lab.title}](?file={lab.file}) | {lab.question} | {lab.minutes} |"
        for place, lab in enumerate(LABS, 1)
    ]
    mo.md(
        "# Nine labs on private bandits\n\n"
        "Each has a question to predict first, sliders to find the answer, and a task that checks itself."
        " Your copies are in the folder that you started this in; they are yours to change.\n\n"
        + "\n".join(["| | lab | question | minutes |", "| --: | :-- | :-- | --: |", *lines])
    )
    return


if __name__ == "__main__":
    app.run()
