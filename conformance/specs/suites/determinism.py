"""determinism: which differences between two calls, or two elements of one, make none in the bits.

Where the order of the members shows, several values are right, and which it is may depend on anything. A backend says
what it does not depend on: these clauses bind whoever gives the guarantee, and are only reported of the others.
"""

from __future__ import annotations

from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.observation import Observation
from conformance.judging.clause import Clause
from conformance.judging.subject import Subject
from conformance.reference.operations import FOLDED, PARTS
from conformance.specs.domains.relating import related
from conformance.specs.suite import Suite


def law(number: int, guarantee: Guarantee, text: str) -> Clause:
    """Return the clause of a guarantee: elements that differ only in what it names are equal, bit by bit."""

    def speaks(subject: Subject) -> bool:
        # Of ranks that go their own ways some have no result to compare.
        return subject.folds.order_shows and not subject.case.troubled and subject.elements.compares(guarantee)

    def check(subject: Subject, seen: Observation) -> str | None:
        return subject.elements.broken(guarantee, seen)

    return Clause(
        f"determinism.C{number}", "may", text, speaks, check, "backend", suite="determinism", guarantee=guarantee
    )


SUITE = Suite(
    "determinism",
    "Which differences between two calls make none in the bits.",
    domains={op: related(op) for op in FOLDED if op not in PARTS},
    clauses=(
        # What rests on another law stands before it: of several that break, the last is to blame.
        law(1, "ranks_agree", "All members of a group receive the same bits from an all_reduce."),
        law(
            2,
            "size",
            "The bits of an element do not depend on the size of the block: they stay the same where the "
            "block is cut or padded and the members hold the same terms of the element.",
        ),
        law(
            3,
            "position",
            "The bits of an element do not depend on its place in the block: where each member's block has the same "
            "bits at two places, the results at these places have the same bits.",
        ),
        law(4, "rank_relabelling", "The bits of a result do not depend on which ranks hold the positions of a group."),
        law(
            5,
            "group_relabelling",
            "The bits of a result do not depend on which other groups there are, nor on the order in which groups "
            "are listed.",
        ),
        law(6, "coalescing", "The bits of a result do not depend on the other operands of the same call."),
        law(7, "history", "The bits of a result do not depend on which calls were made before."),
        law(
            8,
            "run_to_run",
            "A call that is made once more with the same blocks, right after the first, gives the same bits.",
        ),
    ),
    share=1 / 3,
)
