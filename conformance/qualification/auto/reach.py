"""Which cases come to which lines of a family's code: a mutant need only be run on those that come to its change."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any

from conformance.qualification.auto.changes import Change

Lines = dict[str, dict[int, int]]
"""For each module and line the cases that come to it, case n as bit n."""

Trace = Callable[[FrameType, str, Any], Any]


def traced(runs: Iterable[Callable[[], object]], files: Mapping[str, str]) -> Lines:
    """Return the lines that each of ``runs``, by number, comes to, of the modules in ``files`` (file to module).

    What a run computes once and keeps for later ones counts for the first of them alone, unless it forgets.
    """
    found: Lines = {module: {} for module in files.values()}
    bit = 1

    def into(frame: FrameType, event: str, argument: object) -> Trace | None:  # noqa: ARG001 - what settrace asks for
        module = files.get(frame.f_code.co_filename)
        if module is None:
            return None
        seen = found[module]

        def line(frame: FrameType, event: str, argument: object) -> Trace:  # noqa: ARG001 - as above
            if event == "line":
                seen[frame.f_lineno] = seen.get(frame.f_lineno, 0) | bit
            return line

        return line

    before = sys.gettrace()
    for run in runs:
        sys.settrace(into)
        try:
            run()
        finally:
            sys.settrace(before)
        bit <<= 1
    return found


def reached(change: Change, lines: Lines, count: int) -> int:
    """Return the cases, of ``count``, that come to a change, as bits: all of them for what runs when it is imported."""
    if not change.below:
        return (1 << count) - 1
    met = 0
    for line in change.lines:
        met |= lines.get(change.module, {}).get(line, 0)
    return met


def numbers(bits: int) -> Sequence[int]:
    """Return the numbers of the bits that are set, in order."""
    text = bin(bits)[:1:-1]
    return [at for at, bit in enumerate(text) if bit == "1"]
