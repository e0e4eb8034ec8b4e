"""How steps on storage, started collectives, and programs in which ranks differ are written."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.graph.elementwise import ARITY
from conformance.cases.graph.fit import FOLDS
from conformance.cases.program.effects import window
from conformance.cases.program.program import Attr, Step

EFFECTS: Final = {
    "`b = buffer(x)`": "makes storage that begins as a copy of the input `x`.",
    "`v = view(b, start=…, stop=…, step=…, order=…)`": "names a part of a buffer or of a view. `start`, `stop` and "
    "`step` have a number for each axis: the indices `range(start, stop, step)`, as in Python, are in the view, and "
    "no number counts from the end. `order` then lists the axes in a new order; without it they stay as they are.",
    "`assign(b, x)`": "writes the value `x` into the buffer or view `b`. It has no result.",
    "`y = copy(b)`": "makes a new value of what is stored now.",
    "`free(b)`": "ends a buffer and every view of it. No later step may name them.",
    "`y = done(h)`": "waits for the collective that gave the handle `h`, and names its result.",
}

COMPUTING: Final = {
    '`z = alu(x, y, op="add")`': "is an elementwise operation of graphs on the ranks' own blocks, which have one dtype "
    "and one shape: "
    f"{', '.join(f'`{name}`' for name in ARITY)}.",
    '`z = cast(x, to="int32")`': "converts the elements to another dtype.",
    '`z = fold(x, op="add", axes=[0])`': f"combines the elements along axes: "
    f"{', '.join(f'`{name}`' for name in FOLDS)}. "
    'With `acc="float32"` it computes in that dtype and rounds once, at the end.',
    "`z = dot(x, y)`": "contracts the last axis of the first block with the first axis of the second, with `acc` as in "
    "a fold.",
}

PARTS: Final = {
    '`y = all_reduce(x, op="sum", into=b) over i`': "`b` is the target: the result is written there, and `y` "
    "names that storage.",
    '`h = start all_reduce(x, op="sum") over i`': "the collective is started, and `h` is its handle.",
    '`y = all_reduce(x, op="sum") over i, on 0 2`': "only the ranks 0 and 2 have the step and a block of its result. "
    "Without such a list all ranks have.",
    "`rank 1 is 0.1 s late`": "a fault: rank 1 waits so long before the step that follows. That changes no value.",
    "`rank 1 dies`": "a fault: rank 1 ends before the step that follows.",
}

BACKWARDS: Final[dict[str, Attr]] = {"start": (3,), "stop": (-1,), "step": (-2,)}
VIEW: Final = Step(op="view", inputs=("b",), outputs=("v",), axes=(), attrs=BACKWARDS)
"""The view of the example: from the last of four elements backwards, every second one."""


def step_lines() -> list[str]:
    """Return the lines on steps that compute nothing, on targets and starts, and on ranks that differ."""
    block = np.arange(10, 50, 10)
    return [
        "Besides collectives a program has steps for which no ranks meet. These make storage, write it, or wait:",
        "",
        *table("step", "meaning", EFFECTS),
        "",
        f"Of a buffer `{block.tolist()}`, `v = view(b, start=[3], stop=[-1], step=[-2])` is "
        f"`{window(block, VIEW).tolist()}`.",
        "",
        "Steps that compute are for each rank alone, and each makes a new value:",
        "",
        *table("step", "meaning", COMPUTING),
        "",
        "Targets, starts, ranks that run different steps, and faults are written so:",
        "",
        *table("line", "meaning", PARTS),
        "",
    ]


def table(left: str, right: str, rows: dict[str, str]) -> list[str]:
    """Return the lines of a table of two columns."""
    return [f"| {left} | {right} |", "| --- | --- |", *[f"| {name} | {text} |" for name, text in rows.items()]]
