"""How the suite dtypes is drawn."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.tensor.dtypes import DTYPES, NUMPY, RARE
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.generate import choices
from conformance.generate.operations import CALLED
from conformance.generate.operations import DOMAINS as OF_OPERATIONS
from conformance.generate.programs.chains import chain
from conformance.generate.programs.script import script
from conformance.specs.operations.ragged_all_to_all import TABLES

MESSAGES: Final = ("ragged_all_to_all", "recv", "send")
"""The other operations that move blocks."""

with np.errstate(all="ignore"):
    _INFINITY: Final = {name: np.array(np.inf, np.float32).astype(NUMPY[name]) for name in RARE}
    _ENDLESS: Final = frozenset(name for name, each in _INFINITY.items() if np.isinf(each.astype(np.float32)))
_DTYPE: Final = choices.steered(RARE, ("values",), lambda name: ("infinite" if name in _ENDLESS else "",))
_STORED: Final = choices.sampled_from([False] * 5 + [True])


@choices.composite
def programs(draw: choices.Draw, op: str) -> Case:
    """Draw a program on ``op`` of a rare dtype; one in six writes into storage.

    Of floats there are movement, max and min: no number model is declared for their sums.
    """
    program = script(draw, op, dtype=draw(_DTYPE))
    if draw(_STORED):
        return chain(program, effects=True, starts=False)
    return program.case(*program.run(program.input()))


@choices.composite
def messages(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op``, which moves blocks as its own rules say, with the bits of a rare dtype in their place."""
    case, dtype = draw(OF_OPERATIONS[op]), draw(_DTYPE)
    first = case.program.collectives[0].inputs[0]
    own = {block.dtype for block in case.inputs[first].blocks}
    inputs = {
        name: _held(operand, dtype) if {block.dtype for block in operand.blocks} == own else operand
        for name, operand in case.inputs.items()
        if name not in TABLES
    }
    steps = tuple(
        replace(step, attrs={**step.attrs, "dtype": dtype}) if step.attrs.get("dtype") in own else step
        for step in case.program.steps
    )
    return replace(case, program=replace(case.program, steps=steps), inputs={**case.inputs, **inputs})


def _held(operand: Operand, dtype: str) -> Operand:
    """Return an operand of the same shapes whose blocks hold all bits of a dtype in turn, another one first by rank."""
    count = 1 << DTYPES[dtype].bits
    bits = (np.arange(math.prod(each.shape)) + 3 * rank for rank, each in enumerate(operand.blocks))
    held = (np.asarray(each % count, np.uint8).view(NUMPY[dtype]) for each in bits)
    blocks = (from_array(each.reshape(old.shape)) for each, old in zip(held, operand.blocks, strict=True))
    # What is broadcast has equal rows.
    layouts: tuple[Layout, ...] = tuple("strided" if each == "broadcast" else each for each in operand.layouts)
    return replace(operand, blocks=tuple(blocks), layouts=layouts)


SUITE: Final = "dtypes"

DOMAINS: Final = {**{op: programs(op) for op in CALLED}, **{op: messages(op) for op in MESSAGES}}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.15
"""The part of a run's examples that is drawn for each operation of the suite."""
