"""recv."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.cases.program.program import Attr
from conformance.specs.divergences import accepts, diverging
from conformance.specs.domains import choices
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.pairs import PAIRS, pairs_near
from conformance.specs.op import Op, about, rejection, value
from conformance.specs.operations.permute import partial
from conformance.specs.operations.send import exchange


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a send and the recv of its token, which now and then expects something else."""
    drawn: Draft = draft(draw, groups=EQUAL)
    pairs, shape = draw(pairs_near(drawn.group_size)), drawn.shape()
    receive: dict[str, Attr] = {"pairs": pairs, "shape": shape, "dtype": drawn.dtype}
    misuse = draw(choices.sampled_from([*["none"] * 20, "shape", "dtype", "pairs", "pairs", "none"]))
    if misuse == "shape":
        receive["shape"] = (*shape, 1)
    if misuse == "dtype":
        receive["dtype"] = "uint8" if drawn.dtype == "int32" else "int32"
    if misuse == "pairs":
        receive["pairs"] = pairs[1:] if pairs else ((0, 0),)
    return exchange(drawn, {"x": drawn.operand(shape, alike=True)}, pairs, receive)


OP = Op(
    "recv",
    summary="Takes off the blocks that a send put under way, ordered after it by its token.",
    domain=programs(),
    shares=COLLECTIVE + PAIRS,
    clauses=(
        value("recv.C1", "Every destination receives the block that its source sent.", "jax.precv"),
        value(
            "recv.C2",
            "A position that is the destination of no pair receives zeros (`permute.C2`) of the shape and dtype that "
            "recv names; over no mesh axis see `collective.C30`.",
            "jax.precv",
            about(partial, pairs=("partial",)),
        ),
        diverging(
            rejection(
                "recv.C3",
                "A recv that names a shape or a dtype other than those of the blocks that were sent is "
                "rejected on every rank, also on one that receives zeros.",
                "ours",
                requirement="should",
            ),
            accepts("torch", "A message is bytes, and neither end is told the dtype or the shape of the other's."),
        ),
        rejection(
            "recv.C4",
            "A recv that names other pairs than its send, or receives over no mesh axis what was sent "
            "over some or the reverse, is rejected, since some position would have no partner.",
            "ours",
            requirement="should",
        ),
    ),
    no_example="The sources print no recv; permute has the same results.",
    aliases={"jax": ("lax.precv",), "torch": ("distributed.irecv",), "mpi": ("MPI_Irecv",)},
)
