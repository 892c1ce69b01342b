"""How far a run is: ten lines in a pipe, without the control characters of a bar."""

import io

from rich.console import Console

from dp_bandit_envs.cli.terminal import progress


def test_a_pipe_gets_a_line_for_each_tenth_of_what_is_left():
    text = io.StringIO()
    with progress(Console(file=text), 2000) as show:
        show(None, 1000)  # from an earlier run
        for _ in range(100):
            show("Switching", 10)
    lines = text.getvalue().splitlines()
    assert [line.split("%")[0].strip() for line in lines] == [str(tenth) for tenth in range(10, 101, 10)]
    assert all("of 1,000 rounds" in line and line.endswith("Switching") for line in lines)
    assert "\x1b" not in text.getvalue() and "\r" not in text.getvalue()


def test_a_large_step_is_one_line_and_nothing_left_is_none():
    text = io.StringIO()
    with progress(Console(file=text), 100) as show:
        show("a", 35)
        show("b", 65)
    assert [line.split("%")[0].strip() for line in text.getvalue().splitlines()] == ["30", "100"]
    with progress(Console(file=text), 100) as show:
        show(None, 100)
    assert len(text.getvalue().splitlines()) == 2


def test_a_terminal_gets_a_bar():
    text = io.StringIO()
    with progress(Console(file=text, force_terminal=True), 100) as show:
        show("a", 100)
    assert "\x1b" in text.getvalue()
