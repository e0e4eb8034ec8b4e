"""One kernel for what the program reads on both sides of an assign, right and wrong."""

from __future__ import annotations

from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    tensor,
    writes,
)
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Instruction, Load, Store
from conformance.cases.schedule.schedule import Kernel, Schedule
from conformance.qualification.violations.violation import violates

A, B, ONE = stored("a"), stored("b"), constant("1")


def both_sides(old: str, new: str, *order: str) -> Schedule:
    """Return n = a + 1; a <- b; y = n + a, where one kernel computes y of what it loads from ``old`` and ``new``."""
    nodes = (A, B, ONE, alu("n", "add", "a", "1"), node("w", "assign", "a", "b"), alu("y", "add", "n", "w"))
    sources = dict.fromkeys((old, new))
    code: list[Instruction] = [Load(access=at) for at in range(len(sources))]
    code += [Constant(value=tensor(1)), Alu(op="add", of=(0, len(code)))]
    code += [Alu(op="add", of=(len(code) - 1, len(sources) - 1)), Store(access=len(sources), of=len(code))]
    own = (*(reads(name, line()) for name in sources), writes("y", line(), node="y"))
    body = Body(extents=(4,), instructions=tuple(code))
    items = {
        "keep": elementwise("keep", "move", "t", "a"),
        "w": elementwise("w", "move", writes("a", line(), node="w"), "b", provenance=("w",)),
        "y": Kernel(id="y", device="d0", accesses=own, bodies=(body,), provenance=("n", "y")),
    }
    buffers = (*given("a", "b"), *([buffer("t")] if "keep" in order else []), buffer("y"))
    return schedule(buffers, [items[name] for name in order], graph(*nodes, results=["w", "y"]), {"y": "y"})


@violates("assign.C6")
def new_value_for_both() -> Schedule:
    """Two uses of a buffer with an assign between them are merged into one load: both get the new value."""
    return both_sides("a", "a", "w", "y")


@violates("assign.C7")
def old_value_for_both() -> Schedule:
    """Two uses of a buffer with an assign between them are merged into one load: both get the old value."""
    return both_sides("a", "a", "y", "w")


@violates("law.C1")
def old_value_kept_too_late() -> Schedule:
    """The buffer for the old value is filled after the assign: what it should keep is gone by then."""
    return both_sides("t", "a", "w", "keep", "y")
