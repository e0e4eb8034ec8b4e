"""shuffle."""

from __future__ import annotations

from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import SAME, Example, Op, Result, rejection, value

OP = Op(
    "shuffle",
    summary="permute, written as the list of sources.",
    shares=COLLECTIVE,
    clauses=(
        value(
            "shuffle.C1",
            "In a shuffle the member at position p receives the block of the member at position `sources[p]`; over no "
            "mesh axis see `collective.C30`.",
            "jax.pshuffle",
        ),
        rejection(
            "shuffle.C2",
            "A shuffle is rejected where `sources` does not list every position of the group exactly once, except "
            "over no mesh axis (`collective.C30`) or without operands (`collective.C27`).",
            "jax.pshuffle",
        ),
    ),
    aliases={"jax": ("lax.pshuffle",)},
    examples=(Example("jax.pshuffle", "int32", {"sources": (1, 2, 0)}, [[1], [2], [3]], [[2], [3], [1]]),),
    results=(Result("", "shape", SAME, ("shuffle.C1",)),),
    arguments={"sources": ("shuffle.C1", "shuffle.C2")},
)
