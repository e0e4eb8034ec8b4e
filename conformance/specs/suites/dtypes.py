"""The suite of rare dtypes: what every operation promises, of formats that few implementations have."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.cases.tensor.dtypes import RARE
from conformance.specs.domains import choices
from conformance.specs.domains.block_operations import CALLED
from conformance.specs.domains.effects.chains import chain
from conformance.specs.domains.effects.programs import script
from conformance.specs.suite import Suite

_DTYPE: Final = choices.sampled_from(RARE)
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


SUITE: Final = Suite(
    "dtypes",
    "The same promises, of integers of 2 bits and of floats of 8, 6 and 4 bits that few implementations have.",
    domains={op: programs(op) for op in CALLED},
    share=0.15,
)
