"""What tests of graphs share."""

import pytest

from dp_bandit_envs.wrappers import boundary


@pytest.fixture
def lies_are_believed(monkeypatch):
    """Let games reveal more gains in a round than they declare, which boundaries refuse, to see what would be lost."""
    real = boundary.gains_and_observed

    def believed(seen, below, wrapper):
        return real(seen, below._replace(gains_in_a_round=below.n_values), wrapper)

    monkeypatch.setattr(boundary, "gains_and_observed", believed)
