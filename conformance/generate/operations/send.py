"""How send is drawn."""

from __future__ import annotations

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Attr, Program, Step
from conformance.generate import choices
from conformance.generate.calls.draft import EQUAL, Draft, draft
from conformance.generate.calls.vocabulary import pairs_near
from conformance.specs.families.pairs import Pairs


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
