"""``python -m tests.fuzz``: inputs of every target in this process, and some as commands; ends with 1 for a finding."""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import tempfile
import time
import warnings

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.commands import as_commands
from tests.fuzz.inputs import ACTS, Input, inputs

HANGING = 300.0
"""Seconds after which an input that hangs ends the process, with where it hung."""


def fuzzed(name: str, count: int, number: int) -> str | None:
    """Return what a target did wrong, with its smallest input, or ``None``; ``number`` seeds what is drawn."""
    act = ACTS[name]

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def every(one: Input) -> None:
        faulthandler.dump_traceback_later(HANGING, exit=True)
        try:
            act(one)
        except AssertionError as error:
            error.add_note(f"{one!r}"[:2000])
            raise

    try:
        every()
    except BaseExceptionGroup as several:
        return "\n".join(f"{error}\n    {getattr(error, '__notes__', [''])[0]}" for error in several.exceptions)
    except AssertionError as error:
        return f"{error}\n    {getattr(error, '__notes__', [''])[0]}"
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(ACTS)} [default: all]")
    parser.add_argument("--inputs", type=int, default=20_000, help="in this process, of all targets together")
    parser.add_argument("--commands", type=int, default=500, help="as commands, of all targets together")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    names = asked.targets or list(ACTS)
    if unknown := [name for name in names if name not in ACTS]:
        parser.error(f"no target {unknown[0]!r}; there are {', '.join(ACTS)}")
    warnings.simplefilter("error")
    os.chdir(tempfile.mkdtemp(prefix="fuzz-"))
    found = 0
    for name in names:
        begun, count = time.monotonic(), max(1, asked.inputs // len(names))
        problem = fuzzed(name, count, asked.seed) if asked.inputs else None
        found += problem is not None
        print(f"{name}: {count} inputs, {time.monotonic() - begun:.0f} s: {problem or 'nothing'}", flush=True)
    for problem in as_commands(names, asked.commands, asked.seed):
        found += 1
        print(problem, flush=True)
    print(f"{found} findings")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
