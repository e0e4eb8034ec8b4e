"""determinism: which differences between two calls, or two elements of one, make none in the bits.

Where the order of the members shows, several values are right, and which it is may depend on anything. A backend says
what it does not depend on: these clauses bind whoever gives the guarantee, and are only reported of the others.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.observation import Observation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.clause import SILENT, Clause
from conformance.judging.compare import answered
from conformance.judging.relations import apart, received
from conformance.judging.subject import Subject
from conformance.reference.operations import FOLDED, PARTS
from conformance.specs.suite import Suite


def law(id: str, guarantee: Guarantee, text: str) -> Clause:
    """Return the clause of a guarantee: elements that differ only in what it names are equal, bit by bit."""

    def speaks(subject: Subject) -> bool:
        # Of ranks that go their own ways some have no result to compare.
        return subject.folds.order_shows and not subject.case.troubled and subject.elements.compares(guarantee)

    def check(subject: Subject, seen: Observation) -> str | None:
        return subject.elements.broken(guarantee, seen) if subject.elements.fits(seen) else SILENT

    return Clause(id, "may", text, speaks, check, "backend", suite="determinism", guarantee=guarantee)


def _inexact(block: Array | None) -> bool:
    return block is not None and kind(logical(block.dtype)) in ("float", "complex")


def _agreement() -> Clause:
    """Return the clause of all members of a group: also of all_reduces of which the laws of columns say nothing."""
    plain = law(
        "determinism.C1",
        "ranks_agree",
        "All members of a group receive the same bits from an all_reduce, where every NaN counts as the same bits.",
    )

    def others(subject: Subject) -> dict[str, Groups]:
        if not subject.legal or subject.case.troubled:
            return {}
        floats = (name for name, blocks in subject.expected.items() if any(map(_inexact, blocks)))
        found = received(subject.case)
        return {name: found[name] for name in floats if name in found}

    def check(subject: Subject, seen: Observation) -> str | None:
        said = plain.check(subject, seen) if plain.when(subject) else SILENT
        left = {} if answered(subject, seen) else others(subject)
        return said or apart(left, seen) or (None if left else said)

    return replace(plain, when=lambda subject: plain.when(subject) or bool(others(subject)), check=check)


SUITE = Suite(
    "determinism",
    "Which differences between two calls make none in the bits.",
    ops=tuple(op for op in FOLDED if op not in PARTS),
    clauses=(
        # What rests on another law stands before it: of several that break, the last is to blame.
        _agreement(),
        law(
            "determinism.C2",
            "size",
            "The bits of an element of a reduction (every NaN counts as the same bits) do not depend on the size of "
            "the blocks: they stay the same where blocks are cut or padded and the members, in member order, hold the "
            "same terms of the element.",
        ),
        law(
            "determinism.C3",
            "position",
            "The bits of an element of a reduction (every NaN counts as the same bits) do not depend on its place in "
            "the block: where each member's block has the same bits at two places, the results at these two places "
            "have the same bits.",
        ),
        law(
            "determinism.C4",
            "rank_relabelling",
            "The bits of a reduction (every NaN counts as the same bits) do not depend on which ranks are members: a "
            "group whose members hold, in member order, the blocks that those of another group hold has the same "
            "results.",
        ),
        law(
            "determinism.C5",
            "group_relabelling",
            "The bits that a group receives from a reduction (every NaN counts as the same bits) do not depend on "
            "which other groups the step lists, nor on the order in which it lists them.",
        ),
        law(
            "determinism.C6",
            "coalescing",
            "The bits of the reduction of an operand (every NaN counts as the same bits) do not depend on the other "
            "operands of the same call, nor on how many there are.",
        ),
        law(
            "determinism.C7",
            "history",
            "The bits of a reduction (every NaN counts as the same bits) do not depend on which calls were made "
            "before it.",
        ),
        law(
            "determinism.C8",
            "run_to_run",
            "A reduction that is called once more with the same blocks, right after the first call, gives the same "
            "bits, where every NaN counts as the same bits.",
        ),
    ),
)
