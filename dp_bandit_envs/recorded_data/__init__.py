"""From a messy file of a trial to clean records that can be played, with every problem of the file reported at once."""

from dp_bandit_envs.recorded_data.clean_records import CleanRecords, Rounds, arm_names
from dp_bandit_envs.recorded_data.cleaning import clean
from dp_bandit_envs.recorded_data.file_problems import Problem

__all__ = ["CleanRecords", "Problem", "Rounds", "arm_names", "clean"]
