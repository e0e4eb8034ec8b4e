"""send."""

from __future__ import annotations

from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.pairs import PAIRS
from conformance.specs.op import Op, Result, value

OP = Op(
    "send",
    summary="Puts blocks under way along (source, destination) pairs and returns a token.",
    shares=COLLECTIVE + PAIRS,
    clauses=(
        value(
            "send.C1",
            "A send whose token no recv takes is legal unless another clause rejects its pairs, groups or block, and "
            "it changes no result of the program.",
            "jax.psend",
        ),
    ),
    no_example="The sources print no send; its token is no value.",
    aliases={"jax": ("lax.psend",), "torch": ("distributed.isend",), "mpi": ("MPI_Isend",)},
    results=(Result("", "", "", ("send.C1",)),),
)
