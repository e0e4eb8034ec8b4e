"""The meaning of a sharded case: that of its program on whole tensors."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.graph import LEAVES, MOVEMENT, Node
from conformance.cases.graph.misfits import ASSIGNS, MOVES
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.validate import OUTSIDE, PARTS, PLACEMENT, SYMBOLIC, validate_sharded
from conformance.reference.graph.evaluate import BoundedValue, Evaluation, evaluated
from conformance.reference.graph.movement import Stored
from conformance.reference.rejection import Rejected
from conformance.reference.sharded.pending import Pending

CLAUSES: Final = {
    MOVES: "sharded.C6",
    PLACEMENT: "sharded.C7",
    SYMBOLIC: "sharded.C8",
    ASSIGNS: "sharded.C53",
    OUTSIDE: "sharded.C54",
    PARTS: "sharded.C55",
}
"""The clause that a case breaks, by why it is illegal."""


def run_sharded(case: ShardedCase) -> Evaluation:
    """Return a case evaluated on whole tensors.

    Raise ``CaseError`` for a case that is malformed, and ``Rejected`` for one that is illegal.
    """
    illegal = validate_sharded(case)
    for name, (why, problem) in illegal.items():
        raise Rejected(CLAUSES[why], f"{name!r}: {problem}")
    pending = Pending(case.world)

    def widen(node: Node, within: Evaluation) -> None:
        found = within.meanings[node.id]
        of = [within.meanings[name] for name in node.of]
        if node.op in LEAVES or isinstance(found, Stored) or not isinstance(found, BoundedValue):
            return
        if node.op in MOVEMENT or all(isinstance(each, BoundedValue) for each in of) or node.op == "reduce":
            taken = [within.value_of(each) for each in of]
            within.meanings[node.id] = pending.widened(node, taken, found)

    return evaluated(case.of, widen)
