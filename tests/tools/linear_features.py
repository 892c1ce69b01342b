"""Arms' features of many shapes, for agents of linear games."""

import numpy as np

from dp_bandit_envs.adversaries.linear_gains import default_features

FEATURES = {
    "10 in 5": default_features(10, 5),
    "3 in 5": default_features(3, 5),
    "rank 2 of 4": default_features(7, 2) @ np.eye(2, 4),
    "one line": np.array([[0.5, 0.5], [-0.1, -0.1], [0.0, 0.0]]),
    "axes": np.eye(4),
    "nearly one line": np.array([[1.0, 0.0], [0.999, 0.01], [0.998, -0.01], [0.3, 0.0]]),
    "60 in 8": default_features(60, 8),
}
