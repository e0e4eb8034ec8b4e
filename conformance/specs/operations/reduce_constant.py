"""reduce_constant."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.judging.subject import Subject
from conformance.specs.divergences import accepts, diverging
from conformance.specs.domains import choices
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Example, Op, rejection, value


def _of_a_float(subject: Subject) -> bool:
    return isinstance(subject.step.attrs["value"], float)


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw the sum of a number or bool over any axes and any partition, now and then one outside the range of int32."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    most = max(map(len, drawn.rank_groups()), default=0) or 1  # groups that are refused may be empty
    # The ends of int32, what is just beyond them, and numbers that float32 does not hold.
    ends = [(2**31 - 1) // most, -(2**31 // most), (2**31 - 1) // most + 1, -(2**31 // most) - 1]
    rounded = [(2**24 + 1) // most | 1, -(2**30 // most) | 1]
    kinds = [0.5, -2.25, True, 0.1, 1e30, False, -0.0, 16777217.0]
    number = draw(choices.sampled_from([1, 0, 2, -3, 1000, *ends, *rounded, *rounded, 2**29, -(2**31), *kinds]))
    return drawn.program("reduce_constant", {}, ("y",), {"value": number})


OP = Op(
    "reduce_constant",
    summary="The sum of one number that every member holds, with no data to move.",
    domain=programs(),
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "reduce_constant.C1",
            "The result is the attribute `value` times the number of members of the rank's own group, as an array "
            "without axes: an int32, where a bool counts as 0 or 1, and of a float a float32.",
            "jax.psum: _psum",
        ),
        diverging(
            rejection(
                "reduce_constant.C2",
                "A whole number whose result is outside the range of int32 is rejected, and no result wraps around.",
                "ours",
                "should",
            ),
            accepts("jax", "The psum of a Python int is a Python int, of any size."),
        ),
        value(
            "reduce_constant.C3",
            "A float is multiplied by the number of members in float64, and the product is rounded to float32.",
            "jax.psum: _psum",
            _of_a_float,
        ),
    ),
    examples=(
        Example("jax.psum: _psum", "int32", {"value": 3}, (), [6, 6, 6, 6], groups=((0, 1), (2, 3))),
        Example("jax.psum: _psum", "float32", {"value": 0.5}, (), [1.0, 1.0, 1.0, 1.0], groups=((0, 1), (2, 3))),
    ),
)
