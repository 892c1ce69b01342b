"""A real clinical trial: 2,139 patients with HIV, four treatments, and the recorded outcomes."""

import csv
from importlib import resources
from typing import Any, SupportsIndex

import numpy as np

from dp_bandit_envs import checks
from dp_bandit_envs.adversaries.outcome_pools import OutcomePools

TREATMENTS = ("zidovudine", "zidovudine + didanosine", "zidovudine + zalcitabine", "didanosine")
"""The treatments in the order of the study; `Trial.arm_names` has them in the order of the game."""
OUTCOMES = ("event_free", "cd4_not_fallen")


class Trial(OutcomePools):
    """A real clinical trial: every round is a patient with HIV, every arm one of four treatments.

    AIDS Clinical Trials Group Study 175: each arm pays the recorded outcomes of its own patients. They come in random
    order and are reshuffled when used up. Every patient has one outcome, which at the full length can be used in five
    rounds (for its privacy see `OutcomePools`). A gain is 1 for a good outcome and 0 otherwise. Arms, numbered at
    random in each game (`arm_names`): zidovudine, zidovudine + didanosine, zidovudine + zalcitabine, didanosine.

    Args:
        horizon: Number of rounds (patients) T, at least 1; the trial had 2,139.
        outcome: `"event_free"`: no primary event was observed (CD4 count halved, AIDS, or death); or
            `"cd4_not_fallen"`: the CD4 count at 20 weeks was at least the initial count.
        ledger: A `dp_bandit_envs.Ledger`, which counts every game on these data and keeps them within its budget.

    Source: Hammer et al. (1996), A trial comparing nucleoside monotherapy with combination therapy in HIV-infected
    adults with CD4 cell counts from 200 to 500 per cubic millimeter, New England Journal of Medicine 335:1081-1090.
    Data as published in the R package speff2trial (data set ACTG175).
    """

    _arm_order = "random"

    def __init__(self, horizon: SupportsIndex = 2139, *, outcome: str = "event_free", ledger: Any = None) -> None:
        self.outcome = checks.one_of("outcome", outcome, OUTCOMES)
        pools: list[list[float]] = [[] for _ in TREATMENTS]
        with resources.files("dp_bandit_envs.data").joinpath("actg175.csv").open(encoding="utf-8") as lines:
            for patient in csv.DictReader(lines):
                pools[int(patient["arm"])].append(float(patient[outcome]))
        super().__init__([np.array(pool) for pool in pools], horizon, persons=1)
        self.ledger = ledger
        self._is_real = True

    @property
    def arm_names(self) -> tuple[str, ...]:
        """The treatment that each arm of the game stands for."""
        return TREATMENTS if self.order is None else tuple(TREATMENTS[arm] for arm in self.order)
