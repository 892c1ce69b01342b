"""What tests see does not depend on the terminal they are started from: its width, its colours, its encoding."""

import os

import pytest

# Rich reads them when it is imported, and processes that tests start inherit them.
for _name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONIOENCODING"):
    os.environ.pop(_name, None)

# A failed assert in a helper shows its values, as one in a test does.
pytest.register_assert_rewrite("tests.tools")
