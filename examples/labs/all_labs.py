"""The start page of the course: all labs, with their questions."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Ten labs on private bandits")


@app.cell(hide_code=True)
def _():
    import marimo as mo

    from dp_bandit_envs.course.notebooks import LABS

    return LABS, mo


@app.cell(hide_code=True)
def _(LABS, mo):
    lines = [
        f"| {place} | [{lab.title}](?file={lab.file}) | {lab.question} | {lab.minutes} |"
        for place, lab in enumerate(LABS, 1)
    ]
    mine = "and sliders to find the answer."
    if mo.app_meta().mode != "run":  # who reads a lecture's pages has no copies, and is asked for no answers
        mine = (
            "sliders to find the answer, and a task that checks itself. Your copies are in the folder `labs`, if you"
            " chose no other; they are yours to change."
        )
    mo.md(
        f"# Ten labs on private bandits\n\nEach has a question to predict first, {mine}\n\n"
        + "\n".join(["| | lab | question | minutes |", "| --: | :-- | :-- | --: |", *lines])
        + "\n\nPages such as `docs/counters.md`, where a lab says *Read on*, are in the folder `docs` of the repository"
        " that you installed this from."
    )
    return


if __name__ == "__main__":
    app.run()
