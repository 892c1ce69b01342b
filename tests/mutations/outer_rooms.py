"""Broken lines of the rooms around the core: figures, runs, command line, audits, course."""

from tests.mutations.mutation import Mutation

FIGURES: tuple[Mutation, ...] = ()

RUNS: tuple[Mutation, ...] = ()

COMPARISON: tuple[Mutation, ...] = ()

CLI: tuple[Mutation, ...] = ()

ADVICE: tuple[Mutation, ...] = ()

PLOTS: tuple[Mutation, ...] = ()

RECORDED_DATA: tuple[Mutation, ...] = ()

AUDITS: tuple[Mutation, ...] = ()

CONFORMANCE: tuple[Mutation, ...] = ()

COURSE: tuple[Mutation, ...] = ()

TOURNAMENT: tuple[Mutation, ...] = ()

ENVS: tuple[Mutation, ...] = ()

ALGORITHMS: tuple[Mutation, ...] = ()

OUTER_ROOMS = (
    *FIGURES,
    *RUNS,
    *COMPARISON,
    *CLI,
    *ADVICE,
    *PLOTS,
    *RECORDED_DATA,
    *AUDITS,
    *CONFORMANCE,
    *COURSE,
    *TOURNAMENT,
    *ENVS,
    *ALGORITHMS,
)
