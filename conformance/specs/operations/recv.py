"""recv."""

from __future__ import annotations

from conformance.judging.divergences import accepts, diverging
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.pairs import PAIRS
from conformance.specs.op import Op, Result, about, rejection, value
from conformance.specs.operations.permute import partial

OP = Op(
    "recv",
    summary="Takes off the blocks that a send put under way, ordered after it by its token.",
    shares=COLLECTIVE + PAIRS,
    clauses=(
        value(
            "recv.C1",
            "In a recv the destination of each pair receives, in every group, the block that the source of that pair "
            "sent; over no mesh axis see `collective.C30`.",
            "jax.precv",
        ),
        value(
            "recv.C2",
            "In a recv a position that is the destination of no pair receives zeros (`permute.C2`) of the shape and "
            "dtype that the recv names; over no mesh axis see `collective.C30`.",
            "jax.precv",
            about(partial, pairs=("partial",)),
        ),
        diverging(
            rejection(
                "recv.C3",
                "A recv is rejected where the shape or the dtype that it names is not that of the blocks of its send, "
                "even if the list of pairs is empty, except over no mesh axis (`collective.C30`) or without operands "
                "(`collective.C27`).",
                "ours",
                requirement="should",
            ),
            accepts("torch", "A message is bytes, and neither end is told the dtype or the shape of the other's."),
        ),
        rejection(
            "recv.C4",
            "A recv is rejected where its list of pairs is not that of its send, in the same order, where the groups "
            "of ranks in which the two move blocks differ, or where only one of the two is over no mesh axis; where "
            "both are see `collective.C30`.",
            "ours",
            requirement="should",
        ),
    ),
    no_example="The sources print no recv; permute has the same results.",
    aliases={"jax": ("lax.precv",), "torch": ("distributed.irecv",), "mpi": ("MPI_Irecv",)},
    results=(Result("", "attribute_shape", "the attribute `dtype`", ("recv.C1", "recv.C2")),),
    arguments={"tokens": ("recv.C1",), "pairs": ("recv.C4",), "shape": ("recv.C3",), "dtype": ("recv.C3",)},
)
