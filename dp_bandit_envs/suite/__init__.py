"""The suite: one score sheet for any agent, compared with all algorithms of the package."""

from dp_bandit_envs.suite.card import ScoreCard
from dp_bandit_envs.suite.card_files import join, load
from dp_bandit_envs.suite.evaluation import evaluate
from dp_bandit_envs.suite.identification import IdentificationCard, IdentificationTask, identification_tasks
from dp_bandit_envs.suite.task_table import AXES, CORE, LEVELS, SIZES, SuiteTask, tasks

__all__ = [
    "AXES",
    "CORE",
    "LEVELS",
    "SIZES",
    "IdentificationCard",
    "IdentificationTask",
    "ScoreCard",
    "SuiteTask",
    "evaluate",
    "identification_tasks",
    "join",
    "load",
    "tasks",
]
