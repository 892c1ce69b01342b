"""From a messy file of a trial to clean records that can be played, with every problem of the file reported at once."""

from dp_bandit_envs.recorded_data.clean_records import CleanRecords, Problem, Rounds, arm_names
from dp_bandit_envs.recorded_data.cleaning import clean
from dp_bandit_envs.recorded_data.messy_files import shown_columns

__all__ = ["CleanRecords", "Problem", "Rounds", "arm_names", "clean", "shown_columns"]
