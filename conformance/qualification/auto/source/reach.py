"""Which cases come to which lines of a family's code: a mutant need only be run on those that come to its change."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FrameType
from typing import Any

from conformance.qualification.auto.source.changes import Change

Lines = dict[str, dict[int, int]]
"""For each module and line the cases that come to it, case n as bit n."""

Trace = Callable[[FrameType, str, Any], Any]


def traced(runs: Iterable[tuple[int, Callable[[], object]]], files: Mapping[str, str]) -> Lines:
    """Return the lines that each of ``runs``, with its number, comes to, of the modules in ``files`` (file to module).

    What a run computes once and keeps for later ones counts for the first of them alone, unless it forgets.
    """
    found: Lines = {module: {} for module in files.values()}
    seen: set[tuple[str, int]] = set()

    def line(frame: FrameType, event: str, argument: object) -> Trace:  # noqa: ARG001 - what settrace asks for
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def into(frame: FrameType, event: str, argument: object) -> Trace | None:  # noqa: ARG001 - as above
        return line if frame.f_code.co_filename in files else None

    before = sys.gettrace()
    for number, run in runs:
        seen.clear()
        sys.settrace(into)
        try:
            run()
        finally:
            sys.settrace(before)
        for file, at in seen:
            lines = found[files[file]]
            lines[at] = lines.get(at, 0) | 1 << number
    return found


def lines_below(source: str) -> set[int]:
    """Return the lines of a module that are in the bodies of functions."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {line for each in functions for line in range(each.body[0].lineno, (each.end_lineno or 0) + 1)}


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
