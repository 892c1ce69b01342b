"""Prints, for each broken line, whether and by which test it was caught: `python -m tests.mutations [words...]`."""

import sys
import tempfile
from pathlib import Path

from tests.mutations.broken_lines import MUTATIONS, NOISE
from tests.mutations.copies import Copy


def main(words: list[str]) -> int:
    """Play all mutations whose names have these words; return how many were not caught."""
    chosen = tuple(one for one in MUTATIONS if all(word in one.what for word in words))
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for tests in copy.selections(chosen):
            whole = copy.run(tests)
            if whole.caught is not False:
                print(f"the tests {' '.join(tests)} fail on the unbroken copy: {whole.by}")
                return len(chosen)
        print(f"{'caught':<8}{'seconds':>8}  what is broken, in which file, and the first test that failed")
        for mutation in chosen:
            result = copy.play(mutation)
            missed += result.caught is not True
            word = {True: "yes", False: "NO", None: "not run"}[result.caught]
            noise = "noise: " if mutation in NOISE else ""
            print(f"{word:<8}{result.seconds:>8.1f}  {noise}{mutation.what} ({mutation.file}): {result.by}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} caught")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
