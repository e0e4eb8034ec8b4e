"""Programs under way on real devices, and what the clock of the devices says beside the schedules that were exported.

``python -m tests.backends.opencl.runtime.timeline ALGORITHM ORDER [without-edges]`` prints how many pairs of commands
share bytes that one of them writes, and how many of those ran otherwise than one after the other: within a program by
the bytes that its schedule says, and between programs by the memory that they were given.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.export.schedule import exported, named
from conformance.backends.opencl.runtime.engine import Started
from conformance.backends.opencl.runtime.memory import Cell
from conformance.backends.opencl.settings import from_environment
from conformance.cases.graph.buffer import Device
from conformance.cases.program.program import EFFECTS, Axis, Program, Step
from conformance.cases.schedule.index_map import Indices
from conformance.cases.schedule.schedule import Wait
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.facts import Facts

COLUMNS: Final = 60_000
ROUND: Final = {"pairs": ((0, 1), (1, 2), (2, 3), (3, 0))}
MAX: Final = {"op": "max"}
TILED: Final = {"axis": 0, "tiled": True}
BUFFERS: Final = [("buffer", ("x",), ("b",), {}), ("buffer", ("x",), ("d",), {})]


def rows(start: int, stop: int, step: int = 1) -> dict[str, Any]:
    """Return the attributes of a view of some rows."""
    return {"start": (start, 0), "stop": (stop, COLUMNS), "step": (step, 1)}


# Each takes x and gives y, of one form, which the next one takes.
PROGRAMS: Final[dict[str, list[Any]]] = {
    "without effects": [
        ("permute", ("x",), ("p",), ROUND),
        ("all_reduce", ("p",), ("s",), MAX),
        ("all_gather", ("s",), ("g",), TILED),
        ("reduce_scatter", ("g",), ("r",), MAX | TILED),
        ("all_reduce", ("r",), ("y",), MAX),
    ],
    "in place": [
        *BUFFERS,
        ("all_reduce", ("b",), ("s",), MAX | {"into": ("b",)}),
        ("permute", ("b", "d"), ("p", "y"), ROUND | {"into": ("d", "b")}),
    ],
    "views": [
        *BUFFERS,
        ("view", ("b",), ("u",), rows(0, 3)),
        ("view", ("b",), ("l",), rows(1, 4)),
        ("view", ("d",), ("t",), rows(3, 0, -1)),
        ("all_reduce", ("u",), ("s",), MAX | {"into": ("l",)}),
        ("assign", ("t", "l"), (), {}),
        ("permute", ("l",), ("p",), ROUND | {"into": ("u",)}),
        ("permute", ("d",), ("y",), ROUND | {"into": ("b",)}),
    ],
    "several in flight": [
        *BUFFERS,
        ("all_reduce", ("b",), ("s",), MAX | {"start": True}),
        ("permute", ("d",), ("p",), ROUND | {"start": True, "into": ("b",)}),
        ("assign", ("d", "x"), (), {}),
        ("all_reduce", ("d",), ("q",), MAX | {"start": True, "into": ("d",)}),
        ("copy", ("b",), ("c",), {}),
        ("done", ("q", "s"), ("v", "w"), {}),
        ("assign", ("b", "w"), (), {}),
        ("permute", ("c",), ("y",), ROUND),
        ("free", ("d",), (), {}),
    ],
}


class Ran(NamedTuple):
    """Bytes that a command touched, and when it ran, in ns."""

    what: str
    ranges: Indices
    write: bool
    start: int
    end: int


class Under(NamedTuple):
    """A program under way, its name and the memory of its schedule's storages, by place."""

    name: str
    started: Started
    cells: list[Cell]


def program(name: str) -> Program:
    """Return one of ``PROGRAMS`` on four ranks."""
    made = []
    for op, inputs, outputs, attrs in PROGRAMS[name]:
        apart = {key: attrs[key] for key in ("into", "start") if key in attrs and op not in EFFECTS}
        rest = {key: value for key, value in attrs.items() if key not in apart}
        axes = () if op in EFFECTS else ("i",)
        made.append(Step(op=op, inputs=inputs, outputs=outputs, axes=axes, attrs=rest, **apart))
    return Program(mesh=(Axis("i", 4),), steps=tuple(made), results=("y",))


def under_way(backend: OpenCL, rounds: int, *, edges: bool) -> list[Under]:
    """Start every program ``rounds`` times without waiting, each on what the one before gives."""
    engine = backend.engine
    draw = np.random.default_rng(0)
    blocks = [draw.integers(0, 2**30, (4, COLUMNS)).astype(np.uint32) for _ in range(4)]
    value, found = engine.put([(block.reshape(-1), block) for block in blocks]), []
    for name in [*PROGRAMS] * rounds:
        asked = program(name)
        plan = engine.plan(asked, {"x": value})
        if not edges:
            for command in plan.commands:
                command.after = ()
        started = engine.start(asked, {"x": value})
        found.append(Under(name, started, [storage.cell for storage in started.storages]))
        value = started.done()["y"]
    return found


def touched(one: Under, alignment: int) -> list[tuple[Cell, Ran]]:
    """Return what the exported schedule of a program says that its commands touched, with the devices' times."""
    made, lowered, timeline = one.started.plan.schedule, one.started.plan.lowered, one.started.timeline()
    facts = Facts(exported(made, lowered, 4, Device(alignment=alignment)))
    cells = {facts.root(name)[0]: one.cells[made.places[node]] for node, name in named(made, lowered).items()}
    found = []
    for leaf, touches in zip(facts.leaves, facts.touches, strict=True):
        if isinstance(leaf, Wait):
            continue
        start, end = timeline[int(leaf.id.removeprefix("item "))]
        found += [(cells[t.root], Ran(f"{one.name}, {leaf.id}", t.ranges, t.write, start, end)) for t in touches]
    return found


def clashes(found: list[tuple[Cell, Ran]]) -> tuple[int, list[str]]:
    """Return how many pairs, each in the order in which it was enqueued, conflict, and those not in that order."""
    seen: dict[int, list[Ran]] = defaultdict(list)
    count, wrong = 0, []
    for cell, own in found:
        for other in seen[id(cell)]:
            if other.what != own.what and (own.write or other.write) and overlap(own.ranges, other.ranges):
                count += 1
                if other.end > own.start:
                    wrong.append(f"{own.what} began at {own.start}, and {other.what} ended at {other.end}")
        seen[id(cell)].append(own)
    return count, wrong


def main(algorithm: Any, order: str, *words: str) -> None:
    """Run, compare and print."""
    backend = OpenCL(replace(from_environment(), force=algorithm, order=int(order) or None, profile=True))
    started = under_way(backend, 3, edges=not words)
    count, wrong = clashes([each for one in started for each in touched(one, backend.alignment)])
    print(count, len(wrong))
    print("\n".join(wrong[:10]), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
