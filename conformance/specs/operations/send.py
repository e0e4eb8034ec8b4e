"""send."""

from __future__ import annotations

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Program, Step
from conformance.specs.domains import choices
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.pairs import PAIRS, Pairs, pairs_near
from conformance.specs.op import Op, value


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a send whose token nobody takes, with legal and illegal pairs."""
    drawn: Draft = draft(draw, groups=EQUAL)
    pairs = draw(pairs_near(drawn.group_size))
    return exchange(drawn, {"x": drawn.operand(drawn.shape())}, pairs)


def exchange(drawn: Draft, inputs: dict[str, Operand], pairs: Pairs, receive: dict[str, Attr] | None = None) -> Case:
    """Return the case of a send and, with the attributes in ``receive``, of the recv that takes its token."""
    send = Step(
        op="send", inputs=("x",), outputs=("token",), axes=drawn.axes, groups=drawn.groups, attrs={"pairs": pairs}
    )
    if receive is None:
        return Case(program=Program(mesh=drawn.mesh, steps=(send,), results=()), inputs=inputs)
    recv = Step(op="recv", inputs=("token",), outputs=("y",), axes=drawn.axes, groups=drawn.groups, attrs=receive)
    return Case(program=Program(mesh=drawn.mesh, steps=(send, recv), results=("y",)), inputs=inputs)


OP = Op(
    "send",
    summary="Puts blocks under way along (source, destination) pairs and returns a token.",
    domain=programs(),
    shares=COLLECTIVE + PAIRS,
    clauses=(
        value(
            "send.C1",
            "A send whose token no recv takes is legal where one whose token is taken is, and changes no result.",
            "jax.psend",
        ),
    ),
    no_example="The sources print no send; its token is no value.",
    aliases={"jax": ("lax.psend",), "torch": ("distributed.isend",), "mpi": ("MPI_Isend",)},
)
