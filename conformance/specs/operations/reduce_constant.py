"""reduce_constant."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.divergences import accepts, diverging
from conformance.specs.domains import choices
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Example, Op, rejection, value


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw the sum of a number over any axes and any partition, now and then one that leaves the range of int32."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    most = max(map(len, drawn.rank_groups()), default=0) or 1  # groups that are refused may be empty
    # The ends of int32, what is just beyond them, and numbers that float32 does not hold.
    ends = [(2**31 - 1) // most, -(2**31 // most), (2**31 - 1) // most + 1, -(2**31 // most) - 1]
    rounded = [(2**24 + 1) // most | 1, -(2**30 // most) | 1]
    number = draw(choices.sampled_from([1, 0, 2, -3, 1000, *ends, *rounded, *rounded, 2**29, -(2**31)]))
    return drawn.program("reduce_constant", {}, ("y",), {"value": number})


OP = Op(
    "reduce_constant",
    summary="The sum of one number that every member holds, with no data to move.",
    domain=programs(),
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "reduce_constant.C1",
            "The result is the attribute `value` times the number of members of the rank's own group, as an int32"
            " array without axes.",
            "jax.psum: _psum",
        ),
        diverging(
            rejection(
                "reduce_constant.C2",
                "A result outside the range of int32 is rejected and does not wrap around.",
                "ours",
                "should",
            ),
            accepts("jax", "The psum of a Python int is a Python int, of any size."),
        ),
    ),
    examples=(Example("jax.psum: _psum", "int32", {"value": 3}, (), [6, 6, 6, 6], groups=((0, 1), (2, 3))),),
)
