"""The project's own errors. Every message says what went wrong, the rule, the value received and a way out."""

import gymnasium


class WrongTypeError(TypeError):
    """An argument has the wrong type.

    `gym.make` raises a TypeError again with all arguments appended to its message, private gains among them; this
    class keeps the message only.
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message.partition(" was raised from the environment creator for ")[0])


class UnknownArgumentError(WrongTypeError):
    """A keyword argument has an unknown name.

    The message begins with Python's own words, which other packages look for: TorchRL and Stable-Baselines3 try
    arguments that not every environment takes, and omit an argument that is refused with these words.
    """

    def __init__(self, called: str, name: str = "", hint: str = "") -> None:
        # Gymnasium makes one again from a message alone.
        message = f"{called} got an unexpected keyword argument {name!r}. {hint}" if name else called
        super().__init__(message.rstrip())


class NotAnIntegerError(WrongTypeError, ValueError):
    """A whole number was needed; both a TypeError and a ValueError, so that either except clause catches it."""


class SeedRefusedError(ValueError):
    """A part with secure draws was given a seed, or was to be simulated; the message names the reason and a way out."""


class StepOutsideGameError(gymnasium.error.ResetNeeded):
    """`step` was called before `reset`, or after the last round."""


class BoundaryError(RuntimeError):
    """Code below a privacy boundary failed; its message is withheld because it may carry private gains."""


class WrongObservationError(ValueError):
    """An agent received an observation that it cannot learn from; the message names the missing wrapper."""


class WrongGameError(ValueError):
    """An algorithm, agent or mechanism does not fit a game; the message names the reason and suitable games."""


class NotAuditedError(ValueError):
    """No audit covers a mechanism or an algorithm; the message names the reason and an alternative."""


class NothingReleasedError(NotAuditedError):
    """An audited game has no release; the message names games that have."""


class WrongPointError(ValueError):
    """An action is not a point of the decision set; the message shows no gain."""


class GainRangeError(ValueError):
    """An adversary returned a gain outside [0, 1], or a gain vector outside its set; the message does not show it."""

    def __init__(self, adversary: object, rule: str = "in [0, 1]") -> None:
        super().__init__(
            f"gains must be {rule}; {type(adversary).__name__} returned others (withheld, as they may be private)."
            " Rescale the gains, and write every arm's in every round."
        )


class PayoffRangeError(GainRangeError):
    """A payoff function returned something other than a number in [0, 1]; the message does not show it."""

    def __init__(self, *_: object) -> None:
        ValueError.__init__(
            self,
            "a payoff function must return a number in [0, 1]; it returned something else (withheld, as it may be"
            " private). Rescale it.",
        )


class DataFileError(ValueError):
    """A user's file cannot be read or breaks a rule; the message names the file, and line and column if it has any."""


class GainFileError(DataFileError):
    """A file of gains breaks a rule; the message names file, line and column."""


class GraphFileError(DataFileError):
    """A file of edges breaks a rule; the message names file, line and column."""


class UnknownNameError(KeyError, ValueError):
    """A name is unknown; the message suggests the nearest names."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; a sentence should read as one.
        return str(self.args[0])


class NameTakenError(ValueError):
    """A name to be registered is already taken; the message names the id."""


class NotSendableError(TypeError):
    """A part cannot be sent to another process; the message suggests an alternative."""


class UnreachableGuaranteeError(ValueError):
    """No parameter of an algorithm gives the requested guarantee; the message names the target."""


class ConformanceError(AssertionError):
    """A part breaks a rule of its contract; the message names the rule, the value received, and a way out."""


class ResultsError(RuntimeError):
    """A results folder cannot be used as requested; it is unchanged."""


class FileAccessError(OSError):
    """A file could not be read or written; the message names it and its present state."""


class ClusterError(RuntimeError):
    """Workers, possibly on other machines, would get a secret seed, or have other code."""


class LedgerError(RuntimeError):
    """A ledger refuses to begin a game; the message depends on public numbers only, never on a gain."""


class BudgetSpentError(LedgerError):
    """One more game would exceed a ledger's budget; the message shows budget, spending and the game's cost."""


class UnprotectedGameError(LedgerError):
    """A game would expose data with a ledger: it has no guarantee, or its seed is known."""


class LedgerFileError(LedgerError):
    """A ledger's file is missing, damaged, of another ledger, or cannot be written; no game was played."""


class WrongGainsError(ValueError):
    """An adversary returned gains of the wrong shape, or (received None) not numbers."""

    def __init__(self, adversary: str, asked: tuple[int, ...], received: tuple[int, ...] | None) -> None:
        super().__init__(adversary, asked, received)

    def __str__(self) -> str:
        adversary, asked, received = self.args
        what = f"shape {received}" if received is not None else "what is no table of numbers"
        return (
            f"{adversary}.next_gains({asked[0]}) must return a fresh array of shape {asked}, a row for each round and a"
            f" column for each arm; received {what}. Say in super().__init__(n_arms, horizon) how many arms there are."
        )


class NotRepeatableError(ValueError):
    """An adversary or a mechanism gave two different games for one random stream; the message names it, but no gain."""


class LateDataError(ValueError):
    """An adversary got real data, or a ledger, after its seed, guarantees or copies had been made without them."""


class MadeUpGainsWarning(UserWarning):
    """A game for the user's data was given none, and plays a made-up table."""


class KnownSeedWarning(UserWarning):
    """A game on real data was given a seed: anyone who knows or guesses it can subtract all noise."""


class TooLongError(BaseException):
    """A check of the course has taken too long. Not an `Exception`, which checks treat as their own failure."""
