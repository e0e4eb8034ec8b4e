"""A launch without the stores that nobody reads, nor what only they needed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from conformance.backends.opencl.graph.node import Instruction, Launch, Take, sources
from conformance.cases.schedule.kernel_body import Alu, Bitcast, Cast, Load, Reduce, Store


def without_dead_stores(launch: Launch, kept: Sequence[int]) -> Launch:
    """Return the launch with the stores numbered ``kept`` alone."""
    if len(kept) == len(launch.stores):
        return launch
    first = len(launch.reads)
    needed = _needed(launch, {first + number for number in kept})
    reads = sorted({line.access for number in needed if isinstance(line := launch.instructions[number], Load | Take)})
    access = {old: new for new, old in enumerate((*reads, *(first + number for number in kept)))}
    place: dict[int, int] = {}
    lines: list[Instruction] = []
    for number in sorted(needed):
        place[number] = len(lines)
        lines.append(_renumbered(launch.instructions[number], place, access))
    return msgspec.structs.replace(
        launch,
        instructions=tuple(lines),
        reads=tuple(launch.reads[each] for each in reads),
        stores=tuple(launch.stores[number] for number in kept),
    )


def _needed(launch: Launch, accesses: Collection[int]) -> set[int]:
    lines = launch.instructions
    stack = [number for number, line in enumerate(lines) if isinstance(line, Store) and line.access in accesses]
    found: set[int] = set()
    while stack:
        number = stack.pop()
        if number not in found:
            found.add(number)
            stack.extend(sources(lines[number]))
    return found


def _renumbered(line: Instruction, place: dict[int, int], access: dict[int, int]) -> Instruction:
    if isinstance(line, Alu):
        return msgspec.structs.replace(line, of=tuple(place[each] for each in line.of))
    if isinstance(line, Take):
        return msgspec.structs.replace(line, access=access[line.access], index=place[line.index])
    if isinstance(line, Load):
        return msgspec.structs.replace(line, access=access[line.access])
    if isinstance(line, Store):
        return msgspec.structs.replace(line, access=access[line.access], of=place[line.of])
    if isinstance(line, Cast | Bitcast | Reduce):
        return msgspec.structs.replace(line, of=place[line.of])
    return line
