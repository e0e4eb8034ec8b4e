"""all_reduce."""

from __future__ import annotations

import functools

import numpy as np
from hypothesis import strategies as st

from conformance.cases.case import Case
from conformance.cases.dtypes import NUMPY, kind
from conformance.judging.clause import Subject
from conformance.specs.domain import PARTITIONS, SHAPES, Draft, draft, reduction
from conformance.specs.op import Example, Op, attr, rejection, value, variant


def counts_bools(subject: Subject) -> bool:
    """Speak about sums and products of bool."""
    return subject.has("dtype", "bool") and subject.step.attrs["op"] in ("sum", "product")


def wraps(subject: Subject) -> bool:
    """Speak about integer sums and products that leave the range of their dtype."""
    op, dtype = subject.step.attrs["op"], next(iter(subject.features["dtype"]))
    if kind(dtype) != "integer" or op not in ("sum", "product"):
        return False
    blocks = [np.abs(block.astype(np.float64)) for block in subject.case.blocks()["x"]]
    most = functools.reduce(np.add if op == "sum" else np.multiply, blocks)
    return bool((most > np.iinfo(NUMPY[dtype]).max).any())


@st.composite
def programs(draw: st.DrawFn) -> Case:
    """Draw an all_reduce of any shape over any partition, now and then with an unknown reduction."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    op = draw(reduction)
    return drawn.case("all_reduce", shape=draw(SHAPES), attrs={"op": op}, values=op)


OP = Op(
    "all_reduce",
    summary="Every member receives the elementwise reduction of its group's blocks.",
    domain=programs(),
    clauses=(
        value("all_reduce.C1", "The result has the block's shape and, but for C6, its dtype.", "001"),
        variant("all_reduce.C2", "sum adds.", "001", attr("op", "sum")),
        variant("all_reduce.C3", "product multiplies.", "002", attr("op", "product")),
        variant("all_reduce.C4", "max keeps the greatest.", "001", attr("op", "max")),
        variant("all_reduce.C5", "min keeps the least.", "001", attr("op", "min")),
        value("all_reduce.C6", "sum and product of bool count in int32.", "001", counts_bools, "should"),
        value("all_reduce.C7", "Integer sums and products wrap around.", "001", wraps),
        rejection("all_reduce.C8", "An unknown reduction is rejected.", "002"),
    ),
    aliases={
        "jax": ("lax.psum", "lax.pmax", "lax.pmin"),
        "torch": ("distributed.all_reduce", "_functional_collectives.all_reduce"),
    },
    examples=(
        Example("001", "int32", {"op": "sum"}, [0, 1, 2, 3], [6, 6, 6, 6]),
        Example("001", "int32", {"op": "sum"}, [0, 1, 2, 3], [1, 1, 5, 5], groups=((0, 1), (2, 3))),
        Example(
            "001", "int32", {"op": "sum"},
            [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]],
            [[24, 28, 32, 36]] * 4,
        ),
    ),
)  # fmt: skip
