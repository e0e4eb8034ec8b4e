"""The suite of ranks that go their own ways: they run different steps, disagree, are late or die."""

from __future__ import annotations

from typing import Final

from conformance.cases.program.rank_faults import WORDS
from conformance.judging.clause import Clause
from conformance.judging.liveness import ended, healthy, others_right
from conformance.judging.numbers.admissible import admissible
from conformance.judging.subject import Subject
from conformance.specs.op import BLOCKWISE, rejection, suited
from conformance.specs.suite import Suite


def troubled(subject: Subject) -> bool:
    """Speak about programs in which ranks go their own ways, are late or die."""
    return subject.case.troubled


def partly(subject: Subject) -> bool:
    """Speak about programs in which some ranks cannot go on and others can."""
    return subject.rejected is not None and any(
        block is not None for blocks in subject.rejected.results.values() for block in blocks
    )


def shared(subject: Subject) -> bool:
    """Speak about programs in which members of one group meet though each has a step of its own."""
    steps = [set(step.ranks) for step in subject.case.program.collectives if step.ranks is not None]
    return any(set(group) & ranks and set(group) - ranks for group in subject.groups for ranks in steps)


def unlike(id: str, text: str) -> Clause:
    """Return the clause about one kind of disagreement."""
    return rejection(
        id,
        f"Where {text}, every rank that cannot go on raises an error.",
        "torch.distributed: TORCH_DISTRIBUTED_DEBUG",
    )


CLAUSES: Final[tuple[Clause, ...]] = (
    Clause(
        "liveness.C1",
        "must",
        "Every rank that does not die ends within the time limit of the case: it returns, or raises an error. Of what "
        "it returns see `liveness.C14`.",
        troubled,
        ended,
        "ours",
        general=True,
    ),
    Clause(
        "liveness.C2",
        "must",
        "That a rank begins a step late changes nothing about any result but the order in which terms are folded, "
        "which is free (`numerics.C1`).",
        lambda s: s.legal and s.has("faults", "late") and not s.unsettled,
        admissible,
        "ours",
    ),
    Clause(
        "liveness.C3",
        "must",
        "A collective waits for the members of its group and for no other rank: groups without a common member run "
        "different operations, or the same ones in different orders, each group with the results of its own "
        "operations.",
        lambda s: s.legal and s.case.divergent and not shared(s) and not s.unsettled,
        admissible,
        "mpi.correctness",
    ),
    Clause(
        "liveness.C4",
        "must",
        "Members of a group that call the same collective of this group meet in it and have its results, whether they "
        "share one step of the program or each has a step of its own.",
        lambda s: s.legal and s.case.divergent and shared(s) and not s.unsettled,
        admissible,
        "mpi.correctness",
    ),
    unlike(
        "liveness.C5",
        "members of a group come to different operations, or to one operation with different numbers of operands",
    ),
    unlike("liveness.C6", "members of a group give one operation different attributes"),
    unlike("liveness.C7", "members of a group give an operation, any but recv, blocks of different dtypes"),
    unlike(
        "liveness.C8",
        "members of a group hold blocks of different shapes and the operation, as any but recv, needs one shape "
        "(all_to_all_uneven: one shape but for axis 0)",
    ),
    unlike("liveness.C9", "members of a group make the same calls in different orders"),
    unlike(
        "liveness.C10",
        "ranks that are members of two groups come to the collectives of these groups in different orders",
    ),
    unlike(
        "liveness.C11",
        "the members of a group, in the calls in which they would meet, name different members, or the same "
        "members in different orders",
    ),
    unlike("liveness.C12", "members of a group make different numbers of calls"),
    rejection(
        "liveness.C13",
        "Where a rank dies, every rank that waits in a collective for its block, or at a barrier for it, raises an "
        "error, and so does every rank that at a later step waits in the same way for a rank that raised one.",
        "ours",
    ),
    Clause(
        "liveness.C14",
        "must",
        "Where some ranks can go on and others cannot, each rank that can either raises an error or returns all the "
        "results that it has, each of them right.",
        partly,
        others_right,
        "ours",
    ),
    Clause(
        "liveness.C15",
        "must",
        "After a program in which ranks ran different steps, were late or died, whether or not it failed, ranks of "
        "the same numbers run another program, of sums over all ranks and over the groups of the first one, with the "
        "right results.",
        troubled,
        healthy,
        "ours",
        general=True,
    ),
)

SUITE = Suite(
    "liveness",
    "Ranks that run different steps, disagree, are late or die.",
    ops=(*BLOCKWISE, "barrier"),
    clauses=tuple(suited(clause, "liveness", "faults", WORDS) for clause in CLAUSES),
)
