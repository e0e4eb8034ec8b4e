"""reduce_constant."""

from __future__ import annotations

from conformance.judging.divergences import accepts, diverging
from conformance.judging.subject import Subject
from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Example, Op, Result, rejection, value


def _of_a_float(subject: Subject) -> bool:
    return isinstance(subject.step.attrs["value"], float)


OP = Op(
    "reduce_constant",
    summary="The sum of one number that every member holds, with no data to move.",
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "reduce_constant.C1",
            "The result of reduce_constant is the attribute `value` times the number of members of the rank's own "
            "group, as an array without axes: of a float in float32 (`reduce_constant.C3`), of a whole number or a "
            "bool, which counts as 0 or 1, in int32 (`reduce_constant.C2`).",
            "jax.psum: _psum",
        ),
        diverging(
            rejection(
                "reduce_constant.C2",
                "A reduce_constant of a whole number is rejected where the result in some group is outside the range "
                "of int32, and no result wraps around.",
                "ours",
                "should",
            ),
            accepts("jax", "The psum of a Python int is a Python int, of any size."),
        ),
        value(
            "reduce_constant.C3",
            "A reduce_constant multiplies a float by the number of members in float64 and rounds the product to "
            "float32.",
            "jax.psum: _psum",
            _of_a_float,
        ),
    ),
    examples=(
        Example("jax.psum: _psum", "int32", {"value": 3}, (), [6, 6, 6, 6], groups=((0, 1), (2, 3))),
        Example("jax.psum: _psum", "float32", {"value": 0.5}, (), [1.0, 1.0, 1.0, 1.0], groups=((0, 1), (2, 3))),
    ),
    results=(
        Result("of a whole number or a bool", "()", "int32", ("reduce_constant.C1",)),
        Result("of a float", "()", "float32", ("reduce_constant.C1", "reduce_constant.C3")),
    ),
    arguments={"value": ("reduce_constant.C1", "reduce_constant.C2", "reduce_constant.C3")},
)
