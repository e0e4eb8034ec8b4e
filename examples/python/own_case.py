"""A question of your own: write a call as a case file, ask backends for it, and read what each came to.

    python own_case.py [BACKEND...]

The case is a sum over pairs of ranks, whose groups are listed out of order. Its file has the program and the inputs
and no expected values: `conformance replay own_case.json -b NAME` computes what is right and prints both.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.codec import save
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.cli import main

WORLD = 4

step = Step(
    op="all_reduce",
    inputs=("x",),
    outputs=("y",),
    axes=("i",),
    groups=((3, 0), (2, 1)),
    attrs={"op": "sum"},
)
program = Program(mesh=(Axis("i", WORLD),), steps=(step,), results=("y",))
blocks = tuple(from_array(np.array([10.0 * rank**2, 1.0], dtype=np.float32)) for rank in range(WORLD))
case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * WORLD)})

file = Path("own_case.json")
save(case, file)
names = ",".join(sys.argv[1:] or ["reference"])
sys.exit(main(["replay", str(file), "-b", names]))
