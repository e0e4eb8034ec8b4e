"""determinism: which differences between two calls, or two elements of one, make none in the bits.

Where the order of the members shows, several values are right, and which it is may depend on anything. A backend says
what it does not depend on: these clauses bind whoever gives the guarantee, and are only reported of the others.
"""

from __future__ import annotations

from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.observation import Observation
from conformance.judging.clause import Clause
from conformance.judging.compare import answered
from conformance.judging.subject import Subject
from conformance.reference.operations import FOLDED, TABLE
from conformance.specs.domains.relating import related
from conformance.specs.suite import Suite


def law(number: int, guarantee: Guarantee, text: str) -> Clause:
    """Return the clause of a guarantee: elements that differ only in what it names are equal, bit by bit."""

    def speaks(subject: Subject) -> bool:
        # Of ranks that go their own ways some have no result to compare.
        return subject.folds.order_shows and not subject.case.troubled and subject.elements.compares(guarantee)

    def check(subject: Subject, seen: Observation) -> str | None:
        return answered(subject, seen) or subject.elements.broken(guarantee, seen)

    return Clause(
        f"determinism.C{number}", "may", text, speaks, check, "backend", suite="determinism", guarantee=guarantee
    )


SUITE = Suite(
    "determinism",
    "Which differences between two calls make none in the bits.",
    domains={op: related(op) for op in FOLDED if TABLE[op].folds == "group"},
    clauses=(
        # What rests on another law stands before it: of several that break, the last is to blame.
        law(1, "ranks_agree", "All members of a group receive the same bits."),
        law(2, "size", "The size of the message makes no difference: a block may be cut, or padded."),
        law(
            3,
            "position",
            "The place in the block makes no difference: equal columns give equal elements, and permuting commutes.",
        ),
        law(4, "rank_relabelling", "Which ranks hold the positions of a group makes no difference."),
        law(5, "group_relabelling", "Which other groups there are, and how groups are listed, makes no difference."),
        law(6, "coalescing", "Operands beside it in the same call make no difference to an operand."),
        law(7, "history", "What was called in between makes no difference."),
        law(8, "run_to_run", "A call that is made again at once gives the same bits."),
    ),
    share=1 / 3,
)
